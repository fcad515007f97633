"""Which entries of a changelog are the branch's own, also where its history was damaged.

Found out by comparing with the merge base, never by guessing; what cannot be attributed is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..schema.changelog import is_placeholder, parse_entry
from ..schema.errors import BenchscribeError
from .changelog_damage import Remark, recover
from .changelog_text import FILE_NAME, Block, body_of, link_of, number_of, split, squeezed


@dataclass(frozen=True, slots=True)
class Unattributed:
    """Something of the branch's file that was left out: its line there (0: it is missing there), and why."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}" if self.line else self.what


@dataclass(frozen=True, slots=True)
class Attribution:
    """What the blocks of the branch's file that history lacks turned out to be.

    `own` are the branch's; `on_main` main holds as well; `missing` are old entries not accounted for;
    `remarks` the comments between entries.
    """

    own: tuple[Block, ...]
    on_main: tuple[Block, ...]
    unattributed: tuple[Unattributed, ...]
    missing: tuple[Block, ...]
    remarks: tuple[Remark, ...]


def attribute(merge_base: bytes, branch: bytes, main: bytes, path: str = FILE_NAME) -> Attribution:
    """The branch's own entries: what its file holds and the merge base's does not, wherever it stands.

    `main` tells what came from there. Raises StateError where the branch's file holds text but no entry.
    """
    found = recover(branch, path)
    old = split(merge_base).blocks
    candidates, missing = _not_in_history(found.blocks, old)
    main_only: tuple[Block, ...] = ()
    if main != merge_base:
        main_only, _ = _pair(split(main).blocks, old, whole)
    return _judge(without_doubles(candidates), missing, main_only, found.remarks)


_Pair = tuple[tuple[Block, ...], tuple[Block, ...]]


def _not_in_history(blocks: Sequence[Block], history: Sequence[Block]) -> _Pair:
    """The branch's blocks that history lacks, and history's that the branch lacks."""
    left, missing = _pair(blocks, history, whole)
    if left and missing:  # a tool may have written the file anew, quotes and all
        left, missing = _pair(left, missing, _data)
    # A bad merge doubles old entries. With a placeholder link a second one may as well be new.
    copies = {whole(block) for block in history}
    is_new = [number_of(block.data) is None or whole(block) not in copies for block in left]
    return tuple(block for block, new in zip(left, is_new, strict=True) if new), missing


def _pair(blocks: Sequence[Block], known: Sequence[Block], key: Callable[[Block], object]) -> _Pair:
    """What is left of both once equals are paired off one to one."""
    waiting: dict[object, list[Block]] = {}
    for block in known:
        waiting.setdefault(key(block), []).append(block)
    left = []
    for block in blocks:
        equals = waiting.get(key(block))
        if equals:
            equals.pop(0)
        else:
            left.append(block)
    unpaired = {block.line for equals in waiting.values() for block in equals}
    return tuple(left), tuple(block for block in known if block.line in unpaired)


def whole(block: Block) -> bytes:
    """What an entry says, white space aside."""
    return squeezed(block.data)


def _data(block: Block) -> str | bytes:
    """What the entry says, white space aside: tools that fold long lines lose blanks of the prose."""
    try:
        return "".join(repr(parse_entry(block.data)).split())
    except BenchscribeError:
        return whole(block)


def without_doubles(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks without doubles: alike but for the link, unless each has a number of its own."""
    kept: list[Block] = []
    places: dict[bytes, list[int]] = {}
    for block in blocks:
        alike = places.setdefault(body_of(block.data), [])
        double = next((place for place in alike if _may_be_one(kept[place], block)), None)
        if double is None:
            alike.append(len(kept))
            kept.append(block)
        elif number_of(kept[double].data) is None:
            kept[double] = block
    return tuple(kept)


def _may_be_one(block: Block, other: Block) -> bool:
    return len({number_of(block.data), number_of(other.data)} - {None}) < 2


def _judge(
    blocks: Sequence[Block],
    missing: Sequence[Block],
    main_only: Sequence[Block],
    remarks: tuple[Remark, ...],
) -> Attribution:
    left, unpaired = _pair(blocks, main_only, whole)
    on_main = [block for block in blocks if block not in left]
    old, others = list(missing), list(unpaired)
    own, strange = [], []
    for block in left:
        if _take(old, block, _is_version_of_old):
            what = f"{name_of(block)}: a changed version of an old entry; main's bytes stand"
            strange.append(Unattributed(block.line, what))
        elif _take(others, block, _differs_in_placeholder):
            on_main.append(block)
        elif _take(others, block, _has_its_number):
            what = f"{name_of(block)}: main holds another version of this entry; main's bytes stand"
            strange.append(Unattributed(block.line, what))
        else:
            own.append(block)
    return Attribution(tuple(own), tuple(on_main), tuple(strange), tuple(old), remarks)


def _take(others: list[Block], block: Block, is_version: Callable[[Block, Block], bool]) -> bool:
    """Whether one of the others is a version of the block; that one is used up."""
    version = next((other for other in others if is_version(other, block)), None)
    if version is not None:
        others.remove(version)
    return version is not None


def _has_its_number(other: Block, block: Block) -> bool:
    number = number_of(block.data)
    return number is not None and number == number_of(other.data)


def _differs_in_placeholder(other: Block, block: Block) -> bool:
    has_placeholder = is_placeholder(link_of(block.data)) or is_placeholder(link_of(other.data))
    return has_placeholder and body_of(block.data) == body_of(other.data)


def _is_version_of_old(old: Block, block: Block) -> bool:
    """Same number, or the same but for the link, or the same keys and neither with a number."""
    if _has_its_number(old, block) or body_of(old.data) == body_of(block.data):
        return True
    is_numberless = number_of(old.data) is None and number_of(block.data) is None
    return is_numberless and _keys(old.data) == _keys(block.data)


def _keys(data: bytes) -> bytes:
    """The entry's first field, without white space: its config keys."""
    return squeezed(data.split(b"\n  description:", 1)[0].split(b"\n  scenario-type:", 1)[0])


def name_of(block: Block) -> str:
    """How a message names an entry: its link, else its first key."""
    link = link_of(block.data)
    if number_of(block.data) is not None:
        return link
    lines = [line.strip().lstrip(b"- ") for line in block.data.split(b"\n")[1:]]
    return next((line.decode("utf-8", "replace") for line in lines if line), "an entry")
