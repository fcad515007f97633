"""Which commit a branch is compared with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchscribe.checkout.base import find_base
from benchscribe.checkout.git import Git
from benchscribe.schema.errors import StateError


def git(directory: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", *arguments]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


def commit(directory: Path, message: str) -> str:
    git(directory, "commit", "-q", "--allow-empty", "-m", message)
    return git(directory, "rev-parse", "HEAD")


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    """main with one commit, work with one more."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root, "first")
    git(root, "checkout", "-qb", "work")
    commit(root, "own")
    return root


def set_ref(root: Path, name: str, target: str = "main") -> None:
    git(root, "update-ref", name, target)


def test_local_main_when_there_is_no_remote(branch: Path) -> None:
    base = find_base(Git.open(branch))
    assert base.ref == "refs/heads/main"
    assert base.name == "main"
    assert base.commit == base.tip == git(branch, "rev-parse", "main")
    assert base.reason == "local main, no remote has one"


def test_the_merge_base_counts_not_the_tip(branch: Path) -> None:
    fork = git(branch, "rev-parse", "main")
    git(branch, "checkout", "-q", "main")
    tip = commit(branch, "main moved on")
    git(branch, "checkout", "-q", "work")
    base = find_base(Git.open(branch), "main")
    assert (base.commit, base.tip) == (fork, tip)
    assert base.reason == "asked for with --base"
    assert str(base) == f"main ({fork[:10]})"


def test_the_order_of_the_defaults(branch: Path) -> None:
    """Every step adds a ref that must win over all before it."""
    steps = [
        ("refs/heads/master", "main"),  # main is there already and stays first
        ("refs/remotes/origin/master", "origin/master"),
        ("refs/remotes/origin/main", "origin/main"),
        ("refs/remotes/upstream/master", "upstream/master"),
        ("refs/remotes/upstream/main", "upstream/main"),
    ]
    for ref, expected in steps:
        set_ref(branch, ref)
        assert find_base(Git.open(branch)).name == expected
    set_ref(branch, "refs/remotes/origin/develop")
    git(branch, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop")
    base = find_base(Git.open(branch))
    assert (base.ref, base.reason) == ("refs/remotes/origin/HEAD", "default branch of origin")
    git(branch, "symbolic-ref", "refs/remotes/upstream/HEAD", "refs/remotes/upstream/main")
    base = find_base(Git.open(branch))
    assert (base.ref, base.name) == ("refs/remotes/upstream/HEAD", "upstream/main")
    git(branch, "config", "benchscribe.base", "origin/main")
    base = find_base(Git.open(branch))
    assert (base.name, base.reason) == ("origin/main", "set by git config benchscribe.base")


def test_a_dangling_default_is_passed_over(branch: Path) -> None:
    git(branch, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
    assert find_base(Git.open(branch)).name == "main"


def test_a_configured_base_that_does_not_exist_is_an_error(branch: Path) -> None:
    git(branch, "config", "benchscribe.base", "origin/nosuch")
    with pytest.raises(StateError, match="configured base 'origin/nosuch' does not exist") as error:
        find_base(Git.open(branch))
    assert error.value.exit_code == 3


def test_the_branchs_upstream_is_the_last_resort(branch: Path) -> None:
    git(branch, "branch", "-m", "main", "trunk")
    git(branch, "config", "branch.work.remote", ".")
    git(branch, "config", "branch.work.merge", "refs/heads/trunk")
    base = find_base(Git.open(branch))
    assert (base.name, base.reason) == ("trunk", "the branch's upstream")


def test_nothing_to_compare_with_says_what_was_tried(branch: Path) -> None:
    git(branch, "branch", "-m", "main", "trunk")
    with pytest.raises(StateError) as error:
        find_base(Git.open(branch))
    assert error.value.what == (
        "no base to compare with was found; tried upstream/HEAD, origin/HEAD, upstream/main, "
        "upstream/master, origin/main, origin/master, main, master, the branch's upstream (none is set)"
    )
    assert "--base" in error.value.hint


def test_on_main_itself_the_base_is_head(branch: Path) -> None:
    git(branch, "checkout", "-q", "main")
    base = find_base(Git.open(branch))
    assert base.commit == git(branch, "rev-parse", "HEAD")
    assert "only what is not committed" in base.reason


def test_detached_head_still_has_a_base(branch: Path) -> None:
    git(branch, "checkout", "-q", "--detach")
    assert find_base(Git.open(branch)).commit == git(branch, "rev-parse", "main")


def test_unborn_head(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    with pytest.raises(StateError, match="no commit yet"):
        find_base(Git.open(tmp_path))


def test_unrelated_history(branch: Path) -> None:
    git(branch, "checkout", "-q", "--orphan", "alone")
    commit(branch, "another root")
    with pytest.raises(StateError, match="main and HEAD share no history"):
        find_base(Git.open(branch))


def test_a_shallow_clone_says_how_to_deepen(branch: Path, tmp_path: Path) -> None:
    git(branch, "checkout", "-q", "main")
    commit(branch, "second")
    git(branch, "checkout", "-q", "work")
    commit(branch, "own again")
    git(branch, "checkout", "-q", "main")
    shallow = tmp_path / "shallow"
    source = f"file://{branch}"
    git(
        tmp_path,
        "clone",
        "-q",
        "--depth",
        "1",
        "--no-single-branch",
        "--branch",
        "work",
        source,
        str(shallow),
    )
    with pytest.raises(StateError, match="shallow") as error:
        find_base(Git.open(shallow))
    assert "git fetch --deepen" in error.value.hint
    git(shallow, "fetch", "-q", "--unshallow")
    assert find_base(Git.open(shallow)).commit == git(branch, "merge-base", "main", "work")


def test_a_bad_ref_is_named(branch: Path) -> None:
    with pytest.raises(StateError, match="no commit is named 'nosuch'"):
        find_base(Git.open(branch), "nosuch")
    with pytest.raises(StateError, match="cannot name a commit"):
        find_base(Git.open(branch), "--output=x")


def test_few_git_processes(branch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = tmp_path / "calls"
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:/usr/bin:/bin")
    find_base(Git.open(branch))
    assert len(calls.read_text().splitlines()) == 4
