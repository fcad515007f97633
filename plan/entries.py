"""The wanted data of a master entry: what the checkout holds with one `KeyChange` of the spec laid over it.

Nothing here writes; the YAML writer turns the wanted data into splices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ..derive.pairing import pair_items, pair_rows
from ..schema.master import WORKER_BLOCKS, Entry, Item, Row
from ..schema.master_rules import OPTIONAL_FIELDS, REQUIRED_FIELDS
from ..schema.spec import KeyChange, ScenarioItem
from ..schema.strict import Mistake
from ..schema.yaml_text import Path, YamlList, YamlMap

FIELD_ORDER = (
    "image", "model", "model-prefix", "runner", "precision", "framework",
    "router", "kv-p2p-transfer", "multinode", "disagg", "scenarios",
)  # fmt: skip
ROW_DEFAULTS: Mapping[str, Any] = {
    "pp": 1, "dcp-size": 1, "pcp-size": 1, "ep": 1, "dp-attn": False, "spec-decoding": "none", "kv-offloading": "none",
}  # fmt: skip
CONCURRENCIES = ("conc-list", "conc-start", "conc-end")


@dataclass(frozen=True, slots=True)
class AutoItem:
    """An item whose `dram-utilization` is still to be derived."""

    scenario: str
    index: int
    scenario_item: ScenarioItem
    spec_path: Path


@dataclass(slots=True)
class WantedEntry:
    """One key's wanted data while it is being worked out. `data` is None for a key that goes."""

    key: str
    data: Any
    before: Entry | None
    spec_path: Path
    autos: list[AutoItem] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    items: dict[str, int] = field(default_factory=dict)
    origin: Entry | None = None

    @property
    def entry(self) -> Entry:
        return Entry(self.key, self.data)

    def item_data(self, scenario: str, index: int) -> dict[str, Any]:
        """The mapping of one item, to be filled in."""
        return self.data["scenarios"][scenario][index]  # type: ignore[no-any-return]


def want(
    change: KeyChange, before: Entry | None, start: Entry | None, origin: Entry | None, spec_path: Path
) -> WantedEntry:
    """The wanted data for one change.

    `before` is what the work tree holds under the key; `start` what a new key starts from (`like`), else None.
    `origin` is the entry whose items the spec counts: the base's, of a new key the one it starts from. So an item's
    number means the same item however often the spec is applied.
    """
    if change.remove:
        return WantedEntry(change.config_key, None, before, spec_path)
    if change.entry is not None:
        data = deepcopy(change.entry)
    else:
        source = before or start
        data = deepcopy(source.data) if source is not None else YamlMap()
    wanted = WantedEntry(change.config_key, data, before, spec_path, origin=origin)
    _set_fields(wanted, change)
    _set_scenarios(wanted, change)
    return wanted


def _set_fields(wanted: WantedEntry, change: KeyChange) -> None:
    for name, value in change.top_fields.items():
        if value is None:
            wanted.data.pop(name, None)
            if name not in OPTIONAL_FIELDS:
                wanted.mistakes.append(Mistake((*wanted.spec_path, "set", name), f"field {name!r} is required"))
        elif name in wanted.data:
            if wanted.data[name] != value:
                wanted.data[name] = value
        else:
            wanted.data = _inserted(wanted.data, name, value, FIELD_ORDER)


def _inserted(data: Mapping[str, Any], name: str, value: Any, order: Sequence[str]) -> YamlMap:
    """A copy with the new key behind the last of those that precede it in `order`."""
    rank = {known: index for index, known in enumerate(order)}
    earlier = [key for key in data if rank.get(key, len(order)) < rank.get(name, len(order))]
    result = _like(data)
    if not earlier:
        result[name] = value
    for key, old in data.items():
        result[key] = old
        if earlier and key == earlier[-1]:
            result[name] = value
    return result


