"""`reseat` in real repositories: the cases of CASEBOOK, conflicts under way, both layouts, awkward clones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from append_contract import assert_appended
from git_repository import CHANGELOG, HISTORY, URL, Repository, entry

GAINED = [entry("gained", 2672), entry("gained-too", 2660)]
MAIN = HISTORY + b"\n" + GAINED[0] + b"\n" + GAINED[1]
OWN = entry("own", 2698, flag="append-only: true")
SEATED = MAIN + b"\n" + OWN


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Main gained two entries since `work` left it; HEAD is `work`."""
    repository = Repository.create(tmp_path / "repo")
    repository.git("checkout", "-qb", "work")
    repository.git("checkout", "-q", "main")
    repository.changelog(MAIN)
    repository.git("checkout", "-q", "work")
    return repository


def settle(repository: Repository, *arguments: str, expected: bytes = SEATED, main: bytes = MAIN) -> str:
    """Reseat, hold the contract, and see that a second run has nothing to do."""
    done = repository.run("reseat", *arguments)
    assert done.exit_code == 0, done.output
    assert repository.read() == expected
    assert_appended(main, expected)
    again = repository.run("reseat", *arguments)
    assert "Nothing to do" in again.stdout
    assert repository.read() == expected
    return str(done.output)


def middle(text: bytes, before: bytes) -> bytes:
    place = text.index(before)
    return text[:place] + OWN + b"\n" + text[place:]


MESSES: dict[str, Callable[[], bytes]] = {
    "C01 before what main gained": lambda: middle(MAIN, GAINED[0]),
    "C08 mid-file": lambda: middle(HISTORY, entry("three", 3)),
    "C09 at the very top": lambda: OWN + b"\n" + HISTORY,
    "C12 separators of old entries rewritten": lambda: HISTORY.replace(b"  \n- config", b"\n- config").replace(b"\n\n  \n", b"\n") + b"\n" + OWN,
    "C20 no empty line before it": lambda: HISTORY + OWN,
    "on the old tail": lambda: HISTORY + b"\n" + OWN,
    "doubled by a bad merge": lambda: middle(MAIN, GAINED[0]) + b"\n" + OWN,
    "old entries doubled": lambda: HISTORY + b"\n" + HISTORY + b"\n" + OWN,
    "committed conflict markers": lambda: HISTORY + b"\n<<<<<<< HEAD\n" + OWN + b"=======\n" + GAINED[0] + b"\n" + GAINED[1] + b">>>>>>> main\n",
    "windows line ends": lambda: (HISTORY + b"\n" + OWN).replace(b"\n", b"\r\n"),
    "no final line end": lambda: (HISTORY + b"\n" + OWN)[:-1],
}  # fmt: skip


@pytest.mark.parametrize("mess", MESSES)
def test_a_committed_mess_is_repaired_and_a_second_run_does_nothing(repository: Repository, mess: str) -> None:
    repository.changelog(MESSES[mess]())
    settle(repository)
    assert repository.status() == [" M perf-changelog.yaml"]  # written, not staged


@pytest.mark.parametrize("mess", MESSES)
def test_the_same_after_main_was_merged(repository: Repository, mess: str) -> None:
    """Main's tip is then the merge base itself."""
    repository.git("merge", "-q", "main")
    repository.changelog(MESSES[mess]())
    output = settle(repository)
    assert "changelog-behind" not in output


def test_a_branch_that_lacks_mains_tip_is_told_to_merge_it(repository: Repository) -> None:
    repository.changelog(HISTORY + b"\n" + OWN)
    assert "git merge main" in settle(repository)


@pytest.mark.parametrize("placeholder", ["PLACEHOLDER", "TBD", "xxxx", "XXX"])
def test_the_link_follows_pr(repository: Repository, placeholder: str) -> None:
    """C10, C11, C18: quiet about XXX, a warning about the others, the number once there is one."""
    own = OWN.replace(b"2698", placeholder.encode())
    repository.changelog(middle(HISTORY, entry("two", 2)).replace(OWN, own))
    output = settle(repository, expected=MAIN + b"\n" + own)
    assert ("changelog-link" in output) == (placeholder != "XXX")
    output = settle(repository, "--pr", "2698")
    assert "changelog-link" not in output


def test_two_entries_stay_two_with_one_empty_line_between(repository: Repository) -> None:
    """C20."""
    twin = entry("twin", 2698, flag="evals-only: true")
    repository.changelog(HISTORY + b"\n\n" + OWN + twin)
    settle(repository, expected=SEATED + b"\n" + twin)


