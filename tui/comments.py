"""The comment blocks of an entry and its recipe, under the names a spec's `comments` gives their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..checkout.snapshot import Snapshot
from ..schema.errors import BenchscribeError
from ..schema.master import Entry
from ..schema.strict import show_path
from ..schema.yaml_text import MappingNode, Node, Path, SequenceNode, compose
from .grid import layered_recipes


@dataclass(frozen=True, slots=True)
class CommentBlock:
    """A block of comment lines above a place: its name for the spec, its text without `#`, and where it stands."""

    name: str
    text: str
    file: str
    line: int
    of_recipe: bool


def entry_comments(snapshot: Snapshot, entry: Entry) -> list[CommentBlock]:
    """The comment blocks above and inside an entry, in the file's order."""
    place = snapshot.keys.get(entry.key)
    if place is None:
        return []
    text, block = snapshot.master_text(place.file), place.block
    part = text[block.comment_start : block.end]
    first_line = text.count("\n", 0, block.comment_start) + 1
    several = sum(len(items) for items in entry.scenarios.values()) > 1
    found = []
    for line, words, path in _blocks(part, place.file):
        name = _entry_name(path, entry.key, several)
        if name:
            found.append(CommentBlock(name, words, place.file, first_line + line, of_recipe=False))
    return found


def recipe_comments(snapshot: Snapshot, entry: Entry) -> list[CommentBlock]:
    """The comment blocks of the recipe that the entry's rows share; none where they share none."""
    paths = {found.path for _, _, found in layered_recipes(snapshot, entry)}
    if len(paths) != 1:
        return []
    (path,) = paths
    blocks = []
    for number, (line, words, place) in enumerate(_blocks(snapshot.text(path) or "", path)):
        name = "file" if number == 0 and len(place) == 1 and line == 0 else show_path(place)
        blocks.append(CommentBlock(name, words, path, line + 1, of_recipe=True))
    return blocks


def _blocks(text: str, file: str) -> Iterator[tuple[int, str, Path]]:
    """Every run of comment lines: its first line (from 0), its words, and the path of what stands below."""
    try:
        places = dict(_places(compose(text, file), ()))
    except BenchscribeError:
        return
    lines = text.split("\n")
    start: int | None = None
    for number, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            start = number if start is None else start
        elif start is not None:
            path = places.get(number)
            if path is not None:
                yield start, "\n".join(_words(one) for one in lines[start:number]), path
            start = None


def _words(line: str) -> str:
    return line.lstrip().removeprefix("#").removeprefix(" ")


def _places(node: Node | None, path: Path) -> Iterator[tuple[int, Path]]:
    """Lines (from 0) with the path of the outermost thing that starts there."""
    found: dict[int, Path] = {}
    if isinstance(node, MappingNode):
        for key, value in node.value:
            found.setdefault(key.start_mark.line, (*path, key.value))
            for line, below in _places(value, (*path, key.value)):
                found.setdefault(line, below)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            inner = dict(_places(item, (*path, index)))
            own = item.start_mark.line
            # Above an item that is a mapping stands the comment of its first field, unless the item is a row.
            row = len(path) > 0 and path[-1] == "search-space"
            found.setdefault(own, (*path, index) if row or own not in inner else inner[own])
            for line, below in inner.items():
                found.setdefault(line, below)
    yield from found.items()


def _entry_name(path: Path, key: str, several: bool) -> str:
    if path == (key,):
        return "key"
    inside = path[1:]
    if len(inside) == 1:
        return str(inside[0])
    if inside[:1] == ("scenarios",) and len(inside) >= 4 and not several:
        if inside[3] == "search-space" and len(inside) == 5:
            return f"rows[{inside[4]}]"
        if len(inside) == 4:
            return str(inside[3])
    return show_path(inside)
