"""The changelog's cases of the casebook, each with an input of our own: rule, line, fix, and the bytes after it."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, git, make_branch
from changelog_branch import ALPHA, HISTORY, LINK, MASTER, NEW_IMAGE, entry, root_files

from benchscribe.checkout.checkout import Checkout
from benchscribe.checks.registry import judge
from benchscribe.checks.subject import read_subject
from benchscribe.plan import apply_edits
from benchscribe.plan.fixing import plan_fixes
from benchscribe.writers.changelog_merge import merge

CHANGELOG, MASTERS = "perf-changelog.yaml", "configs/amd-master.yaml"
OWN = entry("XXX", ALPHA, text="Image: rocm/atom:v1 to rocm/atom:v2")


def branch(tmp_path: Path, changelog: str, master: str = NEW_IMAGE) -> Path:
    return make_branch(tmp_path / "repo", root_files(), {CHANGELOG: changelog, MASTERS: master})


def fix(repo: Path, number: int | None = None) -> str:
    """Apply the safe fixes; the changelog afterwards, which has to be clean."""
    subject = read_subject(Checkout.open(repo), number=number)
    apply_edits(subject.checkout.git, plan_fixes(subject, judge(subject)).edits)
    assert findings(repo, number=number) == []
    return (repo / CHANGELOG).read_bytes().decode()


def behind(number: int) -> int:
    """Where the old entry of a pull request starts."""
    end = HISTORY.index(f"/pull/{number}\n")
    return HISTORY.rindex("- config-keys", 0, end)


def test_c01_an_entry_before_those_main_has_gained(tmp_path: Path) -> None:
    repo = branch(tmp_path, HISTORY[: behind(2639)] + OWN + "\n" + HISTORY[behind(2639) :])
    (found,) = findings(repo)
    assert (found.rule, found.line) == ("changelog-tail", 13)
    assert "#2639, #2677" in found.message
    assert fix(repo) == HISTORY + "\n" + OWN


def test_c08_an_entry_before_the_last_one(tmp_path: Path) -> None:
    repo = branch(tmp_path, HISTORY[: behind(2677)] + OWN + "\n" + HISTORY[behind(2677) :])
    (found,) = findings(repo)
    assert (found.rule, found.line) == ("changelog-tail", 21)
    assert "before the entry of #2677" in found.message
    assert fix(repo) == HISTORY + "\n" + OWN


def test_c09_an_entry_at_the_very_top(tmp_path: Path) -> None:
    repo = branch(tmp_path, OWN + "\n" + HISTORY)
    (found,) = findings(repo)
    assert (found.rule, found.line) == ("changelog-tail", 1)
    assert "at the very top" in found.message
    assert fix(repo) == HISTORY + "\n" + OWN


def test_c10_a_placeholder_of_no_use_in_mid_file(tmp_path: Path) -> None:
    own = OWN.replace("XXX", f"{LINK}PLACEHOLDER")
    repo = branch(tmp_path, HISTORY[: behind(2677)] + own + "\n" + HISTORY[behind(2677) :])
    found = findings(repo)
    assert [(finding.rule, finding.line) for finding in found] == [("changelog-tail", 21), ("changelog-link", 25)]
    assert fix(repo) == HISTORY + "\n" + OWN.replace("XXX", f"{LINK}XXX")


@pytest.mark.parametrize(("ending", "line"), [("TBD", 31), ("xxxx", 31)])
def test_c11_placeholders_of_no_use(tmp_path: Path, ending: str, line: int) -> None:
    repo = branch(tmp_path, HISTORY + "\n" + OWN.replace("XXX", LINK + ending))
    (found,) = findings(repo)
    assert (found.rule, found.line, found.text) == ("changelog-link", line, LINK + ending)
    assert fix(repo) == HISTORY + "\n" + OWN.replace("XXX", f"{LINK}XXX")


def test_c11_with_a_number_the_number_is_written(tmp_path: Path) -> None:
    repo = branch(tmp_path, HISTORY + "\n" + OWN.replace("XXX", f"{LINK}TBD"))
    assert fix(repo, number=2171) == HISTORY + "\n" + OWN.replace("XXX", f"{LINK}2171")


def test_c12_blanks_between_old_entries_went(tmp_path: Path) -> None:
    changed = HISTORY.replace("/2660\n\n", "/2660\n")
    repo = branch(tmp_path, changed + "\n" + OWN)
    (found,) = findings(repo)
    assert (found.rule, found.line, found.message) == (
        "changelog-history",
        12,
        "empty line after #2660 was removed",
    )
    assert fix(repo) == HISTORY + "\n" + OWN


def test_c14_a_changed_image_without_an_entry(tmp_path: Path) -> None:
    repo = branch(tmp_path, HISTORY)
    (found,) = findings(repo)
    assert (found.rule, found.path, found.line, found.text) == ("changelog-coverage", MASTERS, 1, ALPHA)
    assert found.fix is not None and found.fix.action == "entry"
    written = fix(repo)
    assert written.startswith(HISTORY + "\n- config-keys:\n    - " + ALPHA + "\n")
    assert "rocm/atom:v1" in written[len(HISTORY) :] and "rocm/atom:v2" in written[len(HISTORY) :]
    assert written.endswith(f"  pr-link: {LINK}XXX\n")


@pytest.mark.parametrize("link", ["XXX", f"{LINK}XXX"])
def test_c18_an_accepted_placeholder_until_there_is_a_number(tmp_path: Path, link: str) -> None:
    repo = branch(tmp_path, HISTORY + "\n" + OWN.replace("XXX", link))
    assert findings(repo) == []
    (found,) = findings(repo, number=2050)
    assert (found.rule, found.line) == ("changelog-link", 31)
    assert fix(repo, number=2050) == HISTORY + "\n" + OWN.replace("XXX", f"{LINK}2050")


def test_c19_flags_survive_a_merge_and_every_fix(tmp_path: Path) -> None:
    grown = MASTER.replace("conc-list: [1, 2]", "conc-list: [1, 2, 4]")
    own = entry("xxxx", ALPHA, scenario="agentic-coding", more="  append-only: true\n")
    right = own.replace(f"{LINK}xxxx", f"{LINK}816")
    main = HISTORY + "\n" + entry(815, ALPHA, text="Main's.", more="  eval-min-prefill-ep: 4\n")
    merged = merge(HISTORY.encode(), main.encode(), (HISTORY + "\n" + right).encode())
    assert merged == (main + "\n" + right).encode()
    repo = branch(tmp_path, own + "\n" + HISTORY, grown)
    assert fix(repo, number=816) == HISTORY + "\n" + right


def test_c20_two_entries_without_a_line_between(tmp_path: Path) -> None:
    first, second = entry("XXX", ALPHA, text="First."), entry("XXX", ALPHA, text="Second.")
    repo = branch(tmp_path, HISTORY + "\n" + first + second)
    (found,) = findings(repo)
    assert (found.rule, found.line) == ("changelog-separators", 32)
    assert fix(repo) == HISTORY + "\n" + first + "\n" + second


@pytest.mark.parametrize(
    "broken",
    [
        (HISTORY + "\n" + OWN).replace("\n", "\r\n"),
        HISTORY + "\n" + OWN.rstrip("\n"),
        "\ufeff" + HISTORY + "\n" + OWN,
        HISTORY + OWN,
        HISTORY + "\n\n\n" + OWN + "\n\n",
        HISTORY.replace("  \n-", "\n-").replace('"Two."', '"2."') + "\n" + OWN,
        HISTORY[: behind(2677)] + "\n" + OWN,
    ],
)
def test_every_way_to_break_bytes_is_mended_to_the_same(tmp_path: Path, broken: str) -> None:
    repo = branch(tmp_path, broken)
    assert findings(repo) != []
    assert fix(repo) == HISTORY + "\n" + OWN


def test_fixing_twice_changes_nothing_more(tmp_path: Path) -> None:
    repo = branch(tmp_path, OWN.replace("XXX", f"{LINK}TBD") + "\n" + HISTORY)
    assert fix(repo) == fix(repo)


def test_an_entry_of_a_branch_that_was_reseated_onto_a_newer_main_is_right(tmp_path: Path) -> None:
    repo = branch(tmp_path, HISTORY + "\n" + OWN)
    git(repo, "stash", "-q")
    git(repo, "checkout", "-q", "main")
    gained = HISTORY + "\n" + entry(2700, ALPHA, text="Main's.")
    (repo / CHANGELOG).write_text(gained)
    git(repo, "commit", "-qam", "main goes on")
    git(repo, "checkout", "-q", "work")
    git(repo, "stash", "pop", "-q")
    (found,) = findings(repo)
    assert (found.rule, found.line) == ("changelog-behind", 27)
    assert "has gained 1 entry" in found.message
    (repo / CHANGELOG).write_text(gained + "\n" + OWN)
    assert findings(repo) == []
