"""The `Change` between two states of a checkout, whoever made it: a spec, a branch, two refs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..checkout.layout import map_path
from ..checkout.snapshot import RecipeFile, Snapshot
from ..schema.errors import StateError
from ..schema.master import Entry, Item, Point, Row, points_of
from ..schema.recipe import BASE, Recipe, Variant
from ..schema.serving import variants_for
from .change import Change, ItemChange, KeyChange, PointChange, RecipeChange, compare_entries
from .settings import Setting, settings_of

YAML_ENDINGS = (".yaml", ".yml")


def compare(before: Snapshot, after: Snapshot, changed_files: Collection[str]) -> Change:
    """What differs between the two states.

    `changed_files` are the paths, in the layout of `after`, whose bytes differ; only those are read.
    """
    layout = after.layout
    masters = [path for path in layout.masters if path in changed_files]
    recipes = _recipe_changes(before, after, changed_files)
    keys = _changed_keys(before, after, masters)
    touched = {key for recipe in recipes for key in recipe.keys}
    changes = []
    for key in dict.fromkeys((*after.keys, *before.keys)):
        if key in keys or key in touched:
            change = _key_change(before, after, key)
            if change.data_changed or any(point.differences for point in change.points):
                changes.append(change)
    known = {*layout.masters, layout.changelog, *(recipe.path for recipe in recipes)}
    others = tuple(sorted(path for path in changed_files if path not in known))
    return Change(layout.name, tuple(changes), tuple(recipes), others)


def _changed_keys(before: Snapshot, after: Snapshot, masters: Sequence[str]) -> set[str]:
    """Keys whose text differs; keys of a file that is the same on both sides are not looked at."""
    if not masters and before.layout == after.layout:
        return set()
    old, new = _texts(before), _texts(after)
    return {key for key in {*old, *new} if old.get(key) != new.get(key)}


def _texts(snapshot: Snapshot) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, place in snapshot.keys.items():
        text = snapshot.master_text(place.file)
        found[key] = text[place.block.start : place.block.end]
    return found


def _recipe_changes(before: Snapshot, after: Snapshot, changed_files: Collection[str]) -> list[RecipeChange]:
    roots = tuple(f"{root}/" for root in after.layout.recipe_roots)
    found = []
    for path in sorted(changed_files):
        if path.startswith(roots) and path.endswith(YAML_ENDINGS):
            old_path = map_path(path, after.layout, before.layout)
            old, new = _read(before, old_path), _read(after, path)
            found.append(RecipeChange(path, old, new, tuple(_keys_naming(before, after, path))))
    return found


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


def _key_change(before: Snapshot, after: Snapshot, key: str) -> KeyChange:
    was, now = before.entry(key), after.entry(key)
    place = after.keys.get(key) or before.keys[key]
    items = compare_entries(was, now)
    points = [point for item in items for point in _point_changes(before, after, was, now, item)]
    return KeyChange(key, place.file, was, now, items, tuple(points))


def _point_changes(
    before: Snapshot, after: Snapshot, was: Entry | None, now: Entry | None, item: ItemChange
) -> list[PointChange]:
    found = []
    for row in item.rows:
        if row.after is None or now is None or item.after is None:
            continue
        old = {point.concurrency: point for point in points_of(row.before)} if row.before is not None else {}
        for point in points_of(row.after):
            settings, inherited = point_settings(after, now, point)
            earlier = old.get(point.concurrency)
            previous = point_settings(before, was, earlier)[0] if was is not None and earlier is not None else None
            found.append(PointChange(item.after, point, previous, settings, earlier is None, inherited))
    return found


def point_settings(
    snapshot: Snapshot, entry: Entry, point: Point
) -> tuple[Mapping[Setting, Any] | None, Mapping[Setting, Any]]:
    """The settings a point runs with, and those its recipe's base gives every point; None where not known."""
    found = variant_of(snapshot, entry, point)
    if found is None:
        return None, {}
    recipe, variant = found
    inherited = settings_of(recipe.data[BASE]) if recipe.layered else {}
    return settings_of(variant.data), inherited


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
