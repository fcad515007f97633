"""Printing that the git commands share."""

from __future__ import annotations

from collections.abc import Iterable

from ..plan import unified_diff
from ..schema.results import Edit
from .output import Printer

_STYLES = {"---": "head", "+++": "head", "@@ ": "hunk", "+": "added", "-": "removed"}


def diff_lines(printer: Printer, edits: Iterable[Edit]) -> None:
    """A unified diff per file."""
    for edit in edits:
        for line in unified_diff(edit):
            style = next((name for start, name in _STYLES.items() if line.startswith(start)), "")
            printer.line((line, style) if style else line)
