"""`Change`: what is different between a before and an after, in the domain's own terms.

Everything else (values, prose, checks, the pull-request text) reads it and nothing but it, wherever the two sides
come from: a spec laid over the work tree, a branch made by hand, two refs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..schema.master import Entry, Item, Point, Row, points_of
from ..schema.recipe import Recipe
from .pairing import pair_items, pair_rows
from .settings import Setting

NOT_IDENTITY = ("kv-offload-backend", "router", "kv-p2p-transfer", "srt-recipe", "eval-srt-recipe")


@dataclass(frozen=True, slots=True)
class Difference:
    """One named value before and after; None where it is absent."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row before and after; one side is None for a row that is new or gone."""

    before: Row | None
    after: Row | None

    @property
    def row(self) -> Row:
        """The row as it now is, or as it was."""
        row = self.after if self.after is not None else self.before
        assert row is not None
        return row

    @property
    def added(self) -> tuple[Point, ...]:
        """Points that are new, in the row's order."""
        return _missing(self.after, self.before)

    @property
    def dropped(self) -> tuple[Point, ...]:
        """Points that are gone, in the old row's order."""
        return _missing(self.before, self.after)

    @property
    def kept(self) -> tuple[Point, ...]:
        """Points that stay, as they now are."""
        if self.before is None or self.after is None:
            return ()
        old = set(self.before.concurrencies)
        return tuple(point for point in points_of(self.after) if point.concurrency in old)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What changed in the contents of a row that stays: backend version, router, references, settings."""
        if self.before is None or self.after is None:
            return ()
        found = [Difference(name, self.before.data.get(name), self.after.data.get(name)) for name in NOT_IDENTITY]
        old, new = self.before.blocks, self.after.blocks
        for name in dict.fromkeys((*old, *new)):
            was = old[name].settings if name in old else ()
            now = new[name].settings if name in new else ()
            found.append(Difference(f"{name} additional-settings", list(was), list(now)))
            for reference in ("srt-recipe",):
                found.append(Difference(f"{name} {reference}", _get(old, name, reference), _get(new, name, reference)))
        return tuple(one for one in found if one.before != one.after)

    @property
    def changed(self) -> bool:
        return bool(self.added or self.dropped or self.differences)


def _get(blocks: Mapping[str, Any], name: str, field: str) -> Any:
    return blocks[name].data.get(field) if name in blocks else None


def _missing(row: Row | None, other: Row | None) -> tuple[Point, ...]:
    if row is None:
        return ()
    known = set(other.concurrencies) if other is not None else set()
    return tuple(point for point in points_of(row) if point.concurrency not in known)


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item of a scenario before and after."""

    scenario: str
    before: Item | None
    after: Item | None
    rows: tuple[RowChange, ...]

    @property
    def item(self) -> Item:
        """The item as it now is, or as it was."""
        item = self.after if self.after is not None else self.before
        assert item is not None
        return item

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The item's own fields that changed, `dram-utilization` above all."""
        before = self.before.data if self.before is not None else {}
        after = self.after.data if self.after is not None else {}
        return _differences(before, after, leave_out=("search-space",))

    @property
    def changed(self) -> bool:
        one_sided = self.before is None or self.after is None
        return one_sided or bool(self.differences) or any(row.changed or one_side(row) for row in self.rows)


def one_side(row: RowChange) -> bool:
    """Whether the row is new or gone."""
    return row.before is None or row.after is None


