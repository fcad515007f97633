"""A plan's edits as rows to look at: changed hunks only, with gaps that can be opened a few lines at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..plan.diff import lines_of, opcodes
from ..schema.results import Edit
from .text import literal

CONTEXT = 3
STEP = 20
_TOKEN = re.compile(
    r"""(?P<comment>(?:^|(?<=\s))\#.*)|(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')"""
    r"""|(?P<key>[A-Za-z_][\w.\-/+@]*(?=:(?:\s|$)))|(?P<number>(?<![\w.\-/:])-?\d[\d_.]*(?![\w.\-/:]))"""
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One stretch of an edit: `equal`, or `delete`/`insert`/`replace`; line numbers count from 0, ends excluded."""

    tag: str
    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One edit cut into lines (with their line ends) and pieces."""

    path: str
    old: Sequence[bytes]
    new: Sequence[bytes]
    pieces: tuple[Piece, ...]
    added: int
    removed: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row of a diff. `kind`: file, gap, same, added, removed, pair. Line numbers count from 1, 0 for none.

    `pair` rows stand side by side. `gap` rows carry the hidden lines' range in the new file.
    """

    kind: str
    file: int
    old_line: int = 0
    new_line: int = 0
    old: str = ""
    new: str = ""
    hidden: tuple[int, int] = (0, 0)


@lru_cache(maxsize=32)
def file_diff(edit: Edit) -> FileDiff:
    """The pieces of one edit; computed once per edit."""
    before, after = lines_of(edit.before), lines_of(edit.after)
    pieces = tuple(Piece(*codes) for codes in opcodes(before, after))
    changed = [piece for piece in pieces if piece.tag != "equal"]
    note = "new file" if edit.before is None else "deleted" if edit.after is None else ""
    return FileDiff(
        edit.path,
        before,
        after,
        pieces,
        sum(piece.new_end - piece.new_start for piece in changed),
        sum(piece.old_end - piece.old_start for piece in changed),
        note,
    )


def _text(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return text.removesuffix("\n") if text.endswith("\n") else text + "⦰"


def diff_rows(
    files: list[FileDiff], folded: set[str], opened: dict[str, set[int]], *, side_by_side: bool
) -> list[DiffRow]:
    """Every row to show. `folded` are paths shut, `opened` per path the new-file lines shown beyond the context."""
    rows: list[DiffRow] = []
    for number, found in enumerate(files):
        rows.append(DiffRow("file", number))
        if found.path not in folded:
            rows.extend(_file_rows(found, number, opened.get(found.path, set()), side_by_side))
    return rows


def _file_rows(found: FileDiff, number: int, opened: set[int], side_by_side: bool) -> Iterator[DiffRow]:
    last = len(found.pieces) - 1
    for at, piece in enumerate(found.pieces):
        if piece.tag == "equal":
            yield from _equal_rows(found, number, piece, opened, first=at == 0, last=at == last)
        elif side_by_side:
            yield from _paired_rows(found, number, piece)
        else:
            for line in range(piece.old_start, piece.old_end):
                yield DiffRow("removed", number, old_line=line + 1, old=_text(found.old[line]))
            for line in range(piece.new_start, piece.new_end):
                yield DiffRow("added", number, new_line=line + 1, new=_text(found.new[line]))


def _paired_rows(found: FileDiff, number: int, piece: Piece) -> Iterator[DiffRow]:
    height = max(piece.old_end - piece.old_start, piece.new_end - piece.new_start)
    for offset in range(height):
        old, new = piece.old_start + offset, piece.new_start + offset
        has_old, has_new = old < piece.old_end, new < piece.new_end
        yield DiffRow(
            "pair",
            number,
            old + 1 if has_old else 0,
            new + 1 if has_new else 0,
            _text(found.old[old]) if has_old else "",
            _text(found.new[new]) if has_new else "",
        )


def _equal_rows(
    found: FileDiff, number: int, piece: Piece, opened: set[int], *, first: bool, last: bool
) -> Iterator[DiffRow]:
    head = piece.new_start if first else piece.new_start + CONTEXT
    tail = piece.new_end if last else piece.new_end - CONTEXT
    shift = piece.old_start - piece.new_start
    hidden: list[int] = []

    def gap() -> Iterator[DiffRow]:
        if hidden:
            yield DiffRow("gap", number, hidden=(hidden[0], hidden[-1] + 1))
            hidden.clear()

    # A gap of thousands of lines is not walked: only its opened lines matter.
    if tail - head > 400 and not any(head <= line < tail for line in opened):
        lines: list[int] = [*range(piece.new_start, min(head, piece.new_end))]
        yield from (_same(found, number, line, shift) for line in lines)
        yield DiffRow("gap", number, hidden=(max(head, piece.new_start), tail))
        yield from (_same(found, number, line, shift) for line in range(max(tail, head), piece.new_end))
        return
    for line in range(piece.new_start, piece.new_end):
        if head <= line < tail and line not in opened:
            hidden.append(line)
            continue
        yield from gap()
        yield _same(found, number, line, shift)
    yield from gap()


def _same(found: FileDiff, number: int, line: int, shift: int) -> DiffRow:
    text = _text(found.new[line])
    return DiffRow("same", number, line + shift + 1, line + 1, text, text)


def lines_to_open(row: DiffRow) -> set[int]:
    """The hidden lines that opening a gap shows: its last `STEP`, those nearest to the change below, and its first."""
    start, end = row.hidden
    if end - start <= 2 * STEP:
        return set(range(start, end))
    return {*range(start, start + STEP), *range(end - STEP, end)}


@lru_cache(maxsize=4096)
def yaml_tokens(line: str) -> tuple[tuple[str, str], ...]:
    """A line of YAML cut into (text, kind): comment, string, key, number or plain. Control characters as escapes."""
    shown = literal(line)
    tokens: list[tuple[str, str]] = []
    at = 0
    for match in _TOKEN.finditer(shown):
        if match.start() > at:
            tokens.append((shown[at : match.start()], ""))
        tokens.append((match.group(), match.lastgroup or ""))
        at = match.end()
    if at < len(shown):
        tokens.append((shown[at:], ""))
    return tuple(tokens)
