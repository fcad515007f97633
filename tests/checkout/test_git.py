"""The thin layer over the git command, on real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from benchscribe.checkout.git import Git, check_ref
from benchscribe.schema.errors import StateError, SystemFailure


@pytest.fixture(autouse=True)
def author(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.invalid")


def git(directory: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", *arguments]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


def commit(directory: Path, **files: str) -> str:
    for name, content in files.items():
        path = directory / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", "change", "--allow-empty")
    return git(directory, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo with blank"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root, file="one\n", folder__inner="two\n")
    return root


def test_open_from_any_directory_inside(repository: Path) -> None:
    opened = Git.open(repository / "folder")
    assert opened.root == repository
    assert opened.folder == repository / ".git"
    assert opened.head == git(repository, "rev-parse", "HEAD")
    assert opened.shallow is False
    assert opened.git_path("benchscribe") == (repository / ".git/benchscribe")
    assert opened.git_path("hooks") == repository / ".git/hooks"


def test_linked_work_tree_and_submodule_have_a_file_for_git(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    linked = Git.open(tmp_path / "linked")
    assert (tmp_path / "linked/.git").is_file()
    assert linked.root == tmp_path / "linked"
    assert linked.git_path("benchscribe") == repository / ".git/worktrees/linked/benchscribe"
    assert linked.state().branch == "other"

    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q", "-b", "main")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "sub")
    assert (outer / "sub/.git").is_file()
    assert Git.open(outer / "sub/folder").root == outer / "sub"


def test_variables_of_a_hook_do_not_mislead(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert Git.open(repository).root == repository


def test_not_a_work_tree(repository: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(StateError, match="is not in a git work tree"):
        Git.open(plain)
    with pytest.raises(StateError, match="is not a directory"):
        Git.open(plain / "absent")
    with pytest.raises(StateError, match="not in its work tree"):
        Git.open(repository / ".git")


def test_git_missing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SystemFailure, match="git cannot be run"):
        Git.open(repository)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_explained(repository: Path) -> None:
    os.chown(repository, 12345, 12345)
    os.chown(repository / ".git", 12345, 12345)
    with pytest.raises(StateError) as error:
        Git.open(repository)
    assert "git config --global --add safe.directory" in error.value.hint


def test_files_of_a_commit(repository: Path) -> None:
    (repository / "folder/link").symlink_to("inner")
    (repository / "folder/away").symlink_to("/etc/passwd")
    (repository / "folder/dangling").symlink_to("nothing")
    head = commit(repository, **{"näme mit blank": "drei\n", "empty": ""})
    opened = Git.open(repository)
    assert opened.show(head, "folder/inner") == b"two\n"
    assert opened.show(head, "folder/link") == b"two\n"
    assert opened.show(head, "folder/away") is None
    assert opened.show(head, "folder/dangling") is None
    assert opened.show(head, "näme mit blank") == b"drei\n"
    assert opened.show(head, "empty") == b""
    assert opened.show(head, "folder") is None
    assert opened.show(head, "no such file here") is None
    assert opened.show(head, "file\nHEAD:file") is None
    assert opened.kind(head, "folder") == "tree"
    assert opened.kind(head, "") == "tree"
    assert opened.kind(head, "absent") == ""
    assert opened.names(head, "") == ["empty", "file", "folder", "näme mit blank"]
    assert opened.names(head, "folder") == ["away", "dangling", "inner", "link"]
    assert opened.names(head, "absent") == []
    opened.close()
    assert opened.show(head, "file") == b"one\n"
    opened.close()


def test_large_and_binary_files_come_through_whole(repository: Path) -> None:
    content = bytes(range(256)) * 5000
    (repository / "large").write_bytes(content)
    head = commit(repository)
    opened = Git.open(repository)
    assert opened.show(head, "large") == content
    assert opened.show(head, "file") == b"one\n"


def test_resolve_checks_the_name(repository: Path) -> None:
    opened = Git.open(repository)
    assert opened.resolve("main") == opened.head
    assert opened.resolve("HEAD") == opened.head
    assert opened.resolve(opened.head[:12]) == opened.head
    git(repository, "tag", "-a", "v1", "-m", "x")
    assert opened.resolve("v1") == opened.head
    for bad in ("-main", "--upload-pack=x", "", "ma\nin", "ma\0in", "\x1b[31m"):
        with pytest.raises(StateError, match="cannot name a commit"):
            check_ref(bad)
        with pytest.raises(StateError, match="cannot name a commit"):
            opened.resolve(bad)
    for absent in ("nosuch", "HEAD:file", "main..main", "1234567"):
        with pytest.raises(StateError, match="no commit is named"):
            opened.resolve(absent)


def test_state(repository: Path) -> None:
    opened = Git.open(repository)
    state = opened.state()
    assert (state.branch, state.detached, state.unborn, state.operation) == ("main", False, False, "")
    git(repository, "checkout", "-qb", "side")
    commit(repository, file="side\n")
    git(repository, "checkout", "-q", "main")
    commit(repository, file="main\n")
    subprocess.run(["git", "merge", "-q", "side"], cwd=repository, check=False, capture_output=True)
    assert opened.state().operation == "merge"
    git(repository, "merge", "--abort")
    git(repository, "checkout", "-q", "--detach")
    state = opened.state()
    assert (state.branch, state.detached, state.operation) == ("", True, "")


def test_rebase_and_cherry_pick_are_seen(repository: Path) -> None:
    git(repository, "checkout", "-qb", "side")
    side = commit(repository, file="side\n")
    git(repository, "checkout", "-q", "main")
    commit(repository, file="main\n")
    opened = Git.open(repository)
    subprocess.run(["git", "cherry-pick", side], cwd=repository, check=False, capture_output=True)
    assert opened.state().operation == "cherry-pick"
    git(repository, "cherry-pick", "--abort")
    git(repository, "checkout", "-q", "side")
    subprocess.run(["git", "rebase", "main"], cwd=repository, check=False, capture_output=True)
    assert opened.state().operation == "rebase"


def test_unborn_head(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    opened = Git.open(tmp_path)
    assert opened.head == ""
    assert opened.state().unborn
    assert opened.state().branch == "main"


def test_a_command_that_fails_says_what_git_said(repository: Path) -> None:
    with pytest.raises(SystemFailure, match=r"git cat-file failed: .*nosuch"):
        Git.open(repository).run("cat-file", "blob", "nosuch")
