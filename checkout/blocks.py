"""The top-level entries of a YAML text, found by looking at the first column only.

A master config of 324 KB must not be parsed to change one key. Only where a quoted text or a bracket is left
open at a line's end does the parser's scanner look, and only at that one entry.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.tokens import (
    DocumentEndToken,
    DocumentStartToken,
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    KeyToken,
)

from ..schema.errors import Place, StateError
from ..schema.yaml_text import compose

_FIRST_COLUMN = re.compile(r"\n(?=[^\s#])")
_MARKER = re.compile(r"(?:---|\.\.\.)(?=\s|$)")
_CONFLICT = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?=\s|$)")
_DASH = re.compile(r"-(?=\s|$)")
_KEY = re.compile(
    r"""(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')[ \t]*:(?=\s|$)"""
    r"""|(?P<plain>(?:[^\s\-?:,\[\]{}#&*!|>'"%@`]|[-?:](?=\S))[^\n]*?)[ \t]*:(?=\s|$)"""
)
_TAKES_A_LIST = re.compile(r":[ \t]*(?:[&!]\S+[ \t]*)*(?:#[^\n]*)?\r?$")
_OPEN_FLOW = re.compile(r"[,\[{][ \t]*\r?\n|[,\[{][ \t]+#")
_OPEN_QUOTE = re.compile(r"""["'](?<![^\s\[{,:].)(?:(?<=")(?:[^"\\\n]|\\.)*\\?$|(?<=')(?:[^'\n]|'')*$)""", re.M)
_TAB = re.compile(r"^ *\t[ \t]*[^\s#]", re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level entry.

    `start` to `end` are its lines, from its key to its last line with content, newline included: comments
    further in belong to it, blank lines and first-column comments behind it do not. `comment_start` is where
    the first-column comments directly above it start (`start` without any). All are offsets; `line` counts
    from 1.
    """

    name: str
    start: int
    end: int
    comment_start: int
    line: int


@lru_cache(maxsize=16)
def split_blocks(text: str, file: str = "") -> tuple[Block, ...]:
    """The top-level entries of a text that is one mapping in block style, in its order. The same text is split once.

    Raises StateError with the line where the text is not such a mapping (another document behind it, a
    conflict marker, a line that is no key) and where an entry the scanner had to look at is not YAML.
    """
    heads = list(_Heads(text, file))
    blocks = []
    line, counted, floor = 1, 0, 0
    for number, (name, start, stop) in enumerate(heads):
        line += text.count("\n", counted, start)
        counted = start
        end = _content_end(text, start, min(stop, heads[number + 1][1] if number + 1 < len(heads) else stop))
        blocks.append(Block(name, start, end, _comment_start(text, start, floor), line))
        floor = end
    return tuple(blocks)


def find_block(text: str, name: str, file: str = "") -> Block | None:
    """The entry called `name`, if any. Raises StateError as `split_blocks` does, and where there are two."""
    found = [block for block in split_blocks(text, file) if block.name == name]
    if len(found) > 1:
        raise StateError(
            f"the key {name!r} stands twice: in line {found[0].line} and in line {found[1].line}",
            where=Place(file, found[1].line, 1),
            hint="remove one of the two",
        )
    return found[0] if found else None


class _Heads:
    """Finds where entries start: name, offset, and where the document ends."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        starts = [0, *(at.end() for at in _FIRST_COLUMN.finditer(text)), len(text)]
        pieces = ((start, text[start:end]) for start, end in pairwise(starts))
        self._doubts = [start + at for start, piece in pieces for at in _doubts_in(piece)]

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        return iter(self._found())

    def _found(self) -> list[tuple[str, int, int]]:
        text = self._text
        heads: list[tuple[str, int]] = []
        opened = False
        skip = 0
        stop = len(text)
        first = 1 if text.startswith("\ufeff") else 0
        lines = [first] if text[first : first + 1].strip(" \t\r\n#") else []
        lines += [at.end() for at in _FIRST_COLUMN.finditer(text)]
        for at in lines:
            if at < skip:
                continue
            if heads and self._is_doubtful(heads[-1][1], at):
                skip = self._scanned_end(heads[-1][1], at)
                if at < skip:
                    continue
            if marker := _MARKER.match(text, at):
                if marker[0] == "...":
                    stop = at
                    self._refuse_more([line for line in lines if line > at])
                    break
                if heads or opened:
                    raise self._wrong(at, "a second document starts here", "keep one document in the file")
                opened = True
            elif text[at] == "%" and not heads:
                continue
            elif name := self._name(at):
                heads.append((name, at))
            elif not (heads and _DASH.match(text, at) and self._takes_list(heads[-1][1])):
                skip = self._continued(heads, at)
        if heads and self._is_doubtful(heads[-1][1], stop):
            self._scanned_end(heads[-1][1])
        return [(name, at, stop) for name, at in heads]

    def _name(self, at: int) -> str | None:
        key = _KEY.match(self._text, at)
        if key is None or " #" in key[0] or "\t#" in key[0]:
            return None
        if key["plain"] is not None:
            return key["plain"]
        node = compose(key["quoted"], self._file)
        return None if node is None else str(node.value)

    def _takes_list(self, start: int) -> bool:
        return bool(_TAKES_A_LIST.search(self._text, start, self._line_end(start)))

    def _continued(self, heads: list[tuple[str, int]], at: int) -> int:
        """Where the last entry ends, when it goes on at `at` in the first column; raises if it cannot."""
        if _CONFLICT.match(self._text, at):
            raise self._wrong(at, "a conflict marker", "resolve the conflict first")
        a_list = _DASH.match(self._text, at)
        skip = self._scanned_end(heads[-1][1]) if heads and not a_list else at
        if skip <= at:
            raise self._wrong(at, "not a top-level key", "every line in the first column must be `key:` or a comment")
        return skip

    def _refuse_more(self, lines: list[int]) -> None:
        if lines:
            raise self._wrong(lines[0], "text behind the document's end", "keep one document in the file")

    def _is_doubtful(self, start: int, stop: int) -> bool:
        first = bisect_left(self._doubts, start)
        return first < len(self._doubts) and self._doubts[first] < stop

    def _scanned_end(self, start: int, guess: int | None = None) -> int:
        """Where the entry at `start` ends for the parser's scanner: at the next key in the first column.

        Mostly that is `guess`; then nothing behind its line needs to be scanned.
        """
        try:
            if guess is not None and _ends_before(self._text[start : self._line_end(guess) + 1], guess - start):
                return guess
            end = _next_key(self._text[start:])
            return len(self._text) if end is None else start + end
        except MarkedYAMLError as error:
            mark = error.context_mark or error.problem_mark
            row = self._text.count("\n", 0, start) + 1
            place = Place(self._file, row + mark.line, mark.column + 1) if mark else Place(self._file, row)
            raise StateError(f"not valid YAML: {error.problem or error.context}", where=place) from None

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end

    def _wrong(self, at: int, what: str, hint: str) -> StateError:
        return StateError(what, where=Place(self._file, self._text.count("\n", 0, at) + 1, 1), hint=hint)


@lru_cache(maxsize=4096)
def _doubts_in(piece: str) -> tuple[int, ...]:
    """Where, in the lines of one entry, a bracket or a quoted text is left open or a tab stands; comments aside."""
    found = chain(_OPEN_FLOW.finditer(piece), _OPEN_QUOTE.finditer(piece), _TAB.finditer(piece))
    return tuple(sorted(at.start() for at in found if not _in_comment_line(piece, at.start())))


def _in_comment_line(text: str, at: int) -> bool:
    begin = text.rfind("\n", 0, at) + 1
    return text[begin : at + 1].lstrip(" \t").startswith("#")


@lru_cache(maxsize=1024)
def _ends_before(piece: str, guess: int) -> bool:
    """Whether the entry that `piece` starts with ends at `guess`, whose line is the last of `piece`."""
    try:
        return _next_key(piece) == guess
    except MarkedYAMLError:
        return False


@lru_cache(maxsize=64)
def _next_key(text: str) -> int | None:
    """Where the second key in the first column, or the document's end, stands for the parser's scanner."""
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    depth = keys = 0
    for token in yaml.scan(text):
        if isinstance(token, (FlowMappingStartToken, FlowSequenceStartToken)):
            depth += 1
        elif isinstance(token, (FlowMappingEndToken, FlowSequenceEndToken)):
            depth -= 1
        elif isinstance(token, KeyToken) and token.start_mark.column == 0 and not depth:
            keys += 1
        if keys == 2 or isinstance(token, (DocumentStartToken, DocumentEndToken)):
            return int(token.start_mark.index)
    return None


def _content_end(text: str, start: int, stop: int) -> int:
    """The end of the last line before `stop` that is neither blank nor a comment in the first column."""
    while stop > start:
        begin = text.rfind("\n", start, stop - 1) + 1 or start
        if begin <= start or (text[begin:stop].strip() and text[begin] != "#"):
            break
        stop = begin
    return stop


def _comment_start(text: str, start: int, floor: int) -> int:
    while start > floor:
        begin = text.rfind("\n", floor, start - 1) + 1 or floor
        if text[begin] != "#":
            break
        start = begin
    return start
