"""The values a plan shows beside its bytes: points and evals, budgets and the largest tiers, golden AL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..checkout.snapshot import Snapshot
from ..derive.change import Change, KeyChange
from ..derive.figures import CheckoutFigures
from ..derive.settings import ARGS
from ..schema.engines import engine_of
from ..schema.errors import BenchscribeError
from ..schema.master import Entry, Item, Row
from ..schema.results import Derived, Input


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
        *_points([one.entry for one in keys], change.layout, flags),
        *golden_values(change, figures),
    )


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
    """One value per key and draft depth that its points run with."""
    found: dict[tuple[str, int], Derived[Any]] = {}
    for key in change.remaining:
        for tokens in _depths(key):
            if tokens > 0:
                derived = figures.golden(key.entry, tokens)
                found[derived.reason, tokens] = derived
    return tuple(derived for _, derived in sorted(found.items(), key=lambda pair: pair[0][1]))


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
