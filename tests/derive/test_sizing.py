"""Engine-neutral knobs under each engine's own names (FACTS §6, SPEC)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchscribe.derive.sizing import (
    Knobs,
    admission_for,
    admission_words,
    assignments,
    capture_sizes,
    customary_admission,
)
from benchscribe.schema.engines import ATOM, SGLANG, TRTLLM, VLLM, Engine
from benchscribe.schema.errors import UsageError
from benchscribe.schema.master import Point, Row
from benchscribe.schema.recipe import read_recipe
from benchscribe.schema.units import parse_size


def point(concurrency: int, backend: str = "", **fields: Any) -> Point:
    data = {name.replace("_", "-"): value for name, value in fields.items()}
    if backend:
        data |= {"kv-offloading": "dram", "kv-offload-backend": {"name": backend}}
    return Point(Row({"tp": 4, "spec-decoding": "mtp", **data}), concurrency)


def written(engine: Engine, at: Point, knobs: Knobs, **present: Any) -> list[tuple[str, str, Any]]:
    return [(item.where, item.name, item.value) for item in assignments(engine, at, knobs, **present)]


@pytest.mark.parametrize(
    ("admission", "sizes"),
    [
        (1, [1]),
        (2, [1, 2]),
        (3, [1, 2, 3]),
        (4, [1, 2, 4]),
        (6, [1, 2, 4, 6]),
        (8, [1, 2, 4, 8]),
        (10, [1, 2, 4, 8, 10]),
        (16, [1, 2, 4, 8, 12, 16]),
        (20, [1, 2, 4, 8, 12, 16, 20]),
        (33, [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 33]),
    ],
)
def test_capture_sizes(admission: int, sizes: list[int]) -> None:
    assert list(capture_sizes(admission)) == sizes


def test_a_capture_series_has_an_end() -> None:
    for admission in (0, -4, 10**9):
        with pytest.raises(UsageError, match="graphs: auto"):
            capture_sizes(admission)


def test_admission() -> None:
    assert (admission_for("2x", 10).value, admission_for("2x", 10).reason) == (20, "2 × C10 = 20")
    assert (admission_for("1x", 2).value, admission_for(48, 2).value) == (2, 48)
    for wrong in ("3x", "x", "", 0, -1, True):
        with pytest.raises(UsageError, match="admission"):
            admission_for(wrong, 4)


def test_the_custom_where_no_rule_says_otherwise() -> None:
    mono = customary_admission(ATOM, {"ATOM_MONO_ENABLE": "1"})
    usual = customary_admission(ATOM, {"ATOM_MONO_ENABLE": "0"})
    assert mono is not None and mono.value == "1x" and "mono decode" in mono.reason
    assert usual is not None and usual.value == "2x"
    assert customary_admission(SGLANG, {}) is None
    assert [admission_words(number, 10) for number in (10, 20, 15)] == ["1×", "2×", "15"]


def test_atom_in_the_order_of_the_spec() -> None:
    knobs = Knobs(admission="2x", graphs="auto", draft_tokens=4, per_rank=parse_size("256 GiB"))
    arm = point(16, "lmcache", dcp_size=4)
    assert written(ATOM, arm, knobs) == [
        ("args", "max-num-seqs", 32),
        ("args", "cudagraph-capture-sizes", "[1,2,4,8,12,16,20,24,28,32]"),
        ("args", "num-speculative-tokens", 4),
        ("args", "decode-context-parallel-size", 4),
        ("env", "LMCACHE_MAX_LOCAL_CPU_SIZE", "256"),
    ]
    reasons = {item.knob: item.reason for item in assignments(ATOM, arm, knobs)}
    assert reasons == {
        "admission": "2 × C16 = 32",
        "graphs": "1, 2, 4, 8, then steps of 4 up to the admission of 32",
        "draft-tokens": "4 draft tokens",
        "dcp-size": "dcp-size 4 of the row",
        "offload": "256 GiB per rank",
    }


def test_the_expected_recipe_to_the_letter(shared: Path) -> None:
    path = shared / "specs/expected/glm52-agentic.yaml"
    recipe = read_recipe(path.read_text(), path.name)
    checked = 0
    for variant in recipe.variants:
        concurrency = variant.concurrency or 0
        dcp = 4 if "_dcp4_" in variant.name else 1
        mono = variant.name in ("override_tp4_c1", "override_tp4_c2")
        if not (mono or dcp == 4):
            continue
        size = parse_size("256 GiB") if dcp == 4 else None
        tokens = 3 if mono or concurrency == 48 else 4
        knobs = Knobs("1x" if mono else "2x", "auto", tokens, per_rank=size)
        at = point(concurrency, "lmcache" if dcp == 4 else "", dcp_size=dcp)
        base = recipe.data["base"]["roles"]["agg"]
        own = recipe.data[variant.name]["roles"]["agg"]
        args = list(own["args"].items())
        got = written(ATOM, at, knobs, arguments=base["args"], environment=base["env"])
        assert [(name, value) for where, name, value in got if where == "args"] == args[: len(args) - (dcp == 4)]
        env = [(name, value) for where, name, value in got if where == "env"]
        assert env == [item for item in own["env"].items() if item[0].startswith("LMCACHE")]
        checked += 1
    assert checked == 7


def test_sglang() -> None:
    knobs = Knobs(admission="1x", graphs="auto", draft_tokens=3, per_rank=parse_size("128 GiB"))
    # 128 GiB = 137.4 GB, rounded up.
    assert written(SGLANG, point(24, "hicache"), knobs) == [
        ("args", "max-running-requests", 24),
        ("args", "cuda-graph-max-bs", 24),
        ("args", "speculative-num-steps", 3),
        ("args", "speculative-num-draft-tokens", 4),
        ("args", "hicache-size", 138),
    ]
    dspark = {"speculative-dspark-block-size": 5}
    assert written(SGLANG, point(8), Knobs(draft_tokens=6), arguments=dspark) == [
        ("args", "speculative-dspark-block-size", 6)
    ]


def test_vllm_counts_tokens_and_keeps_the_json_as_written() -> None:
    config = '{"method":"mtp", "num_speculative_tokens": 3 ,"x":{"a":1.50}}'
    got = written(
        VLLM,
        point(16),
        Knobs(admission="2x", graphs="auto", draft_tokens=2),
        arguments={"speculative-config": config},
    )
    # 32 × (1 + 2) = 96.
    assert got == [
        ("args", "max-num-seqs", 32),
        ("args", "max-cudagraph-capture-size", 96),
        ("args", "speculative-config", '{"method":"mtp", "num_speculative_tokens": 2 ,"x":{"a":1.50}}'),
    ]
    kept = written(VLLM, point(16), Knobs(admission="1x", graphs="auto"), arguments={"speculative-config": config})
    assert kept[1] == ("args", "max-cudagraph-capture-size", 64)
    plain = written(VLLM, point(16, spec_decoding="none"), Knobs(admission="1x", graphs="auto"))
    assert plain[1] == ("args", "max-cudagraph-capture-size", 16)
    (added,) = written(VLLM, point(4), Knobs(draft_tokens=2), arguments={"speculative-config": '{"method":"mtp"}'})
    assert json.loads(added[2]) == {"method": "mtp", "num_speculative_tokens": 2}
    (nested,) = written(VLLM, point(4), Knobs(draft_tokens=2), arguments={"speculative_config": {"method": "mtp"}})
    assert nested == ("args", "speculative_config", {"num_speculative_tokens": 2})


def test_tensorrt_llm_sets_every_name_the_recipe_has() -> None:
    both = {"speculative_config": {"max_draft_len": 8, "num_nextn_predict_layers": 8}}
    size = parse_size("128 GiB")
    got = written(TRTLLM, point(2, "native"), Knobs("2x", None, 3, per_rank=size), arguments=both)
    assert got == [
        ("args", "max_batch_size", 4),
        ("args", "speculative_config", {"max_draft_len": 3, "num_nextn_predict_layers": 3}),
        ("args", "kv_cache_config", {"host_cache_size": 137438953472}),
    ]
    nextn = {"speculative_config": {"num_nextn_predict_layers": 1}}
    assert written(TRTLLM, point(2), Knobs(draft_tokens=3), arguments=nextn) == [
        ("args", "speculative_config", {"num_nextn_predict_layers": 3})
    ]


def test_the_files_spelling_is_kept() -> None:
    got = written(ATOM, point(4), Knobs(admission="2x", draft_tokens=3), arguments={"max_num_seqs": 1})
    assert [name for _, name, _ in got] == ["max_num_seqs", "num-speculative-tokens"]
    got = written(ATOM, point(4), Knobs(draft_tokens=3), spellings=["num_speculative_tokens"])
    assert got == [("args", "num_speculative_tokens", 3)]
    server = Knobs(per_server=parse_size("1000 GB"))
    assert written(ATOM, point(4, "lmcache"), server) == [("env", "LMCACHE_MP_L1_SIZE_GB", "1000")]


def test_graphs_as_a_list() -> None:
    asked = Knobs(graphs=[8, 1, 8, 4])
    assert written(ATOM, point(4), asked) == [("args", "cudagraph-capture-sizes", "[1,4,8]")]
    assert written(SGLANG, point(4), asked) == [("args", "cuda-graph-bs", [1, 4, 8])]
    assert written(VLLM, point(4), asked) == [("args", "cudagraph-capture-sizes", [1, 4, 8])]


def test_graphs_follow_an_admission_that_is_already_there() -> None:
    assert written(ATOM, point(4), Knobs(graphs="auto"), arguments={"max_num_seqs": "2"}) == [
        ("args", "cudagraph-capture-sizes", "[1,2]")
    ]


def test_dcp_follows_the_row_and_undoes_the_base() -> None:
    base = {"decode-context-parallel-size": 4}
    assert written(ATOM, point(4), Knobs()) == []
    assert written(ATOM, point(4), Knobs(), arguments=base) == [("args", "decode-context-parallel-size", 1)]
    assert written(SGLANG, point(4), Knobs()) == []


SIZE = parse_size("256 GiB")


@pytest.mark.parametrize(
    ("engine", "at", "knobs", "words"),
    [
        (TRTLLM, point(4), Knobs(graphs="auto"), "graphs is not offered for TensorRT-LLM"),
        (TRTLLM, point(4), Knobs(graphs=[1]), "graphs is not offered for TensorRT-LLM"),
        (SGLANG, point(4, dcp_size=4), Knobs(), "dcp-size is not offered for SGLang"),
        (TRTLLM, point(4, dcp_size=2), Knobs(), "dcp-size is not offered for TensorRT-LLM"),
        (VLLM, point(4, "lmcache"), Knobs(per_rank=SIZE), "offload per-rank is not offered for vLLM"),
        (ATOM, point(4, "mooncake"), Knobs(per_rank=SIZE), "needs the backend lmcache, the row has mooncake"),
        (ATOM, point(4), Knobs(per_rank=SIZE), "TP4 C4, whose row has kv-offloading: none"),
        (ATOM, point(4), Knobs(graphs="auto"), "graphs: auto follows the admission, and TP4 C4 has none"),
        (ATOM, point(4), Knobs(graphs="some"), "graphs 'some' is not known"),
        (ATOM, point(4), Knobs(graphs=[0]), "are no batch sizes"),
        (ATOM, point(4), Knobs(draft_tokens=0), "draft-tokens: 0 would turn speculation off"),
        (VLLM, point(4), Knobs(draft_tokens=3), "TP4 C4 has no speculative-config to set it in"),
        (VLLM, point(4), Knobs(admission="2x", graphs="auto"), "needs the draft tokens"),
        (ATOM, point(4), Knobs(dcp_size=4), "dcp-size 4 is not that of the row, 1"),
    ],
)
def test_what_cannot_be_had_says_what_to_do(engine: Engine, at: Point, knobs: Knobs, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        assignments(engine, at, knobs)
    assert words in caught.value.what
    assert caught.value.hint
    if "not offered" in words:
        assert "args:" in caught.value.hint and "env:" in caught.value.hint


def test_a_speculative_config_that_is_no_json() -> None:
    with pytest.raises(UsageError, match="speculative-config is not a JSON object"):
        assignments(VLLM, point(4), Knobs(draft_tokens=3), arguments={"speculative-config": "$SPEC"})
