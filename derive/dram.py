"""Host DRAM: from the size of an offload tier to `dram-utilization` and back (source: FACTS §4).

GB are decimal (10^9 bytes), MiB and GiB binary. All arithmetic is exact: utilizations count as spelled.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..schema.arguments import exact
from ..schema.engines import Scope
from ..schema.errors import UsageError
from ..schema.master import Row
from ..schema.results import Derived, Input
from ..schema.runners import Hardware
from ..schema.units import BYTES_PER, Size, number
from .tiers import Exactness, Tier

GIGABYTE = 10**9
STEP = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Demand:
    """What one dram row asks of a node: its tiers, and how the row is named where it is shown."""

    row: Row
    tiers: tuple[Tier, ...]
    label: str = ""

    def __str__(self) -> str:
        return self.label or str(self.row)


@dataclass(frozen=True, slots=True)
class Budget:
    """The whole GB that one row may take of a node at one utilization, for its `gpus` ranks together."""

    row: Row
    gpus: int
    gb: int

    @property
    def per_rank_gb(self) -> Fraction:
        return Fraction(self.gb, self.gpus)


def fraction_of(utilization: Any) -> Fraction:
    """A utilization exactly as spelled. UsageError outside (0, 1]."""
    value = exact(utilization)
    if value is None or not 0 < value <= 1:
        raise UsageError(
            f"dram-utilization {_spelled(utilization)} is out of range",
            hint="allowed: a number more than 0 and at most 1",
        )
    return value


def _spelled(value: Any) -> str:
    return str(getattr(value, "spelling", value))


def budget_gb(dram_mib: int, cap_mib: int, utilization: Any, gpus: int, gpus_per_node: int) -> int:
    """`floor(min(available, cap) × 2^20 × utilization × gpus / gpus-per-node / 10^9)` in GB."""
    return math.floor(full_gb(dram_mib, cap_mib, gpus, gpus_per_node) * fraction_of(utilization))


def full_gb(dram_mib: int, cap_mib: int, gpus: int, gpus_per_node: int) -> Fraction:
    """What `gpus` GPUs could take of a node's memory at utilization 1, in exact GB."""
    return Fraction(min(dram_mib, cap_mib) * BYTES_PER["MiB"] * gpus, gpus_per_node * GIGABYTE)


def dram_gpus(row: Row, gpus_per_node: int) -> int:
    """The GPUs of a row's replica on one node: they decide the row's share of the node's DRAM.

    A single-node row must fit the node. Of a multi-node row it is the prefill (or worker) replica: larger
    than a node, it must be a multiple of it and takes the whole node; smaller, it must divide it.
    Raises UsageError that says what does not fit.
    """
    gpus = row.topology.gpus
    if not row.multinode:
        if gpus > gpus_per_node:
            raise UsageError(
                f"row {row} needs {gpus} GPUs, a node has {gpus_per_node}",
                hint="a row with kv-offloading: dram must fit one node; lower tp, pp or pcp-size",
            )
        return gpus
    larger, smaller = max(gpus, gpus_per_node), min(gpus, gpus_per_node)
    if larger % smaller:
        block = next(name for name in ("prefill", "worker", "decode") if name in row.blocks)
        raise UsageError(
            f"row {row}: the {block} replica's {gpus} GPUs neither divide a node of {gpus_per_node} "
            "nor fill whole nodes",
            hint=f"with kv-offloading: dram a replica takes a divisor or a multiple of {gpus_per_node} GPUs",
        )
    return smaller


def budgets(rows: Iterable[Row], hardware: Hardware, utilization: Any, cap_mib: int) -> tuple[Budget, ...]:
    """The budget of every given row at one utilization, in their order."""
    dram, per_node = hardware.require_dram(), hardware.gpus_per_node
    found = []
    for row in rows:
        gpus = dram_gpus(row, per_node)
        found.append(Budget(row, gpus, budget_gb(dram, cap_mib, utilization, gpus, per_node)))
    return tuple(found)


