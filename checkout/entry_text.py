"""One master-config entry as its text says it, read field by field where that can be done."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any

from ..schema.errors import Place
from ..schema.master import Entry
from ..schema.yaml_pieces import Piece, pieces
from ..schema.yaml_size import require_finite
from ..schema.yaml_text import Node, Path, YamlMap, compose, find, place_of, value_of


class EntryText:
    """An entry and where its parts stand; `text` is what was read for it."""

    def __init__(self, text: str, key: str, file: str) -> None:
        self.text = text
        self.key = key
        found = pieces(text)
        self._fields: dict[str, Piece] = {piece.field: piece for piece in found or () if piece.entry == key}
        # Without fields the whole is needed; YamlTextError says where it is no YAML.
        self._whole = None if self._fields and "" not in self._fields else compose(text, file)

    @property
    def trees(self) -> Iterator[tuple[Node, int]]:
        """Every node tree that was read, with the lines of the text above it."""
        if self._whole is not None:
            yield self._whole, 0
        else:
            yield from ((piece.tree, piece.above) for piece in self._fields.values())

    def entry(self, file: str) -> Entry | None:
        """The entry's data, None where it is no mapping. Raises StateError where its aliases have no end."""
        if self._whole is not None:
            require_finite(self._whole, file)
        return None if self._data is None else Entry(self.key, self._data)

    @cached_property
    def _data(self) -> dict[str, Any] | None:
        if self._whole is None:
            return YamlMap({field: piece.data for field, piece in self._fields.items()})
        _, value = find(self._whole, (self.key,))
        data = None if value is None else value_of(value)
        return data if isinstance(data, dict) else None

    def place(self, path: Path, file: str) -> Place:
        """Where a field stands in the text, or as deep as it goes."""
        if self._whole is not None:
            return place_of(self._whole, (self.key, *path), file)
        piece = self._fields.get(str(path[0])) if path else None
        return Place(file, 1, 1) if piece is None else place_of(piece.tree, path, file).lowered(piece.above)


@lru_cache(maxsize=512)
def read_entry_text(text: str, key: str, file: str) -> EntryText:
    """The entry `key` of a text; the same text is read once, so nothing may change what it holds."""
    return EntryText(text, key, file)
