"""Offloading rows with their tiers and budgets: what the rules about host memory share (source: FACTS §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..checkout.snapshot import Snapshot
from ..derive.claim_facts import KeyFacts, RunFacts
from ..derive.dram import Demand, dram_gpus, tier_words, total_gb, utilization_for
from ..derive.figures import CheckoutFigures
from ..derive.tiers import BUDGET_VARIABLE, TIER_KNOBS, Exactness, Tier
from ..schema.arguments import canonical
from ..schema.engines import Scope
from ..schema.errors import BenchscribeError
from ..schema.master import Item, Row
from ..schema.units import Size

_WHOLE = re.compile(rf"\$\{{?{BUDGET_VARIABLE}\}}?")
_SHARED = re.compile(rf"\$\(\(\s*\$?\{{?{BUDGET_VARIABLE}\}}?\s*/\s*(?:(\d+)|\$?\{{?TP\}}?)\s*\)\)")


@dataclass(frozen=True, slots=True)
class OffloadingRow:
    """One dram row at one point: its `ranks` on a node, tiers, their total in GB, and the budget in GB.

    `total` is None where a tier has no known size. `from_budget`: the tiers are worked out from the budget.
    """

    run: RunFacts
    ranks: int
    tiers: tuple[Tier, ...]
    total: Fraction | None
    budget: int
    from_budget: bool

    @property
    def row(self) -> Row:
        return self.run.point.row

    @property
    def item(self) -> Item:
        return self.run.item

    @property
    def short(self) -> bool:
        return self.total is not None and self.total > self.budget

    @property
    def exact(self) -> bool:
        """Whether every tier's size is what it really takes."""
        return self.total is not None and all(tier.exactness is Exactness.EXACT for tier in self.tiers)

    @property
    def words(self) -> str:
        return tier_words(self.tiers, self.ranks)

    @property
    def signature(self) -> tuple[Any, ...]:
        """What makes it the same case before and after; one more concurrency of a row is no new case."""
        return self.item.identity, self.row.identity, self.total, self.budget


def offloading_rows(facts: KeyFacts) -> Iterator[OffloadingRow]:
    """Every dram point whose item states a utilization and whose node's memory is known."""
    snapshot = facts.snapshot
    figures = CheckoutFigures(snapshot)
    for run in facts.runs:
        row = run.point.row
        if row.kv_offloading != "dram" or run.item.dram_utilization is None:
            continue
        budget = figures.budget(run.entry, row, run.item.dram_utilization)
        ranks = _ranks(snapshot, run)
        if budget is None or ranks is None:
            continue
        tiers, computed = _computed(run, budget, ranks)
        total = total_gb(tiers, ranks)
        yield OffloadingRow(run, ranks, tiers, total, budget, computed or run.from_budget)


def _ranks(snapshot: Snapshot, run: RunFacts) -> int | None:
    try:
        return dram_gpus(run.point.row, snapshot.runners.hardware(run.entry.runner).gpus_per_node)
    except BenchscribeError:
        return None


def _computed(run: RunFacts, budget: int, ranks: int) -> tuple[tuple[Tier, ...], bool]:
    """The tiers, with those that a recipe writes as the budget, or its plain share, worked out."""
    found = []
    for tier in run.tiers:
        size = _size_from_budget(run, tier, budget, ranks) if tier.exactness is Exactness.FROM_BUDGET else None
        found.append(tier if size is None else replace(tier, size=size, exactness=Exactness.EXACT, note=""))
    return tuple(found), tuple(found) != run.tiers


def _size_from_budget(run: RunFacts, tier: Tier, budget: int, ranks: int) -> Size | None:
    knob = next((knob for knob in TIER_KNOBS if knob.name == tier.knob), None)
    if knob is None or knob.unit not in ("GB", "GiB"):
        return None
    for name, shipped in run.settings:
        if canonical(name) != canonical(tier.knob) or not isinstance(shipped.value, str):
            continue
        if _WHOLE.fullmatch(shipped.value.strip()):
            return Size(Fraction(budget), knob.unit)
        if match := _SHARED.fullmatch(shipped.value.strip()):
            return Size(Fraction(budget // int(match[1] or ranks or 1)), knob.unit)
    return None


def mistaken_unit(row: OffloadingRow) -> str:
    """How a tier that is worked out from the budget came to exceed it; empty where that is not plain."""
    for tier in row.tiers:
        if tier.size is None or not row.from_budget:
            continue
        if tier.scope is Scope.RANK and row.ranks > 1 and abs(tier.size.amount - row.budget) <= 1:
            return (
                f"each of the {row.ranks} ranks takes the whole budget: {tier.knob} counts per rank, "
                f"so it gets {BUDGET_VARIABLE} / {row.ranks}"
            )
        parts = row.ranks if tier.scope is Scope.RANK else 1
        if tier.size.unit == "GiB" and tier.size.amount * parts <= row.budget:
            share = row.budget * 10**9 // (parts * 2**30)
            return f"GB are taken for GiB: {tier.knob} counts GiB, and the budget's share is {share} GiB"
    return ""


def covering_utilization(facts: KeyFacts, item: Item, rows: list[OffloadingRow]) -> tuple[Decimal | None, str]:
    """The smallest utilization that covers every sized row of an item, with its reason, or why there is none."""
    try:
        entry = rows[0].run.entry
        hardware = facts.snapshot.runners.hardware(entry.runner)
        demands = [
            Demand(row.row, row.tiers, str(row.row))
            for row in rows
            if row.item == item and row.total is not None and not row.from_budget
        ]
        derived = utilization_for(demands, hardware, facts.snapshot.dram_cap.mib)
    except BenchscribeError as error:
        return None, f"{error.what}; {error.hint}" if error.hint else error.what
    return derived.value, derived.reason
