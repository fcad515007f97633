"""Which files a branch changes: what differs from the base, untracked files included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .checkout import Checkout
from .layout import map_path


def changed_files(checkout: Checkout, overlay: Mapping[str, bytes | None] | Iterable[str] = ()) -> frozenset[str]:
    """The paths whose bytes may differ from the base's, in the layout of the state now.

    Uncommitted and untracked files count unless only HEAD is judged; `overlay` are paths planned to change.
    """
    listed = _listed(checkout)
    if checkout.base_layout != checkout.layout:
        listed = [map_path(path, checkout.base_layout, checkout.layout) for path in listed] + listed
    return frozenset([*listed, *overlay])


def _listed(checkout: Checkout) -> list[str]:
    git, commit = checkout.git, checkout.base.commit
    if checkout.committed:
        return _names(git.run("diff", "--name-only", "--no-renames", "-z", commit, git.head, "--"))
    tracked = _names(git.run("diff", "--name-only", "--no-renames", "-z", commit, "--"))
    return tracked + _names(git.run("ls-files", "--others", "--exclude-standard", "-z"))


def _names(output: bytes) -> list[str]:
    return [name.decode("utf-8", "surrogateescape") for name in output.split(b"\0") if name]