def _like(data: Mapping[str, Any]) -> YamlMap:
    copy = YamlMap()
    copy.flow = bool(getattr(data, "flow", False))
    return copy


def _set_scenarios(wanted: WantedEntry, change: KeyChange) -> None:
    for scenario, items in change.scenarios.items():
        path: Path = (*wanted.spec_path, "scenarios", scenario)
        scenarios = wanted.data.setdefault("scenarios", YamlMap())
        if not _is_well_shaped(scenarios, scenario):
            what = f"the {scenario} of {wanted.key} is no list of items, so nothing can be changed in it"
            wanted.mistakes.append(Mistake(path, what, "mend the entry first: isl, osl, search-space below `- `"))
            continue
        if items is None:
            at_origin = wanted.origin is not None and scenario in wanted.origin.scenarios
            if scenarios.pop(scenario, None) is None and not at_origin:
                wanted.mistakes.append(Mistake(path, f"{wanted.key} has no scenario {scenario!r} to remove"))
            continue
        if not items:
            wanted.mistakes.append(Mistake(path, "is empty", "null removes the scenario"))
        removed: set[int] = set()
        named: set[int] = set()
        for number, item in enumerate(items):
            index = _set_item(wanted, scenario, item, (*path, number), named)
            if index is not None and item.removes:
                removed.add(index)
        for index in sorted(removed, reverse=True):
            del scenarios[scenario][index]
        _renumber(wanted, scenario, removed)


def _is_well_shaped(scenarios: Any, scenario: str) -> bool:
    items = scenarios.get(scenario, []) if isinstance(scenarios, dict) else None
    return isinstance(items, list) and all(isinstance(item, dict) for item in items)


def _renumber(wanted: WantedEntry, scenario: str, removed: set[int]) -> None:
    """Count items as they are without the removed ones."""
    if scenario in wanted.items:
        wanted.items[scenario] -= sum(gone < wanted.items[scenario] for gone in removed)
    wanted.autos = [
        auto
        if auto.scenario != scenario
        else AutoItem(
            scenario,
            auto.index - sum(gone < auto.index for gone in removed),
            auto.scenario_item,
            auto.spec_path,
        )
        for auto in wanted.autos
    ]


def _set_item(wanted: WantedEntry, scenario: str, item: ScenarioItem, path: Path, named: set[int]) -> int | None:
    """Lay one item of the spec over the entry; its index, None where there is none. `named` are those before it."""
    index = _find_item(wanted, scenario, item, path, named)
    if index is None:
        return None
    if index in named:
        wanted.mistakes.append(Mistake(path, f"item {index} of {scenario} is named twice", "put it all in one item"))
        return None
    named.add(index)
    if item.removes:
        return index
    wanted.items[scenario] = index
    data = wanted.item_data(scenario, index)
    for name, value in (("isl", item.isl), ("osl", item.osl), ("require-power", item.require_power)):
        if value is not None and data.get(name) != value:
            data[name] = value
    if item.dram_utilization == "auto":
        wanted.autos.append(AutoItem(scenario, index, item, (*path, "dram-utilization")))
        if "dram-utilization" not in data:
            _put_first(data, "dram-utilization", "auto")
    elif item.dram_utilization is not None and data.get("dram-utilization") != item.dram_utilization:
        _put_first(data, "dram-utilization", item.dram_utilization)
    for name in ("dram_utilization", "require_power"):
        if name in item.model_fields_set and getattr(item, name) is None:
            data.pop(name.replace("_", "-"), None)
    if item.search_space is not None:
        data["search-space"] = _wanted_rows(wanted, data.get("search-space"), item.search_space, path)
    return index


def _put_first(data: dict[str, Any], name: str, value: Any) -> None:
    """Set a key in place, or put a new one at the front: `dram-utilization` stands before the rows."""
    if name in data:
        data[name] = value
        return
    rest = dict(data)
    data.clear()
    data[name] = value
    data.update(rest)


