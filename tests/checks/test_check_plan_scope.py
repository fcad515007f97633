"""A plan is judged by what it writes itself: a neighbour changed by hand is the branch's business."""

from __future__ import annotations

from pathlib import Path

from branches import findings, make_branch
from changelog_branch import ALPHA, BETA, HISTORY, MASTER, NEW_IMAGE, entry, root_files

from benchscribe.checkout.changes import changed_files
from benchscribe.checkout.checkout import Checkout
from benchscribe.checks.registry import judge_plan
from benchscribe.derive.compare import compare
from benchscribe.schema.results import Edit, Finding

MASTERS, CHANGELOG = "configs/amd-master.yaml", "perf-changelog.yaml"


def plan(repo: Path, files: dict[str, str]) -> list[Finding]:
    """The findings about a plan that writes these files."""
    checkout = Checkout.open(repo)
    edits = [Edit(path, checkout.read(path), text.encode()) for path, text in files.items()]
    wanted = checkout.with_overlay({edit.path: edit.after for edit in edits})
    change = compare(wanted.before, wanted.after, changed_files(wanted, [edit.path for edit in edits]))
    return judge_plan(wanted, change, edits)


def test_a_neighbour_changed_by_hand_does_not_block(tmp_path: Path) -> None:
    by_hand = MASTER.replace("tp: 8", "tp: 4")
    repo = make_branch(tmp_path / "repo", root_files(), {MASTERS: by_hand})
    files = {MASTERS: NEW_IMAGE.replace("tp: 8", "tp: 4"), CHANGELOG: f"{HISTORY}\n{entry('XXX', ALPHA)}"}
    assert plan(repo, files) == []
    (left,) = [finding for finding in findings(repo) if finding.text == BETA]
    assert left.rule == "changelog-coverage"


def test_what_the_plan_writes_is_judged(tmp_path: Path) -> None:
    repo = make_branch(tmp_path / "repo", root_files())
    found = plan(repo, {MASTERS: NEW_IMAGE, CHANGELOG: f"{HISTORY}\n{entry('TBD', BETA)}"})
    assert {(finding.rule, finding.path) for finding in found} == {
        ("changelog-coverage", MASTERS),
        ("changelog-link", CHANGELOG),
        ("changelog-unchanged", CHANGELOG),
    }
