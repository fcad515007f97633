"""The `Change` between two states of a checkout, whoever made it: a spec, a branch, two refs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..checkout.layout import map_path
from ..checkout.recipes import find_script, script_paths
from ..checkout.snapshot import RecipeFile, Snapshot
from ..schema.errors import StateError
from ..schema.master import Entry, Item, Point, Row, points_of
from ..schema.recipe import Recipe, Variant
from ..schema.serving import variants_for
from .change import (
    Change,
    ItemChange,
    KeyChange,
    PointChange,
    RecipeChange,
    ScriptChange,
    compare_entries,
    one_side,
)
from .script_settings import script_settings, without_unknown
from .settings import Setting, base_settings, variant_settings

YAML_ENDINGS = (".yaml", ".yml")


def compare(before: Snapshot, after: Snapshot, changed_files: Collection[str]) -> Change:
    """What differs between the two states.

    `changed_files` are the paths, in the layout of `after`, whose bytes differ; only those are read.
    """
    layout = after.layout
    masters = [path for path in layout.masters if path in changed_files]
    recipes = _recipe_changes(before, after, changed_files)
    scripts = _script_changes(before, after, changed_files)
    keys = _changed_keys(before, after, masters)
    touched = {key for recipe in recipes for key in recipe.keys} | {key for script in scripts for key in script.keys}
    changes = []
    for key in dict.fromkeys((*after.keys, *before.keys)):
        if key in keys or key in touched:
            change = _key_change(before, after, key, settings_may_differ=key in touched)
            if change.data_changed or any(point.differences for point in change.points):
                changes.append(change)
    tables = _table_changes(before, after, changed_files)
    read = {one.path for changed in (recipes, scripts, tables) for one in changed}
    known = {*layout.masters, layout.changelog, *read}
    others = tuple(sorted(path for path in changed_files if path not in known))
    return Change(layout.name, tuple(changes), tuple(recipes), tuple(scripts), others, tuple(tables))


def _changed_keys(before: Snapshot, after: Snapshot, masters: Sequence[str]) -> set[str]:
    """Keys whose text differs; keys of a file that is the same on both sides are not looked at."""
    if not masters and before.layout == after.layout:
        return set()
    old, new = before.key_texts, after.key_texts
    return {key for key in {*old, *new} if old.get(key) != new.get(key)}


def _recipe_changes(before: Snapshot, after: Snapshot, changed_files: Collection[str]) -> list[RecipeChange]:
    roots = tuple(f"{root}/" for root in after.layout.recipe_roots)
    found = []
    for path in sorted(changed_files):
        if path.startswith(roots) and path.endswith(YAML_ENDINGS):
            old_path = map_path(path, after.layout, before.layout)
            old, new = _read(before, old_path), _read(after, path)
            found.append(RecipeChange(path, old, new, tuple(_keys_naming(before, after, path))))
    return found


def _table_changes(before: Snapshot, after: Snapshot, changed_files: Collection[str]) -> list[RecipeChange]:
    """Changed YAML beside the multi-node recipes: what the launchers read by model name."""
    recipes = after.layout.multi_node_recipes
    folder = f"{recipes.rpartition('/')[0]}/"
    found = []
    for path in sorted(changed_files):
        if path.startswith(folder) and not path.startswith(f"{recipes}/") and path.endswith(YAML_ENDINGS):
            old, new = _read(before, map_path(path, after.layout, before.layout)), _read(after, path)
            if all(one is None or _by_model(one) for one in (old, new)) and (old or new):
                found.append(RecipeChange(path, old, new, ()))
    return found


def _by_model(table: Recipe) -> bool:
    return bool(table.data) and all(isinstance(settings, Mapping) for settings in table.data.values())


def _read(snapshot: Snapshot, path: str) -> Recipe | None:
    try:
        return snapshot.recipe_file(path)
    except StateError:
        return None


def _keys_naming(before: Snapshot, after: Snapshot, path: str) -> list[str]:
    """The keys whose rows name the recipe: by text first, since most blocks need not be parsed."""
    name = path.rpartition("/")[2]
    found: dict[str, None] = {}
    for snapshot in (after, before):
        for key, place in snapshot.keys.items():
            text = snapshot.master_text(place.file)
            if key not in found and name in text[place.block.start : place.block.end] and _names(snapshot, key, path):
                found[key] = None
    return list(found)


def _names(snapshot: Snapshot, key: str, path: str) -> bool:
    entry = snapshot.entry(key)
    if entry is None:
        return False
    references = {reference for _, row in entry.rows() for reference in row.recipe_references}
    return any(snapshot.recipe(reference).path == path for reference in references)


def _script_changes(before: Snapshot, after: Snapshot, changed_files: Collection[str]) -> list[ScriptChange]:
    root = f"{after.layout.single_node_recipes}/"
    found = []
    for path in sorted(changed_files):
        if after.layout.bash_recipes and path.startswith(root) and path.endswith(".sh"):
            old, new = before.read(map_path(path, after.layout, before.layout)), after.read(path)
            if old != new:
                keys = tuple(_keys_running(before, after, path))
                found.append(ScriptChange(path, keys, new=old is None, gone=new is None))
    return found


def _keys_running(before: Snapshot, after: Snapshot, path: str) -> list[str]:
    """The keys whose rows run the script: only blocks of its model prefix are parsed."""
    prefix = path.rpartition("/")[2].partition("_")[0]
    pattern = re.compile(rf"""model-prefix:\s*['"]?{re.escape(prefix)}['"]?\s*$""", re.M)
    found: dict[str, None] = {}
    for snapshot in (after, before):
        for key, place in snapshot.keys.items():
            text = snapshot.master_text(place.file)[place.block.start : place.block.end]
            if key not in found and pattern.search(text) and _runs(snapshot, key, path):
                found[key] = None
    return list(found)