def _find_item(wanted: WantedEntry, scenario: str, item: ScenarioItem, path: Path, named: set[int]) -> int | None:
    scenarios = wanted.data["scenarios"]
    existing: list[Any] = scenarios.get(scenario, [])
    here = [Item(scenario, index, data) for index, data in enumerate(existing)]
    there = wanted.origin.scenarios.get(scenario, ()) if wanted.origin is not None else ()
    # For each item as it stands here, the one it was at the origin.
    pairs = pair_items(there, here)
    if item.item == "new" or not (existing or there):
        added = [one for one, pair in zip(here, pairs, strict=True) if pair is None and one.index not in named]
        return _new_item(wanted, scenario, item, added, path)
    if isinstance(item.item, int):
        if item.item < len(there):
            return _counted(wanted, scenario, item, here, pairs, there, path)
        matching = [one for one in here if one.index == item.item]
    elif item.isl is not None or item.osl is not None:
        matching = [one for one in here if _has_lengths(one, item)]
    else:
        matching = here
    if len(matching) == 1:
        return matching[0].index
    if not matching and item.removes:
        return None
    wanted.mistakes.append(_item_mistake(wanted.key, scenario, here, matching, path))
    return None


def _has_lengths(one: Item, item: ScenarioItem) -> bool:
    return item.isl in (None, one.data.get("isl")) and item.osl in (None, one.data.get("osl"))


def _new_item(wanted: WantedEntry, scenario: str, item: ScenarioItem, added: list[Item], path: Path) -> int | None:
    """A new item, or the one that an earlier application of the spec has added already."""
    if item.search_space is None:
        wanted.mistakes.append(Mistake(path, f"a new {scenario} item needs a search-space"))
        return None
    for one in added:
        if (one.data.get("isl"), one.data.get("osl")) == (item.isl, item.osl):
            return one.index
    items = wanted.data["scenarios"].setdefault(scenario, YamlList())
    items.append(YamlMap())
    return len(items) - 1


def _counted(
    wanted: WantedEntry,
    scenario: str,
    item: ScenarioItem,
    here: Sequence[Item],
    pairs: Sequence[int | None],
    origin: Sequence[Item],
    path: Path,
) -> int | None:
    """Where the origin's item stands now; one that is gone comes back, unless it is to go anyway."""
    there = origin[item.item]
    lengths = (item.isl or there.data.get("isl"), item.osl or there.data.get("osl"))
    for other in origin:
        if other is not there and other.lengths == lengths != there.lengths:
            # Applied again, the two could not be told apart.
            what = f"item {other.index} has these lengths already"
            wanted.mistakes.append(Mistake(path, what, f"say what changes of item {other.index}, or remove it"))
            return None
    if there.index in pairs:
        return pairs.index(there.index)
    for one, pair in zip(here, pairs, strict=True):
        # The lengths this spec gives it may be there already.
        if pair is None and one.lengths == lengths != there.lengths:
            return one.index
    if item.removes:
        return None
    items = wanted.data["scenarios"].setdefault(scenario, YamlList())
    items.append(deepcopy(there.data))
    return len(items) - 1


def _item_mistake(key: str, scenario: str, named: list[Item], matching: list[Item], path: Path) -> Mistake:
    listed = "; ".join(
        f"item {one.index}" + (f" (isl {one.lengths[0]}, osl {one.lengths[1]})" if one.lengths else "") for one in named
    )
    what = "has several" if matching else "has no such"
    return Mistake(
        path, f"{key} {what} {scenario} item", f"say which with item, or isl and osl: {listed}; new adds one"
    )


