"""Where everything in a YAML text stands, to the character: keys, colons, dashes, values, comments, lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..schema.errors import Place
from ..schema.yaml_text import MappingNode, Node, Path, ScalarNode, SequenceNode, value_of


@dataclass(frozen=True, slots=True)
class Value:
    """One value in the text.

    `start` is where its anchor or tag stands, or else its content; `head` is behind them (behind the colon or
    dash where there are none); the content is `text[inner:end]`, without trailing blank lines or comments.
    """

    node: Node
    start: int
    head: int
    inner: int
    end: int
    alias: bool = False
    children: tuple[Child, ...] = ()

    @property
    def kind(self) -> str:
        """`mapping`, `sequence` or `scalar`; of an alias: its target's."""
        if isinstance(self.node, MappingNode):
            return "mapping"
        return "sequence" if isinstance(self.node, SequenceNode) else "scalar"

    @property
    def flow(self) -> bool:
        return bool(getattr(self.node, "flow_style", False))

    @property
    def block(self) -> bool:
        """Whether its children stand on lines of their own."""
        return bool(self.children) and not self.flow


@dataclass(frozen=True, slots=True)
class Child:
    """A key with its value, or an item of a list. `mark` is the colon's or dash's offset, -1 without one."""

    start: int
    mark: int
    end: int
    value: Value
    key: Value | None = None

    @property
    def name(self) -> Any:
        """The key as data, as `load` gives it; None for an item."""
        if self.key is None:
            return None
        name = value_of(self.key.node)
        return name if isinstance(self.key.node, ScalarNode) else repr(name)

    @property
    def merge(self) -> bool:
        """Whether this is a `<<` key."""
        return self.key is not None and str(self.key.node.tag).endswith(":merge")


@dataclass(frozen=True, slots=True)
class Part:
    """A child of a block collection with its lines.

    `gap`: blank lines and comments that stand apart; `comment`: the lines directly above; `end`: the end of
    its last line, with the comments that stand inside it behind its last value.
    """

    gap: tuple[str, ...]
    comment: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Alias:
    """One `*name`, and the node it repeats."""

    offset: int
    target: int


class Layout:
    """A YAML document's text with its tree, built by `read_layout`.

    `ends` are the ends of all its tokens, `head` is the line of its `---`, -1 without one.
    """

    def __init__(self, text: str, file: str, root: Value | None, ends: Iterable[int], head: int) -> None:
        self.text = text
        self.file = file
        self.root = root
        self._head = head
        first = 1 if text.startswith("\ufeff") else 0
        self._starts = [first, *(at.end() for at in re.finditer("\n", text))]
        self._ends = sorted(ends)
        self._data: dict[int, Any] = {}
        self.habits: dict[int, Any] = {}

    def data(self, value: Value) -> Any:
        """What a value reads as, worked out once: nothing may change it."""
        if id(value.node) not in self._data:
            self._data[id(value.node)] = value_of(value.node)
        return self._data[id(value.node)]

    def line(self, offset: int) -> int:
        """The line `offset` stands on, counted from 0."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    def line_start(self, offset: int) -> int:
        return self._starts[self.line(offset)]

    def line_end(self, offset: int) -> int:
        """Where the line of `offset` ends, its newline excluded."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end

    def column(self, offset: int) -> int:
        return offset - self.line_start(offset)

    def place(self, offset: int) -> Place:
        return Place(self.file, self.line(offset) + 1, self.column(offset) + 1)

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        """Every alias of the document in order."""
        found = (value for value in values_in(self.root) if value.alias)
        return tuple(Alias(value.start, id(value.node)) for value in found)

    def head_line(self, value: Value) -> int:
        """The line of what introduces a value: its key, dash or anchor; -1 at the document's top."""
        return self._head if value is self.root and value.start == value.inner else self.line(value.head)

    def inline(self, value: Value) -> bool:
        """Whether a block collection starts on the line of its dash (`- tp: 4`)."""
        return self.line(value.children[0].start) == self.head_line(value)

    def region(self, value: Value) -> tuple[int, int]:
        """The span of a block collection's lines, from the end of the line that introduces it."""
        end = self.line_end(value.children[-1].end)
        if self.inline(value):
            return value.children[0].start, end
        head = self.head_line(value)
        return (self._starts[0] if head < 0 else self.line_end(self._starts[head])), end

    def parts(self, value: Value) -> list[Part]:
        """The children of a block collection with the lines above them that are theirs."""
        parts: list[Part] = []
        ended = self.head_line(value)
        for child in value.children:
            first = self.line(child.start)
            lines = self._lines(ended + 1, first)
            inside = self._deeper(value.children[len(parts) - 1]) if parts else None
            kept, gap, comment = _shared(lines, inside)
            if kept:
                last = self.line_end(self._starts[ended + kept])
                parts[-1] = Part(parts[-1].gap, parts[-1].comment, parts[-1].start, last)
            parts.append(Part(gap, comment, child.start, self.line_end(child.end)))
            ended = self.line(child.end)
        return parts

    def comment_start(self, offset: int) -> int:
        """Where the comment block directly above the line of `offset` starts; without one, that line."""
        first = self.line(offset)
        top = self._starts[first]
        last = bisect_right(self._ends, top) - 1
        bound = self.line(self._ends[last]) + 1 if last >= 0 and self._ends[last] <= top else 0
        while first > bound and self._text_of(first - 1).lstrip().startswith("#"):
            first -= 1
        return self._starts[first]

    def _lines(self, first: int, behind: int) -> list[str]:
        return [self._text_of(number) for number in range(first, behind)]

    def _text_of(self, line: int) -> str:
        start = self._starts[line]
        return self.text[start : self.line_end(start)]

    def _deeper(self, child: Child) -> int | None:
        """The column from which a comment behind `child` is one of its own lines, if any."""
        value = child.value
        while value.block and not value.alias:
            column = self.column(value.children[0].start)
            if column > self.column(child.start):
                return column
            value = value.children[-1].value
        return None


def _shared(lines: list[str], inside: int | None) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """How many lines belong to what stands above, the lines between, and the comment directly below them."""
    above = len(lines)
    while above and _is_comment(lines[above - 1]) and not _is_inside(lines[above - 1], inside):
        above -= 1
    kept = max((number + 1 for number in range(above) if _is_inside(lines[number], inside)), default=0)
    return kept, tuple(lines[kept:above]), tuple(lines[above:])


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _is_inside(line: str, column: int | None) -> bool:
    return column is not None and _is_comment(line) and len(line) - len(line.lstrip()) >= column


def values_in(value: Value | None) -> Iterator[Value]:
    """Every value and key of a tree in the order of the text; what an alias repeats is not visited again."""
    if value is None:
        return
    yield value
    for child in value.children:
        yield from values_in(child.key)
        yield from values_in(child.value)


def child_at(layout: Layout, path: Path) -> Child | None:
    """The key or item at `path`, None where there is nothing or an alias stands in between."""
    value, child = layout.root, None
    for step in path:
        if value is None or value.alias:
            return None
        children = enumerate(value.children)
        child = next((item for number, item in children if _is_step(item, number, step)), None)
        value = child.value if child else None
    return child


def _is_step(child: Child, number: int, step: str | int) -> bool:
    return number == step if child.key is None else str(child.key.node.value) == str(step)
