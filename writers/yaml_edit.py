"""Rewrites a YAML text to hold the wanted data and changes nothing else.

The text's tree and the wanted data are walked side by side. What is equal keeps its bytes; what differs is
spliced in the style of its surroundings. The result is parsed again and compared with what was wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..schema.errors import StateError
from ..schema.yaml_pieces import load_in_pieces
from ..schema.yaml_text import YamlTextError, load
from .yaml_anchors import Anchors
from .yaml_children import ChildWriter, Spot
from .yaml_flow import flow_span, join_flow
from .yaml_layout import Child, Layout, Part, Value
from .yaml_lines import Body, arrange
from .yaml_pairing import Pairing, by_likeness, same
from .yaml_reader import read_layout
from .yaml_render import Renderer
from .yaml_spelling import is_scalar, respell
from .yaml_style import Style, label_of

__all__ = ["Pairing", "RewriteMismatch", "rewrite"]


class RewriteMismatch(Exception):
    """The rewritten text does not hold the wanted data: a bug here, so nothing may be written."""


def rewrite(text: str, wanted: Any, *, pair: Pairing | None = None, file: str = "") -> str:
    """`text`, one YAML document, with `wanted` as its data and every other byte as it was.

    Scalars and collections of `wanted` may carry their spelling and style (`schema/yaml_text.py`). A key new
    to a mapping goes behind the one it follows in `wanted`; keys that exist never move. `pair` says which old
    item of a list each wanted one continues (the path it gets holds the wanted places); without it, equal and
    similar items continue each other.

    Raises YamlTextError where the text is not YAML; StateError where it has a key twice, or where an anchor
    that others repeat is in the way; RewriteMismatch where the result is not as wanted.
    """
    if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
        unix = rewrite(text.replace("\r\n", "\n"), wanted, pair=pair, file=file)
        return unix.replace("\n", "\r\n")
    layout = read_layout(text, file)
    data = None if layout.root is None else layout.data(layout.root)
    if same(data, wanted):
        return text
    if text and not text.endswith("\n") and not same(load(text + "\n", file), data):
        return rewrite(text + "\n", wanted, pair=pair, file=file)  # it ends within text of several lines
    result = _Rewriter(layout, pair or by_likeness).document(wanted)
    problem = _problem(result, wanted, file)
    if problem and not result.endswith("\n") and not _problem(result + "\n", wanted, file):
        return result + "\n"  # text of several lines at the very end needs the newline the file lacked
    _refuse(layout, problem)
    return result


def _problem(result: str, wanted: Any, file: str) -> str:
    try:
        return "" if same(load_in_pieces(result, file), wanted) else "it reads as other data"
    except YamlTextError as error:
        return str(error)


def _refuse(layout: Layout, problem: str) -> None:
    if problem and layout.aliases:
        raise StateError(
            f"the change cannot be made beside the alias that stands here ({problem})",
            where=layout.place(layout.aliases[0].offset),
            hint="write out in the file what the alias repeats, then try again",
        )
    if problem:
        raise RewriteMismatch(f"{layout.file or 'the text'} was not rewritten as wanted: {problem}")


@dataclass(frozen=True, slots=True)
class _Step:
    """One child as it shall be: its old number, None for a new one; its key or place; its data."""

    old: int | None
    key: Any
    wanted: Any


class _Rewriter:
    """One pass over a layout in the order of the text, so that anchors are met before their aliases."""

    def __init__(self, layout: Layout, pair: Pairing) -> None:
        self._layout = layout
        self._text = layout.text
        self._pair = pair
        self._anchors = Anchors(layout)
        self._writer = ChildWriter(layout)

    def document(self, wanted: Any) -> str:
        """The whole text with the wanted data."""
        root, text = self._layout.root, self._text
        if root is None:
            return text + ("" if not text or text.endswith("\n") else "\n") + _anew(wanted) + "\n"
        if not self._continues(root, wanted):
            end = self._layout.region(root)[1] if root.block else root.end
            return text[: root.start] + _anew(wanted) + text[end:]
        if is_scalar(wanted):
            return text[: root.inner] + respell(wanted, text[root.inner : root.end]) + text[root.end :]
        start, end = self._span(root)
        return text[:start] + self._collection(root, wanted, Spot())[1] + text[end:]

    def _continues(self, value: Value, wanted: Any) -> bool:
        """Whether the wanted data can take the old value's place piece by piece."""
        if not value.children:
            return value.kind == "scalar" and is_scalar(wanted)
        if value.kind == "sequence":
            return isinstance(wanted, (list, tuple)) and bool(wanted)
        if not isinstance(wanted, dict) or not wanted:
            return False
        has_braces = value.block or self._text[value.inner] == "{"
        return has_braces or {child.name for child in value.children} == wanted.keys()

    def _span(self, value: Value) -> tuple[int, int]:
        return flow_span(self._layout, value) if value.flow else self._layout.region(value)

    def _collection(self, value: Value, wanted: Any, spot: Spot) -> tuple[tuple[str, ...], str]:
        """The new text of a collection's span, and comment lines to go above the line it starts on."""
        steps = self._keys(value, wanted) if value.kind == "mapping" else self._items(value, wanted, spot)
        staying = {step.old for step in steps}
        for number, child in enumerate(value.children):
            if number not in staying:
                self._anchors.refuse_loss(child.value)
        parts = None if value.flow else self._layout.parts(value)
        rows = (value, *spot.rows) if value.kind == "sequence" else spot.rows
        olds: dict[int, Body] = {}
        for old, step in sorted((step.old, step) for step in steps if step.old is not None):
            child = value.children[old]
            below = Spot((*spot.path, step.key), label_of(child, spot.label), rows)
            olds[old] = self._old_child(child, parts[old].end if parts else child.end, step, below, value.flow)
        bodies = [
            self._new_child(value, steps, number, spot, rows) if step.old is None else olds[step.old]
            for number, step in enumerate(steps)
        ]
        if parts is None:
            return (), join_flow(self._layout, value, bodies, self._writer.comma(value, spot))
        return self._block(value, parts, bodies)

    def _block(self, value: Value, parts: list[Part], bodies: list[Body]) -> tuple[tuple[str, ...], str]:
        pieces, tail = arrange(parts, bodies, blank=self._spaced(value, parts), rows=value.kind == "sequence")
        indent = " " * self._layout.column(value.children[0].start)
        inline = self._layout.inline(value)
        lines: list[str] = []
        for piece in pieces[1:] if inline else pieces:
            lines += [*piece.gap, *piece.comment, indent + piece.text]
        if inline:
            lead = tuple(line for line in (*pieces[0].gap, *pieces[0].comment) if line.strip())
            return lead, "\n".join([pieces[0].text, *lines, *tail])
        first = "" if self._layout.head_line(value) < 0 else "\n"
        return (), first + "\n".join([*lines, *tail])

    def _spaced(self, value: Value, parts: list[Part]) -> bool:
        """Whether the children of this collection are set off by empty lines."""
        if len(parts) == 1:
            return value is self._layout.root and value.children[0].value.block
        blank = sum(any(not line.strip() for line in part.gap) for part in parts[1:])
        return 2 * blank > len(parts) - 1

    def _items(self, value: Value, wanted: Any, spot: Spot) -> list[_Step]:
        old = [self._layout.data(child.value) for child in value.children]
        pairs = self._pair(spot.path, old, list(wanted))
        known = {number for number in pairs if number is not None}
        if len(pairs) != len(wanted) or pairs.count(None) + len(known) != len(pairs) or known - {*range(len(old))}:
            raise RewriteMismatch(f"the pairing of the rows at {spot.path} is none: {pairs}")
        return [_Step(pairs[number], number, item) for number, item in enumerate(wanted)]

    def _keys(self, value: Value, wanted: Any) -> list[_Step]:
        merged = self._anchors.merged(value)
        if lost := [key for key in merged if key not in wanted]:
            merge = next(child for child in value.children if child.merge)
            raise StateError(
                f"the key {lost[0]!r} comes from the mapping merged here and cannot be removed alone",
                where=self._layout.place(merge.start),
                hint="write out in the file what `<<` merges, then try again",
            )
        steps = [
            _Step(number, child.name, None if child.merge else wanted[child.name])
            for number, child in enumerate(value.children)
            if child.merge or child.name in wanted
        ]
        own = {step.key for step in steps if not value.children[step.old or 0].merge}
        place = sum(value.children[number].merge for number in range(len(value.children)))
        for key, item in wanted.items():
            if key in own:
                place = next(number for number, step in enumerate(steps) if step.key == key) + 1
            elif key not in merged or not same(merged[key], item):
                steps.insert(place, _Step(None, key, item))
                place += 1
        return steps

    def _new_child(self, value: Value, steps: list[_Step], number: int, spot: Spot, rows: tuple[Value, ...]) -> Body:
        step = steps[number]
        if value.kind == "mapping":
            return Body(None, self._writer.new_key(value, Spot(spot.path, spot.label, rows), step.key, step.wanted))
        neighbour = _neighbour(value, steps, number)
        below = Spot((*spot.path, number), f"{spot.label}[]", rows)
        return Body(None, self._writer.new_item(value, below, neighbour, step.wanted))

    def _old_child(self, child: Child, end: int, step: _Step, spot: Spot, in_flow: bool) -> Body:
        """The child's text up to `end` with the wanted value."""
        value, wanted, text = child.value, step.wanted, self._text
        if child.merge or self._anchors.settled(value, wanted):
            return Body(step.old, text[child.start : end])
        if value.alias:
            return Body(step.old, self._beside_alias(child, end, wanted, spot, in_flow))
        self._anchors.note(value, wanted)
        if not self._continues(value, wanted):
            self._anchors.refuse_loss(value)
            return Body(step.old, self._writer.replaced(child, end, wanted, spot, in_flow=in_flow))
        if is_scalar(wanted):
            return Body(step.old, self._writer.scalar(child, end, wanted, in_flow=in_flow))
        lead, inside = self._collection(value, wanted, spot)
        start, stop = self._span(value)
        indent = " " * self._layout.column(child.start)
        above = tuple(indent + line.lstrip() for line in lead)
        return Body(step.old, text[child.start : start] + inside + text[stop:end], above)

    def _beside_alias(self, child: Child, end: int, wanted: Any, spot: Spot, in_flow: bool) -> str:
        """A child whose value is an alias: kept, extended with `<<`, or written out in its place."""
        now = self._anchors.now(child.value)
        if same(now, wanted):
            return self._text[child.start : end]
        mappings = isinstance(now, dict) and isinstance(wanted, dict)
        if mappings and now.keys() <= wanted.keys() and not in_flow:
            return self._writer.extended(child, end, now, wanted, spot)
        self._anchors.refuse_changed(child.value)
        return self._writer.replaced(child, end, wanted, spot, in_flow=in_flow)


def _anew(wanted: Any) -> str:
    renderer = Renderer(Style())
    if is_scalar(wanted) or not wanted:
        return renderer.flow(wanted, "")
    return "\n".join(renderer.block(wanted, 0))


def _neighbour(value: Value, steps: list[_Step], number: int) -> Value | None:
    """The old row nearest to a new one that is of its kind, the ones above first."""
    wanted = steps[number].wanted
    kind = "mapping" if isinstance(wanted, dict) else "scalar" if is_scalar(wanted) else "sequence"
    order = [*range(number - 1, -1, -1), *range(number + 1, len(steps))]
    near = [old for step in order if (old := steps[step].old) is not None]
    rows = [value.children[old].value for old in (*near, *range(len(value.children)))]
    return next(
        (row for row in rows if row.kind == kind and not row.alias and (row.children or kind == "scalar")),
        None,
    )
