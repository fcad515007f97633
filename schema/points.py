"""Concurrencies: lists, ranges, and what people type for them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DOUBLING = re.compile(r"(\d+)\.\.(\d+)")
_STEPPED = re.compile(r"(\d+)-(\d+)/(\d+)")
MAXIMUM_POINTS = 512


def doubling(start: int, end: int) -> tuple[int, ...]:
    """A `conc-start`/`conc-end` range: doubling from start, the end always included (source: FACTS §3)."""
    points = []
    value = start
    while 0 < value < end:
        points.append(value)
        value *= 2
    return (*points, end)


def parse_concurrencies(text: str) -> tuple[int, ...]:
    """Read `1 2 4 8`, `1,2,4`, `16-48/8` (steps) and `4..64` (doubling), in any mixture.

    Raises ValueError naming the word that could not be read.
    """
    points: list[int] = []
    for word in re.split(r"[\s,]+", text.strip().strip("[]").strip()):
        if word:
            points.extend(_expand(word))
    if len(points) > MAXIMUM_POINTS:
        raise ValueError(f"{len(points)} points are more than the {MAXIMUM_POINTS} a row may hold")
    return tuple(dict.fromkeys(points))


def _expand(word: str) -> Iterable[int]:
    if match := _DOUBLING.fullmatch(word):
        start, end = int(match[1]), int(match[2])
        if 0 < start <= end:
            return doubling(start, end)
    elif match := _STEPPED.fullmatch(word):
        start, end, step = (int(part) for part in match.groups())
        if 0 < start <= end and step > 0:
            if (end - start) // step > MAXIMUM_POINTS:
                raise ValueError(f"{word!r} makes more than {MAXIMUM_POINTS} points")
            return range(start, end + 1, step)
    elif word.isdecimal() and int(word) > 0:
        return (int(word),)
    raise ValueError(f"{word!r} is no concurrency; write 8, 16-48/8 (steps) or 4..64 (doubling)")
