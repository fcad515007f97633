"""The changelog as bytes: its entries, its tail, what stands behind the base, and bytes that may not stand.

The file is never parsed as YAML: an entry starts at its `- config-keys:` line. Standard library only, down
to the last import, for git runs the merge driver once per commit of a rebase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from ..schema.changelog import link_number
from ..schema.errors import Place, StateError

ENTRY_START = re.compile(rb"^- config-keys:", re.MULTILINE)
FILE_NAME = "perf-changelog.yaml"

_CONFLICT_MARKER = re.compile(rb"^(?:<{7,}|\|{7,}|={7,}|>{7,})(?:[ \t][^\n]*)?\r?$", re.MULTILINE)
_HEADER_INDENT = re.compile(rb"^([ \t]*)-([ \t]+)")
# Blanks, perhaps the sign of a block scalar, perhaps a deeper indented next line; then the value itself,
# up to a comment or the line's end.
_LINK_VALUE = (
    rb"[ \t]*(?:[>|][+-]?[ \t]*(?=\r?\n))?(?:\r?\n[ \t]{%d,})?"
    rb"(\"[^\"\n]*\"|'[^'\n]*'|[^\s#][^\n]*?)(?=[ \t]+#|[ \t\r]*$)"
)
_STRAY = re.compile(rb"^(?!#|-[ \r\n])[^\s\xef][^\n]*", re.MULTILINE)
_STRAY_BEFORE_ENTRIES = re.compile(rb"^(?!#|-[ \r\n]|---[ \t]*\r?$)[^\s\xef][^\n]*", re.MULTILINE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """One entry's bytes, from its `- config-keys:` line to the end of its last line with content.

    `line` counts from 1 in the file. `lead` holds comment lines that stand between the entry before and this
    one (almost always empty). `data` ends in its own line end, where it has one.
    """

    line: int
    data: bytes
    lead: bytes = b""


@dataclass(frozen=True, slots=True)
class Split:
    """A changelog cut into its entries; `rest` holds the comments behind the last one."""

    blocks: tuple[Block, ...]
    rest: bytes = b""


class Tail(StrEnum):
    """How a changelog ends: it decides what separates it from the next entry."""

    EMPTY = "nothing at all"
    UNFINISHED = "a last line without a line end"
    PLAIN = "one line end"
    BLANKS = "a line of blanks"
    EMPTY_LINE = "an empty line"


@dataclass(frozen=True, slots=True)
class RawProblem:
    """Bytes that may not stand in a changelog: the first line that has them, and how many places do."""

    kind: str
    line: int
    count: int
    message: str


def split(data: bytes, start: int = 0, entry_start: re.Pattern[bytes] = ENTRY_START) -> Split:
    """The entries from offset `start` on, with their lines in the whole file."""
    starts = [match.start() for match in entry_start.finditer(data, start)]
    blocks = []
    line = data.count(b"\n", 0, start) + 1
    gap_start = counted = start
    for begin, limit in zip(starts, [*starts[1:], len(data)], strict=False):
        line += data.count(b"\n", counted, begin)
        end = _content_end(data, begin, limit)
        blocks.append(Block(line, data[begin:end], _comments(data[gap_start:begin])))
        gap_start, counted = end, begin
    return Split(tuple(blocks), _comments(data[gap_start:]))


def _content_end(data: bytes, begin: int, limit: int) -> int:
    """Where the last line ends that is neither blank nor a comment at the margin."""
    end = limit
    while True:
        line_start = max(begin, data.rfind(b"\n", begin, end - 1) + 1)
        if line_start == begin:
            return end
        if data[line_start:end].strip() and not data.startswith(b"#", line_start):
            return end
        end = line_start


def _comments(gap: bytes) -> bytes:
    """What a gap holds besides blank lines at its ends."""
    return re.sub(rb"\A(?:[ \t\r]*\n)+", b"", gap.rstrip()) if gap.strip() else b""


def tail(data: bytes) -> Tail:
    """The kind of end a changelog has."""
    if not data:
        return Tail.EMPTY
    if not data.endswith(b"\n"):
        return Tail.UNFINISHED
    if data.endswith(b"\n\n"):
        return Tail.EMPTY_LINE
    return Tail.PLAIN if data[data.rfind(b"\n", 0, -1) + 1 :].strip() else Tail.BLANKS


def separator_after(data: bytes) -> bytes:
    """What stands between the old bytes and a new entry (FACTS §2, rule 2).

    Taken literally for every tail: an empty file gets an empty first line, and a file without a final line
    end gets the entry on the very next line.
    """
    return b"" if tail(data) is Tail.EMPTY_LINE else b"\n"


def first_difference(old: bytes, new: bytes) -> int:
    """The line, from 1, on which two texts part."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[:middle] == new[:middle] else (low, middle - 1)
    return old.count(b"\n", 0, low) + 1


def starts_cleanly(suffix: bytes, base: bytes) -> bool:
    """Whether what follows the base's bytes starts anew, and does not go on with the base's last entry."""
    if base and not base.endswith(b"\n") and not re.match(rb"\Z|[ \t]*\r?\n", suffix):
        return False
    match = re.search(rb"^(?!#)[ \t]*\S", suffix, re.MULTILINE)
    return match is None or ENTRY_START.match(suffix, match.start()) is not None


