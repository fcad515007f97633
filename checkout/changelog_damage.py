"""Reading the entries of a changelog that went through a bad merge, another editor or another system.

Line ends, byte order mark and UTF-16 are read as meant; between conflict markers both sides are read; entries
are found when they were re-indented or their fields re-sorted. Standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..schema.changelog import FIELDS
from ..schema.errors import Place, StateError
from .changelog_text import FILE_NAME, Block, split, squeezed

_HEADER = re.compile(rb"^([ \t]*)-([ \t]+)config-keys[ \t]*:", re.MULTILINE)
_MARKER = re.compile(rb"(?:(<)<{6,}|(\|)\|{6,}|(=)={6,}|(>)>{6,})(?:[ \t].*)?")

# Which conflict marker may follow in which part, and the part it opens. "" is outside of any conflict.
_NEXT_PART = {
    ("", b"<"): "ours",
    ("ours", b"|"): "base",
    ("ours", b"="): "theirs",
    ("base", b"="): "theirs",
    ("theirs", b">"): "",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of text that stands between entries, mostly a comment, and its line in the file."""

    line: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a damaged changelog holds: its entries in order, and the comments between them."""

    blocks: tuple[Block, ...]
    remarks: tuple[Remark, ...]


def recover(data: bytes, path: str = FILE_NAME) -> Recovered:
    """Every entry of the file, whatever happened to it; lines are those of the file as it lies there.

    Of a conflict both sides are read, an entry that is the same on both once. Raises StateError where text
    stands but no entry can be found.
    """
    text = in_plain_bytes(data)
    blocks: dict[bytes, list[Block]] = {}
    remarks: dict[bytes, Remark] = {}
    for lines in _sides(text):
        side = split(b"\n".join(line for _, line in lines), entry_start=entry_start(text))
        _collect(blocks, [replace(block, line=lines[block.line - 1][0]) for block in side.blocks])
        for gap in (*(block.lead for block in side.blocks), side.rest):
            for remark in filter(None, map(bytes.strip, gap.split(b"\n"))):
                line = next(number for number, line in lines if line.strip() == remark)
                remarks.setdefault(remark, Remark(line, remark))
    if not blocks and not all(remark.startswith(b"#") for remark in remarks):
        hint = "an entry starts with a line `- config-keys:`; restore the file first"
        raise StateError("no entry can be found in the changelog", where=Place(path), hint=hint)
    found = [block for alike in blocks.values() for block in alike]
    return Recovered(tuple(found), tuple(remarks.values()))


def _collect(blocks: dict[bytes, list[Block]], side: list[Block]) -> None:
    """Add one side's entries; of those alike, as many stay as the richer side has."""
    counts: dict[bytes, int] = {}
    for block in side:
        alike = squeezed(block.data)
        counts[alike] = counts.get(alike, 0) + 1
        have = blocks.setdefault(alike, [])
        if len(have) < counts[alike]:
            have.append(block)


def in_plain_bytes(data: bytes) -> bytes:
    """The text in UTF-8 with line feeds, without byte order marks."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    return data.replace(b"\xef\xbb\xbf", b"").replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def entry_start(text: bytes) -> re.Pattern[bytes]:
    """How entries start in this file: `config-keys` first, or another field at the list's own indent."""
    header = _HEADER.search(text)
    indent = re.escape(header[1]) if header else b""
    others = b"|".join(name.encode() for name in FIELDS[1:])
    starts = rb"(?:[ ]{0,3}|%s)-[ \t]+config-keys|%s-[ \t]+(?:%s)" % (indent, indent, others)
    return re.compile(rb"^(?:%s)[ \t]*:" % starts, re.MULTILINE)


def _sides(text: bytes) -> list[list[tuple[int, bytes]]]:
    """The file's numbered lines: twice where conflict markers stand in it, ours and theirs.

    Markers that do not pair up, as a hand merge leaves them, are dropped and all text between is kept.
    """
    ours: list[tuple[int, bytes]] = []
    theirs: list[tuple[int, bytes]] = []
    everything: list[tuple[int, bytes]] = []
    part: str | None = ""
    for number, line in enumerate(text.split(b"\n"), 1):
        marker = _MARKER.fullmatch(line)
        if marker:
            kind = next(filter(None, marker.groups()))
            part = _NEXT_PART.get((part, kind)) if part is not None else None
            continue
        everything.append((number, line))
        if part in ("", "ours"):
            ours.append((number, line))
        if part in ("", "theirs"):
            theirs.append((number, line))
    if len(everything) == text.count(b"\n") + 1 or part != "":
        return [everything]
    return [ours, theirs]


def straightened(block: bytes) -> bytes | None:
    """The block as it may stand in the file: `- config-keys:` at the margin, first; None where that fails.

    A re-indented block is moved to the left as it is; one whose fields were re-sorted is rendered anew.
    """
    if block.startswith(b"- config-keys:"):
        return block
    header = _HEADER.match(block)
    if header is None:
        return _rendered(block)
    surplus = header.end(2) - 2
    lines = block[header.end() :].split(b"\n")
    moved = [line[min(surplus, len(line) - len(line.lstrip(b" "))) :] for line in lines[1:]]
    return b"\n".join([b"- config-keys:" + lines[0], *moved])


def _rendered(block: bytes) -> bytes | None:
    from ..schema.changelog import parse_entry, render
    from ..schema.errors import BenchscribeError

    try:
        return render(parse_entry(block)).encode()
    except BenchscribeError:
        return None
