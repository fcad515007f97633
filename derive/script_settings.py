"""What a bash recipe sets at one point, as settings that compare like a YAML recipe's (source: FACTS §6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..schema.errors import StateError
from ..schema.master import Entry, Item, Point
from .settings import ARGS, ENV, VARIABLE, Setting, setting

if TYPE_CHECKING:
    from ..checkout.bash_recipe import Script


def environment_of(entry: Entry, item: Item, point: Point) -> dict[str, str]:
    """What the harness hands over to a single-node script at a point."""
    topology = point.row.topology
    given = {
        "MODEL": entry.model,
        "IMAGE": entry.image,
        "FRAMEWORK": entry.framework,
        "PRECISION": entry.precision,
        "MODEL_PREFIX": entry.model_prefix,
        "TP": str(topology.tp),
        "EP_SIZE": str(topology.ep),
        "DP_ATTENTION": str(topology.dp_attn).lower(),
        "SPEC_DECODING": point.row.spec_decoding,
        "KV_OFFLOADING": point.row.kv_offloading,
        "KV_OFFLOAD_BACKEND": point.row.backend,
    }
    if item.lengths is not None:
        given["ISL"], given["OSL"] = (str(length) for length in item.lengths)
    return given


def script_settings(
    script: Script, entry: Entry, item: Item, point: Point
) -> tuple[dict[Setting, Any], frozenset[Setting]]:
    """The settings a throughput run of the script makes at a point, and those it makes to a value not known."""
    try:
        facts = script.per_concurrency(point.concurrency, environment=environment_of(entry, item, point))
    except StateError:
        return {}, frozenset()
    known: dict[Setting, Any] = {}
    unknown: set[Setting] = set()
    flags: Mapping[str, Any] = facts.server.flags if facts.server is not None else {}
    sources = (
        (ARGS, {name.lstrip("-"): fact for name, fact in flags.items()}),
        (ENV, facts.exports),
        (VARIABLE, {name: fact for name, fact in facts.variables.items() if name not in facts.exports}),
    )
    for scope, found in sources:
        for name, fact in found.items():
            if fact.value is None:
                unknown.add(setting(scope, name))
            elif scope != VARIABLE or name.isupper():
                known[setting(scope, name)] = fact.value
    return known, frozenset(unknown)
