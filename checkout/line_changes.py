"""Which lines of a text are new against an older one. Lines end in a line feed and in nothing else."""

from __future__ import annotations

from difflib import SequenceMatcher

LONG = 1000


def added_line_numbers(before: bytes, after: bytes) -> frozenset[int]:
    """The lines of `after`, counted from 1, that `before` does not have: added or rewritten ones.

    The equal ends are cut off first, so that one added line of a long file costs next to nothing.
    """
    head = before.rfind(b"\n", 0, _common_start(before, after)) + 1
    tail = _common_end(before[head:], after[head:])
    start = after.count(b"\n", 0, head)
    old, new = before[head : len(before) - tail].split(b"\n"), after[head : len(after) - tail].split(b"\n")
    # A changelog repeats some lines hundreds of times; with those as junk, thousands of lines compare fast.
    middle = SequenceMatcher(None, old, new, autojunk=len(new) > LONG)
    added: set[int] = set()
    for tag, _, _, first, last in middle.get_opcodes():
        if tag in ("insert", "replace"):
            added.update(range(start + first + 1, start + last + 1))
    # What stands behind the last line feed is no line.
    return frozenset(added - {after.count(b"\n") + 1} if after[-1:] in (b"", b"\n") else added)


def line_before(before: bytes, after: bytes, line: int) -> int:
    """The line of `before`, from 1, where line `line` of `after` stands, or would stand."""
    old, new = before.split(b"\n"), after.split(b"\n")
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=len(new) > LONG).get_opcodes():
        if start < line <= end:
            offset = line - start if tag == "equal" else min(line - start, max(last - first, 1))
            return min(first + offset, len(old))
    return min(line, len(old))


def _common_start(one: bytes, other: bytes) -> int:
    """How many bytes two texts have in common at their start, found by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: bytes, other: bytes) -> int:
    """How many bytes of whole lines two texts have in common at their end, the line feed before them left out."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    at = one.find(b"\n", len(one) - low)
    return 0 if at < 0 else len(one) - at
