"""Writes that fail at each of their system calls: every file is as it was, and the next write succeeds."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchscribe.schema.errors import SystemFailure
from benchscribe.schema.results import Edit
from benchscribe.writers.transaction import Outcome, apply, pending, recover

LATIN = b"name: caf\xe9\r\nlast line without end"
EDITS = [
    Edit("configs/a.yaml", LATIN, LATIN + b"\r\nb: 2\n"),
    Edit("recipes/new/r.yaml", None, b"base: {}\n"),
    Edit("old.yaml", b"gone soon", None),
    Edit("log.yaml", b"- 1\n", b"- 1\n\n- 2\n"),
]
BEFORE = {"configs/a.yaml": LATIN, "old.yaml": b"gone soon", "log.yaml": b"- 1\n"}
AFTER = {
    "configs/a.yaml": LATIN + b"\r\nb: 2\n",
    "recipes/new/r.yaml": b"base: {}\n",
    "log.yaml": b"- 1\n\n- 2\n",
}


def make_tree(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


def files_of(root: Path) -> dict[str, bytes]:
    """Every file below `root`, and every empty folder as a name that ends in a slash."""
    found = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[f"{name}/"] = b""
    return found


def failing(call: Callable[..., Any], number: int, code: int, lasting: bool) -> Callable[..., Any]:
    """`call`, but its `number`-th call (and, if lasting, every later one) raises."""
    count = 0

    def wrapped(*arguments: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == number or (lasting and count > number):
            raise OSError(code, os.strerror(code))
        return call(*arguments, **options)

    return wrapped


def sweep(tmp_path: Path, name: str, code: int, lasting: bool) -> list[SystemFailure]:
    """Let the n-th call of `os.<name>` fail, for n from 1, until a write makes no so many calls."""
    raised: list[SystemFailure] = []
    for number in range(1, 100):
        root, state_dir = tmp_path / f"{number}/root", tmp_path / f"{number}/state"
        make_tree(root, BEFORE)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, name, failing(getattr(os, name), number, code, lasting))
            try:
                apply(EDITS, root=root, state_dir=state_dir)
            except SystemFailure as error:
                raised.append(error)
            else:
                break
        assert files_of(root) == BEFORE, f"{name} failed at call {number}: {raised[-1]}"
        recover(root=root, state_dir=state_dir)
        assert files_of(root) == BEFORE
        assert apply(EDITS, root=root, state_dir=state_dir) == [edit.path for edit in EDITS]
        assert files_of(root) == AFTER
    assert files_of(root) == AFTER
    return raised


# How many calls can fail a write of four files is counted by hand. Before the commit there are
#   write   3 copies of bytes from before, 1 manifest, 3 new files
#   fsync   as many (7), the journal's folder and its parent, then root, configs, recipes, recipes/new
#   replace the manifest into place, 3 new files, and the commit itself
#   mkdir   the state's folder, the journal's, recipes, recipes/new;   unlink  old.yaml
@pytest.mark.parametrize(
    ("name", "code", "count"),
    [
        ("write", errno.ENOSPC, 7),
        ("fsync", errno.EIO, 13),
        ("replace", errno.EACCES, 5),
        ("mkdir", errno.ENOSPC, 4),
        ("unlink", errno.EROFS, 1),
        ("fchmod", errno.EPERM, 2),
    ],
)
def test_one_failing_call_leaves_every_file_as_it_was(tmp_path: Path, name: str, code: int, count: int) -> None:
    raised = sweep(tmp_path, name, code, lasting=False)
    assert len(raised) == count
    assert all(error.exit_code == 4 and os.strerror(code) in str(error) for error in raised)
    assert all("nothing was written" in str(error) for error in raised)


@pytest.mark.parametrize(("name", "count"), [("write", 7), ("fsync", 13)])
def test_a_disk_that_stays_full_leaves_every_file_as_it_was(tmp_path: Path, name: str, count: int) -> None:
    raised = sweep(tmp_path, name, errno.ENOSPC, lasting=True)
    assert len(raised) == count
    assert all("No space left on device" in str(error) for error in raised)


def test_files_that_cannot_be_opened_leave_every_file_as_it_was(tmp_path: Path) -> None:
    # One open for the lock, for each of the 7 new files and for each of the 13 syncs.
    assert len(sweep(tmp_path, "open", errno.EMFILE, lasting=False)) == 21


def test_a_quota_noticed_only_when_a_file_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tree(tmp_path / "root", BEFORE)
    close, count = os.close, 0

    def closing(descriptor: int) -> None:
        nonlocal count
        count += 1
        close(descriptor)
        # NFS flushes on close. 11: four files of the journal, each closed once more after its sync, two
        # synced folders, and then the first new file.
        if count == 11:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "close", closing)
    with pytest.raises(SystemFailure, match=r"^configs/a\.yaml: cannot write: Disk quota exceeded"):
        apply(EDITS, root=tmp_path / "root", state_dir=tmp_path / "state")
    assert files_of(tmp_path / "root") == BEFORE


def test_the_failure_names_the_file_and_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tree(tmp_path / "root", BEFORE)
    # The fifth write is the first new file's: three copies and the manifest come before.
    monkeypatch.setattr(os, "write", failing(os.write, 5, errno.ENOSPC, lasting=True))
    with pytest.raises(SystemFailure) as caught:
        apply(EDITS, root=tmp_path / "root", state_dir=tmp_path / "state")
    assert str(caught.value) == ("configs/a.yaml: cannot write: No space left on device\n  nothing was written")
    assert not pending(tmp_path / "state")


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tree(tmp_path / "root", BEFORE)
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    apply(EDITS, root=tmp_path / "root", state_dir=tmp_path / "state")
    assert files_of(tmp_path / "root") == AFTER


def test_an_interrupt_from_the_keyboard_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tree(tmp_path / "root", BEFORE)
    replace, seen = os.replace, []

    def interrupted(*names: Any) -> None:
        replace(*names)
        seen.append(names)
        if len(seen) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apply(EDITS, root=tmp_path / "root", state_dir=tmp_path / "state")
    assert files_of(tmp_path / "root") == BEFORE
    assert not pending(tmp_path / "state")


def test_an_interrupt_right_after_the_commit_leaves_the_write_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tree(tmp_path / "root", BEFORE)
    replace = os.replace

    def interrupted(source: Any, target: Any) -> None:
        replace(source, target)
        if Path(target).name == "committed.json":
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apply(EDITS, root=tmp_path / "root", state_dir=tmp_path / "state")
    monkeypatch.undo()
    assert files_of(tmp_path / "root") == AFTER
    found = recover(root=tmp_path / "root", state_dir=tmp_path / "state")
    assert found is not None
    assert found.outcome is Outcome.FINISHED
    assert files_of(tmp_path / "root") == AFTER


def test_when_putting_back_fails_too_the_next_run_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, state_dir = tmp_path / "root", tmp_path / "state"
    make_tree(root, BEFORE)
    # The disk goes read-only after the manifest and one file were renamed.
    monkeypatch.setattr(os, "replace", failing(os.replace, 3, errno.EROFS, lasting=True))
    with pytest.raises(SystemFailure, match="putting the files back failed as well: Read-only file system"):
        apply(EDITS, root=root, state_dir=state_dir)
    assert pending(state_dir)
    with pytest.raises(SystemFailure, match="cannot undo an interrupted write: Read-only"):
        recover(root=root, state_dir=state_dir)
    monkeypatch.undo()
    found = recover(root=root, state_dir=state_dir)
    assert found is not None
    assert found.outcome is Outcome.UNDONE
    assert files_of(root) == BEFORE


def test_no_name_is_changed_before_the_bytes_behind_it_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, state_dir = tmp_path / "root", tmp_path / "state"
    make_tree(root, BEFORE)
    synced: set[int] = set()
    renamed: list[str] = []
    folders_synced_after: set[int] = set()
    fsync, replace = os.fsync, os.replace

    def noting_fsync(descriptor: int) -> None:
        fsync(descriptor)
        synced.add(os.fstat(descriptor).st_ino)
        folders_synced_after.add(os.fstat(descriptor).st_ino)

    def checking_replace(source: Any, target: Any) -> None:
        name = Path(target).name
        assert name == "committed.json" or Path(source).stat().st_ino in synced, f"{name} was renamed unsynced"
        if name == "committed.json":
            folders = [root, root / "configs", root / "recipes", root / "recipes/new"]
            assert {folder.stat().st_ino for folder in folders} <= folders_synced_after
        else:
            folders_synced_after.clear()
        renamed.append(name)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(os, "replace", checking_replace)
    apply(EDITS, root=root, state_dir=state_dir)
    assert renamed == ["manifest.json", "a.yaml", "r.yaml", "log.yaml", "committed.json"]


CONTENT = st.none() | st.binary(max_size=40) | st.sampled_from([b"\r\n", b"\xff\xfe", b"x\ry", b"\0"])
PATHS = st.sampled_from(["a", "b.yaml", "d/a", "d/e/f", "d/e/g", "ü/日本", "h h/i"])
CHANGES = st.dictionaries(PATHS, st.tuples(CONTENT, CONTENT), min_size=1)
FAULTS = st.none() | st.tuples(st.sampled_from(["write", "fsync", "replace", "mkdir", "unlink"]), st.integers(1, 25))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=CHANGES, fault=FAULTS)
def test_any_set_of_edits_is_written_wholly_or_not_at_all(
    tmp_path_factory: pytest.TempPathFactory,
    changes: dict[str, tuple[bytes | None, bytes | None]],
    fault: Any,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    root, state_dir = folder / "root", folder / "state"
    before = {name: old for name, (old, _) in changes.items() if old is not None}
    after = {name: new for name, (_, new) in changes.items() if new is not None}
    root.mkdir()
    make_tree(root, before)
    edits = [Edit(name, old, new) for name, (old, new) in changes.items()]
    changed = [edit.path for edit in edits if edit.before != edit.after]

    with pytest.MonkeyPatch.context() as patch:
        if fault:
            name, number = fault
            patch.setattr(os, name, failing(getattr(os, name), number, errno.EIO, lasting=False))
        try:
            assert apply(edits, root=root, state_dir=state_dir) == changed
        except SystemFailure:
            assert fault
            assert files_of(root) == before
        else:
            written = {name: data for name, data in files_of(root).items() if not name.endswith("/")}
            assert written == after
    assert not list(root.rglob("*.tmp"))
