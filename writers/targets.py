"""Which files a set of edits means and whether they may be written: paths, expected bytes, write bits."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..schema.errors import BenchscribeError, Place, StateError, SystemFailure, UsageError
from ..schema.results import Edit
from .durable import Permissions, blaming

WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Target:
    """An edit and the file it writes: absolute, symbolic links followed; a new file has no permissions."""

    edit: Edit
    file: Path
    permissions: Permissions | None


def survey(edits: Sequence[Edit], root: Path) -> list[Target]:
    """The targets of the edits that change something, after every check that needs no writing.

    `root` is the resolved git root. Raises UsageError for a path that leaves the checkout or enters `.git`,
    ValueError for two edits of one file (a bug of the caller), StateError for files whose bytes are
    not `before` (also of edits that change nothing), SystemFailure for what is write-protected.
    """
    files = [locate(root, edit.path) for edit in edits]
    _refuse_doubles([edit.path for edit in edits])
    _refuse_aliases(edits, files)
    _compare(edits, files)
    changes = [(edit, file) for edit, file in zip(edits, files, strict=True) if edit.before != edit.after]
    return [Target(edit, file, _permissions(edit, file, root)) for edit, file in changes]


def locate(root: Path, path: str) -> Path:
    """The real file behind a path relative to the resolved `root`; UsageError when it leads elsewhere."""
    parts = PurePosixPath(path).parts
    if not parts or "\0" in path:
        raise _outside(path, "is not a path of a file")
    if path.startswith("/") or ".." in parts:
        raise _outside(path, "leaves the checkout")
    file = Path(os.path.realpath(root.joinpath(*parts)))
    if not file.is_relative_to(root) or file == root:
        raise _outside(path, f"leaves the checkout through a symbolic link, to {file}")
    if any(part.casefold() == ".git" for part in (*parts, *file.relative_to(root).parts)):
        raise _outside(path, "is git's own, not the checkout's")
    return file


def _outside(path: str, what: str) -> UsageError:
    hint = "a path must be relative to the checkout's root and stay inside it, without `..`"
    return UsageError(f"{what}; nothing was written", where=Place(path or "''"), hint=hint)


def _refuse_doubles(paths: Sequence[str]) -> None:
    seen: set[PurePosixPath] = set()
    for path in map(PurePosixPath, paths):
        if path in seen:
            raise ValueError(f"two edits of one file: {path}")
        seen.add(path)
    for path in seen:
        if inner := seen.intersection(path.parents):
            raise ValueError(f"an edit of {path} and one of {inner.pop()}, a folder above it")


def _refuse_aliases(edits: Sequence[Edit], files: Sequence[Path]) -> None:
    first: dict[Path, str] = {}
    for edit, file in zip(edits, files, strict=True):
        if file in first:
            what = f"is the same file as {first[file]}, through a symbolic link; both would be written"
            raise StateError(what, where=Place(edit.path), hint="nothing was written; name the file once")
        first[file] = edit.path


def read(file: Path) -> bytes | None:
    """The bytes of a regular file, None when there is nothing; StateError when it is anything else."""
    try:
        status = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(status.st_mode):
        raise StateError("is not a regular file", where=Place(str(file)))
    return file.read_bytes()


def difference(edit: Edit, file: Path) -> str | None:
    """How the file differs from what the edit was planned from, in words; None when it does not.

    Raises SystemFailure when it cannot be read.
    """
    with blaming(edit.path, "read"):
        try:
            found = read(file)
        except BenchscribeError as error:
            return error.what
    if found == edit.before:
        return None
    if edit.before is None:
        return "exists by now"
    return "is gone" if found is None else "was changed since the plan was made"


def changed_underneath(complaints: Sequence[str]) -> StateError:
    """The error for files that are not what was planned from, one `path: difference` each."""
    return StateError("\n".join(complaints), hint="nothing was written; run again to start from the files as they are")


def _compare(edits: Sequence[Edit], files: Sequence[Path]) -> None:
    pairs = list(zip(edits, files, strict=True))
    complaints = [f"{edit.path}: {how}" for edit, file in pairs if (how := difference(edit, file))]
    if complaints:
        raise changed_underneath(complaints)


def _permissions(edit: Edit, file: Path, root: Path) -> Permissions | None:
    """The permissions to keep; refuses what bears no write bit, which would not stop root or a rename."""
    if (root / edit.path).is_symlink() and (edit.before is None or edit.after is None):
        what = "links to no file" if edit.before is None else "is not removed"
        hint = "nothing was written; remove the link, or name the file"
        raise StateError(f"is a symbolic link and {what}", where=Place(edit.path), hint=hint)
    with blaming(edit.path, "write"):
        folder = next(parent for parent in file.parents if os.path.lexists(parent))
        if not folder.is_dir():
            raise StateError(
                f"needs a folder where {folder.relative_to(root)} is a file",
                where=Place(edit.path),
                hint="nothing was written",
            )
        _refuse_protected(folder, "its folder is read-only", edit.path)
        if edit.before is None:
            return None
        _refuse_protected(file, "it is read-only", edit.path)
        return Permissions.of(file.stat())


def _refuse_protected(file: Path, why: str, path: str) -> None:
    if not file.stat().st_mode & WRITE_BITS or not os.access(file, os.W_OK):
        hint = "nothing was written; `chmod u+w` it if it is meant to change"
        raise SystemFailure(f"cannot write: {why}", where=Place(path), hint=hint)