@dataclass(frozen=True, slots=True)
class PointChange:
    """The recipe's settings at one point, before and after; None where the point or its recipe is not there."""

    item: Item
    point: Point
    before: Mapping[Setting, Any] | None
    after: Mapping[Setting, Any] | None
    new: bool
    # What the recipe's base says for every point; a new point's news is what differs from it.
    inherited: Mapping[Setting, Any] = field(default_factory=dict)

    @property
    def differences(self) -> tuple[tuple[Setting, Any, Any], ...]:
        """Settings that differ: setting, old and new value, None for an absent one."""
        before, after = self.before or {}, self.after or {}
        names = dict.fromkeys((*after, *before))
        return tuple((name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name))


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One config key before and after; one side is None for a key that is new or gone."""

    key: str
    file: str
    before: Entry | None
    after: Entry | None
    items: tuple[ItemChange, ...]
    points: tuple[PointChange, ...] = ()

    @property
    def entry(self) -> Entry:
        """The entry as it now is, or as it was."""
        entry = self.after if self.after is not None else self.before
        assert entry is not None
        return entry

    @property
    def fields(self) -> tuple[Difference, ...]:
        """Top-level fields that changed."""
        before = self.before.data if self.before is not None else {}
        after = self.after.data if self.after is not None else {}
        return _differences(before, after, leave_out=("scenarios",))

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The scenarios in which anything changed; of a new or removed key, or where a top-level field or recipe
        changed for all of them, the key's own."""
        if self.before is None or self.after is None or self.fields:
            return tuple(self.entry.scenarios)
        changed = dict.fromkeys(item.scenario for item in self.items if item.changed)
        for point in self.points:
            if point.differences:
                changed[point.item.scenario] = None
        return tuple(name for name in self.entry.scenarios if name in changed) or tuple(changed)

    @property
    def data_changed(self) -> bool:
        """Whether the master entry's own data changed."""
        return (
            self.before is None or self.after is None or bool(self.fields) or any(item.changed for item in self.items)
        )


@dataclass(frozen=True, slots=True)
class RecipeChange:
    """One recipe file before and after, with the keys whose rows name it."""

    path: str
    before: Recipe | None
    after: Recipe | None
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScriptChange:
    """One bash recipe that differs, with the keys whose rows run it. `new` and `gone`: on one side only."""

    path: str
    keys: tuple[str, ...]
    new: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """Everything that differs. `other_files` are changed paths that are neither config, changelog nor recipe.

    `tables` are YAML files of the multi-node launchers that say by model name what a server runs with; no row names
    them.
    """

    layout: str
    keys: tuple[KeyChange, ...]
    recipes: tuple[RecipeChange, ...] = ()
    scripts: tuple[ScriptChange, ...] = ()
    other_files: tuple[str, ...] = ()
    tables: tuple[RecipeChange, ...] = ()

    def key(self, name: str) -> KeyChange | None:
        """The change of one key."""
        return next((change for change in self.keys if change.key == name), None)

    @property
    def remaining(self) -> tuple[KeyChange, ...]:
        """The changes of keys that still exist: those a changelog entry may name."""
        return tuple(change for change in self.keys if change.after is not None)

    def rows(self) -> Iterator[tuple[KeyChange, ItemChange, RowChange]]:
        """Every row of every changed key."""
        for key in self.keys:
            for item in key.items:
                for row in item.rows:
                    yield key, item, row


def _differences(
    before: Mapping[str, Any], after: Mapping[str, Any], leave_out: Sequence[str]
) -> tuple[Difference, ...]:
    names = [name for name in dict.fromkeys((*after, *before)) if name not in leave_out]
    found = (Difference(name, before.get(name), after.get(name)) for name in names)
    return tuple(one for one in found if one.before != one.after)


def compare_entries(before: Entry | None, after: Entry | None) -> tuple[ItemChange, ...]:
    """The items of both sides paired, the rows of each pair paired (source: FACTS §3)."""
    old = before.scenarios if before is not None else {}
    new = after.scenarios if after is not None else {}
    changes: list[ItemChange] = []
    for scenario in dict.fromkeys((*new, *old)):
        was, now = old.get(scenario, ()), new.get(scenario, ())
        pairs = pair_items(was, now)
        for item, pair in zip(now, pairs, strict=True):
            changes.append(_item_change(scenario, was[pair] if pair is not None else None, item))
        gone = set(range(len(was))) - {pair for pair in pairs if pair is not None}
        changes += [_item_change(scenario, was[index], None) for index in sorted(gone)]
    return tuple(changes)


def _item_change(scenario: str, before: Item | None, after: Item | None) -> ItemChange:
    was = before.rows if before is not None else ()
    now = after.rows if after is not None else ()
    pairs = pair_rows(was, now)
    rows = [RowChange(was[pair] if pair is not None else None, row) for row, pair in zip(now, pairs, strict=True)]
    gone = set(range(len(was))) - {pair for pair in pairs if pair is not None}
    rows += [RowChange(was[index], None) for index in sorted(gone)]
    return ItemChange(scenario, before, after, tuple(rows))
