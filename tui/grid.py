"""Points × settings: what each point's recipe variant says, and where it differs from the recipe's base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..checkout.snapshot import Missing, RecipeFile, Snapshot
from ..derive.settings import Setting, base_settings, variant_settings
from ..schema.errors import BenchscribeError
from ..schema.master import Entry, Row, points_of
from ..schema.recipe import BASE, Recipe
from ..schema.serving import variants_for

MOST_SETTINGS = 24


@dataclass(frozen=True, slots=True)
class GridRow:
    """One point: its name, its variant's name, and its values by setting (None: not set)."""

    point: str
    variant: str
    values: Mapping[Setting, Any]


@dataclass(frozen=True, slots=True)
class Grid:
    """`settings` are those in which some point differs from base; `base` holds base's values."""

    settings: tuple[Setting, ...]
    base: Mapping[Setting, Any]
    rows: tuple[GridRow, ...]

    def differs(self, row: GridRow, setting: Setting) -> bool:
        """Whether the point says otherwise than base."""
        return bool(row.values.get(setting) != self.base.get(setting))


def points_grid(snapshot: Snapshot, entry: Entry) -> Grid | None:
    """The grid of an entry's single-node points that have a YAML recipe; None where there is none."""
    rows: list[GridRow] = []
    base: Mapping[Setting, Any] = {}
    for row, reference, found in layered_recipes(snapshot, entry):
        if row.multinode or reference != row.recipe_references[0]:
            continue
        base = base or base_settings(found.recipe)
        for point in points_of(row):
            try:
                serving = variants_for(found.recipe, point, entry.framework, found.variant_name)
            except BenchscribeError:
                serving = []
            values = variant_settings(serving[0]) if serving else {}
            name = serving[0].name if len(serving) == 1 else f"{len(serving)} variants" if serving else "no variant"
            rows.append(GridRow(str(point), name, values))
    if not rows:
        return None
    differing = [name for row in rows for name, value in row.values.items() if value != base.get(name)]
    absent = [name for name in base if any(name not in row.values and row.values for row in rows)]
    return Grid(tuple(dict.fromkeys([*differing, *absent]))[:MOST_SETTINGS], base, tuple(rows))


def grid_of(snapshot: Snapshot, key: str) -> Grid | None:
    """The grid of a key as it stands in a state; None where it cannot be read."""
    try:
        entry = snapshot.entry(key)
        return points_grid(snapshot, entry) if entry is not None else None
    except BenchscribeError:
        return None


def has_yaml_recipe(snapshot: Snapshot, entry: Entry) -> bool:
    """Whether the entry's single-node rows name a layered recipe that is here."""
    return _recipe(snapshot, entry) is not None


def base_now(snapshot: Snapshot, entry: Entry) -> Mapping[str, Any]:
    """What the base of the entry's recipe says; nothing where there is no such recipe."""
    recipe = _recipe(snapshot, entry)
    return recipe.data[BASE] if recipe is not None else {}


def _recipe(snapshot: Snapshot, entry: Entry) -> Recipe | None:
    """The first layered recipe that the entry's single-node rows name and that is here."""
    found = (found.recipe for row, _, found in layered_recipes(snapshot, entry) if not row.multinode)
    return next(found, None)


def layered_recipes(snapshot: Snapshot, entry: Entry) -> Iterator[tuple[Row, str, RecipeFile]]:
    """Each row with each reference of it to a layered recipe that is here and can be read."""
    for _, row in entry.rows():
        for reference in row.recipe_references:
            try:
                found = snapshot.recipe(reference)
            except BenchscribeError:
                continue
            if not isinstance(found, Missing) and found.recipe.layered:
                yield row, reference, found
