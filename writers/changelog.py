"""Appending to the changelog, and replacing the branch's own entries behind the base's bytes.

Pure functions over bytes; nothing here reads or writes a file. Whatever the old tail looks like, the result
starts with the old bytes and goes on by the rules of FACTS §2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..checkout.changelog_text import FILE_NAME, ensure_list, link_span, own_blocks, separator_after
from ..schema.changelog import FLAGS, Entry, entry_problems, parse_entry, pull_request_link, render
from ..schema.errors import BenchscribeError, UsageError

_BLANK_START = re.compile(rb"\A(?:[ \t\r]*\n)+")
_BLANK_END = re.compile(rb"(?:\n[ \t\r]*)+\Z")


def append(base: bytes, entries: Sequence[Entry | bytes], path: str = FILE_NAME) -> bytes:
    """The base's exact bytes, then the entries: rendered, or block for block as they are given.

    Entries are separated by exactly one empty line and the file ends in exactly one line end. Without
    entries the base stays as it is. Raises StateError where the base does not end in a list of entries.
    """
    if not entries:
        return base
    ensure_list(base, path)
    blocks = [trimmed(entry) if isinstance(entry, bytes) else render(entry).encode() for entry in entries]
    return base + separator_after(base) + b"\n".join(blocks)


def trimmed(block: bytes) -> bytes:
    """The block without blank lines around it, with one line end behind its last line."""
    return _BLANK_END.sub(b"", _BLANK_START.sub(b"", block)) + b"\n"


def own_entries(base: bytes, worktree: bytes, path: str = FILE_NAME) -> tuple[bytes, ...]:
    """The blocks of the branch's own entries, in order.

    Raises StateError naming `reseat` and the first line that differs where the work tree's file does not
    start with the base's bytes.
    """
    return tuple(block.data for block in own_blocks(base, worktree, path))


def replace_own(base: bytes, worktree: bytes, entries: Sequence[Entry], path: str = FILE_NAME) -> bytes:
    """The base's bytes with these entries as the branch's own, in place of those that stand there.

    An own entry that already says exactly what is wanted keeps its bytes, whatever its style. No entries: the
    base's bytes. Raises StateError as `own_entries` does.
    """
    present = own_entries(base, worktree, path)
    kept: list[Entry | bytes] = list(entries)
    for index, (block, entry) in enumerate(zip(present, entries, strict=False)):
        if _says(block, entry):
            kept[index] = block
    return append(base, kept, path)


def _says(block: bytes, entry: Entry) -> bool:
    if b"\r" in block or b"\t" in block:
        return False
    try:
        return parse_entry(block) == entry and not entry_problems(block)
    except BenchscribeError:
        return False


def with_link(block: bytes, number: int | None) -> bytes:
    """The entry's block with this pull request's link, None for the placeholder; no other byte changes."""
    return replace_link(block, pull_request_link(number))


def replace_link(block: bytes, link: str) -> bytes:
    """The block with another link in the place and the style of the old one.

    A block without a `pr-link` field gets one, before its flags.
    """
    if re.search(r"[\s\"'#]", link):
        raise UsageError(f"not a link: {link!r}")
    span = link_span(block)
    if span is None:
        return _insert_link(block, link.encode())
    start, end = span
    blank = b" " if block[start - 1 : start] == b":" else b""
    return block[:start] + blank + link.encode() + block[end:]


def _insert_link(block: bytes, link: bytes) -> bytes:
    names = b"|".join(name.encode() for name in FLAGS)
    flag = re.search(rb"^  (?:%s)[ \t]*:" % names, block, re.MULTILINE)
    place = flag.start() if flag else len(block)
    before = block[:place] if block[:place].endswith(b"\n") else block[:place] + b"\n"
    return before + b"  pr-link: " + link + b"\n" + block[place:]
