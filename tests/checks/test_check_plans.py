"""Real data: plans from the shared specs are clean by the rules, or their findings right; so are merged branches."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_checkout import build, cases
from upstream_checkout import upstream

from benchscribe.checkout.checkout import Checkout
from benchscribe.checks.registry import judge, judge_plan
from benchscribe.checks.subject import read_subject
from benchscribe.plan import make_plan
from benchscribe.plan.fixing import plan_fixes
from benchscribe.schema.results import Severity
from benchscribe.schema.spec_reader import read_spec

RECIPE = "inferencex-e2e/benchmarks/single_node/srt-slurm-recipes/glm5.2/atom/mi355x-fp4-mtp/agentic.yaml"


@pytest.mark.parametrize(
    ("layout", "name", "expected"),
    [
        ("root", "qwen35-image-bump", []),
        ("root", "dsv4-b300-append-points", []),
        ("root", "glm52-vllm-new-key", []),
        # C07: the mono kernel path of TP4 C1 and C2 is not among the evaluated points.
        ("e2e", "glm52-atom-retune", [("eval-coverage", "warning", RECIPE)]),
    ],
)
def test_plans_of_the_shared_specs(
    shared: Path, tmp_path: Path, layout: str, name: str, expected: list[tuple[str, str, str]]
) -> None:
    checkout = Checkout.open(upstream(shared, layout, tmp_path / layout))
    plan = make_plan(read_spec((shared / "specs" / f"{name}.yaml").read_text(), name), checkout)
    found = judge_plan(plan.wanted, plan.change, plan.edits, number=plan.pull_request)
    assert [(finding.rule, finding.severity.value, finding.path) for finding in found] == expected


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("pr2241", [("prose-points", "perf-changelog.yaml")]),
        ("prchanges", [("changelog-link", "perf-changelog.yaml")]),
        ("pr2184", []),
        ("pr2336", []),
        ("pr2120", []),
        ("pr2310", []),
    ],
)
def test_errors_of_real_pull_requests(shared: Path, tmp_path: Path, name: str, errors: list[tuple[str, str]]) -> None:
    """A sample of `benchmarks/cases_check.py`; all sixty stand in docs/precision.md."""
    (case,) = [one for one in cases(shared) if one.name == name]
    found = judge(read_subject(Checkout.open(build(shared, case, tmp_path / "repo", entry=True))))
    assert [(one.rule, one.path) for one in found if one.severity is Severity.ERROR] == errors


@pytest.mark.parametrize("name", ["pr2000", "pr2157", "pr2241", "pr2310"])
def test_the_derived_entry_of_a_real_change_has_no_error(shared: Path, tmp_path: Path, name: str) -> None:
    (case,) = [one for one in cases(shared) if one.name == name]
    subject = read_subject(Checkout.open(build(shared, case, tmp_path / "repo")))
    (edit,) = plan_fixes(subject, judge(subject)).edits
    fixed = subject.checkout.with_overlay({edit.path: edit.after})
    assert [one for one in judge(read_subject(fixed)) if one.severity is Severity.ERROR] == []


def test_the_cure_of_eval_coverage_cures_it(shared: Path, tmp_path: Path) -> None:
    """The patch laid into the author's own spec: the second key, its entry, and no finding left (C07)."""
    import json

    from upstream_checkout import upstream

    from benchscribe.plan import judged, make_plan
    from benchscribe.schema.spec_reader import read_spec
    from benchscribe.schema.yaml_text import load, plain

    directory = upstream(shared, "e2e", tmp_path / "checkout")
    spec = plain(load((shared / "specs" / "glm52-atom-retune.yaml").read_text()))
    made = judged(make_plan(read_spec(json.dumps(spec), "spec"), Checkout.open(directory)))
    (finding,) = [one for one in made.findings if one.rule == "eval-coverage"]
    assert finding.fix is not None
    patch = finding.fix.arguments["patch"]
    first, companion = patch["changelog"]
    cured = {
        **spec,
        "changes": [*spec["changes"], *patch["changes"]],
        "changelog": [{**spec["changelog"], **first}, companion],
    }
    made = judged(make_plan(read_spec(json.dumps(cured), "spec"), Checkout.open(directory)))
    assert [one.rule for one in made.findings if one.rule == "eval-coverage"] == []
    assert "evals-only: true" in made.entry
