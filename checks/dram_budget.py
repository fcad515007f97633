"""Rule `dram-budget`: the offload tier of a row fits the host memory that its utilization allows."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.recipes import find_script
from ..derive.claim_facts import script_at
from ..derive.tiers import BUDGET_VARIABLE, Exactness
from ..schema.errors import BenchscribeError
from ..schema.results import Finding, Fix, Severity
from ..schema.units import number
from .judged import JudgedKey, facts_before, facts_now, judged_keys
from .model import SPEC_PATCH, Rule, Subject
from .offloading import OffloadingRow, covering_utilization, mistaken_unit, offloading_rows


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per row and tier that exceed the budget, with the utilization that covers it."""
    for key in judged_keys(subject):
        rows = list(offloading_rows(facts_now(subject, key.key)))
        if not any(row.short for row in rows):
            continue
        old = (
            set() if subject.everything else {row.signature for row in offloading_rows(facts_before(subject, key.key))}
        )
        told = set()
        for row in rows:
            case = (row.item.identity, row.row.identity, row.words)
            if row.short and row.signature not in old and case not in told:
                told.add(case)
                yield _finding(subject, key, row, rows)


def _finding(subject: Subject, key: JudgedKey, row: OffloadingRow, rows: list[OffloadingRow]) -> Finding:
    assert row.total is not None
    item = row.item
    path = ("scenarios", item.scenario, item.index, "dram-utilization")
    utilization = getattr(item.dram_utilization, "spelling", str(item.dram_utilization))
    source = next((f" ({tier.source})" for tier in row.tiers if tier.source), "")
    bound = " at least" if any(tier.exactness is Exactness.LOWER_BOUND for tier in row.tiers) else ""
    message = (
        f"row {row.row}: the tier takes{bound} {row.words}{source}, but dram-utilization {utilization} leaves a budget "
        f"of {row.budget} GB: {number(row.total / max(row.budget, 1), 2)} times as much"
    )
    why = mistaken_unit(row)
    if why:
        return RULE.finding(subject.place(key.key, path), f"{message}; {why}", f"correct it: {why}", text=utilization)
    message += _never_read(subject, key, row)
    value, reason = covering_utilization(facts_now(subject, key.key), item, rows)
    if value is None:
        return RULE.finding(subject.place(key.key, path), message, reason, text=utilization)
    fix = Fix(SPEC_PATCH, {"patch": {"changes": [utilization_patch(key, row, str(value))]}})
    hint = f"dram-utilization: {value} covers it ({reason}), or make the tier smaller"
    return RULE.finding(subject.place(key.key, path), message, hint, fix=fix, text=utilization)


def utilization_patch(key: JudgedKey, row: OffloadingRow, value: str) -> dict[str, object]:
    """The spec's change that sets one item's utilization."""
    scenario: dict[str, object] = {"dram-utilization": float(value)}
    if len(key.after.scenarios[row.item.scenario]) > 1:
        scenario = {"item": row.item.index, **scenario}
    return {"config-key": key.key, "scenarios": {row.item.scenario: scenario}}


def _never_read(subject: Subject, key: JudgedKey, row: OffloadingRow) -> str:
    """Whether the script fixes a size although it demands the budget from the harness."""
    if row.row.recipe_references or row.row.multinode:
        return ""
    try:
        path = find_script(subject.after, key.after, row.item, row.row)
    except BenchscribeError:
        return ""
    if not isinstance(path, str):
        return ""
    script = script_at(subject.after, path)
    if BUDGET_VARIABLE in script.requires and BUDGET_VARIABLE not in script.reads:
        return f"; the script requires {BUDGET_VARIABLE} but never reads it"
    return ""


RULE = Rule(
    id="dram-budget",
    severity=Severity.ERROR,
    title="an offload tier fits the host memory that its row may take",
    explanation=(
        "dram-utilization gives each dram row a budget: floor(min(node DRAM, cap) × utilization × GPUs / GPUs per "
        "node) "
        "in decimal GB. The tier that the recipe reserves, per rank or per server and in its knob's own unit, must not "
        "exceed it. SGLang's hicache-size is a lower bound. GB taken for GiB and ranks that each take the whole budget "
        "are told as such; tiers whose size nobody states are not judged."
    ),
    example_before="dram-utilization: 0.171   # TP4 with LMCache 256 GiB per rank: 1099.5 GB against 256 GB",
    example_after="dram-utilization: 0.74    # 1109 GB",
    judge=judge,
)
