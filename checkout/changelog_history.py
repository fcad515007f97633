"""What happened to the base's bytes in a changelog that no longer starts with them: entries and blanks, in words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .changelog_damage import entry_start, in_plain_bytes
from .changelog_own import name_of, whole
from .changelog_text import Block, body_of, link_span, number_of, split

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class HistoryChange:
    """One change of old bytes: its line in the branch's file, what changed, and whether only a link did."""

    line: int
    what: str
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """One entry with the bytes between it and the next."""

    block: Block
    gap: bytes

    @property
    def end_line(self) -> int:
        """The line behind the entry's last one."""
        return self.block.line + self.block.data.count(b"\n")


def history_changes(base: bytes, changelog: bytes) -> tuple[HistoryChange, ...]:
    """Which of the base's entries and blanks the changelog has changed, moved or lost, by line.

    Entries the branch put between old ones are no change of these. None where the file starts with the base's
    bytes. White space and line ends are compared as they are, conflict markers are taken as text.
    """
    if changelog.startswith(base):
        return ()
    text = in_plain_bytes(changelog)
    old = _pieces(base, split(base).blocks)
    new = _pieces(text, split(text, entry_start=entry_start(text)).blocks)
    partner = _partners(old, new)
    found = [
        *_head_change(base, text, old, new),
        *_entry_changes(old, new, partner),
        *_moves(old, new, partner),
        *_gap_changes(old, new, partner),
    ]
    return tuple(sorted(found, key=lambda change: change.line))


def _pieces(text: bytes, blocks: Sequence[Block]) -> list[_Piece]:
    pieces = []
    start = 0
    for block, following in zip(blocks, [*blocks[1:], None], strict=False):
        begin = text.index(block.data, start)
        start = begin + len(block.data)
        limit = text.index(following.data, start) if following is not None else len(text)
        pieces.append(_Piece(block, text[start:limit]))
    return pieces


def _partners(old: Sequence[_Piece], new: Sequence[_Piece]) -> dict[int, int]:
    """Which old entry is which of the file's: equal bytes first, then equal but for white space, then likeness."""
    partner: dict[int, int] = {}
    for key in (_data, _squeezed, _body, _number):
        taken = set(partner.values())
        waiting: dict[object, list[int]] = {}
        for index, piece in enumerate(new):
            if index not in taken:
                waiting.setdefault(key(piece), []).append(index)
        for index, piece in enumerate(old):
            value = key(piece)
            if index not in partner and value is not None and waiting.get(value):
                partner[index] = waiting[value].pop(0)
    return partner


def _data(piece: _Piece) -> object:
    return piece.block.data


def _squeezed(piece: _Piece) -> object:
    return whole(piece.block)


def _body(piece: _Piece) -> object:
    return body_of(piece.block.data)


def _number(piece: _Piece) -> object:
    return number_of(piece.block.data)


def _head_change(base: bytes, text: bytes, old: Sequence[_Piece], new: Sequence[_Piece]) -> Iterator[HistoryChange]:
    """What stands above the first entry, mostly nothing."""
    was = base[: base.index(old[0].block.data)] if old else base
    now = text[: text.index(new[0].block.data)] if new else text
    if was != now and (was.strip() or now.strip()):
        yield HistoryChange(1, "the text above the first entry changed")


def _entry_changes(old: Sequence[_Piece], new: Sequence[_Piece], partner: dict[int, int]) -> Iterator[HistoryChange]:
    for index, piece in enumerate(old):
        name = short_name(piece.block)
        if index not in partner:
            yield HistoryChange(_line_near(index, old, new, partner), f"the entry of {name} was deleted")
        elif piece.block.data != (now := new[partner[index]]).block.data:
            yield _changed_entry(name, piece.block, now.block)


def _changed_entry(name: str, old: Block, new: Block) -> HistoryChange:
    if _without_link(old.data) == _without_link(new.data):
        span = link_span(new.data)
        line = new.line + (new.data.count(b"\n", 0, span[0]) if span else 0)
        return HistoryChange(line, f"the link of {name} changed", is_link=True)
    if whole(old) == whole(new):
        return HistoryChange(new.line, f"white space inside the entry of {name} changed")
    was, now = old.data.split(b"\n"), new.data.split(b"\n")
    first = next((at for at, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)) - 1)
    return HistoryChange(
        new.line + first, f"the entry of {name} changed: {_shown(was[first])} became {_shown(now[first])}"
    )


