"""`--from-spec … --commit`: write and commit as one; a commit that fails leaves the files written."""

from __future__ import annotations

from pathlib import Path

from sample import AMD, CHANGELOG, sample
from upstream_checkout import benchscribe, contents, git

BUMP = """\
benchscribe: 1
changes:
  - config-key: gptoss-fp4-mi355x-atom
    set: {image: "rocm/atom-dev:nightly_202611011200"}
"""


def checkout(directory: Path) -> Path:
    repo = sample(directory)
    git(repo, "config", "user.name", "Author")
    git(repo, "config", "user.email", "author@example.invalid")
    return repo


def test_what_the_spec_wrote_is_committed_and_nothing_else(tmp_path: Path) -> None:
    repo = checkout(tmp_path / "checkout")
    (repo / "notes.txt").write_text("mine\n")
    done = benchscribe(repo, "--from-spec", "-", "--commit", "-s", stdin=BUMP)
    assert done.code == 0, done.err
    assert git(repo, "show", "--format=", "--name-only", "HEAD").split() == [AMD, CHANGELOG]
    message = git(repo, "log", "-1", "--format=%B")
    assert "nightly_202611011200" in message and "将镜像从" in message
    assert message.rstrip().splitlines()[-1].startswith("Signed-off-by: ")
    assert git(repo, "status", "--short").strip() == "?? notes.txt"


def test_a_commit_that_fails_leaves_the_files_written_and_says_how_to_go_on(tmp_path: Path) -> None:
    repo = checkout(tmp_path / "checkout")
    head = git(repo, "rev-parse", "HEAD")
    hook = repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    hook.chmod(0o755)
    done = benchscribe(repo, "--from-spec", "-", "--commit", stdin=BUMP)
    assert done.code == 3, done.out + done.err
    assert git(repo, "rev-parse", "HEAD") == head
    assert b"nightly_202611011200" in contents(repo)[AMD]
    assert "benchscribe commit" in done.err
    hook.unlink()
    assert benchscribe(repo, "--from-spec", "-", "--commit", stdin=BUMP).code == 0
    assert git(repo, "rev-parse", "HEAD~1") == head


def test_a_dry_run_commits_nothing(tmp_path: Path) -> None:
    repo = checkout(tmp_path / "checkout")
    head = git(repo, "rev-parse", "HEAD")
    assert benchscribe(repo, "--from-spec", "-", "--commit", "--dry-run", stdin=BUMP).code == 0
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "status", "--short")) == (head, "")
