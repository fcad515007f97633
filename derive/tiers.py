"""KV offload tiers in host DRAM: what a recipe's arguments and environment reserve (source: FACTS §4)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from ..schema.arguments import canonical, exact, leaves
from ..schema.engines import Engine, OffloadKnob, Scope, not_offered
from ..schema.errors import UsageError
from ..schema.units import BYTES_PER, Size, parse_size

BUDGET_VARIABLE = "TOTAL_CPU_DRAM_GB"
_SERVER_FLAG = re.compile(r"--l1[-_]size[-_]gb[= ]+[\"']?([^\s\"']+)")


class Exactness(StrEnum):
    """What a knob's value says about the memory that is really taken."""

    EXACT = "exact"
    LOWER_BOUND = "lower bound"
    FROM_BUDGET = "from the budget"
    UNSIZED = "not sized"


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier of one engine. `size` counts per rank or per server, as `scope` says; None is not known.

    `source` is where it was read (path:line), `note` what a reader must know.
    """

    knob: str
    scope: Scope
    exactness: Exactness
    size: Size | None = None
    note: str = ""
    source: str = ""

    def count(self, ranks: int) -> int:
        """How many such parts stand on a node with `ranks` ranks of the replica; one server per node."""
        return ranks if self.scope is Scope.RANK else 1

    def total(self, ranks: int) -> Size | None:
        """What the tier takes on the node, None where its size is not known."""
        return None if self.size is None else self.size.times(self.count(ranks))

    def words(self, ranks: int) -> str:
        """`4 × 256 GiB` per rank, `1000 GB` per server, the knob's name where there is no size."""
        if self.size is None:
            return f"{self.knob} ({self.note or self.exactness})"
        return f"{ranks} × {readable(self.size)}" if self.scope is Scope.RANK else readable(self.size)


def readable(size: Size) -> str:
    """A size as people write it: bytes as GiB where they are whole ones, else as GB."""
    if size.unit != "bytes" or size.bytes < BYTES_PER["MB"]:
        return str(size)
    unit = "GB" if size.bytes % BYTES_PER["GiB"] else "GiB"
    return str(Size(size.in_unit(unit), unit))


@dataclass(frozen=True, slots=True)
class TierKnob:
    """One spelling of one tier. Of a `family` the first that is set counts: they are the same memory."""

    family: str
    name: str
    scope: Scope
    unit: str
    exactness: Exactness = Exactness.EXACT
    note: str = ""


_POOLS = "per host pool; a model has one or more"
TIER_KNOBS = (
    TierKnob("lmcache", "lmcache.max_local_cpu_size", Scope.RANK, "GiB"),
    TierKnob("lmcache", "LMCACHE_MAX_LOCAL_CPU_SIZE", Scope.RANK, "GiB"),
    TierKnob("lmcache", "max_local_cpu_size", Scope.RANK, "GiB"),
    TierKnob("lmcache server", "l1-size-gb", Scope.SERVER, "GB"),
    TierKnob("lmcache server", "LMCACHE_MP_L1_SIZE_GB", Scope.SERVER, "GB"),
    TierKnob("lmcache server", "LMCACHE_L1_SIZE_GB", Scope.SERVER, "GB"),
    TierKnob("tensorrt-llm", "host_cache_size", Scope.RANK, "bytes"),
    TierKnob("mooncake", "global_segment_size", Scope.RANK, "as written"),
    TierKnob("mooncake", "MOONCAKE_GLOBAL_SEGMENT_SIZE", Scope.RANK, "as written"),
    # Where a recipe states both, vLLM gives each rank the figure per rank.
    TierKnob("vllm", "cpu_bytes_to_use_per_rank", Scope.RANK, "bytes"),
    TierKnob("vllm", "cpu_bytes_to_use", Scope.SERVER, "bytes"),
    TierKnob("hicache", "hicache-size", Scope.RANK, "GB", Exactness.LOWER_BOUND, _POOLS),
    TierKnob("hicache", "hicache-ratio", Scope.RANK, "", Exactness.UNSIZED, "relative to the GPU's KV pool"),
)


