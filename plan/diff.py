"""Diffs of planned edits: how many lines come and go, and a unified diff of each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

from ..schema.results import Edit

Opcode: TypeAlias = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class FileChange:
    """How many lines of one file come and go."""

    path: str
    added: int
    removed: int


def lines_of(data: bytes | None) -> list[bytes]:
    """The lines with their line ends; only a line feed ends a line."""
    return [] if not data else [line for line in _cut(data) if line]


def _cut(data: bytes) -> list[bytes]:
    *whole, last = data.split(b"\n")
    return [line + b"\n" for line in whole] + [last]


def line_counts(edit: Edit) -> FileChange:
    """How many lines an edit adds and removes."""
    changed = [code for code in opcodes(lines_of(edit.before), lines_of(edit.after)) if code[0] != "equal"]
    return FileChange(edit.path, sum(d - c for _, _, _, c, d in changed), sum(b - a for _, a, b, _, _ in changed))


def opcodes(before: Sequence[bytes], after: Sequence[bytes]) -> list[Opcode]:
    """difflib's opcodes, worked out for the part that differs: the equal ends of a long file cost nothing."""
    start = 0
    while start < len(before) and start < len(after) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    middle = SequenceMatcher(None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False)
    found: list[Opcode] = [("equal", 0, start, 0, start)] if start else []
    found += [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in middle.get_opcodes()]
    if end:
        found.append(("equal", len(before) - end, len(before), len(after) - end, len(after)))
    return found


def unified_diff(edit: Edit, context: int = 3) -> list[str]:
    """A unified diff of one edit, without line ends; bytes that are no UTF-8 are shown as escapes."""
    before, after = lines_of(edit.before), lines_of(edit.after)
    lines = [
        f"--- {'/dev/null' if edit.before is None else 'a/' + edit.path}",
        f"+++ {'/dev/null' if edit.after is None else 'b/' + edit.path}",
    ]
    for hunk in _hunks(opcodes(before, after), context):
        lines.append(f"@@ -{_range(hunk[0][1], hunk[-1][2])} +{_range(hunk[0][3], hunk[-1][4])} @@")
        for tag, a, b, c, d in hunk:
            if tag == "equal":
                lines += _shown(" ", before[a:b])
            else:
                lines += _shown("-", before[a:b]) + _shown("+", after[c:d])
    return lines


def _hunks(codes: Sequence[Opcode], context: int) -> Iterator[list[Opcode]]:
    """The opcodes cut into hunks: long equal runs keep `context` lines at each side."""
    hunk: list[Opcode] = []
    for index, (tag, a, b, c, d) in enumerate(codes):
        if tag != "equal":
            hunk.append((tag, a, b, c, d))
            continue
        first, last = index == 0, index == len(codes) - 1
        if not first and not last and b - a <= 2 * context:
            hunk.append((tag, a, b, c, d))
            continue
        if not first:
            hunk.append((tag, a, min(b, a + context), c, min(d, c + context)))
            yield hunk
            hunk = []
        if not last:
            hunk.append((tag, max(a, b - context), b, max(c, d - context), d))
    if any(code[0] != "equal" for code in hunk):
        yield hunk


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start},{length}" if length != 1 else str(start + 1)


def _shown(sign: str, lines: Sequence[bytes]) -> list[str]:
    shown = []
    for line in lines:
        text = line.decode("utf-8", "backslashreplace")
        shown.append(sign + text.removesuffix("\n"))
        if not text.endswith("\n"):
            shown.append("\\ No newline at end of file")
    return shown
