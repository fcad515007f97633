"""The values a checkout already uses, to choose from: found by looking at lines, nothing is parsed for it."""

from __future__ import annotations

import re

from ..checkout.snapshot import Snapshot
from ..schema.errors import BenchscribeError


def values_in_use(snapshot: Snapshot, field: str) -> list[str]:
    """Every value of a top-level field in the masters, the most used first."""
    pattern = re.compile(rf"^ +{re.escape(field)}: *(?P<value>[^\s#\"'][^\n#]*?)[ \t]*(?:#.*)?$", re.MULTILINE)
    counts: dict[str, int] = {}
    for file in snapshot.layout.masters:
        for match in pattern.finditer(snapshot.master_text(file)):
            counts[match["value"]] = counts.get(match["value"], 0) + 1
    found = sorted(counts, key=lambda value: -counts[value])
    return sorted(found, reverse=True) if field == "image" else found


def runner_labels(snapshot: Snapshot) -> list[str]:
    """Runner labels: those keys use, then the others the runners file knows."""
    used = values_in_use(snapshot, "runner")
    try:
        known = list(snapshot.runners.labels)
    except (BenchscribeError, AttributeError):
        known = []
    return list(dict.fromkeys([*used, *known]))


def backends_in_use(snapshot: Snapshot) -> list[str]:
    """KV offload backends as `name version`."""
    pattern = re.compile(
        r"kv-offload-backend: *\{ *name: *(?P<name>[\w.-]+)(?:, *version: *[\"']?(?P<version>[^\"'}\s]+))?"
    )
    found: dict[str, None] = {}
    for file in snapshot.layout.masters:
        for match in pattern.finditer(snapshot.master_text(file)):
            found[f"{match['name']} {match['version']}" if match["version"] else match["name"]] = None
    return list(found)
