"""Puts the children of a block collection back together: in a new order, without some, with new ones between.

What stays keeps its lines, the comment above it and the gap before it; what goes takes its comment along.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from .yaml_layout import Part


@dataclass(frozen=True, slots=True)
class Body:
    """A child's new lines without the first one's indentation. `old` is its old number, None for a new child.

    `lead` are comments from inside it that have no place left there and go above it.
    """

    old: int | None
    text: str
    lead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A child ready to be written: the gap before it, the comment above it, its lines."""

    gap: tuple[str, ...]
    comment: tuple[str, ...]
    text: str


def arrange(parts: Sequence[Part], bodies: Sequence[Body], *, blank: bool, rows: bool) -> tuple[list[Piece], list[str]]:
    """The pieces in their new order, and comment lines that stand apart behind the last one.

    `blank`: whether a new child is set off by an empty line. `rows`: whether a comment above a run of
    children without comments of their own covers them all, and so outlives the first of them.
    """
    order = [body.old for body in bodies]
    gaps, tail = _gaps(parts, order, ("",) if blank else ())
    inherited = _inherited(parts, order) if rows else {}
    pieces = []
    for body, gap in zip(bodies, gaps, strict=True):
        own = () if body.old is None else parts[body.old].comment
        comment = (*inherited.get(body.old, ()), *own, *body.lead)
        pieces.append(Piece(gap, comment, body.text))
    return pieces, tail


def _inherited(parts: Sequence[Part], order: Sequence[int | None]) -> dict[int | None, tuple[str, ...]]:
    """Comments of rows that go, by the row of the same run that stays and takes them over."""
    stays = set(order)
    found: dict[int | None, tuple[str, ...]] = {}
    for number, part in enumerate(parts):
        if part.comment and number not in stays:
            heir = next((row for row in _run(parts, number) if row in stays), None)
            if heir is not None:
                found[heir] = part.comment
    return found


def _run(parts: Sequence[Part], first: int) -> list[int]:
    """The rows below `first` that its comment covers too."""
    run = []
    for number in range(first + 1, len(parts)):
        if parts[number].comment or parts[number].gap:
            break
        run.append(number)
    return run


def _gaps(
    parts: Sequence[Part], order: Sequence[int | None], default: tuple[str, ...]
) -> tuple[list[tuple[str, ...]], list[str]]:
    """The gap before each child, and the lines left behind the last.

    Children that keep their order keep their gaps. A new or moved child takes the gap of one that left the
    same place; what else is left of such gaps falls to the next child that stays.
    """
    gaps = [default] * len(order)
    staying = set(_longest_rise([number for number in order if number is not None]))
    waiting: list[int] = []
    done = 0
    for slot, number in enumerate(order):
        if number is None or number not in staying:
            waiting.append(slot)
            continue
        freed = [parts[old].gap for old in range(done, number)]
        own = parts[number].gap
        if waiting and number == 0:
            freed, own = [own], default
        gaps[slot] = _merged([*_handed_out(gaps, waiting, freed), own])
        waiting, done = [], number + 1
    left = _handed_out(gaps, waiting, [part.gap for part in parts[done:]])
    if not _starts_blank(parts[0].gap):
        gaps[0] = _without_blanks_above(gaps[0])
    return gaps, _without_blanks_below(_merged(left))


def _handed_out(
    gaps: list[tuple[str, ...]], slots: Sequence[int], freed: Sequence[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Gives the freed gaps to the slots in order and returns those left over."""
    for slot, gap in zip(slots, freed, strict=False):
        gaps[slot] = gap
    return list(freed[len(slots) :])


def _merged(gaps: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Gaps that now follow each other, without doubling blank lines."""
    lines: list[str] = []
    for gap in gaps:
        if _starts_blank(gap):
            lines = _without_blanks_below(lines)
        lines += gap
    return tuple(lines)


def _starts_blank(lines: Sequence[str]) -> bool:
    return bool(lines) and not lines[0].strip()


def _without_blanks_above(lines: Sequence[str]) -> tuple[str, ...]:
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    return tuple(lines[first:])


def _without_blanks_below(lines: Sequence[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _longest_rise(numbers: Sequence[int]) -> list[int]:
    """A longest rising subsequence: the children that need not move."""
    tops: list[int] = []
    chains: list[list[int]] = []
    for number in numbers:
        place = bisect_left(tops, number)
        chain = [*(chains[place - 1] if place else []), number]
        tops[place : place + 1] = [number]
        chains[place : place + 1] = [chain]
    return chains[-1] if chains else []
