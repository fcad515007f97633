"""A benchmark checkout: the state now, the state at the base, and how paths of one are found in the other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from ..schema.errors import StateError
from ..schema.master import Entry
from .base import Base, find_base
from .changes import branch_paths
from .files import CommitFiles, Files, Overlay, WorkTree
from .git import Git
from .layout import Layout, find_layout, layout_of_base, map_path
from .snapshot import Missing, Snapshot


class Checkout:
    """A checkout seen from its git root. `after` is the state judged or planned, `before` the base's.

    Paths are relative to the git root, with `/`, and in the layout of `after` unless said otherwise.
    """

    def __init__(self, git: Git, after: Snapshot, base_ref: str = "", *, committed: bool = False) -> None:
        self.git = git
        self.committed = committed
        self.layout = after.layout
        self.after = after
        self._base_ref = base_ref

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        base: str = "",
        committed: bool = False,
        overlay: Mapping[str, bytes | None] | None = None,
    ) -> Checkout:
        """The checkout that holds `directory`.

        `base` names the ref to compare with (SPEC, "Before and after"), looked up when it is first needed.
        `committed` takes HEAD for the state now instead of the work tree. `overlay` lays edits over it.
        Raises StateError where this is no git work tree or no such checkout.
        """
        git = Git.open(directory)
        if committed and not git.head:
            raise StateError("the branch has no commit yet, so nothing committed can be judged")
        files: Files = CommitFiles(git, git.head) if committed else WorkTree(git.root)
        if overlay:
            files = Overlay(files, overlay)
        layout = find_layout(files, _inside_root(directory, git.root))
        return cls(git, Snapshot(files, layout), base, committed=committed)

    def with_overlay(self, changes: Mapping[str, bytes | None]) -> Checkout:
        """The same checkout with `changes` made: bytes replace or add a file, None removes it."""
        after = self.after.with_changes(changes)
        other = Checkout(self.git, after, self._base_ref, committed=self.committed)
        # The base does not change with the overlay, so what was found or read of it is kept.
        for name in ("base", "before", "changed_paths"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @property
    def git_root(self) -> Path:
        return self.git.root

    @cached_property
    def base(self) -> Base:
        """The base. Raises StateError where none is found, saying what was tried."""
        return find_base(self.git, self._base_ref)

    @cached_property
    def before(self) -> Snapshot:
        """The state at the base, in the base's own layout."""
        return self.at_commit(self.base.commit)

    def at_commit(self, commit: str) -> Snapshot:
        """The state at any commit (a full object name), in that commit's own layout."""
        files = CommitFiles(self.git, commit)
        return Snapshot(files, layout_of_base(files, self.layout))

    @cached_property
    def changed_paths(self) -> frozenset[str]:
        """The paths that differ from the base, seen from either layout; untracked files count.

        Read once: open the checkout again to see what changed on disk meanwhile.
        """
        return branch_paths(self)

    @property
    def base_layout(self) -> Layout:
        return self.before.layout

    def path_at_base(self, path: str) -> str:
        """Where the file at `path` stood in the base's layout."""
        return map_path(path, self.layout, self.base_layout)

    def read(self, path: str) -> bytes | None:
        """A file's bytes now, None where there is none. Raises SystemFailure when it cannot be read."""
        return self.after.read(path)

    def at_base(self, path: str) -> bytes | None:
        """The bytes at the base of the file that is at `path` now."""
        return self.before.read(self.path_at_base(path))

    def entry(self, key: str) -> Entry | None:
        """The entry now; see `Snapshot.entry`."""
        return self.after.entry(key)

    def entry_at_base(self, key: str) -> Entry | None:
        """The entry at the base; see `Snapshot.entry`."""
        return self.before.entry(key)

    def can_judge(self, missing: Missing) -> bool:
        """Whether a missing recipe is a mistake: only where its folder exists at the base.

        Source: SPEC, "Bad input".
        """
        return bool(missing.folder) and self.before.has_folder(self.path_at_base(missing.folder))


def _inside_root(directory: Path, root: Path) -> str:
    here, top = directory.resolve(), root.resolve()
    return here.relative_to(top).as_posix() if here.is_relative_to(top) else ""
