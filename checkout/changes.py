"""Which files a branch changes: what differs from the base, untracked files included."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..schema.errors import StateError, SystemFailure
from .layout import map_path

if TYPE_CHECKING:
    from .checkout import Checkout


def changed_files(checkout: Checkout, planned: Iterable[str] = ()) -> frozenset[str]:
    """The paths whose bytes may differ from the base's, in the layout of the state now.

    Uncommitted and untracked files count unless only HEAD is judged; `planned` are paths planned to change.
    """
    return checkout.changed_paths | frozenset(planned)


def read_if_readable(read: Callable[[str], bytes | None], path: str) -> tuple[bytes | None, bool]:
    """A changed file's bytes, and whether it could be read at all.

    Whatever lies in a work tree may differ from the base: links to data elsewhere, loops, names with line ends.
    Nothing of ours stands there, so none of it may end a run.
    """
    try:
        return read(path), True
    except (StateError, SystemFailure):
        return None, False


def branch_paths(checkout: Checkout) -> frozenset[str]:
    """What git lists as different from the base, mapped to the layout of the state now where it moved."""
    listed = _listed(checkout)
    if checkout.base_layout != checkout.layout:
        listed += [map_path(path, checkout.base_layout, checkout.layout) for path in listed]
    return frozenset(listed)


def _listed(checkout: Checkout) -> list[str]:
    git, commit = checkout.git, checkout.base.commit
    if checkout.committed:
        return _names(git.run("diff", "--name-only", "--no-renames", "-z", commit, git.head, "--"))
    tracked = _names(git.run("diff", "--name-only", "--no-renames", "-z", commit, "--"))
    return tracked + _names(git.run("ls-files", "--others", "--exclude-standard", "-z"))


def _names(output: bytes) -> list[str]:
    return [name.decode("utf-8", "surrogateescape") for name in output.split(b"\0") if name]
