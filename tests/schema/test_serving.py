"""Which variant serves which point."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchscribe.schema.master import Entry, Point, Row, points_of
from benchscribe.schema.recipe import Recipe, Variant, parse_reference, read_recipe
from benchscribe.schema.serving import matches, serving_of, variants_for
from benchscribe.schema.yaml_text import load


def variant(text: str) -> Variant:
    return read_recipe(text, "r.yaml").variants[0]


def point(concurrency: int, **fields: object) -> Point:
    data = {name.replace("_", "-"): value for name, value in fields.items()}
    return Point(Row(data), concurrency)


def aggregated(engine: str, args: str, gpus: int = 8, env: str = "CONC: '4'") -> Variant:
    return variant(
        f"engine: {engine}\nroles: {{ agg: {{ gpus: {gpus}, args: {{ {args} }} }} }}\n"
        f"benchmark: {{ env: {{ {env} }} }}\n"
    )


@pytest.mark.parametrize(
    ("engine", "args", "gpus", "expected"),
    [
        # engine, args, gpus, (tp, ep, dp_attn, dcp, speculative)
        ("atom", "", 4, (4, 1, False, 1, False)),
        (
            "atom",
            "enable_expert_parallel: true, enable-dp-attention: true, method: mtp",
            8,
            (8, 8, True, 1, True),
        ),
        ("atom", "decode-context-parallel-size: 4, num-speculative-tokens: 3", 4, (4, 1, False, 4, True)),
        ("sglang", "tp-size: 8, ep-size: 8, enable-dp-attention: true", 8, (8, 8, True, 1, False)),
        (
            "sglang",
            "tensor-parallel-size: 4, expert_parallel_size: 2, speculative-algorithm: EAGLE",
            4,
            (4, 2, False, 1, True),
        ),
        ("sglang", "tp-size: 8, moe-a2a-backend: deepep", 8, (8, 8, False, 1, False)),
        (
            "sglang",
            "tp-size: 8, enable-dp-attention: false, moe-a2a-backend: none",
            8,
            (8, 1, False, 1, False),
        ),
        ("vllm", "tensor-parallel-size: 8", 8, (8, 1, False, 1, False)),
        ("vllm", "data-parallel-size: 8, enable-expert-parallel: true", 8, (8, 8, True, 1, False)),
        (
            "vllm",
            'tensor-parallel-size: 4, speculative-config: \'{"method":"mtp"}\'',
            4,
            (4, 1, False, 1, True),
        ),
        ("vllm", "tensor-parallel-size: 4, speculative-config: '{}'", 4, (4, 1, False, 1, False)),
        (
            "trtllm",
            "tensor_parallel_size: 4, moe_expert_parallel_size: 4, enable_attention_dp: true",
            4,
            (4, 4, True, 1, False),
        ),
        (
            "trtllm",
            "tensor_parallel_size: 4, speculative_config: { max_draft_len: 3 }",
            4,
            (4, 1, False, 1, True),
        ),
        ("newengine", "tp: 4", 4, (4, None, None, 1, None)),
    ],
)
def test_serving_by_engine(engine: str, args: str, gpus: int, expected: tuple[object, ...]) -> None:
    found = serving_of(aggregated(engine, args, gpus))
    assert (found.tp, found.ep, found.dp_attn, found.dcp, found.speculative) == expected


def test_a_match_has_no_reasons() -> None:
    found = aggregated("atom", "method: mtp", env="CONC: '4', KV_OFFLOADING: dram")
    row = {"tp": 8, "kv_offloading": "dram", "spec_decoding": "mtp"}
    assert matches(found, point(4, **row), "atom") == []
    assert matches(found, point(4, **row), "atom-disagg") == []


@pytest.mark.parametrize(
    ("fields", "concurrency", "framework", "reason"),
    [
        ({"tp": 4}, 4, "atom", "it takes 8 GPUs, the point 4"),
        ({"tp": 8}, 5, "atom", "its CONC is 4, the point's 5"),
        ({"tp": 8}, 4, "sglang", "its engine is atom, the framework is sglang"),
        ({"tp": 8, "kv_offloading": "dram"}, 4, "atom", "its KV_OFFLOADING is none, the row's dram"),
        ({"tp": 8, "ep": 8}, 4, "atom", "its experts are spread over 1 GPUs, the row's ep is 8"),
        ({"tp": 8, "dp_attn": True}, 4, "atom", "it does not use DP attention, the row's dp-attn is true"),
        ({"tp": 8, "dcp_size": 4}, 4, "atom", "its decode context parallel size is 1, the row's dcp-size 4"),
        (
            {"tp": 8, "spec_decoding": "mtp"},
            4,
            "atom",
            "it does not speculate, the row says spec-decoding mtp",
        ),
    ],
)
def test_each_mismatch_is_said(fields: dict[str, object], concurrency: int, framework: str, reason: str) -> None:
    assert matches(aggregated("atom", ""), point(concurrency, **fields), framework) == [reason]


def test_pipeline_and_prefill_context_ranks_count_as_gpus() -> None:
    assert matches(aggregated("vllm", "tensor-parallel-size: 4"), point(4, tp=4, pp=2), "vllm") == []
    assert matches(aggregated("vllm", ""), point(4, tp=2, pcp_size=4), "vllm") == []


def test_what_is_not_stated_does_not_match() -> None:
    found = variant("engine: atom\nroles: { agg: {} }\n")
    reasons = matches(found, point(4, tp=8), "atom")
    assert "it takes not stated GPUs, the point 8" not in reasons
    assert "it does not state its GPUs, the point takes 8" in reasons
    assert "it states no benchmark.env.CONC, the point's is 4" in reasons
    assert matches(variant("engine: atom\n"), point(1, tp=1), "atom")[0].startswith("it states no aggregated server")


def test_an_unknown_engine_is_matched_by_its_name() -> None:
    found = aggregated("tilert", "")
    assert matches(found, point(4, tp=8, ep=8, spec_decoding="mtp"), "tilert") == []
    assert matches(found, point(4, tp=8), "otherrt") != []


def test_a_named_variant_restricts_the_choice() -> None:
    text = """\
