"""One config key of the spec as a form: what its fields read now, and how an answer goes into the spec.

Only what differs from the checkout is kept in the spec, so that setting a field back takes it out again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ..checkout.checkout import Checkout
from ..derive.naming import derived_key
from ..schema.errors import BenchscribeError
from ..schema.master import Entry
from ..schema.yaml_text import Path, YamlMap, YamlStr, plain
from .model import SpecModel
from .rows import arm_match, ordered, read_tier, scalar, shown, tier_text

TEXT_FIELDS = ("image", "model", "model-prefix", "runner", "precision", "framework", "kv-p2p-transfer")
SWITCHES = ("multinode", "disagg")
COMMON_FIELDS = ("image", "model", "model-prefix", "runner", "precision", "framework")
MULTI_NODE_FIELDS = ("multinode", "disagg", "router", "kv-p2p-transfer")


@dataclass(frozen=True, slots=True)
class ItemPlace:
    """One item of a scenario; `label` as people tell it apart. `several`: the scenario has more than one."""

    scenario: str
    index: int
    label: str
    several: bool


class KeyForm:
    """The form of the change at `index` of the spec."""

    def __init__(self, model: SpecModel, index: int, checkout: Checkout) -> None:
        self.model = model
        self.index = index
        self.checkout = checkout

    @property
    def change(self) -> Mapping[str, Any]:
        """What the spec says of this key."""
        changes = self.model.data.get("changes") or []
        found = changes[self.index] if self.index < len(changes) else {}
        return found if isinstance(found, Mapping) else {}

    @property
    def key(self) -> str:
        return str(self.change.get("config-key", ""))

    @property
    def path(self) -> Path:
        return ("changes", self.index)

    @property
    def like(self) -> str:
        return str(self.change.get("like") or "")

    @property
    def is_new(self) -> bool:
        return "like" in self.change or "entry" in self.change

    @property
    def is_removed(self) -> bool:
        return self.change.get("remove") is True

    @property
    def start(self) -> Entry:
        """What the form starts from: the entry in the work tree, the sibling of a new key, or the spec's own entry."""
        name = self.like if self.is_new and self.like else self.key
        try:
            if (entry := self.checkout.entry(name)) is not None:
                return entry
        except BenchscribeError:
            pass
        own = self.change.get("entry")
        return Entry(self.key, own if isinstance(own, Mapping) else {})

    # Top-level fields

    def original(self, name: str) -> str:
        """How a field reads without the spec."""
        return shown(self.start.data.get(name))

    def field(self, name: str) -> str:
        """How a field reads with the spec."""
        given = self.change.get("set")
        if isinstance(given, Mapping) and name in given:
            return shown(given[name])
        return self.original(name)

    def changed(self, name: str) -> bool:
        return self.field(name) != self.original(name)

    def set_field(self, name: str, text: str) -> None:
        """An answer into the spec; the checkout's own value takes the field out of it."""
        text = text.strip()
        with self.model.editing(f"{self.index}.set.{name}") as data:
            change = data["changes"][self.index]
            given = dict(change.get("set") or {})
            given.pop(name, None)
            if text != self.original(name):
                given[name] = _field_value(name, text)
            _put(change, "set", given)

    def derived_name(self) -> str:
        """The name that the fields give a new key."""
        data = {**self.start.data, **(self.change.get("set") or {})}
        return derived_key(Entry(self.key, data), self.like).value

    def rename(self, key: str) -> None:
        """Another name for a new key."""
        with self.model.editing(f"{self.index}.config-key") as data:
            data["changes"][self.index]["config-key"] = key.strip()

    def set_removed(self, removed: bool, *, archive: bool = False) -> None:
        """Retire the key, or keep it; retiring takes everything else that was asked of it out of the spec."""
        with self.model.editing() as data:
            kept = {"config-key": self.key}
            data["changes"][self.index] = (
                {**kept, "remove": True, **({"archive": True} if archive else {})} if removed else kept
            )

    # Scenario items and rows

    def items(self) -> list[ItemPlace]:
        """Every item of every scenario the key has."""
        found = []
        for scenario, items in self.start.scenarios.items():
            for item in items:
                size = f" {item.lengths[0]}/{item.lengths[1]}" if item.lengths else ""
                number = f" · item {item.index}" if len(items) > 1 and not size else ""
                found.append(ItemPlace(scenario, item.index, f"{scenario}{size}{number}", len(items) > 1))
        return found

    def item_path(self, place: ItemPlace) -> Path:
        """Where the spec says what is wanted of an item, whether or not it says anything yet."""
        given = (self.change.get("scenarios") or {}).get(place.scenario)
        if isinstance(given, list):
            found = next((at for at, one in enumerate(given) if self._is_about(one, place)), len(given))
            return (*self.path, "scenarios", place.scenario, found)
        return (*self.path, "scenarios", place.scenario)

    def _is_about(self, given: Any, place: ItemPlace) -> bool:
        if not isinstance(given, Mapping):
            return False
        if "item" in given:
            return bool(plain(given["item"]) == place.index)
        if "isl" in given or "osl" in given:
            item = self.start.scenarios[place.scenario][place.index]
            return all(plain(given[name]) == plain(item.data.get(name)) for name in ("isl", "osl") if name in given)
        return not place.several

    def _item_change(self, place: ItemPlace) -> Mapping[str, Any]:
        given = (self.change.get("scenarios") or {}).get(place.scenario)
        every = given if isinstance(given, list) else [given]
        return next((one for one in every if isinstance(one, Mapping) and self._is_about(one, place)), {})

    def rows(self, place: ItemPlace) -> list[dict[str, Any]]:
        """The rows as they should read."""
        wanted = self._item_change(place).get("search-space")
        if isinstance(wanted, list):
            return [dict(row) if isinstance(row, Mapping) else {} for row in wanted]
        return self.original_rows(place)

    def original_rows(self, place: ItemPlace) -> list[dict[str, Any]]:
        """The rows as the checkout (or the sibling) has them."""
        items = self.start.scenarios.get(place.scenario, ())
        return [dict(row.data) for row in items[place.index].rows] if place.index < len(items) else []

    def set_rows(self, place: ItemPlace, rows: Sequence[Mapping[str, Any]], run: str = "") -> None:
        """All rows anew; rows that read as in the checkout take the search space out of the spec."""
        wanted: Any = [ordered(row) for row in rows]
        if plain(wanted) == plain([ordered(row) for row in self.original_rows(place)]):
            wanted = None
        self._set_item(place, "search-space", wanted, run)

    def utilization(self, place: ItemPlace) -> str:
        """`auto`, the number asked for, or empty where the spec leaves it."""
        return shown(self._item_change(place).get("dram-utilization"))

    def original_utilization(self, place: ItemPlace) -> str:
        items = self.start.scenarios.get(place.scenario, ())
        return shown(items[place.index].data.get("dram-utilization")) if place.index < len(items) else ""

    def set_utilization(self, place: ItemPlace, text: str) -> None:
        text = text.strip()
        value = None if text in ("", self.original_utilization(place)) else scalar(text)
        self._set_item(place, "dram-utilization", value, f"{self.index}.{place}.utilization")

    def _set_item(self, place: ItemPlace, name: str, value: Any, run: str) -> None:
        with self.model.editing(run) as data:
            change = data["changes"][self.index]
            scenarios = dict(change.get("scenarios") or {})
            given = scenarios.get(place.scenario)
            every = [dict(one) for one in (given if isinstance(given, list) else [given]) if isinstance(one, Mapping)]
            one = next((one for one in every if self._is_about(one, place)), None)
            if one is None:
                one = {"item": place.index} if place.several else {}
                every.append(one)
            _put(one, name, value)
            every = [one for one in every if set(one) - {"item", "isl", "osl"}]
            scenarios.pop(place.scenario, None)
            if every:
                scenarios[place.scenario] = every[0] if len(every) == 1 else every
            _put(change, "scenarios", scenarios)

    # The recipe

    @property
    def recipe(self) -> Mapping[str, Any]:
        given = self.change.get("recipe")
        return given if isinstance(given, Mapping) else {}

    def rules(self) -> list[dict[str, Any]]:
        """The rules over points, from top to bottom."""
        given = self.recipe.get("points")
        return [dict(rule) for rule in given if isinstance(rule, Mapping)] if isinstance(given, list) else []

    def set_rules(self, rules: Sequence[Mapping[str, Any]], run: str = "") -> None:
        self._set_recipe("points", [dict(rule) for rule in rules], run)

    def base(self) -> dict[str, Any]:
        """The patch of the recipe's base."""
        given = self.recipe.get("base")
        return deepcopy(dict(given)) if isinstance(given, Mapping) else {}

    def set_base(self, patch: Mapping[str, Any], run: str = "") -> None:
        self._set_recipe("base", dict(patch), run)

    def _set_recipe(self, name: str, value: Any, run: str) -> None:
        with self.model.editing(run) as data:
            change = data["changes"][self.index]
            recipe = dict(change.get("recipe") or {})
            _put(recipe, name, value)
            _put(change, "recipe", recipe)

    def tier(self, row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
        """The offload tier that a rule for this row's arm asks for, as `256 GiB per rank`; empty without one."""
        rule = next((rule for rule in self.rules() if _is_about_arm(rule, row, rows) and rule.get("offload")), None)
        return tier_text(rule["offload"]) if rule is not None else ""

    def set_tier(self, row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], text: str, run: str) -> None:
        """The tier of a row's arm, in the rule about exactly that arm; a new rule where there is none."""
        rules = self.rules()
        rule = next((rule for rule in rules if _is_about_arm(rule, row, rows)), None)
        offload = read_tier(text)
        if rule is None:
            if not offload:
                return
            rule = {"match": arm_match(row, rows)}
            rules.append(rule)
        rule.pop("offload", None)
        if offload:
            rule["offload"] = offload
        self.set_rules([rule for rule in rules if set(rule) - {"match"}], run)

    # Comments

    def comments(self, *, of_recipe: bool) -> Mapping[str, Any]:
        """What the spec says of comment blocks: a text, or None for one that is dropped."""
        given = (self.recipe if of_recipe else self.change).get("comments")
        return given if isinstance(given, Mapping) else {}

    def set_comment(self, name: str, text: str | None, *, of_recipe: bool, keep: bool = False, run: str = "") -> None:
        """Replace (text), drop (None) or leave alone (`keep`) the comment block above a place."""
        with self.model.editing(run) as data:
            change = data["changes"][self.index]
            holder = dict(change.get("recipe") or {}) if of_recipe else change
            comments = dict(holder.get("comments") or {})
            comments.pop(name, None)
            if not keep:
                comments[name] = text
            _put(holder, "comments", comments)
            if of_recipe:
                _put(change, "recipe", holder)


