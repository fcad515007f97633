"""Reseating: main's history back in place, and the branch's own entries behind it, at the true tail.

Pure functions over bytes. Which entries are the branch's own is found out by comparing with the merge base,
never by guessing; what cannot be attributed is named and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..checkout.changelog_damage import Remark, straightened
from ..checkout.changelog_own import Unattributed, attribute, name_of, whole, without_doubles
from ..checkout.changelog_text import FILE_NAME, Block, Split, split
from .changelog import append, replace_link, trimmed


@dataclass(frozen=True, slots=True)
class Reseated:
    """A changelog with main's bytes first and the branch's own entries behind them.

    `moved` are the own entries as they now stand; `on_main` are those the branch has beyond the merge base
    and main holds as well: merged meanwhile, or main's own that came along with a replay.
    """

    data: bytes
    moved: tuple[bytes, ...]
    on_main: tuple[bytes, ...]
    unattributed: tuple[Unattributed, ...]


def reseat(
    merge_base: bytes, branch: bytes, main: bytes, *, link: str | None = None, path: str = FILE_NAME
) -> Reseated:
    """Main's exact bytes, then the branch's own entries in their order, byte for byte, at the true tail.

    Own is what the branch's file holds and the merge base's does not, wherever it stands and whatever
    happened to the white space of the rest. `link` replaces the link of every own entry. Besides that, an own
    entry changes in four ways only: CR line ends become line feeds, byte order marks go, an entry that was
    re-indented moves to the margin, one whose fields were re-sorted is rendered anew. The contents of git's
    conflict stages 1, 2 and 3 can be passed as they are. Raises StateError where the branch's file holds text
    but no entry, or where main's does not end in a list of entries.
    """
    old, new = split(merge_base), split(main)
    verdict = attribute(merge_base, branch, main, path)
    ready, immovable = _made_ready(verdict.own, link)
    left_out = [
        *verdict.unattributed,
        *immovable,
        *_comments_left(verdict.remarks, (old, new)),
        *_restored(verdict.missing, new.blocks),
    ]
    moved = tuple(trimmed(block.data) for block in without_doubles(ready))
    return Reseated(
        data=append(main, moved, path),
        moved=moved,
        on_main=tuple(block.data for block in verdict.on_main),
        unattributed=tuple(sorted(left_out, key=lambda item: item.line)),
    )


def _made_ready(own: Sequence[Block], link: str | None) -> tuple[list[Block], list[Unattributed]]:
    """The own entries as they may stand in the file, their link replaced; and those that may not."""
    ready, immovable = [], []
    for block in own:
        data = straightened(block.data)
        if data is None:
            what = f"{name_of(block)}: an entry starts with `config-keys`; put that field first and run this again"
            immovable.append(Unattributed(block.line, what))
        else:
            ready.append(replace(block, data=data if link is None else replace_link(data, link)))
    return ready, immovable


def _comments_left(remarks: Sequence[Remark], texts: Sequence[Split]) -> Iterator[Unattributed]:
    """The branch's comments between entries: an added entry starts at its first line (FACTS §2, rule 2)."""
    gaps = [gap for text in texts for gap in (*(block.lead for block in text.blocks), text.rest)]
    known = {line.strip() for gap in gaps for line in gap.split(b"\n")}
    for remark in remarks:
        if remark.text not in known:
            text = remark.text.decode("utf-8", "replace")
            yield Unattributed(remark.line, f"no entry: {text[:60]!r} is left out")


def _restored(missing: Sequence[Block], main: Sequence[Block]) -> Iterator[Unattributed]:
    """Old entries that the branch deleted and main has: their bytes are back."""
    known = {whole(block) for block in main}
    names = [name_of(block) for block in missing if whole(block) in known]
    if len(names) > 3:
        yield Unattributed(
            0, f"{len(names)} old entries are missing on the branch, {names[0]} first; main's bytes stand"
        )
    else:
        yield from (
            Unattributed(0, f"{name}: this old entry is missing on the branch; main's bytes stand") for name in names
        )