def test_a_dry_run_shows_and_writes_nothing(repository: Repository) -> None:
    before = HISTORY + OWN
    repository.changelog(before)
    done = repository.run("reseat", "--dry-run")
    assert done.exit_code == 0
    assert "+    - gained" in done.stdout
    assert "Dry run" in done.stdout
    assert repository.read() == before


def test_json(repository: Repository) -> None:
    repository.changelog(HISTORY + OWN + b"\n# a remark\n")
    done = repository.run("reseat", "--format", "json")
    told = json.loads(done.stdout)
    assert told["files"] == [{"path": CHANGELOG, "added": 17, "removed": 2}]
    assert told["entry"].encode() == OWN
    assert told["own"] == ["own (#2698)"]
    assert "remark" in told["left_out"][0]["what"]
    assert told["ok"] is True


def test_what_cannot_be_attributed_is_named_and_left_out(repository: Repository) -> None:
    repository.changelog(HISTORY.replace(b"About two.", b"About 2.") + b"\n" + OWN)
    output = settle(repository)
    assert "/pull/2: a changed version of an old entry" in output


def test_findings_about_contents_never_block_moving(repository: Repository) -> None:
    strange = OWN.replace(b"  append-only: true", b"  colour: red")
    repository.changelog(strange + b"\n" + HISTORY)
    assert "`colour` is no field" in settle(repository, expected=MAIN + b"\n" + strange)


def test_nothing_but_the_changelog_is_touched(repository: Repository) -> None:
    repository.changelog(HISTORY + OWN)
    repository.write("README.md", b"dirty\n")
    repository.write("staged.txt", b"staged\n")
    repository.git("add", "staged.txt")
    settle(repository)
    assert repository.status() == [" M perf-changelog.yaml", "A  staged.txt", "?? README.md"]


# --- while something is under way


def conflicting(repository: Repository) -> None:
    repository.changelog(HISTORY + b"\n" + OWN)


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_a_merge_of_main_with_the_file_unmerged_is_settled_and_staged(repository: Repository, style: str) -> None:
    repository.git("config", "merge.conflictStyle", style)
    conflicting(repository)
    repository.git("merge", "-q", "main", check=False)
    assert repository.status() == ["UU perf-changelog.yaml"]
    settle(repository)
    assert repository.status() == ["M  perf-changelog.yaml"]
    repository.git("commit", "-q", "--no-edit")
    settle(repository)


def test_a_merge_takes_the_history_that_is_being_merged(repository: Repository) -> None:
    """Main went on since; the merge is of an older commit of it."""
    conflicting(repository)
    older = repository.git("rev-parse", "main")
    repository.git("checkout", "-q", "main")
    repository.changelog(MAIN + b"\n" + entry("newest", 2700))
    repository.git("checkout", "-q", "work")
    repository.git("merge", "-q", older, check=False)
    settle(repository)


def test_a_branch_merged_into_main_stands_behind_mains_entries(repository: Repository) -> None:
    conflicting(repository)
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "work", check=False)
    settle(repository)
    assert repository.status() == ["M  perf-changelog.yaml"]


@pytest.mark.parametrize("base", ["upstream/main", "refs/remotes/upstream/main", "main"])
def test_whatever_the_base_is_called(repository: Repository, base: str) -> None:
    repository.git("update-ref", "refs/remotes/upstream/main", "main~1")
    repository.git("config", "benchscribe.base", base)
    conflicting(repository)
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "work", check=False)
    settle(repository)


def test_an_octopus_merge_asks_for_the_base(repository: Repository) -> None:
    conflicting(repository)
    tips = [repository.git("rev-parse", name) for name in ("main", "main~1")]
    repository.write(".git/MERGE_HEAD", "\n".join(tips).encode() + b"\n")
    done = repository.run("reseat")
    assert done.exit_code == 3
    assert "octopus" in done.stderr
    assert repository.run("reseat", "--base", "main").exit_code == 0


def test_a_colleagues_branch_merged_keeps_both_entries(repository: Repository) -> None:
    conflicting(repository)
    other = entry("other", 2699)
    repository.git("checkout", "-qb", "colleague", "main~1")
    repository.changelog(HISTORY + b"\n" + other)
    repository.git("checkout", "-q", "work")
    repository.git("merge", "-q", "colleague", check=False)
    settle(repository, expected=SEATED + b"\n" + other)


