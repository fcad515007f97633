"""A spec that reproduces a branch's change: applied to the base, it gives the branch's data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..checkout.snapshot import Snapshot
from ..derive.change import ItemChange, KeyChange, RecipeChange, RowChange
from ..schema.changelog import Entry
from ..schema.yaml_text import YamlList, YamlMap, plain
from ..writers.yaml_render import render_block
from .branch import Branch
from .describing import own_entries

OPTIONAL = ("disagg", "router", "kv-p2p-transfer")
KEPT_FIELDS = ("srt-recipe", "eval-srt-recipe")  # of a row: left out of a spec, they stay


def specify(branch: Branch) -> tuple[str, tuple[str, ...]]:
    """The spec's text, and the changed files it cannot express (bash recipes and others), which stay as they are."""
    data = YamlMap({"benchscribe": 1})
    own = own_entries(branch)
    changes = [_key_change(branch, change) for change in branch.change.keys]
    left = _place_recipes(branch, changes)
    data["changes"] = YamlList(changes)
    changelog = _changelog(branch, own)
    if changelog:
        data["changelog"] = changelog
    left = (*left, *(script.path for script in branch.change.scripts), *branch.change.other_files)
    head = "".join(f"# Not in this spec, left as it is: {path}\n" for path in left)
    return head + "".join(render_block(name, value) for name, value in data.items()), left


def _key_change(branch: Branch, change: KeyChange) -> YamlMap:
    data = YamlMap({"config-key": change.key})
    if change.after is None:
        data["remove"] = True
        return data
    if change.before is None:
        data["entry"] = change.after.data
        after = _previous(branch.checkout.after, branch.checkout.before, change.key)
        if after:
            data["after"] = after
        return data
    fields = YamlMap({one.name: one.after for one in change.fields})
    if fields:
        data["set"] = fields
    scenarios = _scenarios(change)
    if scenarios:
        data["scenarios"] = scenarios
    return data


def _previous(now: Snapshot, base: Snapshot, key: str) -> str:
    """The nearest key before the new one, in its file, that the base has too."""
    place = now.keys[key]
    found = ""
    for other, where in now.keys.items():
        if other == key:
            break
        if where.file == place.file and other in base.keys:
            found = other
    return found


def _scenarios(change: KeyChange) -> YamlMap:
    result = YamlMap()
    before, after = change.before, change.after
    assert before is not None and after is not None
    for scenario in dict.fromkeys((*before.scenarios, *after.scenarios)):
        if scenario not in after.scenarios:
            result[scenario] = None
            continue
        items = [item for item in change.items if item.scenario == scenario and item.changed]
        if items:
            several = len(before.scenarios.get(scenario, ())) > 1
            result[scenario] = YamlList(_item(item, several) for item in items)
    return result


def _item(item: ItemChange, several: bool) -> YamlMap:
    """One item's wanted state; items are named by their place at the base."""
    data = YamlMap()
    if item.before is None:
        data["item"] = "new"
    elif several or item.after is None:
        data["item"] = item.before.index
    if item.after is None:
        data["remove"] = True
        return data
    for name, value in item.after.data.items():
        if name == "search-space":
            data[name] = YamlList(value)
        elif item.before is None or plain(item.before.data.get(name)) != plain(value):
            data[name] = value
    if item.before is not None:
        data.update({name: None for name in item.before.data if name not in item.after.data})
        data["search-space"] = YamlList(_row(row) for row in item.rows if row.after is not None)
    return data


def _row(row: RowChange) -> Mapping[str, Any]:
    """A row as it now reads; null for a recipe reference that it no longer has, since left out it would stay."""
    assert row.after is not None
    before = row.before.data if row.before is not None else {}
    gone = [name for name in KEPT_FIELDS if name in before and name not in row.after.data]
    if not gone:
        return row.after.data
    data = YamlMap(row.after.data)
    data.flow = bool(getattr(row.after.data, "flow", False))
    data.update(dict.fromkeys(gone))
    return data


def _place_recipes(branch: Branch, changes: list[YamlMap]) -> tuple[str, ...]:
    """Every changed YAML recipe under a key that names it; the paths of those no changed key names."""
    left = []
    by_key = {str(change["config-key"]): change for change in changes}
    for recipe in (*branch.change.recipes, *branch.change.tables):
        owner = next((by_key[key] for key in recipe.keys if key in by_key and "remove" not in by_key[key]), None)
        if owner is None:
            owner = next((change for change in changes if "remove" not in change), None)
        if owner is None:
            left.append(recipe.path)
            continue
        owner.setdefault("recipes", YamlList()).append(_recipe(branch, recipe))
    return tuple(left)


def _recipe(branch: Branch, recipe: RecipeChange) -> YamlMap:
    below = branch.checkout.layout.below(recipe.path)
    data = YamlMap({"file": below if below is not None else recipe.path})
    if recipe.after is None:
        data["remove"] = True
    elif recipe.before is None or _holds_null(recipe.after.data):
        data["create"] = recipe.after.data
    else:
        data["patch"] = merge_patch(recipe.before.data, recipe.after.data)
    return data


def _holds_null(data: Any) -> bool:
    """Whether a null stands anywhere in mappings: a merge patch could only delete it."""
    if isinstance(data, Mapping):
        return any(value is None or _holds_null(value) for value in data.values())
    return False


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> YamlMap:
    """The smallest merge patch that makes `before` read like `after`."""
    patch = YamlMap()
    for key in before:
        if key not in after:
            patch[key] = None
    for key, value in after.items():
        old = before.get(key)
        if key in before and plain(old) == plain(value) and type(plain(old)) is type(plain(value)):
            continue
        if isinstance(old, Mapping) and isinstance(value, Mapping) and value:
            patch[key] = merge_patch(old, value)
        else:
            patch[key] = value
    return patch


def _changelog(branch: Branch, own: list[Entry]) -> Any:
    """What the branch's entries decide: keys, scope and flags; their prose stays as the author's notes."""
    derived = {text for line in branch.lines() for text in (line.en, line.zh)}
    found = []
    for entry in own:
        data = YamlMap(_stated(entry, several=len(own) > 1))
        notes = [text for text in entry.description if text not in derived]
        if notes:
            data["notes"] = YamlList(notes)
        found.append(data)
    if len(found) == 1:
        return found[0]
    return YamlList(found)


def _stated(entry: Entry, *, several: bool) -> Iterator[tuple[str, Any]]:
    if several:
        yield "keys", YamlList(entry.config_keys)
    if entry.scenario_type:
        yield "scenario-type", YamlList(entry.scenario_type)
    yield from entry.flags
