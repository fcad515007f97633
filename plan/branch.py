"""A branch as it stands: its change against the base, for every command that judges or describes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..checkout.changes import changed_files
from ..checkout.checkout import Checkout
from ..derive.change import Change
from ..derive.compare import compare
from ..derive.figures import CheckoutFigures
from ..derive.prose import derived_lines
from ..schema.results import Line


@dataclass(frozen=True, slots=True)
class Branch:
    """What a branch changed. `files` are the changed paths, relative to the git root."""

    checkout: Checkout
    files: frozenset[str]
    change: Change

    @property
    def figures(self) -> CheckoutFigures:
        """The figures of the state now."""
        return CheckoutFigures(self.checkout.after)

    def lines(self, keys: Sequence[str] | None = None) -> tuple[Line, ...]:
        """The derived changelog lines, for some keys or (None) all."""
        return derived_lines(self.change, self.figures, keys)


def read_branch(checkout: Checkout) -> Branch:
    """The branch's change, base → now (work tree, or HEAD where only committed state is judged)."""
    files = changed_files(checkout)
    return Branch(checkout, files, compare(checkout.before, checkout.after, files))
