"""YAML data as a plan sees it, so that two readings can be held against each other."""

from __future__ import annotations

from typing import Any

from benchscribe.schema.yaml_text import YamlList, YamlMap


def told(value: Any) -> Any:
    """Data with all that is kept of how it was written: types, spellings, styles, order."""
    if isinstance(value, (YamlMap, YamlList)):
        inner = list(value.items()) if isinstance(value, YamlMap) else list(enumerate(value))
        return type(value), value.flow, [(told(name), told(item)) for name, item in inner]
    return type(value), value, getattr(value, "spelling", None)