def _runs(snapshot: Snapshot, key: str, path: str) -> bool:
    entry = snapshot.entry(key)
    if entry is None or entry.multinode:
        return False
    return any(path in script_paths(snapshot.layout, entry, item, row) for item, row in entry.rows())


def _key_change(before: Snapshot, after: Snapshot, key: str, *, settings_may_differ: bool) -> KeyChange:
    was, now = before.entry(key), after.entry(key)
    place = after.keys.get(key) or before.keys[key]
    items = compare_entries(was, now)
    # Settings are read only where they may be news: a recipe changed, or a row did.
    needed = settings_may_differ or any(row.changed or one_side(row) for item in items for row in item.rows)
    sides = _Sides(before, after, was, now)
    points = [point for item in items for point in sides.point_changes(item)] if needed else []
    return KeyChange(key, place.file, was, now, items, tuple(points))


@dataclass(frozen=True, slots=True)
class PointSettings:
    """What one point runs with: settings by name, what its recipe's base gives every point, names not known."""

    settings: Mapping[Setting, Any] | None
    inherited: Mapping[Setting, Any]
    unknown: frozenset[Setting] = frozenset()


@dataclass(frozen=True, slots=True)
class _Sides:
    """One key on both sides."""

    before: Snapshot
    after: Snapshot
    was: Entry | None
    now: Entry | None

    def point_changes(self, item: ItemChange) -> list[PointChange]:
        found = []
        for row in item.rows:
            if row.after is not None and item.after is not None and self.now is not None:
                old = {point.concurrency: point for point in points_of(row.before)} if row.before is not None else {}
                found += [self._point(item, point, old.get(point.concurrency)) for point in points_of(row.after)]
        return found

    def _point(self, item: ItemChange, point: Point, earlier: Point | None) -> PointChange:
        assert item.after is not None and self.now is not None
        new = point_settings(self.after, self.now, item.after, point)
        if earlier is None or self.was is None or item.before is None:
            return PointChange(item.after, point, None, new.settings, True, new.inherited)
        old = point_settings(self.before, self.was, item.before, earlier)
        # What one side leaves to the harness cannot be told apart from what the other sets.
        unknown = old.unknown | new.unknown
        return PointChange(
            item.after, point, _known(old.settings, unknown), _known(new.settings, unknown), False, new.inherited
        )


def _known(settings: Mapping[Setting, Any] | None, unknown: frozenset[Setting]) -> Mapping[Setting, Any] | None:
    return settings if settings is None or not unknown else without_unknown(settings, unknown)


def point_settings(snapshot: Snapshot, entry: Entry, item: Item, point: Point) -> PointSettings:
    """What a point's YAML or bash recipe sets; settings are None where no recipe is here."""
    found = variant_of(snapshot, entry, point)
    if found is not None:
        recipe, variant = found
        return PointSettings(variant_settings(variant), base_settings(recipe))
    if point.row.multinode or point.row.recipe_references or not snapshot.layout.bash_recipes:
        return PointSettings(None, {})
    path = find_script(snapshot, entry, item, point.row)
    script = snapshot.script(path) if isinstance(path, str) else None
    if script is None:
        return PointSettings(None, {})
    known, unknown = script_settings(script, entry, item, point)
    return PointSettings(known, {}, unknown)


def variant_of(snapshot: Snapshot, entry: Entry, point: Point) -> tuple[Recipe, Variant] | None:
    """The one recipe variant that a point runs, None where the recipe is not here or does not say."""
    for reference in point.row.recipe_references:
        try:
            found = snapshot.recipe(reference)
            if not isinstance(found, RecipeFile):
                continue
            variant = _chosen(found, point, entry)
        except StateError:
            continue
        if variant is not None:
            return found.recipe, variant
    return None


def _chosen(found: RecipeFile, point: Point, entry: Entry) -> Variant | None:
    if found.recipe.layered and not point.row.multinode:
        serving = variants_for(found.recipe, point, entry.framework, found.variant_name)
        return serving[0] if serving else None
    return found.variant


def rows_with(change: KeyChange, *, offloading: str) -> list[tuple[Item, Row]]:
    """The key's rows, as they now are, with that KV offloading."""
    entry = change.after
    return [(item, row) for item, row in entry.rows() if row.kv_offloading == offloading] if entry else []
