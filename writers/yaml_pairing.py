"""Which old item of a list a wanted one continues, and when two values are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from ..schema.yaml_text import Path

Pairing: TypeAlias = Callable[[Path, list[Any], list[Any]], list[int | None]]

_ALIKE = 0.5
_MANY = 4000


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same data: equal and of one kind, so that 1, 1.0, true and '1' differ."""
    return _same(one, other, set())


def _same(one: Any, other: Any, seen: set[tuple[int, int]]) -> bool:
    if isinstance(one, dict):
        if not isinstance(other, dict) or one.keys() != other.keys():
            return False
        return _met(one, other, seen) or all(_same(value, other[key], seen) for key, value in one.items())
    if isinstance(one, (list, tuple)):
        if not isinstance(other, (list, tuple)) or len(one) != len(other):
            return False
        return _met(one, other, seen) or all(_same(a, b, seen) for a, b in zip(one, other, strict=True))
    return _kind(one) is _kind(other) and (one == other or (one != one and other != other))


def _met(one: Any, other: Any, seen: set[tuple[int, int]]) -> bool:
    """Whether this pair was compared before: aliases make one object stand in many places."""
    pair = (id(one), id(other))
    met = pair in seen
    seen.add(pair)
    return met


def _kind(value: Any) -> type:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind
    return type(value)


def by_likeness(path: Path, old: list[Any], wanted: list[Any]) -> list[int | None]:
    """Pairs equal items first, in order and then wherever they stand, and between them those most alike.

    A list's only item continues as its only item, however much of it changes.
    """
    if len(old) == len(wanted) == 1 and _both(old[0], wanted[0]):
        return [0]
    pairs: list[int | None] = [None] * len(wanted)
    old_names, wanted_names = [_name(item) for item in old], [_name(item) for item in wanted]
    blocks = SequenceMatcher(None, old_names, wanted_names, autojunk=False).get_matching_blocks()
    for block in blocks:
        for number in range(block.size):
            pairs[block.b + number] = block.a + number
    _pair_moved(pairs, old_names, wanted_names)
    left = right = 0
    for block in blocks:
        _pair_alike(pairs, old, wanted, range(left, block.a), range(right, block.b))
        left, right = block.a + block.size, block.b + block.size
    return pairs


def _pair_moved(pairs: list[int | None], old: list[str], wanted: list[str]) -> None:
    free: dict[str, list[int]] = {}
    for number in range(len(old) - 1, -1, -1):
        if number not in pairs:
            free.setdefault(old[number], []).append(number)
    for number, name in enumerate(wanted):
        if pairs[number] is None and free.get(name):
            pairs[number] = free[name].pop()


def _pair_alike(
    pairs: list[int | None], old: list[Any], wanted: list[Any], olds: Sequence[int], wanteds: Sequence[int]
) -> None:
    """Fills `pairs` for one stretch so that the likeness is greatest in sum and the order is kept."""
    taken = {number for number in pairs if number is not None}
    olds = [number for number in olds if number not in taken]
    wanteds = [number for number in wanteds if pairs[number] is None]
    if not olds or not wanteds or len(olds) * len(wanteds) > _MANY:
        return
    likeness = [[_likeness(old[a], wanted[b]) for b in wanteds] for a in olds]
    best = [[0.0] * (len(wanteds) + 1) for _ in range(len(olds) + 1)]
    for a in range(len(olds) - 1, -1, -1):
        for b in range(len(wanteds) - 1, -1, -1):
            together = best[a + 1][b + 1] + likeness[a][b] if likeness[a][b] >= _ALIKE else 0.0
            best[a][b] = max(together, best[a + 1][b], best[a][b + 1])
    a = b = 0
    while a < len(olds) and b < len(wanteds):
        if likeness[a][b] >= _ALIKE and best[a][b] == best[a + 1][b + 1] + likeness[a][b]:
            pairs[wanteds[b]] = olds[a]
            a, b = a + 1, b + 1
        elif best[a][b] == best[a + 1][b]:
            a += 1
        else:
            b += 1


def _likeness(one: Any, other: Any) -> float:
    """From 0 to 1: the share of leaves or of fields two collections have in common, of strings that of letters."""
    if isinstance(one, str) and isinstance(other, str):
        return SequenceMatcher(None, one, other, autojunk=False).ratio()
    if not _both(one, other):
        return 0.0
    leaves = _shared(set(_leaves(one)), set(_leaves(other)))
    if not isinstance(one, dict):
        return leaves
    fields = ({(key, _name(item)) for key, item in value.items()} for value in (one, other))
    return max(leaves, _shared(*fields))


def _both(one: Any, other: Any) -> bool:
    """Whether both are mappings, or both are lists."""
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in (dict, (list, tuple)))


def _shared(ours: set[Any], theirs: set[Any]) -> float:
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours or theirs else 1.0


def _leaves(value: Any, path: Path = ()) -> list[tuple[Path, str]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, (*path, str(key)))]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item, (*path, "[]"))]
    return [(path, _name(value))]


def _name(value: Any) -> str:
    """The data as text, equal for equal data and only for it."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{_name(key)}:{_name(item)}" for key, item in value.items())) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_name(item) for item in value) + "]"
    if isinstance(value, str):
        return repr(str(value))
    if isinstance(value, float):
        return repr(float(value))
    return repr(int(value)) if isinstance(value, int) and not isinstance(value, bool) else repr(value)