def _without_link(data: bytes) -> bytes:
    span = link_span(data)
    return data[: span[0]] + data[span[1] :] if span else data


def _shown(line: bytes) -> str:
    text = line.strip().decode("utf-8", "replace")
    return repr(text if len(text) <= 60 else text[:57] + "…")


def _line_near(index: int, old: Sequence[_Piece], new: Sequence[_Piece], partner: dict[int, int]) -> int:
    """Where a deleted entry stood: behind the nearest older one that is still there."""
    earlier = next((partner[at] for at in range(index - 1, -1, -1) if at in partner), None)
    return new[earlier].end_line if earlier is not None else 1


def _moves(old: Sequence[_Piece], new: Sequence[_Piece], partner: dict[int, int]) -> Iterator[HistoryChange]:
    """Old entries that no longer stand in their order; as few as possible are called moved."""
    places = [(index, partner[index]) for index in range(len(old)) if index in partner]
    staying = _longest_rise([place for _, place in places])
    for index, place in places:
        if place not in staying:
            yield HistoryChange(new[place].block.line, f"the entry of {short_name(old[index].block)} was moved")


def _longest_rise(numbers: Sequence[int]) -> set[int]:
    """The numbers of a longest rising subsequence."""
    ends: list[int] = []
    behind: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(ends, number)
        behind[number] = ends[at - 1] if at else None
        ends[at : at + 1] = [number]
    found: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = behind[last]
    return found


def _gap_changes(old: Sequence[_Piece], new: Sequence[_Piece], partner: dict[int, int]) -> Iterator[HistoryChange]:
    """Blanks and comments between two entries that still are neighbours, and those at the end of the base."""
    for index, piece in enumerate(old):
        if index not in partner:
            continue
        now = new[partner[index]]
        is_last = index == len(old) - 1
        if is_last:
            is_same = now.gap.startswith(piece.gap)
        else:
            is_same = piece.gap == now.gap or partner.get(index + 1) != partner[index] + 1
        if not is_same:
            behind = None if is_last else short_name(old[index + 1].block)
            yield HistoryChange(now.end_line, _gap_words(piece, now.gap, behind))


def _gap_words(piece: _Piece, now: bytes, following: str | None) -> str:
    name = short_name(piece.block)
    was_lines, now_lines = piece.gap.split(b"\n")[:-1], now.split(b"\n")[:-1]
    if any(line.strip() for line in (*was_lines, *now_lines)):
        return f"the text between {name} and {following or 'the end'} changed"
    if len(was_lines) == len(now_lines) == 1:
        return f"{_a_blank(was_lines[0])} after {name} became {_kind(now_lines[0])}"
    if not now_lines:
        return f"{_blanks(was_lines)} after {name} {'was' if len(was_lines) == 1 else 'were'} removed"
    if not was_lines:
        return f"{_blanks(now_lines)} after {name} {'was' if len(now_lines) == 1 else 'were'} added"
    return f"{_blanks(was_lines)} after {name} became {_blanks(now_lines)}"


def _a_blank(line: bytes) -> str:
    return f"blank line of {_kind(line)}" if line else "empty line"


def _kind(line: bytes) -> str:
    if not line:
        return "empty"
    kind = "tab" if line.strip(b" ") else "space"
    return f"{count_words(len(line))} {kind}{'' if len(line) == 1 else 's'}"


def _blanks(lines: Sequence[bytes]) -> str:
    if len(lines) > 1 and not any(lines):
        return f"{count_words(len(lines))} empty lines"
    return " and ".join(_a_blank(line) for line in lines)


def count_words(number: int) -> str:
    """A small number as a word."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def short_name(block: Block) -> str:
    """How people name an entry: `#2643`, else its first key."""
    number = number_of(block.data)
    return f"#{number}" if number is not None else name_of(block)
