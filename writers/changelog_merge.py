"""Two sides of a changelog that both appended, made one: what git's merge driver does.

Pure functions over bytes; standard library only, down to the last import.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..checkout.changelog_text import Block, Split, body_of, link_of, number_of, split, starts_cleanly
from ..schema.changelog import is_placeholder
from .changelog import append, trimmed


def merge(ancestor: bytes, main: bytes, branch: bytes) -> bytes | None:
    """Main's exact bytes, then what the branch appended; None where a side changed the ancestor's bytes.

    An entry that both appended stands once, also where the branch's still has the placeholder link and
    main's the number. Every other entry of the branch keeps all its bytes, comments before it included.
    Raises StateError where main's side does not end in a list of entries.
    """
    if branch in (ancestor, main):
        return main
    if main == ancestor:
        return branch
    if not (appended_to(ancestor, main) and appended_to(ancestor, branch)):
        return None
    return _with_added(main, split(main, len(ancestor)).blocks, split(branch, len(ancestor)))


def carry(ancestor: bytes, main: bytes, branch: bytes) -> bytes | None:
    """The same where main's side changed the ancestor's bytes; None where the branch did, and main lacks it.

    So an entry can be picked from a branch whose earlier entries main lacks, or holds in another place.
    """
    old = _chunks(ancestor)
    if appended_to(ancestor, branch):
        return _with_added(main, _gained(ancestor, main), split(branch, len(ancestor)))
    there, wanted = _chunks(main), _chunks(branch)
    is_there = wanted != old and wanted - old <= there and not (old - wanted) & there
    return main if is_there else None


def relink(ancestor: bytes, main: bytes, branch: bytes) -> bytes | None:
    """Main with the links that the branch set on the ancestor's entries, and what it appended; None where the
    branch changed more than links, or main does not hold such an entry exactly as the ancestor has it.

    Git's lines conflict over it where the blanks behind the entry differ: a sloppy tail was put right before.
    """
    old, new = split(ancestor).blocks, split(branch)
    changed = [
        (was.data.rstrip(), now.data.rstrip())
        for was, now in zip(old, new.blocks, strict=False)
        if trimmed(_with_lead(was)) != trimmed(_with_lead(now))
    ]
    if not changed or len(new.blocks) < len(old) or any(body_of(was) != body_of(now) for was, now in changed):
        return None
    text = main if main.endswith(b"\n") else main + b"\n"
    for was, now in changed:
        if text.count(was + b"\n") != 1:
            return None
        text = text.replace(was + b"\n", now + b"\n")
    text = text if main.endswith(b"\n") else text[:-1]
    return _with_added(text, _gained(ancestor, main), Split(new.blocks[len(old) :], new.rest))


def _gained(ancestor: bytes, main: bytes) -> list[Block]:
    """The entries main holds and the ancestor does not."""
    old = _chunks(ancestor)
    return [block for block in split(main).blocks if trimmed(_with_lead(block)) not in old]


def _chunks(text: bytes) -> set[bytes]:
    """All that a changelog says: its entries, with the comments between them."""
    found = split(text)
    return {found.rest, *(trimmed(_with_lead(block)) for block in found.blocks)}


def _with_added(main: bytes, gained: Sequence[Block], added: Split) -> bytes:
    present = _Present(gained)
    chunks = [_with_lead(block) for block in added.blocks if not present.holds(block)]
    return append(main, [*chunks, added.rest] if added.rest else chunks)


def appended_to(ancestor: bytes, side: bytes) -> bool:
    """Whether a side is the ancestor's bytes with nothing but new entries behind them."""
    return side.startswith(ancestor) and starts_cleanly(side[len(ancestor) :], ancestor)


def _with_lead(block: Block) -> bytes:
    return block.lead + b"\n" + block.data if block.lead else block.data


class _Present:
    """The entries one side appended, to ask whether an entry of the other is among them."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._whole = {trimmed(block.data) for block in blocks}
        self._numbered = {body_of(block.data) for block in blocks if number_of(block.data) is not None}

    def holds(self, block: Block) -> bool:
        """Whether the same entry is there, or the same with a number where this one has a placeholder."""
        if trimmed(block.data) in self._whole:
            return True
        return is_placeholder(link_of(block.data)) and body_of(block.data) in self._numbered
