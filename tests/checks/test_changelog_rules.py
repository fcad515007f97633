"""The changelog's rules: each kind of mistake is found on its line, and what is right is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from changelog_branch import ALPHA, BETA, E2E_MASTER, HISTORY, LINK, MASTER, NEW_IMAGE, e2e_files, entry, root_files

from benchscribe.schema.results import Finding, Severity

CHANGELOG, MASTERS = "perf-changelog.yaml", "configs/amd-master.yaml"
OWN = entry("XXX", ALPHA, text="Image: rocm/atom:v1 to rocm/atom:v2")
# The history has 25 lines; an own entry behind an empty line starts on line 27.
FIRST = 27


def judged(
    tmp_path: Path, changelog: str | bytes, master: str = NEW_IMAGE, rule: str = "", **options: object
) -> list[Finding]:
    branch = {CHANGELOG: changelog, MASTERS: master}
    return findings(make_branch(tmp_path / "repo", root_files(), branch), rule, **options)


def told(found: list[Finding]) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line) for finding in found]


def test_an_entry_that_is_right_is_not_spoken_of(tmp_path: Path) -> None:
    assert judged(tmp_path, f"{HISTORY}\n{OWN}") == []


def test_a_branch_that_changes_nothing_is_clean(tmp_path: Path) -> None:
    assert findings(make_branch(tmp_path / "repo", root_files())) == []


# History


def test_names_every_blank_that_changed_and_says_how(tmp_path: Path) -> None:
    trimmed = HISTORY.replace("  \n- config-keys", "\n- config-keys")
    found = judged(tmp_path, f"{trimmed}\n{OWN}", rule="changelog-history")
    assert [(finding.line, finding.message) for finding in found] == [
        (6, "blank line of two spaces after #2643 became empty"),
        (19, "empty line and blank line of two spaces after #2639 became two empty lines"),
    ]
    assert {finding.fix.action for finding in found if finding.fix} == {"reseat"}


def test_a_removed_and_an_added_blank(tmp_path: Path) -> None:
    changed = HISTORY.replace("  \n- config-keys", "- config-keys", 1).replace('Two."\n', 'Two."\n', 1)
    changed = changed.replace("/2660\n\n", "/2660\n\n\n")
    found = judged(tmp_path, f"{changed}\n{OWN}", rule="changelog-history")
    assert [finding.message for finding in found] == [
        "blank line of two spaces after #2643 was removed",
        "empty line after #2660 became two empty lines",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"Two."', '"2."', 10, "the entry of #2660 changed: '- \"Two.\"' became '- \"2.\"'"),
        ("pull/2660", "pull/2661", 11, "the link of #2660 changed"),
        (entry(2660, BETA, text="Two.") + "\n", "", 6, "the entry of #2660 was deleted"),
        ("    - beta", "     - beta", 7, "white space inside the entry of #2660 changed"),
    ],
)
def test_names_the_old_entry_that_changed(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    found = judged(tmp_path, HISTORY.replace(old, new, 1) + "\n" + OWN, rule="changelog-history")
    assert message in [finding.message for finding in found]
    assert line in [finding.line for finding in found]


def test_an_old_entry_that_moved(tmp_path: Path) -> None:
    two = entry(2660, BETA, text="Two.") + "\n"
    found = judged(
        tmp_path, HISTORY.replace(two, "") + "\n" + two.rstrip("\n") + "\n\n" + OWN, rule="changelog-history"
    )
    assert "the entry of #2660 was moved" in [finding.message for finding in found]


def test_many_changes_are_summed_up(tmp_path: Path) -> None:
    history = "\n".join(entry(number, BETA, text=f"Number {number}.") for number in range(100, 140))
    repo = make_branch(
        tmp_path / "repo", root_files(history), {CHANGELOG: history.replace("Number", "No."), MASTERS: MASTER}
    )
    found = findings(repo, "changelog-history")
    assert len(found) == 9
    assert found[-1].message.startswith("32 more places of the base's bytes changed, the first: the entry of #108")


def test_a_link_correction_alone_is_only_warned_of(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, HISTORY.replace("pull/2660", "pull/2661"), MASTER)
    assert (found.rule, found.severity, found.line) == ("changelog-history", Severity.WARNING, 11)
    assert found.fix is None


def test_going_on_with_the_last_old_entry(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, HISTORY + "  evals-only: true\n", MASTER)
    assert (found.rule, found.line) == ("changelog-history", 26)
    assert "last entry was added to" in found.message


def test_an_emptied_changelog(tmp_path: Path) -> None:
    found = judged(tmp_path, "", rule="changelog-history")
    assert [finding.message for finding in found] == ["the changelog is empty, its history gone"]


# Tail


def test_an_entry_in_the_middle_names_those_it_stands_before(tmp_path: Path) -> None:
    at = HISTORY.index(entry(2660, BETA, text="Two."))
    (found,) = judged(tmp_path, f"{HISTORY[:at]}{OWN}\n{HISTORY[at:]}")
    assert (found.rule, found.line) == ("changelog-tail", 7)
    assert "in the middle, before the entries of #2660, #2639, #2677" in found.message
    assert found.fix is not None and found.fix.action == "reseat"


# Separators


@pytest.mark.parametrize(
    ("history", "suffix", "line", "word"),
    [
        (HISTORY, OWN, 26, "no empty line"),
        (HISTORY, "\n\n" + OWN, 28, "2 empty lines"),
        (HISTORY, "  \n" + OWN, 27, "1 line, 1 of them with blanks in"),
        (HISTORY + "\n", "\n" + OWN, 28, "one empty line"),
        (HISTORY, f"\n{OWN}{entry('XXX', ALPHA, text='More.')}", 32, "no empty line"),
        (HISTORY, f"\n{OWN}  \n{entry('XXX', ALPHA, text='More.')}", 33, "with blanks in"),
        (HISTORY, f"\n{OWN}\n\n", 32, "2 empty lines"),
    ],
)
def test_wrong_separators(tmp_path: Path, history: str, suffix: str, line: int, word: str) -> None:
    repo = make_branch(tmp_path / "repo", root_files(history), {CHANGELOG: history + suffix, MASTERS: NEW_IMAGE})
    (found,) = findings(repo, "changelog-separators")
    assert found.line == line
    assert word in found.message


@pytest.mark.parametrize("history", [HISTORY, HISTORY + "\n", HISTORY + "\n  \n", HISTORY + "  \n", HISTORY + "\n\n"])
def test_right_separators_for_every_tail(tmp_path: Path, history: str) -> None:
    separator = "" if history.endswith("\n\n") else "\n"
    files = {CHANGELOG: history + separator + OWN, MASTERS: NEW_IMAGE}
    assert findings(make_branch(tmp_path / "repo", root_files(history), files)) == []


def test_a_comment_before_an_added_entry(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n# my entry\n{OWN}")
    assert (found.rule, found.line) == ("changelog-separators", 27)
    assert "comment" in found.message


# Bytes


@pytest.mark.parametrize(
    ("broken", "line", "word"),
    [
        (OWN.replace("Image", "Im\tage"), FIRST + 3, "a tab"),
        (OWN.replace("Image", "Im\0age"), FIRST + 3, "a NUL byte"),
        (OWN.replace("pr-link", "\ufeffpr-link"), FIRST + 4, "a byte order mark"),
        (OWN.removesuffix("\n"), FIRST + 4, "no line end"),
        (f"<<<<<<< HEAD\n{OWN}=======\n>>>>>>> main\n", FIRST, "a conflict marker; 2 more such lines"),
        (OWN.replace("\n", "\r\n"), FIRST, "a carriage return"),
    ],
)
def test_bytes_that_may_not_stand(tmp_path: Path, broken: str, line: int, word: str) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{broken}", rule="changelog-bytes")
    assert found.line == line
    assert word in found.message


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    broken = f"{HISTORY}\n{OWN}".encode().replace(b"Image", b"Im\xe4ge")
    assert told(judged(tmp_path, broken, rule="changelog-bytes")) == [("changelog-bytes", FIRST + 3)]


def test_old_traps_are_told_of_only_with_all(tmp_path: Path) -> None:
    history = HISTORY.replace("One.", "O\tne.")
    repo = make_branch(tmp_path / "repo", root_files(history), {CHANGELOG: f"{history}\n{OWN}", MASTERS: NEW_IMAGE})
    assert findings(repo, "changelog-bytes") == []
    assert told(findings(repo, "changelog-bytes", everything=True)) == [("changelog-bytes", 4)]


# Fields


@pytest.mark.parametrize(
    ("own", "line", "word"),
    [
        (OWN + "  append_only: true\n", 32, "did you mean `append-only`?"),
        (OWN + "  no-evals: true\n", 32, "no field"),  # e2e only
        (OWN + "  append-only: true\n  evals-only: true\n", 33, "excludes"),
        (OWN + "  eval-min-prefill-ep: 0\n", 32, "whole number"),
        (OWN + "  pr-link: XXX\n", 32, "stands twice"),
        (OWN.replace("  description", "  descriptions"), 29, "no field"),
        (OWN.replace('"Image: rocm/atom:v1 to rocm/atom:v2"', "Image: v2"), 30, "holds text"),
        (OWN.replace('atom:v2"', "atom:v2"), 31, "not valid YAML"),
    ],
)
def test_fields_that_may_not_stand(tmp_path: Path, own: str, line: int, word: str) -> None:
    found = judged(tmp_path, f"{HISTORY}\n{own}", rule="changelog-fields")
    assert line in [finding.line for finding in found]
    assert any(word in f"{finding.message} {finding.hint}" for finding in found)


def test_prose_that_looks_like_an_entry(tmp_path: Path) -> None:
    own = OWN.replace("Image: ", "Image:\n- config-keys: ")
    assert ("changelog-fields", 31) in told(judged(tmp_path, f"{HISTORY}\n{own}"))


def test_no_evals_is_a_field_in_e2e(tmp_path: Path) -> None:
    repo = make_branch(
        tmp_path / "repo",
        e2e_files(),
        {
            f"inferencex-e2e/{CHANGELOG}": f"{HISTORY}\n{OWN}  no-evals: true\n",
            f"inferencex-e2e/{MASTERS}": E2E_MASTER.replace("atom:v1", "atom:v2"),
        },
    )
    assert findings(repo, "changelog-fields") == []


@pytest.mark.parametrize(
    ("own", "line"),
    [
        (OWN.replace("    - alpha", "  - alpha"), 28),
        (OWN.replace('"Image: rocm/atom:v1 to rocm/atom:v2"', "Image v2"), 30),
        (OWN.replace("rocm/atom:v1 to", "rocm/atom:v1\n      to"), 30),
    ],
)
def test_style_is_warned_of(tmp_path: Path, own: str, line: int) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{own}", rule="changelog-style")
    assert (found.severity, found.line) == (Severity.WARNING, line)


# Link


@pytest.mark.parametrize("ending", ["TBD", "PLACEHOLDER", "xxxx", "YYYY", "2690/changes", "02690"])
def test_links_the_merge_helper_refuses(tmp_path: Path, ending: str) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{entry(ending)}")
    assert (found.rule, found.line, found.text) == ("changelog-link", FIRST + 4, f"{LINK}{ending}")


@pytest.mark.parametrize("ending", ["XXX", f"{LINK}XXX", "2690"])
def test_links_it_accepts(tmp_path: Path, ending: str) -> None:
    assert judged(tmp_path, f"{HISTORY}\n{entry(ending)}") == []


@pytest.mark.parametrize("ending", ["XXX", f"{LINK}XXX", "2690", "TBD"])
def test_with_a_number_the_link_is_that_one(tmp_path: Path, ending: str) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{entry(ending)}", number=2700)
    assert found.rule == "changelog-link"
    assert found.fix is not None and found.fix.arguments == {"number": 2700}
    assert f"write {LINK}2700" in found.hint


def test_a_link_with_more_behind_the_number_keeps_its_number(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{entry('2690/changes')}")
    assert found.fix is not None and found.fix.arguments == {"number": 2690}


# Keys


def test_a_key_that_no_config_has(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{entry('XXX', ALPHA, 'alpha-fp4-mi355x-atm-agentic')}")
    assert (found.rule, found.line) == ("changelog-keys", 29)
    assert found.hint.startswith(f"did you mean {ALPHA}")


def test_a_removed_key_cannot_be_named(tmp_path: Path) -> None:
    master = NEW_IMAGE[: NEW_IMAGE.index(BETA)].rstrip("\n") + "\n"
    (found,) = judged(tmp_path, f"{HISTORY}\n{entry('XXX', ALPHA, BETA)}", master)
    assert (found.rule, found.line) == ("changelog-keys", 29)
    assert "removed key" in found.message


def test_a_change_that_only_removes_keys_needs_no_entry(tmp_path: Path) -> None:
    master = MASTER[: MASTER.index(BETA)].rstrip("\n") + "\n"
    assert judged(tmp_path, HISTORY, master) == []


def test_wildcards(tmp_path: Path) -> None:
    assert judged(tmp_path, f"{HISTORY}\n{entry('XXX', 'alpha-*-agentic')}") == []


def test_a_wildcard_that_matches_nothing(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{entry('XXX', ALPHA, 'gamma-*')}")
    assert (found.rule, found.line, found.text) == ("changelog-keys", 29, "gamma-*")


def test_a_key_named_twice(tmp_path: Path) -> None:
    assert told(judged(tmp_path, f"{HISTORY}\n{entry('XXX', ALPHA, ALPHA)}")) == [("changelog-keys", 29)]


# Coverage, and keys without a change


def test_a_changed_key_that_the_entry_leaves_out(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{OWN}", NEW_IMAGE.replace("tp: 8", "tp: 4"))
    assert (found.rule, found.path, found.text) == ("changelog-coverage", MASTERS, BETA)
    assert found.line == 21


def test_a_key_that_only_loses_points_is_warned_of(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, HISTORY, MASTER.replace("conc-list: [1, 2]", "conc-list: [1]"))
    assert (found.rule, found.severity) == ("changelog-coverage", Severity.WARNING)
    assert f"{ALPHA} loses points (agentic-coding)" in found.message


def test_comments_and_layout_need_no_entry(tmp_path: Path) -> None:
    assert judged(tmp_path, HISTORY, MASTER.replace("beta-fp4", "# a word\nbeta-fp4", 1).replace("0.60", "0.6")) == []


def test_a_key_named_without_any_change(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{entry('XXX', ALPHA, BETA)}")
    assert (found.rule, found.line, found.text) == ("changelog-unchanged", 29, BETA)


@pytest.mark.parametrize("flag", ["evals-only", "all-evals"])
def test_an_eval_of_an_unchanged_key_may_be_asked_for(tmp_path: Path, flag: str) -> None:
    more = entry("XXX", BETA, more=f"  {flag}: true\n")
    assert judged(tmp_path, f"{HISTORY}\n{OWN}\n{more}") == []


def test_nothing_is_called_unchanged_where_its_script_changed(tmp_path: Path) -> None:
    script = "benchmarks/single_node/agentic/beta_fp4_mi355x_atom.sh"
    files = {CHANGELOG: f"{HISTORY}\n{entry('XXX', BETA)}", script: "#!/bin/bash\nserve --tp $TP --fast\n"}
    assert findings(make_branch(tmp_path / "repo", root_files(), files)) == []


def test_a_changed_script_needs_an_entry_too(tmp_path: Path) -> None:
    script = "benchmarks/single_node/agentic/beta_fp4_mi355x_atom.sh"
    repo = make_branch(tmp_path / "repo", root_files(), {script: "#!/bin/bash\nserve --tp $TP --fast\n"})
    found = findings(repo, "changelog-coverage")
    assert [(finding.path, finding.line) for finding in found] == [(script, 2)]
    assert BETA in found[0].message


def test_a_comment_in_a_script_needs_none(tmp_path: Path) -> None:
    script = "benchmarks/single_node/agentic/beta_fp4_mi355x_atom.sh"
    repo = make_branch(tmp_path / "repo", root_files(), {script: "#!/bin/bash\n# fast\nserve --tp $TP\n"})
    assert findings(repo, "changelog-coverage") == []


def test_nothing_is_called_unchanged_where_its_recipe_is_not_here(tmp_path: Path) -> None:
    base = {path: text for path, text in root_files().items() if not path.endswith(".sh")}
    repo = make_branch(
        tmp_path / "repo", base, {CHANGELOG: f"{HISTORY}\n{entry('XXX', ALPHA, BETA)}", MASTERS: NEW_IMAGE}
    )
    assert findings(repo) == []


# Scenario type


def test_a_scenario_no_key_runs(tmp_path: Path) -> None:
    master = MASTER.replace("tp: 8", "tp: 4")
    found = judged(tmp_path, f"{HISTORY}\n{entry('XXX', BETA, scenario='fixed-seq-len')}", master)
    assert ("changelog-scenario", 30) in told(found)


def test_a_changed_scenario_left_out(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, f"{HISTORY}\n{entry('XXX', ALPHA, scenario='agentic-coding')}")
    assert (found.rule, found.line) == ("changelog-scenario", 29)
    assert "changes in fixed-seq-len too" in found.message


def test_a_scenario_that_fits(tmp_path: Path) -> None:
    master = MASTER.replace("conc-list: [1, 2]", "conc-list: [1, 2, 4]")
    assert judged(tmp_path, f"{HISTORY}\n{entry('XXX', ALPHA, scenario='agentic-coding')}", master) == []


def test_an_unchanged_scenario_taken_along(tmp_path: Path) -> None:
    master = MASTER.replace("conc-list: [1, 2]", "conc-list: [1, 2, 4]")
    own = entry("XXX", ALPHA, scenario="agentic-coding").replace("coding\n", "coding\n    - fixed-seq-len\n")
    (found,) = judged(tmp_path, f"{HISTORY}\n{own}", master)
    assert (found.rule, found.severity, found.text) == ("changelog-scenario", Severity.WARNING, "fixed-seq-len")


# e2e


def e2e(tmp_path: Path, own: str) -> list[Finding]:
    files = {
        f"inferencex-e2e/{CHANGELOG}": f"{HISTORY}\n{own}",
        f"inferencex-e2e/{MASTERS}": E2E_MASTER.replace("atom:v1", "atom:v2"),
    }
    return findings(make_branch(tmp_path / "repo", e2e_files(), files))


def test_one_entry_per_pull_request_in_e2e(tmp_path: Path) -> None:
    found = e2e(tmp_path, f"{OWN}\n{entry('XXX', ALPHA, text='More.')}")
    assert told(found) == [("changelog-one-entry", 33)]


def test_an_evals_only_companion_is_accepted_in_e2e(tmp_path: Path) -> None:
    assert e2e(tmp_path, f"{OWN}\n{entry('XXX', ALPHA, text='More.', more='  evals-only: true' + chr(10))}") == []


def test_english_only_in_e2e(tmp_path: Path) -> None:
    found = e2e(tmp_path, entry("XXX", ALPHA, text="镜像：v1 改为 v2"))
    assert told(found) == [("changelog-english", 30)]


def test_signs_that_are_no_letters_are_english(tmp_path: Path) -> None:
    assert e2e(tmp_path, entry("XXX", ALPHA, text="2 × 256 GiB → 512 GiB, µs – “fine”, é")) == []


# What cannot be read


def test_a_config_in_conflict_is_a_finding(tmp_path: Path) -> None:
    found = judged(tmp_path, HISTORY, "<<<<<<< HEAD\n" + MASTER)
    assert [(finding.rule, finding.path, finding.line) for finding in found if finding.severity is Severity.ERROR] == [
        ("config-readable", MASTERS, 1)
    ]


def test_a_field_that_stands_twice(tmp_path: Path) -> None:
    master = MASTER.replace("  image: rocm/atom:v1\n", "  image: rocm/atom:v1\n  image: rocm/atom:v2\n", 1)
    found = judged(tmp_path, f"{HISTORY}\n{OWN}", master, rule="config-readable")
    assert [(finding.path, finding.line, finding.text) for finding in found] == [(MASTERS, 3, "image")]
