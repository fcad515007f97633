"""The text of one child of a collection: a new one, or an old one whose value is replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..schema.errors import StateError
from ..schema.yaml_text import Path
from .yaml_layout import Child, Layout, Value
from .yaml_pairing import same
from .yaml_render import Renderer
from .yaml_spelling import block_scalar, is_scalar, respell
from .yaml_style import Habits, Style


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands: its path, what it is known by, the lists of rows around it, innermost first."""

    path: Path = ()
    label: str = ""
    rows: tuple[Value, ...] = ()


class ChildWriter:
    """Writes children in the style of their surroundings.

    Texts start without indentation. `spot` is the child's own, `end` the end of its old lines.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._text = layout.text

    def new_key(self, mapping: Value, spot: Spot, key: Any, wanted: Any) -> str:
        """A key new to a mapping."""
        renderer = self._renderer(spot, mapping)
        if mapping.flow:
            return renderer.flow_entry(key, wanted)
        return "\n".join(renderer.entry(key, wanted, self._column(mapping)))

    def new_item(self, items: Value, spot: Spot, neighbour: Value | None, wanted: Any) -> str:
        """An item new to a list, written as `neighbour` is, an item of its kind."""
        renderer = self._renderer(spot, items, neighbour)
        if items.flow:
            return renderer.flow(wanted, spot.label)
        flow = neighbour.flow if neighbour and not is_scalar(wanted) else None
        return "\n".join(renderer.item(wanted, self._column(items), spot.label, flow=flow))

    def comma(self, value: Value, spot: Spot) -> str:
        """What separates the children of a flow collection here."""
        return self._style(spot, value).comma(value.kind)

    def scalar(self, child: Child, end: int, wanted: Any, *, in_flow: bool) -> str:
        """An old child with another scalar in its scalar's place, in the old one's style."""
        value, text = child.value, self._text
        before = text[child.start : value.inner] + self._colon(child)
        behind, old = self._behind(value, end), text[value.inner : value.end]
        if isinstance(wanted, str) and not in_flow:
            indent = self._layout.column(child.start) + self._style(Spot()).mapping_step()
            if lines := block_scalar(wanted, indent, old[:1]):
                return "\n".join([before + lines[0] + behind, *lines[1:]])
        return before + respell(wanted, old, flow=in_flow) + behind

    def replaced(self, child: Child, end: int, wanted: Any, spot: Spot, *, in_flow: bool) -> str:
        """An old child with a value of another kind. A comment behind its key or old value stays."""
        value, text, layout = child.value, self._text, self._layout
        renderer = self._renderer(spot)
        if in_flow:
            before = text[child.start : value.start] + self._colon(child)
            return before + renderer.flow(wanted, spot.label) + text[value.end : end]
        if child.key is not None and (child.mark < 0 or text[child.start] == "?"):
            raise StateError(
                "a key written with `?` cannot get a value of another kind",
                where=layout.place(child.start),
                hint="write the key in the file without `?`, then try again",
            )
        behind = self._behind(value, layout.line_end(value.end))
        if value.block:
            behind = "" if layout.inline(value) else text[value.head : layout.line_end(value.head)]
        column = layout.column(child.start)
        if child.key is None:
            first, *rest = renderer.item(wanted, column, spot.label)
        else:
            first, *rest = renderer.after(wanted, column, spot.label)
            first = text[child.start : child.mark + 1] + first
        return "\n".join([first + behind, *rest])

    def extended(self, child: Child, end: int, now: Any, wanted: Any, spot: Spot) -> str:
        """An old child whose alias to a mapping becomes `<<` with the keys that differ below it."""
        value, text = child.value, self._text
        renderer = self._renderer(spot)
        head = text[child.start : child.mark + 1]
        column = self._layout.column(child.start) + (2 if child.key is None else renderer.step)
        own = {key: item for key, item in wanted.items() if key not in now or not same(now[key], item)}
        indent = " " * column
        first, *rest = renderer.block(own, column)
        merge = "<<: " + text[value.start : end]
        return "\n".join([head + (" " if child.key is None else "\n" + indent) + merge, indent + first, *rest])

    def _colon(self, child: Child) -> str:
        """What must stand before a value that comes where none was."""
        if child.key is not None and child.mark < 0:
            return ": "
        empty = child.value.start == child.value.end
        return " " if empty and child.mark >= 0 else ""

    def _behind(self, value: Value, end: int) -> str:
        """What follows a value on its line; blanks alone do not count where no value was."""
        behind = self._text[value.end : end]
        return behind.rstrip(" \t") if value.start == value.end else behind

    def _column(self, value: Value) -> int:
        return self._layout.column(value.children[0].start)

    def _renderer(self, spot: Spot, value: Value | None = None, neighbour: Value | None = None) -> Renderer:
        return Renderer(self._style(spot, value, neighbour))

    def _style(self, spot: Spot, value: Value | None = None, neighbour: Value | None = None) -> Style:
        near = [self._habit(neighbour, spot.label)] if neighbour else []
        near += [self._habit(rows) for rows in spot.rows]
        wide = [self._habit(value) for value in (value, self._layout.root) if value]
        return Style(near, wide)

    def _habit(self, value: Value, label: str = "") -> Habits:
        # They are kept with the layout: a text that is rewritten again and again has the same habits.
        habits = self._layout.habits
        if id(value) not in habits:
            habits[id(value)] = Habits(self._layout, value, label)
        found: Habits = habits[id(value)]
        return found
