"""A plan judged by the same rules as a branch."""

from __future__ import annotations

from dataclasses import replace

from ..schema.results import Finding
from .model import Plan


def rule_findings(plan: Plan) -> list[Finding]:
    """What the rules say of the files that the plan writes."""
    from ..checks.registry import judge_plan

    if plan.nothing_to_do:
        return []
    noted = plan.spec is None or any(entry.notes for entry in plan.spec.changelog)
    return judge_plan(plan.wanted, plan.change, plan.edits, number=plan.pull_request, prose=noted)


def judged(plan: Plan) -> Plan:
    """The plan with what the rules say of the files it writes added to its findings."""
    found = rule_findings(plan)
    known = {(one.rule, one.path, one.line, one.message) for one in plan.findings}
    more = [one for one in found if (one.rule, one.path, one.line, one.message) not in known]
    return replace(plan, findings=(*plan.findings, *more))