def read_tiers(*settings: Mapping[str, Any], source: str = "") -> tuple[Tier, ...]:
    """The tiers that a variant's arguments, environment and other blocks reserve, one per family.

    Values may be nested, or JSON inside a string. A knob at 0 is off. Different families add up.
    """
    found: dict[str, list[Any]] = {}
    for name, value in _named_values(settings):
        found.setdefault(name, []).append(value)
    tiers: dict[str, Tier] = {}
    for knob in TIER_KNOBS:
        read = [_tier(knob, value, source) for value in found.get(canonical(knob.name), ())]
        candidates = [tier for tier in read if tier is not None]
        if candidates and knob.family not in tiers:
            tiers[knob.family] = max(candidates, key=lambda tier: tier.size.bytes if tier.size else math.inf)
    return tuple(tiers.values())


def _named_values(settings: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for block in settings:
        for path, value in leaves(block):
            names = [part for part in path if isinstance(part, str)]
            if names:
                yield canonical(names[-1]).removeprefix("--"), value
            if isinstance(value, str):
                for flag in _SERVER_FLAG.finditer(value):
                    yield "l1-size-gb", flag[1]


def _tier(knob: TierKnob, value: Any, source: str) -> Tier | None:
    if isinstance(value, str) and BUDGET_VARIABLE in value:
        return Tier(knob.name, knob.scope, Exactness.FROM_BUDGET, None, f"computed from {BUDGET_VARIABLE}", source)
    if knob.exactness is Exactness.UNSIZED:
        return Tier(f"{knob.name} {_shown(value)}", knob.scope, knob.exactness, None, knob.note, source)
    size = _size(value, knob.unit)
    if size is None:
        note = f"{_shown(value)!r} is not a size"
        return Tier(knob.name, knob.scope, Exactness.UNSIZED, None, note, source)
    return Tier(knob.name, knob.scope, knob.exactness, size, knob.note, source) if size.amount else None


def _shown(value: Any) -> str:
    return str(value)[:60]


def _size(value: Any, unit: str) -> Size | None:
    amount = exact(value)
    if amount is not None:
        return Size(amount, "bytes" if unit == "as written" else unit) if amount >= 0 else None
    if unit == "as written" and isinstance(value, str):
        try:
            return parse_size(value)
        except ValueError:
            return None
    return None


def offload_knob(engine: Engine, backend: str, scope: Scope, present: Iterable[str] = ()) -> OffloadKnob:
    """The knob that takes a tier's size, one that the recipe already has first. UsageError without one."""
    asked = "offload per-rank" if scope is Scope.RANK else "offload per-server"
    offered = [knob for knob in engine.offload if knob.scope is scope]
    if not offered:
        raise not_offered(engine, asked)
    fitting = [knob for knob in offered if knob.backend in ("", backend)]
    if not fitting:
        backends = " or ".join(knob.backend for knob in offered)
        raise not_offered(engine, asked, f"it needs the backend {backends}, the row has {backend or 'none'}")
    names = {canonical(name) for name in present}
    return next((knob for knob in fitting if canonical(knob.knob.name) in names), fitting[0])


def written_size(knob: OffloadKnob, size: Size) -> Size:
    """The size the knob will hold: in its unit, rounded up to a whole one.

    A fraction given in that very unit stays (179.5 GiB), except for SGLang, which takes whole GB only.
    """
    amount = size.in_unit(knob.unit)
    keeps = size.unit == knob.unit and not knob.lower_bound and (amount * 1000).denominator == 1
    return Size(amount if keeps else Fraction(math.ceil(amount)), knob.unit)


def offload_tier(
    engine: Engine,
    backend: str,
    *,
    per_rank: Size | None = None,
    per_server: Size | None = None,
    source: str = "",
) -> Tier:
    """The tier that a spec's `offload:` asks for, as large as the engine's knob will make it.

    Raises UsageError where the engine has no knob for it.
    """
    size, scope = asked_size(per_rank, per_server)
    knob = offload_knob(engine, backend, scope)
    exactness = Exactness.LOWER_BOUND if knob.lower_bound else Exactness.EXACT
    note = _POOLS if knob.lower_bound else ""
    return Tier(str(knob.knob), scope, exactness, written_size(knob, size), note, source)


def asked_size(per_rank: Size | None, per_server: Size | None) -> tuple[Size, Scope]:
    """The one size of an `offload:` with its scope; UsageError for none or both."""
    if per_rank is not None and per_server is None:
        return per_rank, Scope.RANK
    if per_server is not None and per_rank is None:
        return per_server, Scope.SERVER
    raise UsageError("offload has exactly one size", hint="write per-rank: 256 GiB, or per-server: 1000 GB")
