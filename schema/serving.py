"""What a recipe variant serves, and whether that is a given point (FACTS §6, "exactly one variant")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .arguments import argument, opened, whole
from .engines import engine_of
from .master import Point, Topology
from .recipe import Recipe, Variant

# The names under which engines take one and the same thing; `-` and `_` are equal.
_TP = ("tensor-parallel-size", "tp-size", "tp")
_PP = ("pipeline-parallel-size", "pp-size")
_DP = ("data-parallel-size", "dp-size")
_EP = ("expert-parallel-size", "ep-size", "moe-expert-parallel-size")
_DCP = ("decode-context-parallel-size", "dcp-size")
_PCP = ("prefill-context-parallel-size", "pcp-size")
_DP_ATTENTION = ("enable-dp-attention", "enable-attention-dp")
_EXPERT_PARALLEL = "enable-expert-parallel"
_ALL_TO_ALL = "moe-a2a-backend"


@dataclass(frozen=True, slots=True)
class Serving:
    """How one server replica runs by its engine arguments; None: not said, or the engine is unknown."""

    gpus: int | None
    tp: int | None
    pp: int
    dcp: int
    pcp: int
    ep: int | None
    dp_attn: bool | None
    speculative: bool | None


@lru_cache(maxsize=1024)
def serving_of(variant: Variant, role: str = "") -> Serving:
    """What one role of a variant serves; without a role the only one there is."""
    roles = variant.roles
    found = roles.get(role) if role else variant.role
    if found is None:
        return Serving(None, None, 1, 1, 1, None, None, None)
    args = found.args
    name = variant.engine.name if variant.engine else ""
    pp = _number(args, _PP) or 1
    pcp = _number(args, _PCP) or 1
    tp = _number(args, _TP)
    return Serving(
        gpus=found.gpus,
        tp=tp if tp is not None or found.gpus is None else found.gpus // (pp * pcp) or 1,
        pp=pp,
        dcp=_number(args, _DCP) or 1,
        pcp=pcp,
        ep=_expert_parallel(name, args, _ranks(args, tp, found.gpus, pp), pcp),
        dp_attn=_dp_attention(name, args),
        speculative=_speculative(name, args),
    )


def _ranks(args: Mapping[str, Any], tp: int | None, gpus: int | None, pp: int) -> int | None:
    """The GPUs of one pipeline stage: the most an engine can spread its experts over."""
    if gpus is not None:
        return gpus // pp
    return None if tp is None else tp * (_number(args, _DP) or 1)


def _expert_parallel(engine: str, args: Mapping[str, Any], ranks: int | None, pcp: int) -> int | None:
    """Over how many GPUs experts are spread: ATOM and vLLM switch it on for all, the others count."""
    if engine in ("atom", "vllm"):
        if not _on(argument(args, _EXPERT_PARALLEL)):
            return 1
        return ranks // pcp if engine == "atom" and ranks is not None else ranks
    if engine not in ("sglang", "trtllm"):
        return None
    stated = _number(args, _EP)
    if stated is None and engine == "sglang" and argument(args, _ALL_TO_ALL) not in (None, "none"):
        # An all-to-all backend makes SGLang spread the experts over every rank by itself.
        return ranks
    return stated or 1


def _dp_attention(engine: str, args: Mapping[str, Any]) -> bool | None:
    if engine == "vllm":
        return (_number(args, _DP) or 1) > 1
    if engine in ("atom", "sglang", "trtllm"):
        return any(_on(argument(args, name)) for name in _DP_ATTENTION)
    return None


def _speculative(engine: str, args: Mapping[str, Any]) -> bool | None:
    if engine == "atom":
        return bool(argument(args, "method")) or (whole(argument(args, "num-speculative-tokens")) or 0) > 0
    if engine == "sglang":
        return bool(argument(args, "speculative-algorithm"))
    if engine in ("vllm", "trtllm"):
        return bool(opened(argument(args, "speculative-config")))
    return None


def _number(args: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    found = (whole(argument(args, name)) for name in names)
    return next((number for number in found if number is not None), None)


def _on(value: Any) -> bool:
    # A bare flag (`enable-x:` or `''`) is not on: recipes write true.
    return value is True or (isinstance(value, str) and value.lower() in ("true", "1", "yes", "on"))


def matches(variant: Variant, point: Point, framework: str) -> list[str]:
    """Why a variant does not serve a single-node point; empty when it does."""
    row, topology = point.row, point.row.topology
    serving = serving_of(variant)
    wanted_engine, engine = engine_of(framework), variant.engine
    reasons = []
    if variant.role is None:
        reasons.append("it states no aggregated server (roles.agg)")
    if engine is not wanted_engine or (engine is None and variant.engine_name != framework):
        reasons.append(f"its engine is {variant.engine_name or 'not stated'}, the framework is {framework}")
    if serving.gpus is None:
        reasons.append(f"it does not state its GPUs, the point takes {topology.gpus}")
    elif serving.gpus != topology.gpus:
        reasons.append(f"it takes {serving.gpus} GPUs, the point {topology.gpus}")
    if variant.concurrency is None:
        reasons.append(f"it states no benchmark.env.CONC, the point's is {point.concurrency}")
    elif variant.concurrency != point.concurrency:
        reasons.append(f"its CONC is {variant.concurrency}, the point's {point.concurrency}")
    if variant.kv_offloading != row.kv_offloading:
        reasons.append(f"its KV_OFFLOADING is {variant.kv_offloading}, the row's {row.kv_offloading}")
    reasons += _parallel_reasons(serving, topology)
    speculative = row.spec_decoding != "none"
    if serving.speculative is not None and serving.speculative != speculative:
        reasons.append(f"it {_does(serving.speculative)} speculate, the row says spec-decoding {row.spec_decoding}")
    return reasons


def _parallel_reasons(serving: Serving, topology: Topology) -> list[str]:
    reasons = []
    if serving.dcp != topology.dcp:
        reasons.append(f"its decode context parallel size is {serving.dcp}, the row's dcp-size {topology.dcp}")
    if serving.ep is not None and serving.ep != topology.ep:
        reasons.append(f"its experts are spread over {serving.ep} GPUs, the row's ep is {topology.ep}")
    if serving.dp_attn is not None and serving.dp_attn != topology.dp_attn:
        reasons.append(f"it {_does(serving.dp_attn)} use DP attention, the row's dp-attn is {_yaml(topology.dp_attn)}")
    return reasons


def _does(value: bool) -> str:
    return "does" if value else "does not"


def _yaml(value: bool) -> str:
    return "true" if value else "false"


def variants_for(recipe: Recipe, point: Point, framework: str, variant: str = "") -> list[Variant]:
    """The variants that serve a single-node point, among those a reference leaves (`variant` empty: all).

    Exactly one is right (source: FACTS §6).
    """
    # The concurrency tells most of them apart, and is cheap to look at.
    named = [found for found in recipe.variants if not variant or found.name == variant]
    allowed = [found for found in named if found.concurrency == point.concurrency]
    return [found for found in allowed if not matches(found, point, framework)]
