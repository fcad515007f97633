"""`check --upstream`: the checkout's own programs judge the state, and leave the checkout as it was."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from branches import git, make_branch, write
from changelog_branch import ALPHA, HISTORY, NEW_IMAGE, entry, root_files

from benchscribe.commands import check
from benchscribe.commands.check import Options

CHANGELOG = "perf-changelog.yaml"
# A validator as a repository has one: it asks git for both sides, and judges the bytes.
VALIDATOR = """\
import argparse, pathlib, subprocess, sys

parser = argparse.ArgumentParser()
for name in ("--changelog-file", "--base-ref", "--head-ref"):
    parser.add_argument(name, required=True)
asked = parser.parse_args()

def at(ref):
    command = ["git", "show", f"{ref}:{asked.changelog_file}"]
    return subprocess.run(command, check=True, capture_output=True).stdout

old, new = at(asked.base_ref), at(asked.head_ref)
if pathlib.Path(asked.changelog_file).read_bytes() != new:
    sys.exit("the work tree is not the head")
if subprocess.run(["git", "status", "--porcelain"], capture_output=True).stdout:
    sys.exit("the work tree is dirty")
if not new.startswith(old):
    sys.exit("history was rewritten")
start = b"- config-keys:" if old.endswith(b"\\n\\n") else b"\\n- config-keys:"
if new != old and not new[len(old):].startswith(start):
    line = old.count(b"\\n") + 1
    sys.exit(f"{asked.changelog_file} line {line}: wrong separator")
pathlib.Path("out.txt").write_text("written by the validator")
""".replace("old.count(10)", 'old.count(b"\\n")')
OWN = entry("XXX", ALPHA, text="Image: rocm/atom:v1 to rocm/atom:v2")


def branch(tmp_path: Path, changelog: str, *, program: str = "utils/validate_perf_changelog.py") -> Path:
    base = {**root_files(), program: VALIDATOR}
    files = {CHANGELOG: changelog, "configs/amd-master.yaml": NEW_IMAGE, "notes/new file.txt": "untracked"}
    return make_branch(tmp_path / "repo", base, files)


def state(repo: Path) -> list[str]:
    """Everything of the checkout that may not change: index, refs, work tree, objects."""
    files = sorted(f"{path}:{path.read_bytes()!r}" for path in repo.rglob("*") if path.is_file())
    return [git(repo, "for-each-ref"), git(repo, "status", "--porcelain"), *files]


def test_the_validator_agrees_with_what_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, f"{HISTORY}\n{OWN}")
    git(repo, "status")  # refreshes the index once
    before = state(repo)
    assert check.run(repo, Options(upstream=True)) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "utils/validate_perf_changelog.py) accepts this state" in err
    assert state(repo) == before


def test_its_refusal_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, HISTORY + OWN)
    assert check.run(repo, Options(upstream=True)) == 1
    out = capsys.readouterr().out
    assert "refuses this state: perf-changelog.yaml line 26: wrong separator" in out
    assert "line 26" in out and "[upstream]" in out


def test_what_the_derived_fix_writes_is_accepted_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, HISTORY)
    assert check.run(repo, Options(fix=True, upstream=True)) == 0
    assert "accepts this state" in capsys.readouterr().err


def test_committed_asks_about_head(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, f"{HISTORY}\n{OWN}")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "work")
    write(repo, {CHANGELOG: HISTORY + OWN})
    assert check.run(repo, Options(upstream=True, committed=True)) == 0
    assert "accepts this state" in capsys.readouterr().err


def test_a_checkout_without_programs_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, f"{HISTORY}\n{OWN}", program="utils/other.py")
    assert check.run(repo, Options(upstream=True)) == 0
    assert "not judged: this checkout holds no validator" in capsys.readouterr().out


def test_settings_name_other_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = branch(tmp_path, HISTORY + OWN, program="utils/other.py")
    command = "utils/other.py --changelog-file {changelog} --base-ref {base} --head-ref {head}"
    write(repo, {".benchscribe.toml": f'[upstream]\ncommands = ["{command}"]\n'})
    assert check.run(repo, Options(upstream=True)) == 1
    assert "(utils/other.py) refuses this state" in capsys.readouterr().out


@pytest.mark.parametrize(
    "program", ["import no_such_module\n", "import argparse\nargparse.ArgumentParser().parse_args()\n"]
)
def test_a_program_that_cannot_run_gives_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], program: str
) -> None:
    repo = branch(tmp_path, f"{HISTORY}\n{OWN}")
    write(repo, {"utils/validate_perf_changelog.py": program})
    assert check.run(repo, Options(upstream=True)) == 0
    assert "gave no verdict" in capsys.readouterr().out


def test_nothing_is_run_unasked(tmp_path: Path) -> None:
    repo = branch(tmp_path, f"{HISTORY}\n{OWN}")
    write(repo, {"utils/validate_perf_changelog.py": f"open({str(tmp_path / 'ran')!r}, 'w')\n"})
    assert check.run(repo, Options()) == 0
    assert not (tmp_path / "ran").exists()
    subprocess.run(["git", "fsck", "--no-dangling"], cwd=repo, check=True, capture_output=True)
