"""Git's index, exactly: paths one by one, never by pattern; stages of a conflict; locks held by others."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..checkout.git import Git
from ..schema.errors import StateError, SystemFailure

WAIT = 2.0
PAUSE = 0.05
ANCESTOR, OURS, THEIRS = 1, 2, 3
REGULAR = "100644"


@dataclass(frozen=True, slots=True)
class Stage:
    """One side of an unmerged file: its mode, as `100644`, and the name of its blob."""

    mode: str
    blob: str


def unmerged(git: Git) -> dict[str, dict[int, Stage]]:
    """The sides of every unmerged file, by path and stage: 1 ancestor, 2 ours, 3 theirs."""
    found: dict[str, dict[int, Stage]] = {}
    for record in git.run("ls-files", "--unmerged", "-z").split(b"\0"):
        if record:
            head, _, name = record.partition(b"\t")
            mode, blob, stage = head.decode("ascii").split()
            path = name.decode("utf-8", "surrogateescape")
            found.setdefault(path, {})[int(stage)] = Stage(mode, blob)
    return found


def blob(git: Git, name: str) -> bytes:
    """A blob's bytes."""
    return git.run("cat-file", "blob", name)


def add_blob(git: Git, data: bytes) -> str:
    """Store bytes as they are, no filter applied; the blob's name."""
    return git.run("hash-object", "-w", "--stdin", data=data).decode("ascii").strip()


def staged(git: Git) -> tuple[str, ...]:
    """The paths whose index differs from HEAD, sorted; every path of the index where there is no commit yet."""
    if not git.head:
        return _names(git.run("ls-files", "-z"))
    return _names(git.run("diff", "--cached", "--name-only", "--no-renames", "-z", "HEAD", "--"))


def unstaged(git: Git) -> tuple[str, ...]:
    """The tracked paths whose work tree differs from the index, and untracked ones, sorted."""
    tracked = _names(git.run("diff", "--name-only", "--no-renames", "-z", "--"))
    others = _names(git.run("ls-files", "--others", "--exclude-standard", "-z"))
    return tuple(sorted({*tracked, *others}))


def tracked(git: Git, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths that the index holds."""
    wanted = set(paths)
    return frozenset(wanted.intersection(_names(git.run("ls-files", "--cached", "-z"))))


def stage(git: Git, paths: Sequence[str]) -> None:
    """Put the work tree's state of exactly these paths into the index, removals and unmerged files included.

    Raises StateError where another process holds the index, SystemFailure where git refuses a path.
    """
    if paths:
        _change(git, "update-index", "--add", "--remove", "-z", "--stdin", data=_joined(paths))


def as_in_head(git: Git, paths: Sequence[str]) -> None:
    """Put HEAD's state of exactly these paths into the index; the work tree stays."""
    listed = git.run("--literal-pathspecs", "ls-tree", "-z", "--full-tree", "HEAD", "--", *paths)
    known = {record.partition(b"\t")[2]: record for record in listed.split(b"\0") if record}
    gone = [path for path in paths if _bytes(path) not in known]
    records = [record.replace(b" blob ", b" ").replace(b" commit ", b" ") for record in known.values()]
    absent = [_removal(git) + _bytes(path) for path in gone]
    _change(git, "update-index", "-z", "--index-info", data=b"\0".join([*records, *absent]) + b"\0")


def mark_unmerged(git: Git, path: str, sides: Mapping[int, Stage]) -> None:
    """Make a file unmerged, as git's own merge does, with these sides."""
    name = _bytes(path)
    records = [_removal(git) + name]
    records += [f"{one.mode} {one.blob} {number}\t".encode() + name for number, one in sorted(sides.items())]
    _change(git, "update-index", "-z", "--index-info", data=b"\0".join(records) + b"\0")


def _removal(git: Git) -> bytes:
    """How `update-index --index-info` is told to drop a path; object names are as long as HEAD's."""
    return b"0 " + b"0" * len(git.head) + b"\t"


def _change(git: Git, *arguments: str, data: bytes) -> None:
    """One command that writes the index; waits for another process that holds it."""
    deadline = time.monotonic() + WAIT
    while True:
        answer = git.try_run(*arguments, data=data)
        if answer.returncode == 0:
            return
        words = answer.stderr.decode("utf-8", "replace").strip()
        if not is_locked(words):
            raise SystemFailure(f"git {arguments[0]} failed: {words}")
        if time.monotonic() >= deadline:
            raise locked(git)
        time.sleep(PAUSE)


def is_locked(words: str) -> bool:
    """Whether git says that another process holds the index."""
    return "index.lock" in words and "File exists" in words


def locked(git: Git) -> StateError:
    """The index is held by another process, and was not freed in time."""
    lock = git.git_path("index.lock")
    return StateError(
        f"another process holds git's index ({lock}) and was not done after {WAIT:g} seconds",
        hint="wait for it and run this again; if no git command is running, remove that file",
    )


def wait_for_index(git: Git) -> None:
    """Wait for another process that holds the index. Raises StateError when it is not done in time."""
    lock = git.git_path("index.lock")
    deadline = time.monotonic() + WAIT
    while lock.exists():
        if time.monotonic() >= deadline:
            raise locked(git)
        time.sleep(PAUSE)


def _joined(paths: Iterable[str]) -> bytes:
    return b"".join(_bytes(path) + b"\0" for path in paths)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _names(output: bytes) -> tuple[str, ...]:
    return tuple(sorted(name.decode("utf-8", "surrogateescape") for name in output.split(b"\0") if name))
