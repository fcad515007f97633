"""What a bash recipe sets at one point, as settings that compare like a YAML recipe's (source: FACTS §6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..schema.errors import StateError
from ..schema.master import Entry, Item, Point
from .settings import ARGS, ENV, VARIABLE, Setting, flattened, setting

if TYPE_CHECKING:
    from ..checkout.bash_facts import Fact, Facts
    from ..checkout.bash_recipe import Script

# Stand for every argument, and for every setting, of a script that does not say which server it starts with what.
EVERY_ARGUMENT = Setting(ARGS, "", "*", "*")
EVERYTHING = Setting("*", "", "*", "*")


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
    """The settings a throughput run of the script makes at a point, and those it makes to a value not known.

    Flags of the server command lose their dashes, one without a value is True; a JSON value is opened as in YAML.
    """
    try:
        facts = script.per_concurrency(point.concurrency, environment=environment_of(entry, item, point))
    except StateError:
        return {}, frozenset({EVERYTHING})
    known: dict[Setting, Any] = {}
    unknown: set[Setting] = set() if facts.server is not None else {EVERY_ARGUMENT}
    for scope, name, value in _stated(facts):
        if value is None:
            unknown.add(_named(scope, name))
        else:
            known |= {_named(scope, path): leaf for path, leaf in flattened(value, name)}
    return known, frozenset(unknown)


def without_unknown(settings: Mapping[Setting, Any], unknown: frozenset[Setting]) -> dict[Setting, Any]:
    """The settings that are known on both sides; with an unknown JSON value all that stands in it is unknown."""
    if EVERYTHING in unknown:
        return {}
    heads = {(name.scope, name.role, name.canonical_name) for name in unknown}
    return {
        name: value
        for name, value in settings.items()
        if (name.scope, name.role, name.canonical_name.partition(".")[0]) not in heads
        and name not in unknown
        and not (name.scope == ARGS and EVERY_ARGUMENT in unknown)
    }


def _stated(facts: Facts) -> Iterator[tuple[str, str, str | bool | None]]:
    """Scope, name and value of every fact; what the server runs with first, the script's own variables last."""
    if facts.server is not None:
        for fact in facts.server.flags.values():
            # A bare flag is switched on.
            yield ARGS, fact.name, True if fact.value == "" else fact.value
        yield from ((ENV, fact.name, fact.value) for fact in facts.server.env)
    yield from ((ENV, name, fact.value) for name, fact in facts.exports.items())
    for name, fact in facts.variables.items():
        if name.isupper() and name not in facts.exports and not _carries_flags(facts, fact):
            yield VARIABLE, name, fact.value


def _carries_flags(facts: Facts, fact: Fact) -> bool:
    """Whether the variable only holds flags, which the server command shows one by one."""
    return facts.server is not None and fact.value is not None and fact.value.lstrip().startswith("-")


def _named(scope: str, name: str) -> Setting:
    return setting(scope, name.lstrip("-") if scope == ARGS else name)
