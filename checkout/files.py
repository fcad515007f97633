"""Where a checkout's bytes come from: the work tree, a commit, or planned edits laid over either. Read-only.

Every path is relative to the git root and written with `/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Protocol

from ..schema.errors import Place, StateError, SystemFailure
from .git import Git


class Files(Protocol):
    """A tree of files. `name` says which one, for messages."""

    @property
    def name(self) -> str: ...

    def read(self, path: str) -> bytes | None:
        """The bytes at `path`, None where there is no file."""

    def names(self, folder: str) -> list[str]:
        """The names of files and folders directly in `folder`, sorted; none where it is not there."""

    def has_folder(self, folder: str) -> bool:
        """Whether `folder` is there and is one."""


def inside(path: str) -> str:
    """`path` in its shortest form. Raises StateError when it is absolute or leads out of the checkout."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts:
            parts.pop()
        elif part == ".." or part.startswith("/"):
            raise StateError(f"path {path!r} leads out of the checkout", hint="write it relative to the checkout")
        else:
            parts.append(part)
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in path) or "\\" in path:
        raise StateError(f"path {path!r} holds a control character or a backslash")
    return "/".join(parts)


class WorkTree:
    """The files as they lie on disk, uncommitted and untracked ones included."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self.name = "the work tree"

    def read(self, path: str) -> bytes | None:
        """The file's bytes. Raises SystemFailure when it cannot be read, StateError when a link leads out."""
        place = self._place(path)
        try:
            return place.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise SystemFailure(f"cannot be read: {error.strerror or error}", where=Place(path)) from None

    def names(self, folder: str) -> list[str]:
        place = self._place(folder)
        try:
            return sorted(entry.name for entry in place.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise SystemFailure(f"cannot be listed: {error.strerror or error}", where=Place(folder)) from None

    def has_folder(self, folder: str) -> bool:
        return self._place(folder).is_dir()

    def _place(self, path: str) -> Path:
        try:
            place = (self._root / inside(path)).resolve()
        except (OSError, RuntimeError) as error:
            raise SystemFailure(f"cannot be reached: {error}", where=Place(path)) from None
        if not place.is_relative_to(self._root):
            raise StateError("is a link that leads out of the checkout", where=Place(path))
        return place


class CommitFiles:
    """The files of one commit (a full object name). They cannot change, so each is asked of git once."""

    def __init__(self, git: Git, commit: str) -> None:
        self._git = git
        self._read: dict[str, bytes | None] = {}
        self.commit = commit
        self.name = commit[:10]

    def read(self, path: str) -> bytes | None:
        path = inside(path)
        if path not in self._read:
            self._read[path] = self._git.show(self.commit, path)
        return self._read[path]

    def names(self, folder: str) -> list[str]:
        return self._git.names(self.commit, inside(folder))

    def has_folder(self, folder: str) -> bool:
        return self._git.kind(self.commit, inside(folder)) == "tree"


class Overlay:
    """Files as they would be: some replaced or added (bytes) or gone (None), the rest from below."""

    def __init__(self, below: Files, changes: Mapping[str, bytes | None]) -> None:
        self._below = below
        self._changes = {inside(path): content for path, content in changes.items()}
        self.name = "the wanted state"

    def read(self, path: str) -> bytes | None:
        path = inside(path)
        return self._changes[path] if path in self._changes else self._below.read(path)

    def names(self, folder: str) -> list[str]:
        prefix = inside(folder)
        prefix = f"{prefix}/" if prefix else ""
        found = set(self._below.names(folder))
        for path, content in self._changes.items():
            name, slash, _ = path.removeprefix(prefix).partition("/")
            if path.startswith(prefix) and content is not None:
                found.add(name)
            elif path.startswith(prefix) and not slash:
                found.discard(name)
        return sorted(found)

    def has_folder(self, folder: str) -> bool:
        prefix = inside(folder) + "/"
        added = any(path.startswith(prefix) for path, content in self._changes.items() if content is not None)
        return added or self._below.has_folder(folder)