def _is_about_arm(rule: Mapping[str, Any], row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> bool:
    return bool(plain(rule.get("match")) == plain(arm_match(row, rows)))


ORDER = (
    "config-key", "like", "entry", "after", "remove", "archive", "set", "scenarios",
    "item", "isl", "osl", "dram-utilization", "dram-step", "search-space",
    "file", "comments", "base", "points", "recipe", "recipes",
)  # fmt: skip


def _put(holder: dict[str, Any], name: str, value: Any) -> None:
    """Set a field, or take it out where there is nothing to say; fields stand in the order people read them."""
    changed = {key: old for key, old in holder.items() if key != name}
    if value:
        changed[name] = value
    holder.clear()
    holder.update({key: changed[key] for key in (*ORDER, *changed) if key in changed})


def _field_value(name: str, text: str) -> Any:
    if name in SWITCHES and text in ("true", "false"):
        return text == "true"
    if name == "router" and text:
        head, _, version = text.partition(" ")
        quoted = YamlStr(version.strip())
        quoted.spelling = json.dumps(version.strip(), ensure_ascii=False)
        return YamlMap({"name": head, "version": quoted})
    return text if text or name in COMMON_FIELDS else None


def set_all_images(model: SpecModel, checkout: Checkout, image: str) -> None:
    """One image for every key of the spec that stays."""
    with model.editing("image-for-all") as data:
        for at, change in enumerate(data["changes"]):
            if change.get("remove"):
                continue
            given = {name: value for name, value in (change.get("set") or {}).items() if name != "image"}
            if image.strip() != KeyForm(model, at, checkout).original("image"):
                given = {"image": image.strip(), **given}
            _put(change, "set", given)