base: { engine: atom, roles: { agg: { gpus: 4 } }, benchmark: { env: { CONC: '1' } } }
override_a: {}
override_b: {}
"""
    recipe = read_recipe(text, "r.yaml")
    names = [found.name for found in variants_for(recipe, point(1, tp=4), "atom")]
    assert names == ["override_a", "override_b"]
    assert [found.name for found in variants_for(recipe, point(1, tp=4), "atom", "override_b")] == ["override_b"]
    assert variants_for(recipe, point(1, tp=4), "atom", "override_c") == []


def _single_node_matches(master: str, recipe_at: dict[str, Recipe]) -> dict[str, list[str]]:
    found = {}
    for key, data in load(master).items():
        entry = Entry(key, data)
        for _, row in entry.rows():
            references = [parse_reference(text).path for text in row.recipe_references if not entry.multinode]
            for recipe in (recipe_at[path] for path in references if path in recipe_at):
                for one in points_of(row):
                    served = variants_for(recipe, one, entry.framework)
                    found[f"{key} {one}"] = [variant.name for variant in served]
    return found


GLM = "benchmarks/single_node/srt-slurm-recipes/glm5.2/atom/mi355x-fp4-mtp/agentic.yaml"


def test_every_real_single_node_point_has_exactly_one_variant(shared: Path) -> None:
    root = shared / "upstream/e2e/inferencex-e2e"
    recipes = {GLM: read_recipe((root / GLM).read_text(), GLM)}
    found = _single_node_matches((root / "configs/amd-master.yaml").read_text(), recipes)
    assert len(found) == 7
    assert found["glm5.2-fp4-mi355x-atom-agentic-mtp TP8 C2"] == ["override_tp8_c2"]
    assert all(len(names) == 1 for names in found.values())


def test_the_expected_result_of_the_retune_matches_too(shared: Path) -> None:
    expected = shared / "specs/expected"
    recipes = {GLM: read_recipe((expected / "glm52-agentic.yaml").read_text(), GLM)}
    found = _single_node_matches((expected / "glm52-amd-master.yaml").read_text(), recipes)
    assert len(found) == 13
    assert found["glm5.2-fp4-mi355x-atom-agentic-mtp TP4+DCP4 C48"] == ["override_tp4_dcp4_c48"]
    assert all(len(names) == 1 for names in found.values())
