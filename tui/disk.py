"""Watching the files a spec was planned on: has anything changed underneath?"""

from __future__ import annotations

from pathlib import Path

from ..checkout.checkout import Checkout
from ..plan import Plan

Mark = tuple[int, int, int]


class DiskWatch:
    """The files that matter (masters, changelog, runners, HEAD, what a plan edits) as they were when read."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout
        layout = checkout.layout
        paths = [*layout.masters, layout.changelog, layout.runners]
        self._files: dict[str, Path] = {path: checkout.git_root / path for path in paths}
        self._files["HEAD"] = checkout.git.folder / "HEAD"
        self._marks = {name: _mark(path) for name, path in self._files.items()}
        self._accepted: dict[str, Mark] = {}

    def watch(self, plan: Plan) -> None:
        """Look after the files a plan edits, too."""
        for edit in plan.edits:
            if edit.path not in self._files:
                self._files[edit.path] = self._checkout.git_root / edit.path
                self._marks[edit.path] = _mark(self._files[edit.path])

    def changed(self) -> list[str]:
        """The files that are not as they were read, unless that was accepted."""
        now = {name: _mark(path) for name, path in self._files.items()}
        return [name for name, mark in now.items() if mark != self._marks[name] and mark != self._accepted.get(name)]

    def accept(self) -> None:
        """Say no more of the changes there are now."""
        self._accepted = {name: _mark(path) for name, path in self._files.items()}

    def read_again(self) -> None:
        """What is on disk now is what was read (after a write of our own)."""
        self._marks = {name: _mark(path) for name, path in self._files.items()}
        self._accepted = {}


def _mark(path: Path) -> Mark:
    try:
        stat = path.stat()
    except OSError:
        return (0, 0, 0)
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)
