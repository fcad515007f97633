"""The engine table: which framework runs which engine, and which knobs it has (FACTS §5, §6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchscribe.schema.engines import ENGINES, Scope, engine_of, known_engine, not_offered
from benchscribe.schema.errors import UsageError
from benchscribe.schema.yaml_text import load


@pytest.mark.parametrize(
    ("framework", "name"),
    [
        ("atom", "atom"),
        ("atom-disagg", "atom"),
        ("sglang", "sglang"),
        ("sglang-disagg", "sglang"),
        ("dynamo-sglang", "sglang"),
        ("mori-sglang", "sglang"),
        ("vllm", "vllm"),
        ("vllm-disagg", "vllm"),
        ("dynamo-vllm", "vllm"),
        ("llmd-vllm", "vllm"),
        ("trt", "trtllm"),
        ("trtllm", "trtllm"),
        ("dynamo-trt", "trtllm"),
        ("dynamo-trtllm", "trtllm"),
    ],
)
def test_a_framework_names_its_engine(framework: str, name: str) -> None:
    assert known_engine(framework).name == name


@pytest.mark.parametrize("framework", ["tilert", "", "dynamo", "vllm2", "atom-sglang", "-"])
def test_an_unknown_framework_names_none_and_says_the_way(framework: str) -> None:
    assert engine_of(framework) is None
    with pytest.raises(UsageError) as caught:
        known_engine(framework)
    assert "atom, sglang, vllm, trtllm" in str(caught.value)
    assert "args:" in caught.value.hint and "env:" in caught.value.hint


def test_every_framework_of_the_real_masters_but_one_is_known(shared: Path) -> None:
    unknown = set()
    for master in shared.glob("upstream/**/configs/*-master.yaml"):
        frameworks = {entry["framework"] for entry in load(master.read_text()).values()}
        unknown |= {str(name) for name in frameworks if engine_of(name) is None}
    assert unknown == {"tilert"}


def test_the_table_of_facts() -> None:
    rows = {
        engine.name: (
            str(engine.admission),
            str(engine.graphs),
            [str(draft.knob) for draft in engine.drafts],
            [(str(entry.knob), str(entry.relation)) for entry in engine.acceptance],
            str(engine.dcp_size),
            [str(knob.knob) for knob in engine.offload if knob.scope is Scope.RANK],
        )
        for engine in ENGINES
    }
    assert rows == {
        "atom": (
            "max-num-seqs",
            "cudagraph-capture-sizes",
            ["num-speculative-tokens"],
            [
                ("spec-decode-acceptance-length", "AL"),
                ("spec-decode-acceptance-rate", "(AL − 1) / draft tokens"),
            ],
            "decode-context-parallel-size",
            ["LMCACHE_MAX_LOCAL_CPU_SIZE"],
        ),
        "sglang": (
            "max-running-requests",
            "cuda-graph-max-bs",
            ["speculative-num-steps", "speculative-num-draft-tokens"],
            [("SGLANG_SIMULATE_ACC_LEN", "AL")],
            "None",
            ["hicache-size"],
        ),
        "vllm": (
            "max-num-seqs",
            "max-cudagraph-capture-size",
            ["speculative-config.num_speculative_tokens"],
            [("speculative-config.synthetic_acceptance_length", "AL")],
            "decode-context-parallel-size",
            [],
        ),
        "trtllm": (
            "max_batch_size",
            "None",
            ["speculative_config.max_draft_len"],
            [("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "AL − 1")],
            "None",
            ["kv_cache_config.host_cache_size"],
        ),
    }


def test_a_knob_that_is_not_offered_names_engine_and_way() -> None:
    error = not_offered(known_engine("dynamo-trt"), "graphs")
    assert error.what == "graphs is not offered for TensorRT-LLM"
    assert "args:" in error.hint and "env:" in error.hint
    assert error.exit_code == 2
