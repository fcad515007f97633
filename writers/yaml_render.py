"""New lines of YAML in a given style: whole blocks, entries, rows, flow collections."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .yaml_reader import read_layout
from .yaml_spelling import block_scalar, is_scalar, own_quote, spell
from .yaml_style import Habits, Style


def render_block(name: str, data: Any, *, step: int = 2, like: str = "") -> str:
    """A top-level entry as text, ending in a newline.

    Mappings and lists are in flow style where they are flagged so (`YamlMap`, `YamlList`); scalars keep their
    spelling. `like` is a text, as a rule the file the entry goes into, whose habits are taken over:
    indentation, blanks in brackets, the quotes and the style it uses for the same keys.
    """
    return "\n".join(Renderer(Style(document=_habits(like), step=step)).entry(name, data, 0)) + "\n"


@lru_cache(maxsize=8)
def _habits(like: str) -> tuple[Habits, ...]:
    """What a whole text does, read once for all the blocks that are new to it."""
    root = read_layout(like).root if like else None
    return (Habits(read_layout(like), root),) if root else ()


class Renderer:
    """Writes values in one style. Lists of lines start without indentation; their further lines have it."""

    def __init__(self, style: Style) -> None:
        self._style = style

    @property
    def step(self) -> int:
        return self._style.mapping_step()

    def entry(self, key: Any, value: Any, column: int) -> list[str]:
        """`key: value`, the key standing at `column`."""
        first, *rest = self.after(value, column, str(key))
        return [f"{spell(key)}:{first}", *rest]

    def item(self, value: Any, column: int, label: str = "", *, flow: bool | None = None) -> list[str]:
        """`- value`, the dash standing at `column`. `flow` overrides the style's word for this item."""
        dash = self._style.dash()
        if is_scalar(value):
            first, *rest = self._scalar(value, column, label)
            return [dash + first, *rest]
        if not value or (self._style.is_flow(value, label) if flow is None else flow):
            return [dash + self.flow(value, label)]
        first, *rest = self.block(value, column + len(dash), label)
        return [dash + first, *rest]

    def after(self, value: Any, column: int, label: str) -> list[str]:
        """What follows the colon of a key at `column`: the rest of its line, then further lines."""
        if is_scalar(value):
            first, *rest = self._scalar(value, column, label)
            return [" " + first, *rest]
        if self._style.is_flow(value, label):
            return [" " + self.flow(value, label)]
        mapping = isinstance(value, dict)
        inner = column + (self._style.mapping_step() if mapping else self._style.sequence_step())
        first, *rest = self.block(value, inner, label)
        return ["", " " * inner + first, *rest]

    def flow(self, value: Any, label: str) -> str:
        """Any value on one line."""
        if is_scalar(value):
            return self._on_one_line(value, label)
        kind, opening, closing = ("mapping", "{", "}") if isinstance(value, dict) else ("sequence", "[", "]")
        if not value:
            return opening + closing
        pieces = (
            [self.flow_entry(key, item) for key, item in value.items()]
            if isinstance(value, dict)
            else [self.flow(item, f"{label}[]") for item in value]
        )
        pad = self._style.pad(kind, label)
        return opening + pad + self._style.comma(kind).join(pieces) + pad + closing

    def flow_entry(self, key: Any, value: Any) -> str:
        return f"{spell(key, flow=True)}: {self.flow(value, str(key))}"

    def block(self, value: Any, column: int, label: str = "") -> list[str]:
        """A mapping or list, not empty, on lines of its own at `column`."""
        lines: list[str] = []
        indent = " " * column
        children = (
            [self.entry(key, item, column) for key, item in value.items()]
            if isinstance(value, dict)
            else [self.item(item, column, f"{label}[]") for item in value]
        )
        for first, *rest in children:
            lines += [indent + first if lines else first, *rest]
        return lines

    def _scalar(self, value: Any, column: int, label: str) -> list[str]:
        if isinstance(value, str) and (lines := block_scalar(value, column + self._style.mapping_step())):
            return lines
        return [spell(value, self._style.quote(label))]

    def _on_one_line(self, value: Any, label: str) -> str:
        """In a flow row the spec's own quotes stay; a value without any is spelled as its neighbours are."""
        quote = None if own_quote(value) is not None else self._style.quote(label)
        return spell(value, quote, flow=True)
