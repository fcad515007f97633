"""Rule `dram-oversize`: a budget is not far larger than the offload tiers that it is for."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..schema.results import Finding, Fix, Severity
from ..schema.units import number
from .dram_budget import utilization_patch
from .judged import JudgedKey, facts_before, facts_now, judged_keys
from .model import SPEC_PATCH, Rule, Subject
from .offloading import OffloadingRow, covering_utilization, offloading_rows

MOST = Fraction(3, 2)


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per item whose every tier is known exactly and takes less than two thirds of its budget."""
    for key in judged_keys(subject):
        rows = list(offloading_rows(facts_now(subject, key.key)))
        old = (
            set() if subject.everything else {row.signature for row in offloading_rows(facts_before(subject, key.key))}
        )
        for item in dict.fromkeys(row.item.identity for row in rows):
            own = [row for row in rows if row.item.identity == item]
            if all(_oversized(row) for row in own) and any(row.signature not in old for row in own):
                yield _finding(subject, key, own)


def _oversized(row: OffloadingRow) -> bool:
    return row.exact and not row.from_budget and row.total is not None and row.budget > MOST * row.total


def _finding(subject: Subject, key: JudgedKey, rows: list[OffloadingRow]) -> Finding:
    tightest = max(rows, key=lambda row: (row.total or Fraction(0)) / max(row.budget, 1))
    item = tightest.item
    utilization = getattr(item.dram_utilization, "spelling", str(item.dram_utilization))
    ratio = number(Fraction(tightest.budget) / (tightest.total or Fraction(1)), 1)
    message = (
        f"dram-utilization {utilization} gives row {tightest.row} a budget of {tightest.budget} GB, {ratio} times "
        f"its tier of {tightest.words}"
    )
    value, reason = covering_utilization(facts_now(subject, key.key), item, rows)
    place = subject.place(key.key, ("scenarios", item.scenario, item.index, "dram-utilization"))
    if value is None:
        return RULE.finding(place, message, "lower dram-utilization, or make the tier larger", text=utilization)
    fix = Fix(SPEC_PATCH, {"patch": {"changes": [utilization_patch(key, tightest, str(value))]}})
    hint = f"dram-utilization: {value} is enough ({reason}), or make the tier larger"
    return RULE.finding(place, message, hint, fix=fix, text=utilization)


RULE = Rule(
    id="dram-oversize",
    severity=Severity.WARNING,
    title="a budget is not more than 1.5 times the tiers it is for",
    explanation=(
        "A dram-utilization far above what the tiers take claims host memory that the run does not use, so the results "
        "are filed under a budget nobody had. It is judged per item, over all its dram rows, and only where every "
        "tier's "
        "size is stated exactly: lower bounds and tiers worked out from the budget are left alone."
    ),
    example_before="dram-utilization: 0.80   # 1199 GB for LMCache 64 GiB per rank at TP4, 274.9 GB",
    example_after="dram-utilization: 0.19   # 284 GB",
    judge=judge,
)
