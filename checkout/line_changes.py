"""Which lines of a text are new against an older one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


def added_line_numbers(before: bytes, after: bytes) -> frozenset[int]:
    """The lines of `after`, counted from 1, that `before` does not have: added or rewritten ones.

    The equal ends are cut off first, so that one added line of a long file costs next to nothing.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    added: set[int] = set()
    for tag, _, _, first, last in middle.get_opcodes():
        if tag in ("insert", "replace"):
            added.update(range(start + first + 1, start + last + 1))
    return frozenset(added)


def _common(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many lines two texts have in common at their start."""
    count = 0
    for line, same in zip(one, other, strict=False):
        if line != same:
            break
        count += 1
    return count