def _wanted_rows(wanted: WantedEntry, existing: Any, rows: Sequence[Any], path: Path) -> YamlList:
    old = existing if isinstance(existing, list) else []
    pairs = pair_rows([Row(row) for row in old], [Row(row) for row in rows])
    result = YamlList()
    for number, (row, pair) in enumerate(zip(rows, pairs, strict=True)):
        neighbours = [one for one in old if isinstance(one, Mapping)]
        kept = _without_nulls(row)
        data = continued(old[pair], kept, neighbours) if pair is not None else deepcopy(kept)
        if "srt-recipe" not in row:
            here = (*path, "search-space", number)
            _add_recipe(wanted, data, old[pair] if pair is not None else None, neighbours, here)
        for name in ("srt-recipe", "eval-srt-recipe"):
            if name in row and row[name] is None:
                data.pop(name, None)
        result.append(data)
    return result


def _without_nulls(row: Mapping[str, Any]) -> YamlMap:
    """A row as it should read: null stands for a field that it should not have."""
    result = _like(row)
    result.update({name: value for name, value in row.items() if value is not None})
    return result


def continued(old: Mapping[str, Any], row: Mapping[str, Any], neighbours: Sequence[Mapping[str, Any]]) -> YamlMap:
    """A row that stays: the old order and spelling where the data is the same, stated defaults kept.

    New fields go where the neighbours have them, else behind the field they follow in the spec.
    """
    result = _like(old)
    for name, value in old.items():
        if name not in row:
            if (name in ROW_DEFAULTS and value == ROW_DEFAULTS[name]) or name in (
                "srt-recipe",
                "eval-srt-recipe",
            ):
                result[name] = value
        elif name in WORKER_BLOCKS and isinstance(value, Mapping) and isinstance(row[name], Mapping):
            result[name] = continued(value, row[name], ())
        else:
            result[name] = value if value == row[name] else deepcopy(row[name])
    names = list(row)
    for index, name in enumerate(names):
        if name not in result:
            result = _placed(result, name, deepcopy(row[name]), names[:index], neighbours)
    return result


def _placed(
    data: Mapping[str, Any],
    name: str,
    value: Any,
    before: Sequence[str],
    neighbours: Sequence[Mapping[str, Any]],
) -> YamlMap:
    order = next((_both_forms(one) for one in neighbours if name in one), None)
    if order is None and name in CONCURRENCIES:
        order = next((_both_forms(one) for one in neighbours), None)
    if order is not None and name in order:
        return _inserted(data, name, value, [*order[: order.index(name)], name])
    known = [key for key in before if key in data]
    last = known[-1] if known else None
    result = _like(data)
    if last is None:
        result[name] = value
    for key, old in data.items():
        result[key] = old
        if key == last:
            result[name] = value
    return result


def _both_forms(row: Mapping[str, Any]) -> list[str]:
    """The row's fields in order, with list and range of its concurrencies in the place of the one it has."""
    order = [name for name in row if name not in CONCURRENCIES]
    place = next((index for index, name in enumerate(row) if name in CONCURRENCIES), None)
    return order if place is None else [*order[:place], *CONCURRENCIES, *order[place:]]


def _add_recipe(
    wanted: WantedEntry, data: YamlMap, old: Any, neighbours: Sequence[Mapping[str, Any]], path: Path
) -> None:
    """`srt-recipe` may be left out of a row: it is taken from the rows that have it."""
    if "srt-recipe" in data or any(name in data for name in WORKER_BLOCKS):
        return
    named = Counter(str(one["srt-recipe"]) for one in neighbours if "srt-recipe" in one)
    if not named:
        return
    files = list(named)
    if len(files) > 1 and old is None:
        hint = f"the other rows name {', '.join(files)}"
        wanted.mistakes.append(Mistake(path, "the new row needs srt-recipe", hint))
        return
    value = next(one["srt-recipe"] for one in neighbours if "srt-recipe" in one)
    placed = _placed(data, "srt-recipe", value, list(data), neighbours)
    data.clear()
    data.update(placed)


def required_fields_missing(data: Mapping[str, Any]) -> list[str]:
    """The required top-level fields an entry lacks."""
    return [name for name in REQUIRED_FIELDS if name not in data]
