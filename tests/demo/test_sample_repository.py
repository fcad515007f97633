"""The repository made of the sample: the same on every machine, whatever git has been told there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchscribe.demo.sample import create
from benchscribe.schema.errors import StateError, SystemFailure

SAMPLE = Path(__file__).resolve().parents[2] / "demo" / "checkout"


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def files(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file() and not {".git", "__pycache__"} & set(path.parts))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def test_create_makes_a_clean_repository_on_a_branch(tmp_path: Path) -> None:
    root = create(tmp_path / "with blanks" / "démo")
    assert files(root) == files(SAMPLE)
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "rev-parse", "--abbrev-ref", "HEAD") == "retune"
    assert git(root, "rev-parse", "main") == git(root, "rev-parse", "retune")
    assert set(git(root, "ls-files", "-z").strip("\0").split("\0")) == files(root).keys()


def test_create_is_the_same_whatever_git_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = git(create(tmp_path / "plain"), "rev-parse", "HEAD")
    home = tmp_path / "home"
    hook = home / "template" / "hooks" / "pre-commit"
    hook.parent.mkdir(parents=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (home / "ignore").write_text("*.yaml\n")
    (home / ".gitconfig").write_text(
        f"[init]\n\ttemplateDir = {home}/template\n\tdefaultBranch = trunk\n"
        "[commit]\n\tgpgSign = true\n[core]\n\tautocrlf = true\n\teol = crlf\n"
        f"\thooksPath = {home}/template/hooks\n\texcludesFile = {home}/ignore\n"
        "[user]\n\tuseConfigOnly = true\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(home / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(home / "index"))
    root = create(tmp_path / "hostile")
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert git(root, "rev-parse", "HEAD") == plain
    (root / "inferencex-e2e" / "README.md").write_text("changed\n")
    git(root, "commit", "-qam", "a later commit works under that configuration too")


def test_create_without_a_directory_makes_a_new_one_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first, second = create(), create()
    assert first != second
    assert {first.parent, second.parent} == {tmp_path.resolve()}


def test_create_refuses_a_directory_in_use(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(StateError, match="not empty"):
        create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_create_says_when_git_is_missing_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemFailure, match="Install git"):
        create()
    assert list(tmp_path.iterdir()) == []
