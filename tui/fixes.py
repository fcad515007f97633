"""A finding's fix, laid over the spec that is being written."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ..schema.results import SPEC_PATCH, Fix

ADDED = ("notes", "omit", "points", "recipes")


def fixed(data: Mapping[str, Any], fix: Fix) -> dict[str, Any] | None:
    """The spec with a fix laid over it, None for a fix that is not about a spec."""
    patch = fix.arguments.get("patch", fix.arguments)
    if fix.action != SPEC_PATCH or not isinstance(patch, Mapping):
        return None
    return _patched(deepcopy(dict(data)), patch)


def _patched(data: dict[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The patch laid over: a null is a value (it drops a comment, removes a field), notes and files are added."""
    for name, value in patch.items():
        old = data.get(name)
        if name == "changes" and isinstance(value, list):
            data[name] = _joined(old if isinstance(old, list) else [], value)
        elif name == "changelog" and isinstance(value, list):
            data[name] = _entries(old, value)
        elif isinstance(value, Mapping):
            data[name] = _patched_one(old, value)
        elif name in ADDED and isinstance(value, list) and isinstance(old, list):
            data[name] = [*old, *(one for one in value if one not in old)]
        else:
            data[name] = deepcopy(value)
    return data


def _patched_one(old: Any, patch: Mapping[str, Any]) -> Any:
    """A mapping laid over what is there; where that is a list of one item, over that one."""
    if isinstance(old, list) and old:
        at = next(
            (at for at, one in enumerate(old) if isinstance(one, Mapping) and one.get("item") == patch.get("item")), 0
        )
        return [_patched(dict(one), patch) if index == at else one for index, one in enumerate(old)]
    return _patched(dict(old) if isinstance(old, Mapping) else {}, patch)


def _entries(old: Any, new: list[Any]) -> list[Any]:
    """Changelog entries laid over those there are, one by one; the rest is added."""
    result = [dict(one) for one in (old if isinstance(old, list) else [old]) if isinstance(one, Mapping)]
    for at, entry in enumerate(new):
        if at < len(result):
            result[at] = _patched(result[at], entry)
        else:
            result.append(deepcopy(entry))
    return result


def _joined(old: list[Any], new: list[Any]) -> list[Any]:
    result = [deepcopy(one) for one in old]
    for change in new:
        key = change.get("config-key") if isinstance(change, Mapping) else None
        at = next(
            (at for at, one in enumerate(result) if isinstance(one, Mapping) and one.get("config-key") == key), None
        )
        if at is None:
            result.append(deepcopy(change))
        else:
            result[at] = _patched(dict(result[at]), change)
    return result