def budget_for(row: Row, hardware: Hardware, utilization: Any, cap_mib: int) -> Derived[int]:
    """One row's budget in GB, with the formula filled in."""
    (budget,) = budgets([row], hardware, utilization, cap_mib)
    dram, per_node = hardware.require_dram(), hardware.gpus_per_node
    node = f"{min(dram, cap_mib):,} MiB" + (" (the cap)" if dram > cap_mib else "")
    share = f"{budget.gpus}/{per_node}" if budget.gpus < per_node else "all"
    reason = (
        f"{node} × {_spelled(utilization)} for {share} GPUs of a node = {budget.gb} GB per server, "
        f"{_gb(budget.per_rank_gb)} GB for each of {budget.gpus} ranks"
    )
    inputs = (*_node_inputs(hardware, cap_mib), Input("dram-utilization", _spelled(utilization)))
    return Derived("dram-budget", budget.gb, reason, inputs)


def _node_inputs(hardware: Hardware, cap_mib: int, source: str = "", cap_source: str = "") -> tuple[Input, ...]:
    place = source or str(hardware.place)
    return (
        Input(f"available-cpu-dram-mib of {hardware.id}", f"{hardware.require_dram():,}", place),
        Input("cap in MiB", f"{cap_mib:,}", cap_source),
        Input(f"gpus-per-node of {hardware.id}", str(hardware.gpus_per_node), place),
    )


def total_gb(tiers: Sequence[Tier], ranks: int) -> Fraction | None:
    """What the tiers take of a node together, in exact GB; None without a tier, or with an unsized one."""
    known = [size.gigabytes for tier in tiers if (size := tier.total(ranks)) is not None]
    return sum(known, Fraction(0)) if tiers and len(known) == len(tiers) else None


def tier_words(tiers: Sequence[Tier], ranks: int) -> str:
    """`4 × 256 GiB = 1099.5 GB`, or `1000 GB` where there is nothing to convert; a lower bound says so."""
    words = " + ".join(tier.words(ranks) for tier in tiers)
    total = total_gb(tiers, ranks)
    if total is not None and words != f"{_gb(total)} GB":
        words += f" = {_gb(total)} GB"
    notes = [f"{tier.knob} counts {tier.note}" for tier in tiers if tier.exactness is Exactness.LOWER_BOUND]
    return words + (f" (a lower bound: {'; '.join(notes)})" if notes else "")


def _gb(value: Fraction) -> str:
    return number(value, 1 if value == 0 or value >= Fraction(1, 10) else 3)


