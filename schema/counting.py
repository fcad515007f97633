"""Counts in words."""

from __future__ import annotations


def plural(count: int, one: str, many: str = "") -> str:
    """`1 file`, `2 files`; `many` where the plural is not made by an s."""
    return f"{count} {one if count == 1 else many or one + 's'}"
