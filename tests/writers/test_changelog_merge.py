"""The merge core and git's merge driver, in real repositories."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from append_contract import assert_appended
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.writers import merge_driver
from benchscribe.writers.changelog import append, with_link
from benchscribe.writers.changelog_merge import carry, merge

URL = "https://github.com/SemiAnalysisAI/InferenceX/pull/"
NAME = "perf-changelog.yaml"


def entry(name: str, number: object = "XXX", flag: str = "") -> bytes:
    flags = f"  {flag}\n" if flag else ""
    return (
        f"- config-keys:\n    - {name}\n  scenario-type:\n    - agentic-coding\n"
        f'  description:\n    - "About {name}."\n  pr-link: {URL}{number}\n{flags}'
    ).encode()


OLD = entry("old", 1) + b"  \n" + entry("older", 2)
MAIN, OTHER, OWN = entry("main", 10), entry("other", 11), entry("own", 12, "append-only: true")
TAILS = [b"", b"\n", b"\n\n", b"  \n", b"\n  \n", b"  \n\n", b"# end\n"]


@pytest.mark.parametrize("tail", TAILS)
def test_two_appenders_merge_with_mains_bytes_first(tail: bytes) -> None:
    ancestor = OLD + tail
    main, branch = append(ancestor, [MAIN, OTHER]), append(ancestor, [OWN])
    merged = merge(ancestor, main, branch)
    assert merged == main + b"\n" + OWN
    assert_appended(main, merged)


def test_a_sloppy_branch_gets_the_right_separators_and_a_sloppy_main_keeps_its_bytes() -> None:
    main = OLD + MAIN + b"\n  \n"
    branch = OLD + b"\n\n" + OWN + OTHER + b"\n\n\n"
    assert merge(OLD, main, branch) == main + b"\n" + OWN + b"\n" + OTHER
    assert merge(OLD[:-1], OLD[:-1] + b"\n\n" + MAIN, OLD + OWN[:-1]) == OLD + b"\n" + MAIN + b"\n" + OWN


def test_one_side_alone_is_taken_as_it_is() -> None:
    sloppy = OLD + b"\n\n" + OWN + b"\n\n"
    assert merge(OLD, OLD, sloppy) == sloppy
    assert merge(OLD, sloppy, OLD) == sloppy
    assert merge(OLD, sloppy, sloppy) == sloppy


def test_an_entry_on_both_sides_stands_once() -> None:
    main = append(OLD, [MAIN, OWN])
    assert merge(OLD, main, append(OLD, [OWN, OTHER])) == main + b"\n" + OTHER
    placeholder = with_link(OWN, None)
    assert merge(OLD, main, append(OLD, [placeholder])) == main
    numbered = append(OLD, [placeholder])
    assert merge(OLD, numbered, append(OLD, [OWN])) == numbered + b"\n" + OWN  # a number is never lost


def test_comments_and_unknown_fields_of_the_branch_are_kept() -> None:
    own = OWN.replace(b"    - own\n", b"    # why\n    - own # here\n") + b"  colour: red\n"
    branch = OLD + b"\n# about it\n" + own + b"\n# the end\n"
    assert merge(OLD, append(OLD, [MAIN]), branch) == (append(OLD, [MAIN]) + b"\n# about it\n" + own + b"\n# the end\n")


@pytest.mark.parametrize(
    "side",
    [
        OLD.replace(b"old.", b"gold."),
        OLD.replace(b"  \n", b"\n", 1) + b"\n" + OWN,
        OLD + b"  append-only: true\n",
        OLD + b'\n    - "one more"\n\n' + OWN,
        OWN + b"\n" + OLD,
        b"",
    ],
)
def test_a_side_that_changed_the_ancestor_is_not_ours_to_merge(side: bytes) -> None:
    other = append(OLD, [MAIN])
    assert merge(OLD, side, other) is None
    assert merge(OLD, other, side) is None


def test_a_last_line_that_goes_on_is_a_changed_ancestor() -> None:
    assert merge(OLD[:-1], append(OLD, [MAIN]), OLD[:-1] + b"345\n") is None


def test_what_a_branch_appended_goes_behind_a_main_that_changed_the_ancestor() -> None:
    ancestor, branch = append(OLD, [entry("first")]), append(OLD, [entry("first"), OWN])
    for main in (append(OLD, [MAIN]), append(OLD, [entry("first", 12), MAIN]), OLD.replace(b"/2\n", b"/3\n")):
        assert carry(ancestor, main, branch) == append(main, [OWN])
    held = append(OLD, [OWN, MAIN])
    assert carry(ancestor, held, branch) == held
    numbered = append(OLD, [entry("first", 5)])
    assert carry(ancestor, append(OLD, [MAIN]), numbered) is None
    assert carry(ancestor, append(ancestor, [MAIN]), numbered) is None
    there = append(numbered, [MAIN])
    assert carry(ancestor, there, numbered) == there


names = st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=3, unique=True)
blanks = st.sampled_from(TAILS)


@given(blanks, blanks, blanks, names, names)
@settings(max_examples=100, deadline=None)
def test_any_two_appenders(
    tail: bytes, main_tail: bytes, branch_tail: bytes, mains: list[str], branches: list[str]
) -> None:
    ancestor = OLD + tail
    main = append(ancestor, [entry(f"m-{name}", 20 + i) for i, name in enumerate(mains)]) + main_tail
    own = [entry(f"b-{name}", 40 + i, "evals-only: true") for i, name in enumerate(branches)]
    branch = append(ancestor, own) + branch_tail.replace(b"# end\n", b"")
    merged = merge(ancestor, main, branch)
    assert merged is not None
    assert_appended(main, merged)
    assert all(merged.count(block) == 1 for block in own)
    assert merge(ancestor, merged, branch) == merged


# --- the driver itself


def drive(tmp_path: Path, ancestor: bytes, ours: bytes, theirs: bytes, **environ: str) -> tuple[int, bytes]:
    paths = [tmp_path / name for name in "OAB"]
    for path, data in zip(paths, (ancestor, ours, theirs), strict=True):
        path.write_bytes(data)
    code = merge_driver.run(*map(str, paths), 7, NAME, {**os.environ, **environ})
    return code, paths[1].read_bytes()


def test_without_a_githead_ours_is_mains_side(tmp_path: Path) -> None:
    code, result = drive(tmp_path, OLD, append(OLD, [MAIN]), append(OLD, [OWN]))
    assert (code, result) == (0, append(OLD, [MAIN, OWN]))


def test_a_second_commit_that_sets_the_link_is_merged_by_git(tmp_path: Path) -> None:
    unset = with_link(OWN, None)
    code, result = drive(tmp_path, append(OLD, [unset]), append(OLD, [MAIN, unset]), append(OLD, [OWN]))
    assert (code, result) == (0, append(OLD, [MAIN, OWN]))


def test_a_link_set_on_an_entry_that_is_not_here_is_never_appended(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, result = drive(tmp_path, append(OLD, [with_link(OWN, None)]), append(OLD, [MAIN]), append(OLD, [OWN]))
    assert code == 1
    assert result.startswith(OLD)
    assert b"<<<<<<< HEAD\n" in result
    assert "reseat" in capfd.readouterr().err


def test_only_a_conflict_gets_a_message(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, result = drive(tmp_path, OLD, OLD.replace(b"/1\n", b"/7\n"), append(OLD, [OWN]))
    assert (code, result) == (0, append(OLD.replace(b"/1\n", b"/7\n"), [OWN]))
    assert capfd.readouterr() == ("", "")


def test_the_marker_size_and_the_count_of_conflicts_are_gits(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "OAB"]
    for path, number in zip(paths, (1, 5, 6), strict=True):
        Path(path).write_bytes(entry("a", number) + b"\n" * 9 + entry("b", number))
    assert merge_driver.run(*paths, 11, NAME, os.environ) == 2
    assert Path(paths[1]).read_bytes().count(b"\n<<<<<<<<<<< HEAD\n") == 2


def test_a_failure_never_looks_like_a_result(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "A").write_bytes(OLD)
    arguments = [str(tmp_path / "missing"), str(tmp_path / "A"), str(tmp_path / "A")]
    assert merge_driver.main([*arguments, "7", NAME], os.environ) == 129
    assert "missing" in capfd.readouterr().err
    assert merge_driver.main(arguments, os.environ) == 129
    assert "usage" in capfd.readouterr().err
    assert (tmp_path / "A").read_bytes() == OLD


def test_the_driver_imports_the_standard_library_only() -> None:
    program = (
        "import sys, benchscribe.writers.merge_driver\n"
        "print(sorted({n.partition('.')[0] for n in sys.modules} - set(sys.stdlib_module_names)))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert not {"ruamel", "pydantic", "git", "click", "rich", "textual"} & set(loaded.split("'"))


# --- real repositories


class Repository:
    """A git repository with the driver configured, and the changelog at its root."""

    def __init__(self, path: Path, data: bytes, driver: str | None = None) -> None:
        self.path = path
        self.git("init", "-q", "-b", "main")
        if driver is None:
            driver = f"{sys.executable} -m {merge_driver.__name__} %O %A %B %L %P"
        self.git("config", "merge.benchscribe.driver", driver)
        (path / ".git/info").mkdir(exist_ok=True)
        (path / ".git/info/attributes").write_text(f"{NAME} merge=benchscribe\n")
        self.commit(data)

    def git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        identity = {
            f"GIT_{who}_{what}": "a@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environ = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=check)

    @property
    def data(self) -> bytes:
        return (self.path / NAME).read_bytes()

    def commit(self, data: bytes) -> None:
        (self.path / NAME).write_bytes(data)
        self.git("add", NAME)
        self.git("commit", "-qm", "change")

    def branch(self, name: str, *versions: bytes, start: str = "main~1") -> None:
        self.git("checkout", "-qb", name, start)
        for data in versions:
            self.commit(data)


@pytest.fixture(params=["", "a folder with blanks"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    path.mkdir(exist_ok=True)
    return path


def diverged(path: Path, base: bytes, main: bytes, *versions: bytes) -> Repository:
    repository = Repository(path, base)
    repository.commit(main)
    repository.branch("work", *versions)
    return repository


def test_main_merged_into_a_branch_stands_first(folder: Path) -> None:
    repository = diverged(folder, OLD, append(OLD, [MAIN]), append(OLD, [OWN]))
    repository.git("merge", "-q", "main")
    assert repository.data == append(OLD, [MAIN, OWN])


def test_a_branch_merged_into_main_stands_behind(tmp_path: Path) -> None:
    repository = diverged(tmp_path, OLD, append(OLD, [MAIN]), append(OLD, [OWN]))
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "work")
    assert repository.data == append(OLD, [MAIN, OWN])


def test_the_configured_base_branch_is_main_too(tmp_path: Path) -> None:
    repository = diverged(tmp_path, OLD, append(OLD, [MAIN]), append(OLD, [OWN]))
    repository.git("config", "benchscribe.base", "upstream/trunk")
    repository.git("checkout", "-qb", "trunk", "main")
    repository.git("merge", "-q", "work")
    assert repository.data == append(OLD, [MAIN, OWN])


def test_a_pull_on_main_puts_the_remotes_entries_first(tmp_path: Path) -> None:
    for name in ("upstream", "fork"):
        (tmp_path / name).mkdir()
    upstream = Repository(tmp_path / "upstream", OLD)
    fork = Repository(tmp_path / "fork", OLD)
    fork.git("remote", "add", "upstream", str(upstream.path))
    fork.git("fetch", "-q", "upstream")
    fork.git("reset", "-q", "--hard", "upstream/main")
    fork.commit(append(OLD, [OWN]))
    upstream.commit(append(OLD, [MAIN]))
    fork.git("pull", "-q", "--no-rebase", "--no-edit", "upstream", "main")
    assert fork.data == append(OLD, [MAIN, OWN])


def test_a_rebase_and_a_cherry_pick_put_the_branch_behind(tmp_path: Path) -> None:
    repository = diverged(tmp_path, OLD, append(OLD, [MAIN]), append(OLD, [OWN]))
    repository.git("branch", "picked", "main")
    repository.git("rebase", "-q", "main")
    assert repository.data == append(OLD, [MAIN, OWN])
    repository.git("checkout", "-q", "picked")
    repository.git("commit", "-q", "--allow-empty", "-m", "elsewhere")
    repository.git("cherry-pick", "ORIG_HEAD")
    assert repository.data == append(OLD, [MAIN, OWN])


@pytest.mark.parametrize("way", ["rebase", "rebase --apply", "merge", "cherry-pick"])
def test_a_branch_whose_second_commit_sets_the_link(tmp_path: Path, way: str) -> None:
    unset = with_link(OWN, None)
    repository = diverged(tmp_path, OLD, append(OLD, [MAIN]), append(OLD, [unset]), append(OLD, [OWN]))
    if way == "cherry-pick":
        repository.git("checkout", "-q", "-b", "picked", "main")
        repository.git("cherry-pick", "work~2..work")
    else:
        repository.git(*way.split(), "main")
    assert repository.data == append(OLD, [MAIN, OWN])


def test_a_branch_stacked_on_one_that_was_squashed_into_main(tmp_path: Path) -> None:
    first, second = entry("first"), entry("second")
    repository = diverged(
        tmp_path,
        OLD,
        append(OLD, [MAIN, with_link(first, 20)]),
        append(OLD, [first]),
        append(OLD, [first, second]),
    )
    repository.git("merge", "-q", "main")
    assert repository.data == append(OLD, [MAIN, with_link(first, 20), second])


def test_the_same_branch_rebased_with_main_gone_on(tmp_path: Path) -> None:
    first, second = entry("first"), entry("second")
    numbered = with_link(first, 20)
    versions = [append(OLD, entries) for entries in ([first], [numbered], [numbered, second])]
    main = append(OLD, [MAIN, numbered, OTHER])
    repository = diverged(tmp_path, OLD, main, *versions)
    repository.git("rebase", "-q", "main")
    assert repository.data == append(main, [second])


def test_one_entry_picked_from_the_end_of_a_branch(tmp_path: Path) -> None:
    repository = diverged(tmp_path, OLD, append(OLD, [MAIN]), append(OLD, [OTHER]), append(OLD, [OTHER, OWN]))
    repository.git("checkout", "-q", "main")
    repository.git("cherry-pick", "work")
    assert repository.data == append(OLD, [MAIN, OWN])


def test_a_revert_takes_the_entry_out_again(tmp_path: Path) -> None:
    repository = Repository(tmp_path, OLD)
    repository.commit(append(OLD, [OWN]))
    repository.commit(append(OLD, [OWN]) + b"\n" + MAIN)
    repository.git("revert", "--no-edit", "HEAD")
    assert repository.data == append(OLD, [OWN])


def test_a_lost_flag_is_not_lost_any_more(tmp_path: Path) -> None:
    """C19: the hand-made resolution of this conflict dropped `append-only: true`."""
    repository = diverged(tmp_path, OLD, append(OLD, [MAIN + b"  evals-only: true\n"]), append(OLD, [OWN]))
    repository.git("merge", "-q", "main")
    assert repository.data.count(b"  append-only: true\n") == 1
    assert repository.data == append(OLD, [MAIN + b"  evals-only: true\n", OWN])


def test_a_stash_comes_back_behind_what_was_pulled(tmp_path: Path) -> None:
    repository = diverged(tmp_path, OLD, append(OLD, [MAIN]))
    (repository.path / NAME).write_bytes(append(OLD, [OWN]))
    repository.git("stash", "-q")
    repository.git("merge", "-q", "--ff-only", "main")
    repository.git("stash", "pop", "-q")
    assert repository.data == append(OLD, [MAIN, OWN])


def test_both_sides_editing_one_old_line_stay_gits_conflict(tmp_path: Path) -> None:
    edits = [OLD.replace(b"/1\n", b"/%d\n" % number) for number in (7, 8)]
    repository = diverged(tmp_path, OLD, edits[0], edits[1])
    done = repository.git("merge", "main", check=False)
    assert done.returncode == 1
    assert "reseat" in done.stderr
    assert repository.data.count(b"<<<<<<< HEAD\n") == 1
    assert b">>>>>>> main\n" in repository.data


def test_a_driver_that_cannot_run_leaves_no_half_result(tmp_path: Path) -> None:
    repository = diverged(tmp_path, OLD, append(OLD, [MAIN]), append(OLD, [OWN]))
    repository.git("config", "merge.benchscribe.driver", f"{sys.executable} -m {merge_driver.__name__} %O %A %B")
    assert repository.git("merge", "main", check=False).returncode != 0
    assert repository.git("status", "--porcelain").stdout == f"UU {NAME}\n"


def test_a_bug_in_the_driver_leaves_gits_own_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*sides: bytes) -> bytes:
        raise RuntimeError(f"{len(sides)} sides")

    monkeypatch.setattr(merge_driver, "merge", broken)
    paths = [str(tmp_path / name) for name in "OAB"]
    for path, data in zip(paths, (OLD, append(OLD, [MAIN]), append(OLD, [OWN])), strict=True):
        Path(path).write_bytes(data)
    assert merge_driver.main([*paths, "7", NAME], os.environ) == 1
    assert b"<<<<<<< HEAD\n" in Path(paths[1]).read_bytes()
    assert "RuntimeError: 3 sides" in capfd.readouterr().err


@pytest.mark.parametrize("seed", range(12))
def test_traffic_on_the_real_changelog(shared: Path, tmp_path: Path, seed: int) -> None:
    """Main into branch, branch into main, rebase and cherry-pick of random pairs (issue 6, judged by 3)."""
    chance = random.Random(seed)
    base = (shared / "upstream/root" / NAME).read_bytes() + TAILS[seed % len(TAILS)]
    if seed == 11:
        base = base.rstrip()
    mains = [entry(f"main-{seed}-{i}", 3000 + i) for i in range(chance.randint(1, 3))]
    own = [entry(f"own-{seed}-{i}", "XXX", "append-only: true") for i in range(chance.randint(1, 3))]
    numbered = [with_link(block, 4000) for block in own]
    two_commits = [append(base, own), append(base, numbered)]
    versions = two_commits if seed % 2 else two_commits[1:]
    main = append(base, mains) + chance.choice([b"", b"  \n", b"\n"])
    repository = diverged(tmp_path, base, main, *versions)
    wanted = append(main, numbered)
    assert_appended(main, wanted)
    for way in ("merge main", "rebase main", "cherry-pick", "merge work"):
        repository.git("checkout", "-q", "-B", "try", "main" if way in ("cherry-pick", "merge work") else "work")
        if way == "merge work":
            repository.git("checkout", "-q", "-B", "main", "main")
        arguments = [f"work~{len(versions)}..work"] if way == "cherry-pick" else []
        repository.git(*way.split(), *arguments)
        assert repository.data == wanted, way
