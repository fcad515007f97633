"""Names of places in entries and recipes, as a spec's `comments` gives them, turned into paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..schema.strict import near
from ..schema.yaml_text import Path
from .entries import WantedEntry

_ROW = re.compile(r"rows\[(\d+)\]")
_INDEX = re.compile(r"(.*?)((?:\[\d+\])*)")
ITEM_FIELDS = ("dram-utilization", "search-space", "isl", "osl", "require-power")


class UnknownPlace(ValueError):
    """The name means no place; the text says what is allowed."""


def entry_place(wanted: WantedEntry, name: str) -> Path:
    """The path, from the entry's key, that `key`, `image`, `dram-utilization`, `rows[1]` or a dotted path names."""
    data = wanted.data
    if name == "key":
        return (wanted.key,)
    if name in data:
        return (wanted.key, name)
    if match := _ROW.fullmatch(name):
        path = (*_item(wanted), "search-space", int(match[1]))
        if not _has(data, path):
            raise UnknownPlace(f"there is no row {match[1]}; rows count from 0")
        return (wanted.key, *path)
    if name in ITEM_FIELDS:
        path = (*_item(wanted), name)
        if not _has(data, path):
            raise UnknownPlace(f"the item has no {name}")
        return (wanted.key, *path)
    found = dotted(data, name)
    if found is None:
        raise UnknownPlace(f"no such place; {near(name, ('key', *data, *ITEM_FIELDS, 'rows[0]'))}")
    return (wanted.key, *found)


def _item(wanted: WantedEntry) -> Path:
    """The item a spec's change is about: the one it names, or the only one there is."""
    named = [("scenarios", scenario, index) for scenario, index in wanted.items.items()]
    every = [
        ("scenarios", scenario, index)
        for scenario, items in wanted.data.get("scenarios", {}).items()
        for index in range(len(items))
    ]
    found = named if len(named) == 1 else every
    if len(found) != 1:
        listed = ", ".join(f"scenarios.{scenario}[{index}]" for _, scenario, index in every)
        raise UnknownPlace(f"there are several items; write the whole path, as one of {listed}")
    return found[0]


def recipe_place(data: Mapping[str, Any], name: str) -> Path:
    """The path that `file`, `override_tp4_c2` or `base.roles.agg.args.block-size` names in a recipe."""
    if name == "file":
        return ()
    path = dotted(data, name)
    if path is None:
        raise UnknownPlace(f"no such place; {near(name.split('.')[0], ('file', *(str(key) for key in data)))}")
    return path


def dotted(data: Any, name: str) -> Path | None:
    """A dotted path resolved against data, so that keys may themselves hold dots; None where it leads nowhere."""
    if not name:
        return ()
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        head, rest = ".".join(parts[:length]), ".".join(parts[length:])
        match = _INDEX.fullmatch(head)
        steps: Path = (head,)
        if match and match[2]:
            steps = (match[1], *(int(number) for number in re.findall(r"\d+", match[2])))
        if _has(data, steps):
            below = data
            for step in steps:
                below = below[step]
            found = dotted(below, rest)
            if found is not None:
                return (*steps, *found)
    return None


def _has(data: Any, path: Path) -> bool:
    for step in path:
        if isinstance(step, int):
            if not isinstance(data, list) or step >= len(data):
                return False
        elif not isinstance(data, Mapping) or step not in data:
            return False
        data = data[step]
    return True
