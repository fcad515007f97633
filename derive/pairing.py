"""Which row, item or setting of *after* continues which one of *before* (source: FACTS §3, "Row identity")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

from ..schema.master import Item, Row


def pair_rows(before: Sequence[Row], after: Sequence[Row]) -> list[int | None]:
    """For each row of `after` the index of the row of `before` it continues, None for a new one.

    Rows pair by identity; siblings that share one pair by the largest common set of concurrencies, then by order.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, row in enumerate(before):
        groups[row.identity].append(index)
    wanted: dict[Hashable, list[int]] = defaultdict(list)
    for index, row in enumerate(after):
        wanted[row.identity].append(index)
    result: list[int | None] = [None] * len(after)
    for identity, places in wanted.items():
        for old, new in _pair_siblings(before, after, groups.get(identity, []), places):
            result[new] = old
    return result


def _pair_siblings(
    before: Sequence[Row], after: Sequence[Row], old_places: list[int], new_places: list[int]
) -> list[tuple[int, int]]:
    candidates = [
        (-len(set(before[old].concurrencies) & set(after[new].concurrencies)), old, new)
        for old in old_places
        for new in new_places
    ]
    pairs: list[tuple[int, int]] = []
    used_old: set[int] = set()
    used_new: set[int] = set()
    for _, old, new in sorted(candidates):
        if old not in used_old and new not in used_new:
            pairs.append((old, new))
            used_old.add(old)
            used_new.add(new)
    return pairs


def pair_items(before: Sequence[Item], after: Sequence[Item]) -> list[int | None]:
    """The same for the items of one scenario: by lengths, then by shared row identities, then by order."""
    candidates = []
    for old, was in enumerate(before):
        for new, now in enumerate(after):
            if was.lengths == now.lengths:
                shared = {row.identity for row in was.rows} & {row.identity for row in now.rows}
                candidates.append((-len(shared), abs(old - new), old, new))
    result: list[int | None] = [None] * len(after)
    used: set[int] = set()
    for _, _, old, new in sorted(candidates):
        if result[new] is None and old not in used:
            result[new] = old
            used.add(old)
    return result


def pair_for_writer(path: tuple[Any, ...], before: list[Any], after: list[Any]) -> list[int | None] | None:
    """The pairing the YAML writer asks for: rows and items by identity, None for any other list."""
    if path and path[-1] == "search-space" and _all_mappings(before) and _all_mappings(after):
        return pair_rows([Row(row) for row in before], [Row(row) for row in after])
    if len(path) > 1 and path[-2] == "scenarios" and _all_mappings(before) and _all_mappings(after):
        name = str(path[-1])
        old = [Item(name, index, data) for index, data in enumerate(before)]
        return pair_items(old, [Item(name, index, data) for index, data in enumerate(after)])
    return None


def _all_mappings(items: list[Any]) -> bool:
    return all(isinstance(item, dict) for item in items)
