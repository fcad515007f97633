"""Whole top-level entries: put in, taken out, replaced, copied."""

from __future__ import annotations

import re
from bisect import bisect_right

from ..checkout.blocks import Block, find_block
from ..schema.errors import Place, StateError
from .yaml_layout import values_in
from .yaml_reader import read_layout
from .yaml_render import render_block
from .yaml_spelling import respell, spell

__all__ = [
    "insert_block_after",
    "insert_block_before",
    "remove_block",
    "rename_block",
    "render_block",
    "replace_block",
    "without_comments",
]

_NUMBER_SIGN = re.compile(r"(?:^|(?<=[ \t]))#", re.M)
_BLANK_BELOW = re.compile(r"(?:[ \t]*\r?\n)*")


def replace_block(text: str, name: str, new_block: str, *, file: str = "") -> str:
    """`text` with other lines for the entry `name`; the comment above it and all else stay."""
    block = _the_block(text, name, file)
    lines = _fitted(text, new_block)
    if not text[: block.end].endswith("\n"):
        lines = lines.removesuffix("\n").removesuffix("\r")
    return text[: block.start] + lines + text[block.end :]


def insert_block_after(text: str, name: str, block: str, *, file: str = "") -> str:
    """`text` with a new entry one empty line below the last line of `name`; what followed stays as it was."""
    end = _the_block(text, name, file).end
    newline = _newline(text)
    above = text[:end] if text[:end].endswith("\n") else text[:end] + newline
    return above + newline + _fitted(text, block) + text[end:]


def insert_block_before(text: str, name: str, block: str, *, file: str = "") -> str:
    """`text` with a new entry and an empty line above `name` and its comment block."""
    start = _the_block(text, name, file).comment_start
    return text[:start] + _fitted(text, block) + _newline(text) + text[start:]


def remove_block(text: str, name: str, *, file: str = "") -> str:
    """`text` without the entry, its comment block and the blank lines that set it off from one neighbour."""
    block = _the_block(text, name, file)
    above, below = text[: block.comment_start], text[block.end :]
    kept = above.rstrip(" \t\r\n")
    bare = above[: above.find("\n", len(kept)) + 1] if kept else ""
    blanks = _BLANK_BELOW.match(below)
    rest = below[blanks.end() :] if blanks else below
    if not kept.strip("\ufeff"):
        return above + rest
    is_apart = rest != below
    return (bare if is_apart or not rest else above) + below


def without_comments(block: str) -> str:
    """The entry without its comments, those behind values included; a `#` inside a value stays."""
    layout = read_layout(block)
    spans = sorted((value.inner, value.end) for value in values_in(layout.root) if not value.children)
    starts = [start for start, _ in spans]
    kept: list[str] = []
    dropped = False
    for line, comment in _lines_with_comments(block, spans, starts):
        bare = line if comment < 0 else line[:comment].rstrip(" \t") + line[len(line.rstrip("\r\n")) :]
        if comment >= 0 and not bare.strip():
            dropped = True
        elif bare.strip() or not dropped or (kept and kept[-1].strip()):
            kept.append(bare)
            dropped = dropped and not bare.strip()
    return "".join(kept)


def _lines_with_comments(text: str, spans: list[tuple[int, int]], starts: list[int]) -> list[tuple[str, int]]:
    """Each line with the place of its comment, -1 without one."""
    found = []
    offset = 0
    for line in text.splitlines(keepends=True):
        place = -1
        for at in _NUMBER_SIGN.finditer(text, offset, offset + len(line)):
            number = bisect_right(starts, at.start()) - 1
            if number < 0 or spans[number][1] <= at.start():
                place = at.start() - offset
                break
        found.append((line, place))
        offset += len(line)
    return found


def rename_block(block: str, new_name: str) -> str:
    """The entry under another name, quoted as the old one was. Raises StateError where there is none."""
    root = read_layout(block).root
    key = root.children[0].key if root and root.children else None
    if key is None:
        raise StateError("there is no entry to rename")
    old = block[key.inner : key.end]
    name = respell(new_name, old) if old[:1] in ("'", '"') else spell(new_name)
    return block[: key.inner] + name + block[key.end :]


def _the_block(text: str, name: str, file: str) -> Block:
    block = find_block(text, name, file)
    if block is None:
        raise StateError(f"there is no key {name!r}", where=Place(file))
    return block


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _fitted(text: str, block: str) -> str:
    """The block with the text's newlines, ending in one."""
    lines = block.replace("\r\n", "\n").rstrip("\n") + "\n"
    return lines.replace("\n", _newline(text))
