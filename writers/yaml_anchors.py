"""What anchors, aliases and `<<` tie together in a text, and which changes they forbid."""

from __future__ import annotations

from typing import Any

from ..schema.errors import StateError
from .yaml_layout import Layout, Value, values_in
from .yaml_pairing import same


class Anchors:
    """The anchored values of a layout and what became of them, noted before their aliases are met."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._aliases = layout.aliases
        self._targets = {alias.target for alias in self._aliases}
        self._became: dict[int, Any] = {}
        self._before: dict[int, Any] = {}

    def note(self, value: Value, wanted: Any) -> None:
        """Remembers what an anchored value is about to become."""
        if id(value.node) in self._targets:
            self._became[id(value.node)] = wanted
            self._before[id(value.node)] = self._read(value)

    def now(self, value: Value) -> Any:
        """What a value, or an alias of it, reads as once the changes so far are made."""
        return self._became.get(id(value.node), self._read(value))

    def settled(self, value: Value, wanted: Any) -> bool:
        """Whether the value's text already reads as wanted, whatever became of what its aliases repeat."""
        if not same(self._read(value), wanted):
            return False
        return not any(
            value.start <= alias.offset < value.end
            and alias.target in self._became
            and not same(self._became[alias.target], self._before.get(alias.target))
            for alias in self._aliases
        )

    def merged(self, value: Value) -> dict[Any, Any]:
        """The keys a mapping gets through `<<`, its own included, with the data they will have."""
        found: dict[Any, Any] = {}
        for child in value.children:
            if child.merge:
                listed = child.value.kind == "sequence" and not child.value.alias
                sources = [item.value for item in child.value.children] if listed else [child.value]
                for source in sources:
                    now = self.now(source)
                    for part in now if isinstance(now, list) else [now]:
                        found = {**part, **found}
        return found

    def refuse_loss(self, value: Value) -> None:
        """Raises StateError where a value that goes holds an anchor used elsewhere."""
        for inner in values_in(value):
            for alias in self._aliases:
                outside = not value.start <= alias.offset < value.end
                if alias.target == id(inner.node) and not inner.alias and outside:
                    line = self._layout.line(alias.offset) + 1
                    raise StateError(
                        f"the value here is repeated by an alias in line {line}, so it cannot go",
                        where=self._layout.place(inner.start),
                        hint="write out in the file what the alias repeats, then try again",
                    )

    def refuse_changed(self, alias: Value) -> None:
        """Raises StateError where an alias should stay as it is while its target changes."""
        if not same(self.now(alias), self._read(alias)):
            line = self._layout.line(alias.node.start_mark.index) + 1
            raise StateError(
                f"the alias here repeats line {line}, which changes: both would change",
                where=self._layout.place(alias.start),
                hint="change both alike, or write out in the file what the alias repeats",
            )

    def _read(self, value: Value) -> Any:
        return self._layout.data(value)
