"""YAML text read piece by piece: the fields of its top-level entries, each by itself.

An author changes one field at a time, so of a long entry all pieces but one were read before. What cannot be cut
into pieces that stand alone is left to the parser as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .yaml_text import MappingNode, Node, ScalarNode, YamlMap, YamlTextError, compose, load, value_of

# What may tie a piece to what stands outside of it: an anchor, an alias, a tag, a merge, a directive, a marker; tabs
# and breaks that only YAML counts as one make lines hard to tell apart.
_TIED = re.compile("(?:^|[\\s\\[{,:-])[&*!](?=\\S)|<<|^(?:%|---|\\.\\.\\.)|[\t\r\x85\u2028\u2029\ufeff]", re.MULTILINE)
_HEAD = re.compile(r"([A-Za-z0-9_][\w.-]*):[ ]*(?:[ ]#.*)?$")
_LINE = re.compile(r"^( *)([^ \n#].*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """One field of one entry: `tree` maps `field` to its value; so many lines of the text stand `above` it.

    `field` is empty where the entry is one piece; `tree` then maps the entry's name to its value.
    """

    entry: str
    field: str
    tree: Node
    above: int

    @property
    def data(self) -> Any:
        """The piece's value."""
        return _pair(self.tree)[1]


def pieces(text: str) -> tuple[Piece, ...] | None:
    """The pieces of a text, None where it cannot be cut. What they hold together is what the parser reads."""
    if _TIED.search(text):
        return None
    try:
        entries = [_of_entry(block, text.count("\n", 0, start)) for start, block in _cut(text, 0)]
    except (_NoPieces, YamlTextError):
        return None
    found = [piece for entry in entries for piece in entry]
    is_doubled = len({entry[0].entry for entry in entries}) < len(entries)
    is_doubled |= len({(piece.entry, piece.field) for piece in found}) < len(found)
    return tuple(found) if found and not is_doubled else None


def load_in_pieces(text: str, path: str = "") -> Any:
    """The data of one YAML document, as `load` gives it."""
    found = pieces(text)
    if found is None:
        return load(text, path)
    data = YamlMap()
    for piece in found:
        key, value = _pair(piece.tree)
        if piece.field:
            data.setdefault(_word(piece.entry), YamlMap())[key] = value
        else:
            data[key] = value
    return data


class _NoPieces(Exception):
    """The text is not made of pieces that stand alone."""


def _cut(text: str, indent: int) -> Iterator[tuple[int, str]]:
    """The parts of a text that start at lines indented so far: offset and part, comments above the first left out."""
    starts: list[int] = []
    for line in _LINE.finditer(text):
        depth = len(line[1])
        if depth < indent or (depth > indent and not starts):
            raise _NoPieces
        if depth == indent:
            starts.append(line.start())
    if not starts:
        raise _NoPieces
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield start, text[start:end]


def _of_entry(block: str, above: int) -> list[Piece]:
    head, _, body = block.partition("\n")
    name = _HEAD.match(head)
    first = _LINE.search(body)
    if name is not None and first is not None and first[1] and not first[2].startswith(("-", "?", "|", ">")):
        try:
            fields = [
                Piece(name[1], *_single(part), above + 1 + body.count("\n", 0, start))
                for start, part in _cut(body, len(first[1]))
            ]
        except (_NoPieces, YamlTextError):
            fields = []
        if fields and isinstance(_word(name[1]), str):
            return fields
    entry, tree = _single(block)
    return [Piece(entry, "", tree, above)]


@lru_cache(maxsize=1024)
def _word(name: str) -> Any:
    """What a bare key reads as: text, or a number, null or switch."""
    return load(f"[{name}]")[0]


@lru_cache(maxsize=1024)
def _single(text: str) -> tuple[str, Node]:
    """The one key and the tree of a piece."""
    tree = compose(text)
    if not isinstance(tree, MappingNode) or tree.flow_style or len(tree.value) != 1:
        raise _NoPieces
    key = tree.value[0][0]
    if not isinstance(key, ScalarNode) or not str(key.tag).endswith(":str"):
        raise _NoPieces
    return str(key.value), tree


@lru_cache(maxsize=1024)
def _pair(tree: Node) -> tuple[Any, Any]:
    """A piece's key and value, the same objects for the same text: nothing may change them."""
    ((key, value),) = value_of(tree).items()
    return key, value