@pytest.mark.parametrize("way", ["rebase main", "rebase --apply main"])
def test_a_rebase_whose_second_commit_sets_the_link(repository: Repository, way: str) -> None:
    repository.changelog(HISTORY + b"\n" + OWN.replace(b"2698", b"XXX"))
    repository.changelog(HISTORY + b"\n" + OWN)
    repository.git(*way.split(), check=False)
    done = repository.run("reseat")
    assert done.exit_code == 0
    assert repository.read() == MAIN + b"\n" + OWN.replace(b"2698", b"XXX")
    repository.git("rebase", "--continue", check=False)
    if "U" in "".join(repository.status()):
        settle(repository)
        repository.git("rebase", "--continue")
    assert repository.read() == SEATED
    assert repository.git("rev-list", "--count", "main..HEAD") == "2"


def test_a_cherry_pick_and_a_stash_keep_the_entries_that_stand_already(repository: Repository) -> None:
    conflicting(repository)
    picked = repository.git("rev-parse", "HEAD")
    mine = entry("mine", 2701)
    repository.git("checkout", "-qb", "mine", "main")
    repository.changelog(MAIN + b"\n" + mine)
    repository.git("cherry-pick", picked, check=False)
    settle(repository, expected=MAIN + b"\n" + mine + b"\n" + OWN)
    repository.git("cherry-pick", "--abort")
    repository.write(CHANGELOG, MAIN + b"\n" + mine + b"\n" + OWN)
    repository.git("stash", "-q")
    mine_edited = entry("mine", 2701, text="Edited.")
    repository.changelog(MAIN + b"\n" + mine_edited + b"\n" + entry("mine-too", 2701))
    repository.git("stash", "pop", check=False)
    settle(repository, expected=MAIN + b"\n" + mine_edited + b"\n" + entry("mine-too", 2701) + b"\n" + OWN)


def test_an_own_entry_edited_by_hand_in_the_conflict_is_not_lost(repository: Repository) -> None:
    conflicting(repository)
    repository.git("merge", "-q", "main", check=False)
    repository.write(CHANGELOG, repository.read().replace(b"About own.", b"Said better."))
    settle(repository, expected=SEATED.replace(b"About own.", b"Said better."))


def test_a_conflict_settled_by_hand_that_lost_a_flag(repository: Repository) -> None:
    """C19: no field of either side is lost; the entry as the branch has it stands, and that is said."""
    conflicting(repository)
    repository.git("merge", "-q", "main", check=False)
    repository.write(CHANGELOG, MAIN + b"\n" + OWN.replace(b"  append-only: true\n", b""))
    assert "lost append-only" in settle(repository)


def test_a_conflict_settled_by_hand_that_lost_the_whole_entry(repository: Repository) -> None:
    conflicting(repository)
    repository.git("merge", "-q", "main", check=False)
    repository.write(CHANGELOG, MAIN)
    settle(repository)


# --- layouts


def moved_to_e2e(repository: Repository, changelog: bytes) -> None:
    """Main moves the project under inferencex-e2e/."""
    repository.git("checkout", "-q", "main")
    (repository.path / "inferencex-e2e/infx/matrix").mkdir(parents=True)
    repository.write("inferencex-e2e/infx/matrix/generate.py", b"# e2e\n")
    for name in ("configs", CHANGELOG):
        repository.git("mv", name, f"inferencex-e2e/{name}")
    repository.git("rm", "-rq", "golden_al_distribution")
    repository.write(f"inferencex-e2e/{CHANGELOG}", changelog)
    repository.commit("move")
    repository.git("checkout", "-q", "work")


def test_a_branch_in_the_old_layout_gets_mains_bytes_at_its_own_place(repository: Repository) -> None:
    repository.changelog(HISTORY + b"\n" + OWN)
    moved_to_e2e(repository, MAIN + b"\n" + entry("e2e", 4000))
    new_main = MAIN + b"\n" + entry("e2e", 4000)
    settle(repository, expected=new_main + b"\n" + OWN, main=new_main)


@pytest.mark.parametrize("renames", ["true", "false"])
def test_a_merge_across_the_move_puts_the_entry_into_the_new_place(repository: Repository, renames: str) -> None:
    repository.changelog(HISTORY + b"\n" + OWN)
    new_main = MAIN + b"\n" + entry("e2e", 4000)
    moved_to_e2e(repository, new_main)
    repository.git("-c", f"merge.renames={renames}", "merge", "-q", "main", check=False)
    done = repository.run("reseat")
    assert done.exit_code == 0, done.output
    assert repository.read(f"inferencex-e2e/{CHANGELOG}") == new_main + b"\n" + OWN
    assert not (repository.path / CHANGELOG).exists()
    assert not [line for line in repository.status() if CHANGELOG in line and "U" in line[:2]]
    assert "Nothing to do" in repository.run("reseat").stdout


