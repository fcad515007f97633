"""Three-way merge of config and recipe data: field by field, rows by identity, concurrencies as sets.

What only one side changed is taken; what both changed alike is taken once; the rest is a conflict, named by its
field, in which one side's value stands until a person decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..derive.pairing import pair_for_writer
from ..schema.yaml_text import Path, YamlList, YamlMap
from ..writers.yaml_pairing import same


class Side(StrEnum):
    """Whose value stands where both sides changed one."""

    OURS = "ours"
    ANCESTOR = "ancestor"
    THEIRS = "theirs"


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT = _Absent()
# Of these lists every item stands for itself, so both sides' additions and removals go together.
SETS = ("conc-list",)


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that both sides changed, each in its way."""

    path: Path
    ancestor: Any
    ours: Any
    theirs: Any

    @property
    def field(self) -> str:
        """`scenarios.agentic-coding[0].dram-utilization`."""
        parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path]
        return "".join(parts).lstrip(".")


@dataclass(slots=True)
class DataMerge:
    """One merge: whose value stands in a conflict, and the conflicts that were met."""

    prefer: Side = Side.OURS
    conflicts: list[FieldConflict] = field(default_factory=list)

    def merge(self, ancestor: Any, ours: Any, theirs: Any, path: Path = ()) -> Any:
        """The merged value; ABSENT where a field goes."""
        if _same(ours, theirs) or _same(theirs, ancestor):
            return ours
        if _same(ours, ancestor):
            return theirs
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            return self._mapping(ancestor if isinstance(ancestor, Mapping) else {}, ours, theirs, path)
        if isinstance(ours, list) and isinstance(theirs, list):
            merged = self._list(ancestor if isinstance(ancestor, list) else [], ours, theirs, path)
            if merged is not None:
                return merged
        return self._conflict(ancestor, ours, theirs, path)

    def _conflict(self, ancestor: Any, ours: Any, theirs: Any, path: Path) -> Any:
        self.conflicts.append(FieldConflict(path, ancestor, ours, theirs))
        return {Side.OURS: ours, Side.ANCESTOR: ancestor, Side.THEIRS: theirs}[self.prefer]

    def _mapping(
        self, ancestor: Mapping[Any, Any], ours: Mapping[Any, Any], theirs: Mapping[Any, Any], path: Path
    ) -> Any:
        result = YamlMap()
        result.flow = bool(getattr(ours, "flow", False))
        for name in _ordered(list(ours), list(theirs), list(ancestor)):
            was, mine, now = (side.get(name, ABSENT) for side in (ancestor, ours, theirs))
            merged = self.merge(was, mine, now, (*path, name))
            if merged is not ABSENT:
                result[name] = merged
        return result

    def _list(self, ancestor: list[Any], ours: list[Any], theirs: list[Any], path: Path) -> Any:
        """Rows and items by identity, sets as sets; None for any other list: it is one value."""
        if path and path[-1] in SETS:
            return _as_set(ancestor, ours, theirs)
        to_ours = pair_for_writer(path, ours, theirs)
        ours_old, theirs_old = pair_for_writer(path, ancestor, ours), pair_for_writer(path, ancestor, theirs)
        if to_ours is None or ours_old is None or theirs_old is None:
            return None
        result = YamlList(self._our_items(ancestor, ours, theirs, path, _Pairs(ours_old, theirs_old, to_ours)))
        result.flow = bool(getattr(ours, "flow", False))
        for number, item in self._their_items(ancestor, theirs, path, _Pairs(ours_old, theirs_old, to_ours)):
            result.insert(min(number, len(result)), item)
        return result

    def _our_items(
        self, ancestor: list[Any], ours: list[Any], theirs: list[Any], path: Path, pairs: _Pairs
    ) -> Iterator[Any]:
        for index, item in enumerate(ours):
            old = pairs.ours[index]
            was = ancestor[old] if old is not None else ABSENT
            there = pairs.across.index(index) if index in pairs.across else None
            now = theirs[there] if there is not None else ABSENT
            if now is ABSENT and old is not None and old in pairs.theirs:
                now = theirs[pairs.theirs.index(old)]
            merged = self.merge(was, item, now, (*path, index)) if now is not ABSENT or old is not None else item
            if merged is not ABSENT:
                yield merged

    def _their_items(
        self, ancestor: list[Any], theirs: list[Any], path: Path, pairs: _Pairs
    ) -> Iterator[tuple[int, Any]]:
        """Items only theirs has, each with its place: new ones, and those ours dropped while theirs changed them."""
        for number, item in enumerate(theirs):
            old = pairs.theirs[number]
            if pairs.across[number] is not None or (old is not None and old in pairs.ours):
                continue
            was = ancestor[old] if old is not None else ABSENT
            merged = self.merge(was, ABSENT, item, (*path, number))
            if merged is not ABSENT:
                yield number, merged


@dataclass(frozen=True, slots=True)
class _Pairs:
    """For each item of ours and of theirs its place in the ancestor; for each of theirs its place in ours."""

    ours: Sequence[int | None]
    theirs: Sequence[int | None]
    across: Sequence[int | None]


def _same(one: Any, other: Any) -> bool:
    if one is ABSENT or other is ABSENT:
        return one is other
    return same(one, other)


def _ordered(ours: list[Any], theirs: list[Any], ancestor: list[Any]) -> list[Any]:
    """Ours, with the names only theirs has behind those they follow there; then what both dropped."""
    names = list(ours)
    for place, name in enumerate(theirs):
        if name not in names:
            earlier = [names.index(one) for one in theirs[:place] if one in names]
            names.insert(max(earlier) + 1 if earlier else 0, name)
    return names + [name for name in ancestor if name not in names]


def _as_set(ancestor: list[Any], ours: list[Any], theirs: list[Any]) -> YamlList:
    gone = [item for item in ancestor if item not in theirs]
    items = [item for item in ours if item not in gone]
    items += [item for item in theirs if item not in ancestor and item not in items]
    result = YamlList(sorted(items) if ours == sorted(ours) else items)
    result.flow = bool(getattr(ours, "flow", False))
    return result
