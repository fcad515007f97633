"""Which lines of a text are new against an older one. Lines end in a line feed and in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

LONG = 1000


def added_line_numbers(before: bytes, after: bytes) -> frozenset[int]:
    """The lines of `after`, counted from 1, that `before` does not have: added or rewritten ones.

    The equal ends are cut off first, so that one added line of a long file costs next to nothing.
    """
    old, new = before.split(b"\n"), after.split(b"\n")
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old, new_part = old[start : len(old) - end], new[start : len(new) - end]
    # A changelog repeats some lines hundreds of times; with those as junk, thousands of lines compare fast.
    middle = SequenceMatcher(None, old, new_part, autojunk=len(new_part) > LONG)
    added: set[int] = set()
    for tag, _, _, first, last in middle.get_opcodes():
        if tag in ("insert", "replace"):
            added.update(range(start + first + 1, start + last + 1))
    # What stands behind the last line feed is no line.
    return frozenset(added - {len(new)} if not new[-1] else added)


def _common(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many lines two texts have in common at their start."""
    count = 0
    for line, same in zip(one, other, strict=False):
        if line != same:
            break
        count += 1
    return count
