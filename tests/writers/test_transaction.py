"""Writing all files or none: what is compared, refused, kept and locked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchscribe.schema.errors import StateError, SystemFailure, UsageError
from benchscribe.schema.results import Edit
from benchscribe.writers import lock, transaction
from benchscribe.writers.transaction import apply, pending, recover

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "a").write_bytes(b"one\r\n\xff")
    (folder / "b").write_bytes(b"two")
    return folder


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


UNTOUCHED = {"a": b"one\r\n\xff", "b": b"two"}


def test_files_are_changed_made_and_removed_in_one_go(root: Path, state_dir: Path) -> None:
    edits = [
        Edit("a", b"one\r\n\xff", b"\xfe\rone"),
        Edit("new/deep/日本.yaml", None, b"x\n"),
        Edit("b", b"two", None),
        Edit("empty", None, b""),
    ]
    assert apply(edits, root=root, state_dir=state_dir) == ["a", "new/deep/日本.yaml", "b", "empty"]
    assert contents(root) == {"a": b"\xfe\rone", "new/deep/日本.yaml": b"x\n", "empty": b""}
    assert not pending(state_dir)
    assert [path.name for path in state_dir.iterdir()] == ["lock"]


def test_nothing_to_do_touches_nothing(root: Path, state_dir: Path) -> None:
    assert apply([], root=root, state_dir=state_dir) == []
    assert apply([Edit("a", b"one\r\n\xff", b"one\r\n\xff")], root=root, state_dir=state_dir) == []
    assert not state_dir.exists()


def test_an_edit_without_a_change_is_compared_but_not_written(root: Path, state_dir: Path) -> None:
    inode = (root / "a").stat().st_ino
    same = Edit("a", b"one\r\n\xff", b"one\r\n\xff")
    assert apply([same, Edit("b", b"two", b"2")], root=root, state_dir=state_dir) == ["b"]
    assert (root / "a").stat().st_ino == inode
    with pytest.raises(StateError, match="a: was changed since"):
        apply([Edit("a", b"1", b"1"), Edit("b", b"2", b"3")], root=root, state_dir=state_dir)
    assert (root / "b").read_bytes() == b"2"


def test_files_changed_underneath_are_all_named_and_none_is_written(root: Path, state_dir: Path) -> None:
    edits = [
        Edit("b", b"two", b"2"),
        Edit("a", b"one\n\xff", b"1"),
        Edit("gone", b"here", b"there"),
        Edit("file/below", b"x", b"y"),
    ]
    (root / "file").write_bytes(b"no folder")
    with pytest.raises(StateError) as caught:
        apply([*edits, Edit("new", None, b"n")], root=root, state_dir=state_dir)
    assert caught.value.exit_code == 3
    assert str(caught.value).splitlines()[:3] == [
        "a: was changed since the plan was made",
        "gone: is gone",
        "file/below: is gone",
    ]
    assert "nothing was written" in str(caught.value)
    assert contents(root) == {**UNTOUCHED, "file": b"no folder"}


@pytest.mark.parametrize("after", [b"two", b"other", None])
def test_a_file_that_should_be_new_but_is_there(root: Path, state_dir: Path, after: bytes | None) -> None:
    with pytest.raises(StateError, match="b: exists by now"):
        apply([Edit("b", None, after), Edit("new", None, b"n")], root=root, state_dir=state_dir)
    assert contents(root) == UNTOUCHED


def test_an_editor_that_saves_during_the_write_wins(
    root: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_new = transaction.write_new

    def slow(path: Path, data: bytes, permissions: object = None) -> None:
        write_new(path, data, permissions)
        (root / "b").write_bytes(b"saved by an editor")

    monkeypatch.setattr(transaction, "write_new", slow)
    with pytest.raises(StateError, match=r"^b: was changed since the plan was made\n  nothing was written"):
        apply([Edit("a", b"one\r\n\xff", b"1"), Edit("b", b"two", b"2")], root=root, state_dir=state_dir)
    assert contents(root) == {"a": b"one\r\n\xff", "b": b"saved by an editor"}
    assert not pending(state_dir)


def test_an_editor_that_saves_before_a_failure_keeps_its_bytes(
    root: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def saved_and_full(_: object) -> None:
        (root / "a").write_bytes(b"saved by an editor")
        raise SystemFailure("no space")

    monkeypatch.setattr(transaction, "_sync_folders", saved_and_full)
    with pytest.raises(StateError, match="a is left alone, because it was changed since") as caught:
        apply([Edit("a", b"one\r\n\xff", b"1"), Edit("b", b"two", b"2")], root=root, state_dir=state_dir)
    assert "no space" in str(caught.value)
    assert contents(root) == {"a": b"saved by an editor", "b": b"two"}
    (copy,) = state_dir.glob("kept-*/0.before")
    assert copy.read_bytes() == b"one\r\n\xff"
    assert str(copy) in str(caught.value)


@pytest.mark.parametrize(
    "paths",
    [("a", "a"), ("a", "./a"), ("x/y", "x//y"), ("x", "x/y"), ("x/y/z", "x")],
    ids=lambda paths: "+".join(paths),
)
def test_two_edits_of_one_file_are_a_bug(root: Path, state_dir: Path, paths: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="edit"):
        apply([Edit(path, None, b"n") for path in paths], root=root, state_dir=state_dir)
    assert contents(root) == UNTOUCHED


@pytest.mark.parametrize(
    "path",
    [
        "../outside", "x/../../outside", "x/../a", "/etc/benchscribe", "", ".", "a\0b", "//x",
        "out/x", "out/deep/x", "link-out", ".git/hooks/pre-commit", ".GIT/config", "sub/.git/config",
        "hooks/x",
    ],
)  # fmt: skip
def test_paths_that_leave_the_checkout_are_refused(root: Path, state_dir: Path, path: str) -> None:
    outside = root.parent / "outside-folder"
    outside.mkdir()
    (outside / "file").write_bytes(b"theirs")
    (root / ".git/hooks").mkdir(parents=True)
    (root / "out").symlink_to(outside)
    (root / "link-out").symlink_to(outside / "file")
    (root / "hooks").symlink_to(".git/hooks")
    before = b"theirs" if path == "link-out" else None
    with pytest.raises(UsageError) as caught:
        apply([Edit("b", b"two", b"2"), Edit(path, before, b"n")], root=root, state_dir=state_dir)
    assert caught.value.exit_code == 2
    assert "nothing was written" in str(caught.value)
    assert (root / "b").read_bytes() == b"two"
    assert contents(outside) == {"file": b"theirs"}
    assert not list((root / ".git/hooks").iterdir())


def test_names_that_only_look_like_leaving_are_fine(root: Path, state_dir: Path) -> None:
    names = ["..a", "a..b", "...", ".github/x", "-x"]
    assert apply([Edit(name, None, b"n") for name in names], root=root, state_dir=state_dir) == names


def test_a_symbolic_link_stays_and_its_file_is_written(root: Path, state_dir: Path) -> None:
    (root / "real").mkdir()
    (root / "real/file").write_bytes(b"old")
    (root / "link").symlink_to("real/file")
    (root / "folder").symlink_to("real")
    edits = [Edit("link", b"old", b"new"), Edit("folder/second", None, b"2")]
    assert apply(edits, root=root, state_dir=state_dir) == ["link", "folder/second"]
    assert (root / "link").readlink() == Path("real/file")
    assert (root / "real/file").read_bytes() == b"new"
    assert (root / "real/second").read_bytes() == b"2"
    assert not (root / "real/file").is_symlink()


def test_a_checkout_reached_through_a_link(root: Path, state_dir: Path) -> None:
    (root.parent / "shortcut").symlink_to(root)
    assert apply([Edit("a", b"one\r\n\xff", b"1")], root=root.parent / "shortcut", state_dir=state_dir) == ["a"]
    assert (root / "a").read_bytes() == b"1"


def test_links_whose_meaning_is_not_clear_are_refused(root: Path, state_dir: Path) -> None:
    (root / "same").symlink_to("a")
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    one = b"one\r\n\xff"
    with pytest.raises(StateError, match="same file as a"):
        apply([Edit("a", one, b"1"), Edit("same", one, b"2")], root=root, state_dir=state_dir)
    with pytest.raises(StateError, match="symbolic link and is not removed"):
        apply([Edit("same", one, None)], root=root, state_dir=state_dir)
    with pytest.raises(StateError, match="symbolic link and links to no file"):
        apply([Edit("dangling", None, b"x")], root=root, state_dir=state_dir)
    with pytest.raises(SystemFailure, match="loop: cannot read: Too many levels of symbolic links"):
        apply([Edit("loop", None, b"x")], root=root, state_dir=state_dir)
    assert contents(root) == {**UNTOUCHED, "same": one}
    assert not (root / "nowhere").exists()


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664])
def test_the_mode_is_kept(root: Path, state_dir: Path, mode: int) -> None:
    (root / "a").chmod(mode)
    apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=state_dir)
    assert (root / "a").stat().st_mode & 0o7777 == mode


def test_a_new_file_has_the_mode_of_the_umask(root: Path, state_dir: Path) -> None:
    old = os.umask(0o027)
    try:
        apply([Edit("new/x", None, b"1")], root=root, state_dir=state_dir)
    finally:
        os.umask(old)
    assert (root / "new/x").stat().st_mode & 0o7777 == 0o640
    assert (root / "new").stat().st_mode & 0o7777 == 0o750


@needs_root
def test_the_owner_is_kept(root: Path, state_dir: Path) -> None:
    os.chown(root / "a", 1234, 4321)
    apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=state_dir)
    assert ((root / "a").stat().st_uid, (root / "a").stat().st_gid) == (1234, 4321)


def test_the_other_name_of_a_hard_link_keeps_the_old_bytes(root: Path, state_dir: Path) -> None:
    os.link(root / "a", root / "other")
    apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=state_dir)
    assert (root / "other").read_bytes() == b"one\r\n\xff"


@pytest.mark.parametrize("after", [b"1", None])
def test_a_read_only_file_is_not_written_or_removed(root: Path, state_dir: Path, after: bytes | None) -> None:
    (root / "a").chmod(0o444)
    with pytest.raises(SystemFailure, match=r"^a: cannot write: it is read-only") as caught:
        apply([Edit("b", b"two", b"2"), Edit("a", b"one\r\n\xff", after)], root=root, state_dir=state_dir)
    assert caught.value.exit_code == 4
    assert "chmod u+w" in str(caught.value)
    assert contents(root) == UNTOUCHED
    assert (root / "a").stat().st_mode & 0o7777 == 0o444


@pytest.mark.parametrize("path", ["locked/x", "locked/new", "locked/deep/new"])
def test_a_read_only_folder_is_not_written_into(root: Path, state_dir: Path, path: str) -> None:
    (root / "locked").mkdir()
    (root / "locked/x").write_bytes(b"x")
    (root / "locked").chmod(0o555)
    before = b"x" if path == "locked/x" else None
    with pytest.raises(SystemFailure, match="its folder is read-only"):
        apply([Edit("b", b"two", b"2"), Edit(path, before, b"n")], root=root, state_dir=state_dir)
    assert contents(root) == {**UNTOUCHED, "locked/x": b"x"}


def test_what_is_not_a_file_is_refused(root: Path, state_dir: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    for path in ("folder", "pipe"):
        with pytest.raises(StateError, match=f"{path}: is not a regular file"):
            apply([Edit(path, None, b"n")], root=root, state_dir=state_dir)
    with pytest.raises(StateError, match="a/below: needs a folder where a is a file"):
        apply([Edit("a/below", None, b"n")], root=root, state_dir=state_dir)


def test_a_state_folder_that_cannot_be_made(root: Path) -> None:
    with pytest.raises(SystemFailure, match="cannot lock: Not a directory"):
        apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=root / "b/state")
    assert contents(root) == UNTOUCHED


def test_in_git_the_work_tree_shows_the_edits_alone(tmp_path: Path) -> None:
    def git(*arguments: str, folder: Path) -> str:
        command = [
            "git",
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "-C",
            str(folder),
            *arguments,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    main, linked = tmp_path / "main", tmp_path / "linked"
    git("init", "-q", str(main), folder=tmp_path)
    (main / "a").write_bytes(b"1\n")
    git("add", "a", folder=main)
    git("commit", "-qm", "first", folder=main)
    git("worktree", "add", "-q", str(linked), folder=main)
    for folder in (main, linked):
        state_dir = folder / git("rev-parse", "--git-path", "benchscribe", folder=folder).strip()
        edits = [Edit("a", b"1\n", b"2\n"), Edit("new/b", None, b"b\n")]
        assert apply(edits, root=folder, state_dir=state_dir) == ["a", "new/b"]
        assert git("status", "--porcelain", folder=folder) == " M a\n?? new/\n"
        assert (state_dir / "lock").is_file()
    assert (main / ".git/worktrees/linked/benchscribe/lock").is_file()


HOLDER = """
import pathlib, sys, time
from benchscribe.writers.lock import locked
with locked(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@contextmanager
def holder(state_dir: Path, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock for so long."""
    command = [sys.executable, "-c", HOLDER, str(state_dir), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_second_writer_waits_and_then_gives_up_naming_the_first(
    root: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "WAIT", 0.3)
    with holder(state_dir, 60) as first:
        with pytest.raises(StateError, match=f"process {first.pid} is writing in this checkout") as caught:
            apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=state_dir)
        assert caught.value.exit_code == 3
        assert contents(root) == UNTOUCHED

        (state_dir / "journal").mkdir()
        with pytest.raises(StateError, match=f"process {first.pid}"):
            recover(root=root, state_dir=state_dir)
        assert (state_dir / "journal").exists()

        # The kernel drops the lock of a killed process.
        first.kill()
        first.wait()
        assert apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=state_dir) == ["a"]


def test_a_second_writer_goes_on_when_the_first_is_done(root: Path, state_dir: Path) -> None:
    with holder(state_dir, 0.4):
        assert apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=state_dir) == ["a"]


WRITER = """
import pathlib, sys
from benchscribe.schema.errors import StateError
from benchscribe.schema.results import Edit
from benchscribe.writers.transaction import apply
root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
done = 0
while done < 15:
    old = (root / "count").read_bytes()
    new = str(int(old) + 1).encode()
    try:
        edits = [Edit("count", old, new), Edit(f"{name}/{done}", None, new)]
        apply(edits, root=root, state_dir=root / ".git/s")
    except StateError:
        continue
    done += 1
"""


def test_writers_at_the_same_time_lose_no_write(root: Path) -> None:
    (root / "count").write_bytes(b"0")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(root), name]) for name in "xyz"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    assert (root / "count").read_bytes() == b"45"
    numbers = {int((root / f"{name}/{number}").read_bytes()) for name in "xyz" for number in range(15)}
    assert numbers == set(range(1, 46))


@pytest.mark.parametrize("text", [b"999999\n", b"", b"\xff garbage"])
def test_an_old_lock_file_means_nothing(root: Path, state_dir: Path, text: bytes) -> None:
    state_dir.mkdir()
    (state_dir / "lock").write_bytes(text)
    assert apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=state_dir) == ["a"]
    assert (state_dir / "lock").read_bytes() == f"{os.getpid()}\n".encode()


def test_where_there_are_no_file_locks_writing_says_so(
    root: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(SystemFailure, match="file locks of Linux or macOS"):
        apply([Edit("a", b"one\r\n\xff", b"1")], root=root, state_dir=state_dir)
    assert contents(root) == UNTOUCHED
