"""Reads a YAML text into its layout: nodes say what the data is, tokens where each piece ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ruamel.yaml.tokens import (
    AliasToken,
    AnchorToken,
    BlockEntryToken,
    BlockMappingStartToken,
    BlockSequenceStartToken,
    DirectiveToken,
    DocumentStartToken,
    FlowEntryToken,
    FlowMappingStartToken,
    FlowSequenceStartToken,
    KeyToken,
    ScalarToken,
    StreamStartToken,
    TagToken,
    Token,
    ValueToken,
)

from ..schema.errors import Place, StateError
from ..schema.yaml_text import MappingNode, Node, SequenceNode, composed, duplicate_keys, walk
from .yaml_layout import Child, Layout, Value, values_in

_ODD_BREAK = re.compile("\r(?!\n)|[\x85\u2028\u2029]")


@lru_cache(maxsize=32)
def read_layout(text: str, file: str = "") -> Layout:
    """The layout of one YAML document. It is only ever read, so that a text met again is not parsed again.

    Raises YamlTextError where the text is not YAML, StateError on a duplicate key, on a line break that only
    YAML counts as one, and on an alias inside its own target.
    """
    if odd := _ODD_BREAK.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        raise StateError(
            f"a line ends in {odd.group()!r}, which editors do not show as a line's end",
            where=Place(file, line),
            hint="save the file with ordinary line ends",
        )
    root, tokens = composed(text, file)
    _refuse_duplicates(root, file)
    reader = _Reader(text, tokens)
    tree = None if root is None else reader.document(root)
    ends = {_end(text, token) for token in tokens if token.end_mark.index > token.start_mark.index}
    layout = Layout(text, file, tree, ends, reader.head)
    _refuse_loops(layout)
    return layout


def _refuse_duplicates(root: Node | None, file: str) -> None:
    for path, second in duplicate_keys(root):
        for here, node in walk(root):
            if here == path[:-1] and isinstance(node, MappingNode):
                first = next(key for key, _ in node.value if str(key.value) == str(second.value))
                raise StateError(
                    f"the key {second.value!r} stands twice: in line {first.start_mark.line + 1} "
                    f"and in line {second.start_mark.line + 1}",
                    where=Place(file, second.start_mark.line + 1, second.start_mark.column + 1),
                    hint="remove one of the two",
                )


def _refuse_loops(layout: Layout) -> None:
    spans = {id(value.node): value for value in values_in(layout.root) if not value.alias}
    for alias in layout.aliases:
        target = spans.get(alias.target)
        if target and target.start <= alias.offset < target.end:
            raise StateError("an alias stands inside its own target", where=layout.place(alias.offset))


class _Reader:
    """Walks the tokens beside the nodes made of them."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._next = 0
        self.head = -1

    def document(self, root: Node) -> Value:
        head = 0
        while self._at(StreamStartToken, DirectiveToken, DocumentStartToken):
            token = self._take()
            if isinstance(token, DocumentStartToken):
                head = token.end_mark.index
                self.head = token.start_mark.line
        return self._value(root, head)

    def _at(self, *kinds: type[Token]) -> bool:
        return self._next < len(self._tokens) and isinstance(self._tokens[self._next], kinds)

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _value(self, node: Node, head: int) -> Value:
        start = -1
        while self._at(AnchorToken, TagToken):
            token = self._take()
            start = token.start_mark.index if start < 0 else start
            head = token.end_mark.index
        token = self._tokens[self._next]
        inner = token.start_mark.index
        first = inner if start < 0 else start
        if self._at(AliasToken):
            return Value(node, first, head, inner, self._take().end_mark.index, alias=True)
        if self._at(ScalarToken):
            end = _end(self._text, self._take())
            return Value(node, first, head, inner, end)
        if self._at(FlowMappingStartToken, FlowSequenceStartToken):
            children, end = self._flow(node)
            return Value(node, first, head, inner, end, children=children)
        if self._at(BlockMappingStartToken, BlockSequenceStartToken):
            self._take()
            children = self._block(node)
            self._take()
            return Value(node, first, head, inner, children[-1].end, children=children)
        if isinstance(node, SequenceNode) and self._at(BlockEntryToken):
            children = self._block(node)
            return Value(node, first, head, inner, children[-1].end, children=children)
        if isinstance(node, MappingNode) and self._at(KeyToken):
            children = (self._pair(*node.value[0]),)
            return Value(node, first, head, inner, children[-1].end, children=children)
        return Value(node, head if start < 0 else start, head, head, head)

    def _block(self, node: Node) -> tuple[Child, ...]:
        if isinstance(node, MappingNode):
            return tuple(self._pair(key, value) for key, value in node.value)
        return tuple(self._item(item) for item in node.value)

    def _item(self, node: Node) -> Child:
        dash = self._take()
        value = self._value(node, dash.end_mark.index)
        return Child(dash.start_mark.index, dash.start_mark.index, value.end, value)

    def _pair(self, key_node: Node, value_node: Node) -> Child:
        start, head = -1, self._tokens[self._next].start_mark.index
        if self._at(KeyToken):
            token = self._take()
            start = token.start_mark.index if token.end_mark.index > token.start_mark.index else -1
            head = token.end_mark.index
        key = self._value(key_node, head)
        start = key.start if start < 0 else start
        if not self._at(ValueToken):
            return Child(start, -1, key.end, Value(value_node, key.end, key.end, key.end, key.end), key)
        colon = self._take()
        value = self._value(value_node, colon.end_mark.index)
        return Child(start, colon.start_mark.index, value.end, value, key)

    def _flow(self, node: Node) -> tuple[tuple[Child, ...], int]:
        self._take()
        children = []
        for entry in node.value:
            if isinstance(node, MappingNode):
                children.append(self._pair(*entry))
            else:
                value = self._value(entry, self._tokens[self._next].start_mark.index)
                children.append(Child(value.start, -1, value.end, value))
            if self._at(FlowEntryToken):
                self._take()
        return tuple(children), self._take().end_mark.index


def _end(text: str, token: Token) -> int:
    end: int = token.end_mark.index
    return _tight_end(text, end) if getattr(token, "style", None) in ("|", ">") else end


def _tight_end(text: str, end: int) -> int:
    """The end of the last line with content before `end`: a block scalar's token ends behind blank lines."""
    line_end = text.find("\n", len(text[:end].rstrip()))
    return end if line_end < 0 else min(line_end, end)
