"""The values a plan shows beside its bytes: points and evals, budgets and the largest tiers, golden AL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..checkout.snapshot import Snapshot
from ..derive.change import Change, KeyChange
from ..derive.figures import CheckoutFigures
from ..derive.settings import ARGS
from ..schema.engines import engine_of
from ..schema.errors import BenchscribeError
from ..schema.master import Entry, Item, Row
from ..schema.results import Derived, Input

if TYPE_CHECKING:
    from .wanted_recipe import Sized, WantedRecipe


def derived_values(
    change: Change, snapshot: Snapshot, flags: Sequence[tuple[str, bool | int]]
) -> tuple[Derived[Any], ...]:
    """Everything that follows from the changed keys as they will be, apart from what `auto` asked for."""
    keys = [one for one in change.remaining if one.data_changed or one.points]
    if not keys:
        return ()
    figures = CheckoutFigures(snapshot)
    return (
        *_budgets([one.entry for one in keys], snapshot),
        *_gpus([one.entry for one in keys]),
        *_points([one.entry for one in keys], change.layout, flags),
        *golden_values(change, figures),
    )


def sizing_values(recipe: WantedRecipe) -> Iterator[Derived[Any]]:
    """What each knob came to, point by point, and the variants that are new (source: FACTS §6)."""
    knobs: dict[str, list[Sized]] = {}
    for one in recipe.sized:
        knobs.setdefault(one.assignment.name, []).append(one)
    for name, found in knobs.items():
        shown = tuple(f"{one.point}: {_short(one.assignment.value)}" for one in found)
        reasons = dict.fromkeys(_for_any_point(one.assignment.reason) for one in found)
        yield Derived(name, shown, f"{found[0].assignment.knob}: {', or '.join(reasons)}")
    if recipe.new:
        names = tuple(block.name for block in recipe.new)
        yield Derived("new variants", names, "named for tp, each other size that is not 1, and the concurrency")


def _for_any_point(reason: str) -> str:
    """A reason without the figures of its point: the values beside it show them."""
    reason = re.sub(r"C\d+ = \d+$", "the concurrency", reason)
    return re.sub(r"of \d+$", "of the point", reason)


def _short(value: Any) -> str:
    """A value in a line: of a long list its length and its end."""
    text = str(value)
    sizes = text.strip("[]").split(",")
    return text if len(sizes) < 6 else f"{len(sizes)} sizes up to {sizes[-1].strip()}"


def relative_values(key: str, snapshot: Snapshot) -> Iterator[Derived[Any]]:
    """The nearest relatives of a new key, the nearest first, with why."""
    from ..derive.naming import siblings

    near = siblings(key, [Entry(name, {}) for name in snapshot.keys if name != key])[:3]
    if near:
        reason = "; ".join(f"{one.key}: {one.reason}" for one in near)
        yield Derived("nearest relatives", tuple(one.key for one in near), reason)


def _gpus(entries: Sequence[Entry]) -> Iterator[Derived[Any]]:
    """GPUs of each arm's replicas: tp × pp × pcp-size, of all workers where there are several (source: FACTS §3)."""
    found: dict[str, str] = {}
    for entry in entries:
        for _, row in entry.rows():
            if not row.multinode:
                topology = row.topology
                found[str(row)] = f"{topology.gpus} = {topology.tp} × {topology.pp} × {topology.pcp}"
                continue
            parts = [(name, block) for name, block in row.blocks.items() if block.workers]
            total = sum(block.workers * block.topology.gpus for _, block in parts)
            sums = " + ".join(f"{block.workers} × {block.topology.gpus} {name}" for name, block in parts)
            found[str(row)] = f"{total} = {sums}"
    if found:
        shown = tuple(f"{name}: {gpus.partition(' ')[0]}" for name, gpus in found.items())
        yield Derived("GPUs per point", shown, "; ".join(f"{name}: {gpus}" for name, gpus in found.items()))


def _points(entries: Sequence[Entry], layout: str, flags: Sequence[tuple[str, bool | int]]) -> Iterator[Derived[Any]]:
    """How many points the changed keys have, and which of them get an accuracy eval (source: FACTS §7)."""
    from ..derive.evals import count_points, evaluated_points

    per_key = [(entry, count_points([entry])) for entry in entries]
    total = sum(count for _, count in per_key)
    reason = ", ".join(f"{count} of {entry.key}" for entry, count in per_key)
    yield Derived("points", total, reason)
    found = evaluated_points(entries, layout, dict(flags))
    shown = tuple(str(one.point) for one in found)
    why = "; ".join(dict.fromkeys(one.reason for one in found)) or "no point of these keys gets an eval"
    yield Derived("evaluated points", shown, why)


def _budgets(entries: Sequence[Entry], snapshot: Snapshot) -> Iterator[Derived[Any]]:
    """The budget of every DRAM row, and the largest tier that fits it (source: FACTS §4)."""
    told: set[str] = set()
    for entry in entries:
        for item, row in entry.rows():
            if row.kv_offloading != "dram" or item.dram_utilization is None:
                continue
            derived = _budget(entry, item, row, snapshot)
            if derived is not None and derived.name not in told:
                told.add(derived.name)
                yield derived


def _budget(entry: Entry, item: Item, row: Row, snapshot: Snapshot) -> Derived[Any] | None:
    from ..derive.dram import budget_for, largest_tier

    try:
        hardware = snapshot.runners.hardware(entry.runner)
        cap = snapshot.dram_cap.mib
        budget = budget_for(row, hardware, item.dram_utilization, cap)
        largest = largest_tier(row, hardware, cap, utilization=item.dram_utilization)
    except BenchscribeError:
        return None
    name = f"DRAM budget in GB of {row}"
    return Derived(
        name, budget.value, f"{budget.reason}; the {largest.name} that fits is {largest.value}",
        (*budget.inputs, Input(largest.name, str(largest.value))),
    )  # fmt: skip


def golden_values(change: Change, figures: CheckoutFigures) -> tuple[Derived[Any], ...]:
    """One value per key and draft depth that its points run with, and the depths that the curves have."""
    found: dict[tuple[str, int], Derived[Any]] = {}
    lengths: dict[str, Derived[Any]] = {}
    for key in change.remaining:
        for tokens in _depths(key):
            if tokens > 0:
                derived = figures.golden(key.entry, tokens)
                found[derived.reason, tokens] = derived
                prefix = key.entry.model_prefix
                reason = f"golden curves of {prefix}, thinking on"
                lengths[prefix] = Derived("draft lengths measured", figures.draft_lengths(key.entry), reason)
    depths = [derived for _, derived in sorted(found.items(), key=lambda pair: pair[0][1])]
    return (*depths, *lengths.values())


def _depths(change: KeyChange) -> Iterator[int]:
    engine = engine_of(change.entry.framework)
    if engine is None or not change.points:
        return
    from ..derive.acceptance import draft_tokens_of

    for point in change.points:
        arguments = {
            name.name: value
            for name, value in (point.after or {}).items()
            if name.scope == ARGS and name.role != "prefill"
        }
        tokens = draft_tokens_of(engine, _nested(arguments))
        if tokens is not None:
            yield tokens


def _nested(arguments: dict[str, Any]) -> dict[str, Any]:
    """Dotted names back into the mappings they came from."""
    result: dict[str, Any] = {}
    for name, value in arguments.items():
        *parents, last = name.split(".")
        below = result
        for parent in parents:
            below = below.setdefault(parent, {})
            if not isinstance(below, dict):
                break
        else:
            below[last] = value
    return result