def largest_tier(
    row: Row,
    hardware: Hardware,
    cap_mib: int,
    *,
    utilization: Any = Decimal(1),
    scope: Scope = Scope.RANK,
    unit: str = "GiB",
) -> Derived[Size]:
    """The largest whole number of `unit` per rank (or per server) that fits the row's budget."""
    (budget,) = budgets([row], hardware, utilization, cap_mib)
    parts = budget.gpus if scope is Scope.RANK else 1
    size = Size(Fraction(budget.gb * GIGABYTE // (parts * BYTES_PER[unit])), unit)
    together = f"{parts} × {size}" if scope is Scope.RANK else str(size)
    total = f"{_gb(size.times(parts).gigabytes)} GB"
    reason = together if together == total else f"{together} = {total}"
    reason += f" ≤ {budget.gb} GB, the budget of {row} at {_spelled(utilization)}"
    inputs = (*_node_inputs(hardware, cap_mib), Input("dram-utilization", _spelled(utilization)))
    return Derived(f"largest tier {scope}", size, reason, inputs)


def utilization_for(
    demands: Sequence[Demand],
    hardware: Hardware,
    cap_mib: int,
    step: Decimal = STEP,
    *,
    source: str = "",
    cap_source: str = "",
) -> Derived[Decimal]:
    """The smallest multiple of `step` whose budget covers the tiers of every dram row of one scenario item.

    The value has as many decimals as the step: 0.70 at step 0.01. `source` says where the hardware was read
    (its own place by default), `cap_source` where the cap was. Raises UsageError where a tier's size is not
    known, where no utilization up to 1 is enough, and where there is nothing to size by.
    """
    if not demands:
        raise UsageError(
            "dram-utilization: auto has nothing to go by: no row has kv-offloading: dram",
            hint="leave dram-utilization out, give a number, or add a dram row",
        )
    if not (step.is_finite() and 0 < step <= 1):
        raise UsageError(f"dram-step {step} is out of range", hint="allowed: more than 0 and at most 1, as 0.01")
    _refuse_unsized(demands, hardware)
    needs = [_need(demand, hardware, cap_mib, step) for demand in demands]
    most = max(needs, key=lambda need: (need.steps, need.tier / need.full))
    if most.steps * step > 1:
        raise _too_large(most, hardware, cap_mib)
    tiers = [Input(f"tier of {need.demand}", tier_words(need.demand.tiers, need.gpus), need.source) for need in needs]
    node = _node_inputs(hardware, cap_mib, source, cap_source)
    inputs = (*tiers, *node, Input("step", format(step, "f")))
    return Derived("dram-utilization", most.at(most.steps), _reason(most, needs), tuple(dict.fromkeys(inputs)))


@dataclass(frozen=True, slots=True)
class _Need:
    """A demand worked out: `full` GB is the row's share at 1, `steps` the fewest that cover `tier` GB."""

    demand: Demand
    gpus: int
    full: Fraction
    tier: Fraction
    step: Decimal
    steps: int

    @property
    def source(self) -> str:
        return ", ".join(dict.fromkeys(tier.source for tier in self.demand.tiers if tier.source))

    def at(self, steps: int) -> Decimal:
        return steps * self.step

    def budget(self, steps: int) -> int:
        return math.floor(self.full * Fraction(self.at(steps)))

    def covered(self, steps: int) -> str:
        return f"{self.budget(steps)} GB ≥ {tier_words(self.demand.tiers, self.gpus)}"


def _refuse_unsized(demands: Sequence[Demand], hardware: Hardware) -> None:
    unknown = []
    for demand in demands:
        ranks = dram_gpus(demand.row, hardware.gpus_per_node)
        if total_gb(demand.tiers, ranks) is None:
            unsized = [tier.words(ranks) for tier in demand.tiers if tier.size is None]
            unknown.append(f"row {demand}: {', '.join(unsized) or 'its recipe sets no tier whose knob is known'}")
    if unknown:
        rows = "; ".join(unknown)
        raise UsageError(
            f"dram-utilization: auto needs the size of every dram row's tier; not known for {rows}",
            hint="give dram-utilization as a number, or the tier's size with offload: {per-rank: 256 GiB}",
        )


def _need(demand: Demand, hardware: Hardware, cap_mib: int, step: Decimal) -> _Need:
    per_node = hardware.gpus_per_node
    gpus = dram_gpus(demand.row, per_node)
    full = full_gb(hardware.require_dram(), cap_mib, gpus, per_node)
    tier = total_gb(demand.tiers, gpus) or Fraction(0)
    # The budget is a whole number of GB, so it must reach the tier rounded up.
    steps = max(1, math.ceil(math.ceil(tier) / full / Fraction(step)))
    return _Need(demand, gpus, full, tier, step, steps)


def _reason(most: _Need, needs: Sequence[_Need]) -> str:
    # Demands of one name are variants of one row: the largest of them speaks for it.
    largest = {str(need.demand): need for need in sorted(needs, key=lambda need: need.tier)}
    labels = dict.fromkeys(str(need.demand) for need in needs if str(need.demand) != str(most.demand))
    name = f"{most.demand}: " if labels else ""
    parts = [name + most.covered(most.steps)]
    if most.steps > 1:
        lower = most.budget(most.steps - 1)
        parts.append(f"{most.at(most.steps - 1)} gives {lower} GB: short by {_gb(most.tier - lower)}")
    return "; ".join([*parts, *(f"{label}: {largest[label].covered(most.steps)}" for label in labels)])


def _too_large(need: _Need, hardware: Hardware, cap_mib: int) -> UsageError:
    tiers = need.demand.tiers
    what = (
        f"dram-utilization: auto: row {need.demand} needs {need.at(need.steps)}, and 1 is the most there is: "
        f"{tier_words(tiers, need.gpus)} against {math.floor(need.full)} GB on {hardware.id}"
    )
    size = tiers[0].size
    if len(tiers) != 1 or size is None:
        return UsageError(what, hint="make the tiers smaller, or spread the row over more GPUs")
    largest = largest_tier(
        need.demand.row,
        hardware,
        cap_mib,
        utilization=need.at(int(1 / need.step)),
        scope=tiers[0].scope,
        unit=size.unit if size.unit in ("GB", "TB", "TiB") else "GiB",
    )
    return UsageError(what, hint=f"the {largest.name} that fits is {largest.value}: {largest.reason}")