def test_a_changelog_left_over_in_the_old_place_is_taken_along_and_goes(repository: Repository) -> None:
    """The committed mess: main was merged, the old file was kept with the own entry in it."""
    new_main = MAIN + b"\n" + entry("e2e", 4000)
    moved_to_e2e(repository, new_main)
    repository.git("merge", "-q", "main")
    repository.changelog(HISTORY + b"\n" + OWN)
    done = repository.run("reseat", "--pr", "2698")
    assert repository.read(f"inferencex-e2e/{CHANGELOG}") == new_main + b"\n" + OWN, done.output
    assert not (repository.path / CHANGELOG).exists()


# --- awkward repositories


def test_a_fork_whose_origin_is_stale_follows_upstream(repository: Repository, tmp_path: Path) -> None:
    upstream = Repository(tmp_path / "upstream")
    repository.git("clone", "-q", "--bare", str(repository.path), str(upstream.path))
    repository.git("branch", "-qf", "main", "main~1")
    repository.git("clone", "-q", "--bare", str(repository.path), str(tmp_path / "origin"))
    repository.git("branch", "-D", "main")
    for name in ("upstream", "origin"):
        repository.git("remote", "add", name, str(tmp_path / name))
        repository.git("fetch", "-q", name)
    repository.changelog(HISTORY + OWN)
    settle(repository, "--base", "origin/main", expected=HISTORY + b"\n" + OWN, main=HISTORY)
    assert "upstream/main" in settle(repository)


def test_a_shallow_clone_without_the_merge_base_says_how_to_deepen(repository: Repository, tmp_path: Path) -> None:
    repository.changelog(HISTORY + OWN)
    shallow = Repository(tmp_path / "shallow")
    source = repository.path.as_uri()
    repository.git("clone", "-q", "--depth=1", "--no-single-branch", "-b", "work", source, str(shallow.path))
    done = shallow.run("reseat", "--base", "origin/main")
    assert done.exit_code == 3
    assert "shallow" in done.stderr
    assert "git fetch --deepen" in done.stderr
    assert shallow.read() == HISTORY + OWN


def test_refs_named_like_options_are_refused_or_named_in_full(repository: Repository) -> None:
    repository.changelog(HISTORY + OWN)
    for bad in ("--all", "-main", "--upload-pack=touch x"):
        done = repository.run("reseat", f"--base={bad}")
        assert done.exit_code == 3
        assert "cannot name a commit" in done.stderr
    repository.git("update-ref", "refs/heads/--main", "main")
    settle(repository, "--base", "refs/heads/--main")


def test_a_linked_work_tree_and_a_folder_with_unicode(repository: Repository, tmp_path: Path) -> None:
    repository.changelog(HISTORY + OWN)
    linked = Repository(tmp_path / "ünï čode 基准")
    repository.git("worktree", "add", "-q", str(linked.path), "-b", "linked", "work")
    settle(linked)
    linked.git("checkout", "-q", "--", CHANGELOG)
    linked.git("merge", "-q", "main", check=False)
    settle(linked)
    assert linked.status() == ["M  perf-changelog.yaml"]
    assert repository.read() == HISTORY + OWN


def test_the_file_mode_and_a_link_stay(repository: Repository) -> None:
    (repository.path / CHANGELOG).rename(repository.path / "real.yaml")
    (repository.path / CHANGELOG).symlink_to("real.yaml")
    (repository.path / "real.yaml").chmod(0o755)
    repository.write("real.yaml", HISTORY + OWN)
    repository.commit("link")
    settle(repository)
    assert (repository.path / CHANGELOG).is_symlink()
    assert (repository.path / "real.yaml").stat().st_mode & 0o777 == 0o755


def test_an_index_held_by_another_process_leaves_everything_as_it_was(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchscribe.writers.git_index.WAIT", 0.2)
    conflicting(repository)
    repository.git("merge", "-q", "main", check=False)
    before = repository.read()
    (repository.path / ".git/index.lock").touch()
    done = repository.run("reseat")
    assert done.exit_code == 3
    assert "index.lock" in done.stderr
    assert repository.read() == before
    (repository.path / ".git/index.lock").unlink()
    settle(repository)


def test_no_base_at_all_says_what_was_tried(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "repo", branch="trunk")
    done = repository.run("reseat")
    assert done.exit_code == 3
    assert "upstream/HEAD" in done.stderr
    assert URL.startswith("https://")
