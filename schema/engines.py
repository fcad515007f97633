"""The engines and what each calls its knobs (source: FACTS §5 and §6). A knob that is None is not offered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from .errors import UsageError

Where = Literal["args", "env"]


class Relation(StrEnum):
    """How an engine's acceptance figure relates to the acceptance length (AL)."""

    LENGTH = "AL"
    RATE = "(AL − 1) / draft tokens"
    ACCEPTED = "AL − 1"


class GraphRule(StrEnum):
    """What `graphs: auto` means to an engine."""

    SERIES = "capture sizes up to the admission"
    REQUESTS = "admission"
    TOKENS = "admission × (1 + draft tokens)"


class Scope(StrEnum):
    """What a tier's size counts for."""

    RANK = "per rank"
    SERVER = "per server"


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting: an engine argument or an environment variable, mostly inside the argument `parent`."""

    name: str
    where: Where = "args"
    parent: str = ""

    def __str__(self) -> str:
        return f"{self.parent}.{self.name}" if self.parent else self.name


@dataclass(frozen=True, slots=True)
class DraftKnob:
    """Where an engine takes its draft tokens: the knob holds draft tokens + `plus`."""

    knob: Knob
    plus: int = 0


@dataclass(frozen=True, slots=True)
class AcceptanceKnob:
    """Where an engine takes a forced acceptance figure, and which figure."""

    knob: Knob
    relation: Relation


@dataclass(frozen=True, slots=True)
class OffloadKnob:
    """Where an engine takes the size of a KV offload tier, in whole `unit`s; `backend` empty: any."""

    knob: Knob
    scope: Scope
    unit: str
    backend: str = ""
    lower_bound: bool = False


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine. `words` are the parts of a `framework`, or a recipe's engine name, that mean it.

    `drafts` are written all together; `alternatives` are further places that take draft tokens, written
    only where a recipe already uses them.
    """

    name: str
    title: str
    words: tuple[str, ...]
    admission: Knob
    graphs: Knob | None
    graph_list: Knob | None
    graph_rule: GraphRule | None
    drafts: tuple[DraftKnob, ...]
    alternatives: tuple[DraftKnob, ...]
    acceptance: tuple[AcceptanceKnob, ...]
    dcp_size: Knob | None
    offload: tuple[OffloadKnob, ...]


ATOM = Engine(
    name="atom",
    title="ATOM",
    words=("atom",),
    admission=Knob("max-num-seqs"),
    graphs=Knob("cudagraph-capture-sizes"),
    graph_list=Knob("cudagraph-capture-sizes"),
    graph_rule=GraphRule.SERIES,
    drafts=(DraftKnob(Knob("num-speculative-tokens")),),
    alternatives=(),
    acceptance=(
        AcceptanceKnob(Knob("spec-decode-acceptance-length"), Relation.LENGTH),
        AcceptanceKnob(Knob("spec-decode-acceptance-rate"), Relation.RATE),
    ),
    dcp_size=Knob("decode-context-parallel-size"),
    offload=(
        OffloadKnob(Knob("LMCACHE_MAX_LOCAL_CPU_SIZE", "env"), Scope.RANK, "GiB", backend="lmcache"),
        OffloadKnob(Knob("LMCACHE_MP_L1_SIZE_GB", "env"), Scope.SERVER, "GB", backend="lmcache"),
    ),
)

SGLANG = Engine(
    name="sglang",
    title="SGLang",
    words=("sglang",),
    admission=Knob("max-running-requests"),
    graphs=Knob("cuda-graph-max-bs"),
    graph_list=Knob("cuda-graph-bs"),
    graph_rule=GraphRule.REQUESTS,
    drafts=(
        DraftKnob(Knob("speculative-num-steps")),
        DraftKnob(Knob("speculative-num-draft-tokens"), plus=1),
    ),
    alternatives=(DraftKnob(Knob("speculative-dspark-block-size")),),
    acceptance=(AcceptanceKnob(Knob("SGLANG_SIMULATE_ACC_LEN", "env"), Relation.LENGTH),),
    dcp_size=None,
    offload=(OffloadKnob(Knob("hicache-size"), Scope.RANK, "GB", backend="hicache", lower_bound=True),),
)

VLLM = Engine(
    name="vllm",
    title="vLLM",
    words=("vllm",),
    admission=Knob("max-num-seqs"),
    graphs=Knob("max-cudagraph-capture-size"),
    graph_list=Knob("cudagraph-capture-sizes"),
    graph_rule=GraphRule.TOKENS,
    drafts=(DraftKnob(Knob("num_speculative_tokens", parent="speculative-config")),),
    alternatives=(),
    acceptance=(AcceptanceKnob(Knob("synthetic_acceptance_length", parent="speculative-config"), Relation.LENGTH),),
    dcp_size=Knob("decode-context-parallel-size"),
    offload=(),
)

TRTLLM = Engine(
    name="trtllm",
    title="TensorRT-LLM",
    words=("trtllm", "trt", "tensorrt_llm"),
    admission=Knob("max_batch_size"),
    graphs=None,
    graph_list=None,
    graph_rule=None,
    drafts=(DraftKnob(Knob("max_draft_len", parent="speculative_config")),),
    alternatives=(DraftKnob(Knob("num_nextn_predict_layers", parent="speculative_config")),),
    acceptance=(AcceptanceKnob(Knob("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "env"), Relation.ACCEPTED),),
    dcp_size=None,
    offload=(OffloadKnob(Knob("host_cache_size", parent="kv_cache_config"), Scope.RANK, "bytes"),),
)

ENGINES = (ATOM, SGLANG, VLLM, TRTLLM)
# What stands around the engine's own name in a `framework`.
ORCHESTRATORS = ("dynamo", "llmd", "mori")
DISAGGREGATED = "disagg"
_ENGINE_OF = {word: engine for engine in ENGINES for word in engine.words}


def engine_of(framework: str) -> Engine | None:
    """The engine that a `framework` (`atom-disagg`, `dynamo-vllm`) or a recipe's engine name means."""
    words = [word for word in framework.lower().split("-") if word not in (*ORCHESTRATORS, DISAGGREGATED)]
    return _ENGINE_OF.get(words[0]) if len(words) == 1 else None


def known_engine(framework: str) -> Engine:
    """As `engine_of`; raises UsageError for an engine whose knobs are not known."""
    engine = engine_of(framework)
    if engine is None:
        known = ", ".join(engine.name for engine in ENGINES)
        raise UsageError(
            f"the knobs of framework {framework!r} are not known; known engines: {known}",
            hint="write the engine's own arguments under args: and its variables under env:",
        )
    return engine


def not_offered(engine: Engine, knob: str, why: str = "") -> UsageError:
    """The error for an engine-neutral knob that this engine does not have."""
    return UsageError(
        f"{knob} is not offered for {engine.title}{why and f': {why}'}",
        hint="write the engine's own arguments under args: and its variables under env:",
    )
