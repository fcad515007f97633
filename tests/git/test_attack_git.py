"""What an attack on the git commands found: a fork's stale main, encodings, links, the size of a merge."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repository import CHANGELOG, HISTORY, KEYS, MASTER, Repository, entry

IMAGE = "vllm/vllm-openai:v0.2"
OWN = entry(KEYS[0], text=f"Bump the image to {IMAGE}")


def retune(repository: Repository) -> None:
    """A new image for the first key, and its entry."""
    text = repository.read(MASTER).replace(b"vllm/vllm-openai:v0.1", IMAGE.encode(), 1)
    repository.write(MASTER, text)
    repository.write(CHANGELOG, HISTORY + b"\n" + OWN)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """HEAD is `work`, which changes a key and has an entry for it, nothing committed."""
    repository = Repository.create(tmp_path / "repo")
    repository.git("checkout", "-qb", "work")
    retune(repository)
    return repository


@pytest.fixture
def fork(repository: Repository) -> Repository:
    """The same where `origin` is a fork with a stale main, and upstream/main has one entry more."""
    repository.git("update-ref", "refs/remotes/origin/main", "main")
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    repository.commit("work")
    repository.git("checkout", "-q", "main")
    repository.changelog(HISTORY + b"\n" + entry("gained", 2672))
    repository.git("update-ref", "refs/remotes/upstream/main", "main")
    repository.git("checkout", "-q", "work")
    return repository


def test_a_fork_whose_main_is_stale_is_told(fork: Repository) -> None:
    done = fork.run("reseat")
    assert done.exit_code == 0
    assert "upstream/main is further on than origin/main" in done.output
    assert "git config benchscribe.base upstream/main" in done.output
    checked = fork.run("check")
    assert checked.exit_code == 0
    assert "upstream/main is further on than origin/main" in checked.output


def test_a_fork_with_a_configured_base_is_not_told(fork: Repository) -> None:
    fork.git("config", "benchscribe.base", "upstream/main")
    done = fork.run("reseat")
    assert fork.read() == HISTORY + b"\n" + entry("gained", 2672) + b"\n" + OWN
    assert "further on" not in done.output
    assert "further on" not in fork.run("check").output


def test_a_fork_whose_main_is_ahead_or_apart_is_not_told(fork: Repository) -> None:
    fork.git("update-ref", "refs/remotes/origin/main", "work")
    assert "further on" not in fork.run("reseat").output


def test_the_message_is_utf_8_whatever_encoding_the_repository_names(repository: Repository) -> None:
    repository.git("config", "i18n.commitEncoding", "ISO-8859-1")
    assert repository.run("commit", "--yes").exit_code == 0
    kept = repository.git("cat-file", "commit", "HEAD")
    assert "\nencoding " not in kept
    assert "将镜像从" in kept


def test_links_and_odd_names_do_not_keep_a_commit_from_being_made(repository: Repository) -> None:
    (repository.path / "models").symlink_to("/")
    (repository.path / "loop").symlink_to("loop")
    (repository.path / "benchmarks").symlink_to("/tmp")
    (repository.path / "two\nlines.txt").write_text("x")
    done = repository.run("commit", "--yes")
    assert done.exit_code == 0, done.output
    assert repository.git("diff", "--name-only", "HEAD^", "HEAD").split("\n") == [MASTER, CHANGELOG]
    assert "left as it is: two\\nlines.txt\n" in done.stderr
    assert sorted(repository.status()) == ['?? "two\\nlines.txt"', "?? benchmarks", "?? loop", "?? models"]


def test_a_concluded_merge_says_how_many_files_it_brought(repository: Repository) -> None:
    repository.commit("work")
    repository.git("checkout", "-q", "main")
    repository.write("docs.md", b"one\n")
    repository.changelog(HISTORY + b"\n" + entry("gained", 2672))
    repository.git("checkout", "-q", "work")
    repository.git("merge", "-q", "main", check=False)
    assert repository.run("reseat").exit_code == 0
    done = repository.run("commit", "--yes")
    assert "(2 files, +9 −0)" in done.stdout, done.output


def test_line_ends_that_git_itself_wrote_are_said_to_be_gits(repository: Repository) -> None:
    repository.commit("work")
    repository.git("config", "core.autocrlf", "true")
    for name in (CHANGELOG, MASTER):
        (repository.path / name).unlink()
    repository.git("checkout", "-q", "--", ".")
    assert b"\r\n" in repository.read()
    done = repository.run("check")
    assert done.exit_code == 1
    assert "core.autocrlf=true makes git write CRLF" in done.stderr
    assert repository.run("check", "--committed").exit_code == 0


def test_a_stash_that_conflicts_is_not_said_to_have_deleted_what_main_gained(repository: Repository) -> None:
    repository.git("stash")
    repository.git("checkout", "-q", "main")
    main = HISTORY + b"\n" + entry("gained", 2672)
    repository.changelog(main)
    repository.git("checkout", "-q", "work")
    repository.git("merge", "-q", "main")
    repository.git("stash", "pop", check=False)
    done = repository.run("reseat")
    assert repository.read() == main + b"\n" + OWN
    assert "left out" not in done.output


def test_attributes_that_cannot_be_read_leave_the_configuration_alone(repository: Repository) -> None:
    attributes = repository.path / ".git/info/attributes"
    attributes.unlink(missing_ok=True)
    attributes.mkdir(parents=True)
    before = repository.read(".git/config")
    assert repository.run("merge-driver", "install").exit_code == 4
    assert repository.read(".git/config") == before


def test_of_two_entries_of_one_pull_request_the_dropped_one_goes(repository: Repository) -> None:
    """Both have the number 77; the branch's last commit takes the first away, and a rebase replays that."""
    repository.git("checkout", "-q", "-f", "work")
    first, second = entry(KEYS[0], 77, "First."), entry(KEYS[1], 77, "Second.")
    repository.changelog(HISTORY + b"\n" + first + b"\n" + second)
    repository.changelog(HISTORY + b"\n" + second)
    repository.git("checkout", "-q", "main")
    main = HISTORY + b"\n" + entry("gained", 2672)
    repository.changelog(main)
    repository.git("checkout", "-q", "work")
    repository.git("rebase", "main", check=False)
    for _ in range(2):
        if repository.status():
            assert repository.run("reseat").exit_code == 0
            repository.git("-c", "core.editor=true", "rebase", "--continue", check=False)
    assert repository.read() == main + b"\n" + second


def test_an_edit_by_hand_replaces_its_own_entry_and_not_another_of_the_number(repository: Repository) -> None:
    first, second = entry(KEYS[0], 77, "First."), entry(KEYS[0], 77, "Second.", "evals-only: true")
    repository.changelog(HISTORY + b"\n" + first + b"\n" + second)
    repository.git("checkout", "-q", "main")
    main = HISTORY + b"\n" + entry("gained", 2672)
    repository.changelog(main)
    repository.git("checkout", "-q", "work")
    repository.git("merge", "main", check=False)
    edited = second.replace(b"Second.", b"Second, put better.")
    repository.write(CHANGELOG, repository.read().replace(second, edited))
    assert repository.run("reseat").exit_code == 0
    assert repository.read() == main + b"\n" + first + b"\n" + edited