def own_blocks(base: bytes, worktree: bytes, path: str = FILE_NAME) -> tuple[Block, ...]:
    """The branch's own entries: what stands behind the base's exact bytes; lines are the work tree's.

    Raises StateError naming `reseat` and the first line that differs where the work tree's file does not
    start with the base's bytes, or goes on with the base's last entry.
    """
    suffix = worktree[len(base) :]
    if not worktree.startswith(base):
        line, what = first_difference(base, worktree), "history differs from the base's here"
    elif not starts_cleanly(suffix, base):
        lines = base + suffix[: len(suffix) - len(suffix.lstrip())]
        line, what = lines.count(b"\n") + 1, "the base's last entry was added to here"
    else:
        return split(worktree, len(base)).blocks
    hint = "`benchscribe reseat` restores the history and puts this branch's own entries behind it"
    raise StateError(f"the changelog does not start with the base's bytes: {what}", where=Place(path, line), hint=hint)


def link_span(block: bytes) -> tuple[int, int] | None:
    """Where the value of `pr-link` stands inside an entry's block, quotes not included.

    An empty span where the field has no value; None where there is no such field. The link may stand on a
    line of its own, quoted or not, with blanks or a comment behind it.
    """
    header = _HEADER_INDENT.match(block)
    indent = len(header[0]) if header else 2
    field = re.search(rb"(?:\A[ ]*-[ ]+|^[ ]{%d})pr-link[ \t]*:" % indent, block, re.MULTILINE)
    if field is None:
        return None
    value = re.compile(_LINK_VALUE % (indent + 1), re.MULTILINE).match(block, field.end())
    if value is None:
        return field.end(), field.end()
    start, end = value.span(1)
    is_quoted = block[start : start + 1] in (b'"', b"'")
    return (start + 1, end - 1) if is_quoted else (start, end)


def link_of(block: bytes) -> str:
    """The link an entry's block carries, empty where it has none."""
    span = link_span(block)
    return block[slice(*span)].decode("utf-8", "replace") if span else ""


def number_of(block: bytes) -> int | None:
    """The number of the pull request an entry's block links, None for placeholders and anything else."""
    return link_number(link_of(block))


def squeezed(data: bytes) -> bytes:
    """The bytes without any white space: what stays when blanks, line ends and indents were rewritten."""
    return b"".join(data.split())


def body_of(block: bytes) -> bytes:
    """What an entry says besides its link, without white space."""
    span = link_span(block)
    return squeezed(block[: span[0]] + block[span[1] :] if span else block)


@lru_cache(maxsize=8)
def raw_problems(data: bytes, first_line: int = 1) -> tuple[RawProblem, ...]:
    """Bytes that break rule 4 of FACTS §2, conflict markers and a missing final line end, by line from 1.

    For a part of a file, `first_line` is the line on which `data` starts.
    """
    found = [*_forbidden_bytes(data), *_conflict_markers(data)]
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        found.append(RawProblem("utf-8", _line(data, error.start), 1, "this line is not UTF-8"))
    if data and not data.endswith(b"\n"):
        found.append(RawProblem("final-newline", data.count(b"\n") + 1, 1, "the last line has no line end"))
    shift = first_line - 1
    moved = [RawProblem(problem.kind, problem.line + shift, problem.count, problem.message) for problem in found]
    return tuple(sorted(moved, key=lambda problem: problem.line))


def _forbidden_bytes(data: bytes) -> Iterator[RawProblem]:
    for kind, pattern, what in (
        ("cr", b"\r", "a carriage return (CRLF line ends?)"),
        ("tab", b"\t", "a tab"),
        ("nul", b"\0", "a NUL byte"),
        ("bom", _BYTE_ORDER_MARK, "a byte order mark"),
    ):
        count = data.count(pattern)
        if count:
            yield RawProblem(kind, _line(data, data.index(pattern)), count, f"this line has {what}")


def _conflict_markers(data: bytes) -> Iterator[RawProblem]:
    markers = _CONFLICT_MARKER.findall(data)
    if markers:
        first = _CONFLICT_MARKER.search(data)
        assert first is not None
        yield RawProblem("conflict", _line(data, first.start()), len(markers), "this line is a conflict marker")


@lru_cache(maxsize=8)
def has_conflict_markers(data: bytes) -> bool:
    """Whether a line of the text is a conflict marker."""
    return _CONFLICT_MARKER.search(data) is not None


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def ensure_writable(data: bytes, path: str = FILE_NAME) -> None:
    """Refuse to write into a changelog whose bytes are broken: StateError with the first such line.

    A missing final line end is no reason to refuse: appending knows what to do with it.
    """
    for problem in raw_problems(data):
        if problem.kind != "final-newline":
            many = f", and {problem.count - 1} more such places" if problem.count > 1 else ""
            hint = "`benchscribe reseat` takes the base's bytes and moves this branch's own entries behind them"
            raise StateError(f"{problem.message}{many}", where=Place(path, problem.line), hint=hint)


@lru_cache(maxsize=8)
def ensure_list(data: bytes, path: str = FILE_NAME) -> None:
    """Refuse to append to what is no list of entries, such as `[]` or text at its end: StateError."""
    starts = [match.start() for match in ENTRY_START.finditer(data)]
    pattern, begin = (_STRAY, starts[-1]) if starts else (_STRAY_BEFORE_ENTRIES, 0)
    stray = pattern.search(data, begin)
    if stray:
        where = Place(path, _line(data, stray.start()))
        hint = "an entry appended here would not be read; mend this line first"
        raise StateError("the changelog does not end in a list of entries", where=where, hint=hint)
