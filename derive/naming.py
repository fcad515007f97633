"""What a config key's name says, the name an entry's fields give, and a new key's relatives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..schema.engines import DISAGGREGATED, ORCHESTRATORS, engine_of
from ..schema.master import Entry
from ..schema.results import Derived, Input

_PRECISION = re.compile(r"(?:[a-z]*fp|bf|int|w)\d+(?:[a-z]\d+)?")
_AGENTIC = ("agentic", "agentx")
_AMD = re.compile(r"mi\d")


@dataclass(frozen=True, slots=True)
class KeyParts:
    """A config key taken apart: `glm5.2` `fp4` `mi355x` `atom` and the words behind, `agentic` `mtp`."""

    model_prefix: str
    precision: str
    sku: str
    framework: str
    tail: tuple[str, ...] = ()

    @property
    def agentic(self) -> bool:
        return any(word in _AGENTIC for word in self.tail)

    @property
    def speculative(self) -> bool:
        return any(re.fullmatch(r"mtp\d*|eagle\d*|dspark", word) for word in self.tail)

    def __str__(self) -> str:
        return "-".join([self.model_prefix, self.precision, self.sku, self.framework, *self.tail])


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A field that the key's name and the entry state differently."""

    field: str
    in_key: str
    in_entry: str


@dataclass(frozen=True, slots=True)
class Sibling:
    """An existing entry that a new key could start from, and what the two share."""

    entry: Entry
    reason: str

    @property
    def key(self) -> str:
        return self.entry.key


def read_key(key: str) -> KeyParts | None:
    """Take a key apart, None where it does not follow `<model>-<precision>-<sku>-<framework>…`."""
    words = key.split("-")
    at = next((index for index, word in enumerate(words) if index and _PRECISION.fullmatch(word)), 0)
    if not at or len(words) < at + 3:
        return None
    end = at + 3
    if words[at + 2] in ORCHESTRATORS and end < len(words):
        end += 1
    if end < len(words) and words[end] == DISAGGREGATED:
        end += 1
    return KeyParts("-".join(words[:at]), words[at], words[at + 1], "-".join(words[at + 2 : end]), tuple(words[end:]))


def sku_of(runner: str) -> str:
    """The SKU a runner label stands for: `mi355x` of `cluster:mi355x-amds` and of `mi355x-disagg`."""
    return runner.removeprefix("cluster:").partition("-")[0]


def _framework(name: str) -> str:
    """A framework with the engine under one name: `trtllm` and `trt` are the same."""
    engine = engine_of(name)
    if engine is None:
        return name
    return "-".join(engine.name if engine_of(word) is engine else word for word in name.split("-"))


def key_mismatches(entry: Entry) -> tuple[Mismatch, ...]:
    """The fields that an entry's key states otherwise than the entry; empty for a key of another pattern."""
    parts = read_key(entry.key)
    if parts is None:
        return ()
    pairs = [
        Mismatch("model-prefix", parts.model_prefix, entry.model_prefix),
        Mismatch("precision", parts.precision, entry.precision),
        Mismatch("runner", parts.sku, sku_of(entry.runner)),
    ]
    if _framework(parts.framework) != _framework(entry.framework):
        pairs.append(Mismatch("framework", parts.framework, entry.framework))
    return tuple(pair for pair in pairs if pair.in_key != pair.in_entry)


def derived_key(entry: Entry, like: str = "") -> Derived[str]:
    """The name that an entry's fields give; with `like`, that key's words behind the framework are kept."""
    model = KeyParts(entry.model_prefix, entry.precision, sku_of(entry.runner), entry.framework)
    sibling = read_key(like) if like else None
    tail = sibling.tail if sibling else _tail(entry)
    key = "-".join([str(model), *tail])
    named = ("model-prefix", "precision", "runner", "framework")
    inputs = tuple(Input(field, entry.text(field)) for field in named)
    source = f"the words behind as in {like}" if sibling else "then scenario and speculation"
    return Derived("config-key", key, f"model prefix, precision, SKU and framework, {source}", inputs)


def _tail(entry: Entry) -> tuple[str, ...]:
    """`agentic` where nothing else runs, how a multi-node one is deployed, and the method all rows share."""
    words = []
    agentic = set(entry.scenarios) == {"agentic-coding"}
    if agentic:
        words.append("agentic")
    if agentic and entry.multinode:
        words.append("disagg" if entry.disaggregated else "agg")
    methods = {row.spec_decoding for _, row in entry.rows()}
    if len(methods) == 1 and methods != {"none"}:
        words.append("dspark" if methods == {"draft_model"} else "mtp")
    return tuple(word for word in words if word not in entry.framework.split("-"))


def siblings(key: str, entries: Iterable[Entry]) -> tuple[Sibling, ...]:
    """The keys that a new one could start from, nearest first.

    Same scenario before another; then the same model on another SKU, the same model and SKU under another
    framework, another model on the same SKU and framework. Empty for a key that does not follow the pattern.
    """
    wanted = read_key(key)
    if wanted is None:
        return ()
    found = []
    for place, entry in enumerate(entries):
        parts = read_key(entry.key)
        if parts is None or entry.key == key:
            continue
        kind = _kinship(wanted, parts)
        if kind is not None:
            found.append((_distance(wanted, parts, kind), place, Sibling(entry, _shared(wanted, parts))))
    return tuple(sibling for _, _, sibling in sorted(found, key=lambda item: item[:2]))


def _kinship(wanted: KeyParts, other: KeyParts) -> int | None:
    """How near a relative is, 0 the nearest; None for no relative."""
    model, sku = wanted.model_prefix == other.model_prefix, wanted.sku == other.sku
    framework = _framework(wanted.framework) == _framework(other.framework)
    kinds = [model and sku and framework, model and framework, model and sku, sku and framework, model]
    return next((rank for rank, holds in enumerate(kinds) if holds), None)


def _distance(wanted: KeyParts, other: KeyParts, kind: int) -> tuple[int, ...]:
    return (
        int(wanted.agentic != other.agentic),
        kind,
        int(wanted.precision != other.precision),
        int(bool(_AMD.match(wanted.sku)) != bool(_AMD.match(other.sku))),
        int(wanted.speculative != other.speculative),
        len(set(wanted.tail) ^ set(other.tail)),
    )


def _shared(wanted: KeyParts, other: KeyParts) -> str:
    """What two keys share and what not: `same model, precision and scenario; SKU mi325x`."""
    same_framework = _framework(wanted.framework) == _framework(other.framework)
    pairs: Sequence[tuple[str, bool, str]] = (
        ("model", wanted.model_prefix == other.model_prefix, other.model_prefix),
        ("precision", wanted.precision == other.precision, other.precision),
        ("SKU", wanted.sku == other.sku, other.sku),
        ("framework", same_framework, other.framework),
        ("scenario", wanted.agentic == other.agentic, "agentic" if other.agentic else "fixed-sequence"),
    )
    same = [name for name, holds, _ in pairs if holds]
    different = [f"{name} {theirs}" for name, holds, theirs in pairs if not holds]
    words = ", ".join(same[:-1]) + (" and " if same[:-1] else "") + same[-1] if same else "nothing"
    return f"same {words}" + (f"; {', '.join(different)}" if different else "")
