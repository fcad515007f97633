"""Config keys: taken apart, derived, compared, and their relatives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchscribe.derive.naming import Mismatch, derived_key, key_mismatches, read_key, siblings, sku_of
from benchscribe.schema.master import Entry
from benchscribe.schema.yaml_text import load


def entry(key: str, prefix: str, precision: str, runner: str, framework: str, **fields: Any) -> Entry:
    data = {
        "model-prefix": prefix,
        "precision": precision,
        "runner": runner,
        "framework": framework,
        "multinode": False,
        "scenarios": {"agentic-coding": [{"search-space": [{"tp": 4, "spec-decoding": "mtp", "conc-list": [1]}]}]},
    }
    return Entry(key, {**data, **fields})


GLM = entry("glm5.2-fp4-mi355x-atom-agentic-mtp", "glm5.2", "fp4", "cluster:mi355x-amds", "atom")


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("glm5.2-fp4-mi355x-atom-agentic-mtp", ("glm5.2", "fp4", "mi355x", "atom", ("agentic", "mtp"))),
        (
            "dsr1-fp4-mi355x-sglang-disagg-8k1k-mtp",
            ("dsr1", "fp4", "mi355x", "sglang-disagg", ("8k1k", "mtp")),
        ),
        ("dsv4-fp4-gb300-dynamo-trt-agentx", ("dsv4", "fp4", "gb300", "dynamo-trt", ("agentx",))),
        ("dsv4-fp4-gb200-llmd-vllm", ("dsv4", "fp4", "gb200", "llmd-vllm", ())),
        ("some-model-int4-b200-vllm", ("some-model", "int4", "b200", "vllm", ())),
        ("glm5.1-fp8-b200-tilert", ("glm5.1", "fp8", "b200", "tilert", ())),
    ],
)
def test_a_key_taken_apart(key: str, parts: tuple[Any, ...]) -> None:
    found = read_key(key)
    assert found is not None
    assert (found.model_prefix, found.precision, found.sku, found.framework, found.tail) == parts
    assert str(found) == key


@pytest.mark.parametrize("key", ["", "glm5.2", "glm5.2-fp4", "glm5.2-fp4-mi355x", "fp4-mi355x-atom", "a-b-c-d"])
def test_another_pattern_is_no_key(key: str) -> None:
    assert read_key(key) is None
    assert siblings(key, [GLM]) == ()


def test_the_sku_of_a_runner() -> None:
    runners = ["cluster:mi355x-amds", "mi355x-disagg", "mi355x", "cluster:gb300-nv", "rtx6000pro-lat"]
    assert [sku_of(runner) for runner in runners] == ["mi355x", "mi355x", "mi355x", "gb300", "rtx6000pro"]


def test_the_derived_key() -> None:
    found = derived_key(GLM)
    assert found.value == "glm5.2-fp4-mi355x-atom-agentic-mtp"
    assert [(item.name, item.value) for item in found.inputs][2] == ("runner", "cluster:mi355x-amds")
    power = entry("x", "glm5.2", "fp4", "cluster:mi325x-amds", "vllm")
    assert derived_key(power, "glm5.2-fp4-mi355x-atom-agentic-power-ab").value == (
        "glm5.2-fp4-mi325x-vllm-agentic-power-ab"
    )


def test_what_key_and_entry_say_differently() -> None:
    assert key_mismatches(GLM) == ()
    wrong = entry("glm5.2-fp4-mi355x-atom-agentic-mtp", "glm5.1", "fp8", "cluster:mi325x-amds", "vllm")
    assert key_mismatches(wrong) == (
        Mismatch("model-prefix", "glm5.2", "glm5.1"),
        Mismatch("precision", "fp4", "fp8"),
        Mismatch("runner", "mi355x", "mi325x"),
        Mismatch("framework", "atom", "vllm"),
    )
    trt = entry("minimaxm3-fp4-b300-trtllm-agentic-mtp", "minimaxm3", "fp4", "cluster:b300-nv", "trt")
    assert key_mismatches(trt) == ()


def test_relatives_nearest_first() -> None:
    entries = [
        entry("kimik3-fp4-mi355x-atom-agentic-mtp", "kimik3", "fp4", "mi355x", "atom"),
        entry("glm5.2-fp4-b200-sglang-agentic-mtp", "glm5.2", "fp4", "b200", "sglang"),
        entry("glm5.2-fp4-mi325x-sglang-agentic-mtp", "glm5.2", "fp4", "mi325x", "sglang"),
        entry("glm5.2-fp4-mi325x-atom", "glm5.2", "fp4", "mi325x", "atom"),
        entry("glm5.2-fp8-mi325x-atom-agentic-mtp", "glm5.2", "fp8", "mi325x", "atom"),
        entry("glm5.2-fp4-mi325x-atom-agentic-mtp", "glm5.2", "fp4", "mi325x", "atom"),
        entry("glm5.2-fp4-mi355x-vllm-agentic-mtp", "glm5.2", "fp4", "mi355x", "vllm"),
        entry("dsr1-fp4-b200-trt", "dsr1", "fp4", "b200", "trt"),
        GLM,
    ]
    found = siblings(GLM.key, entries)
    assert [(sibling.key, sibling.reason) for sibling in found] == [
        ("glm5.2-fp4-mi325x-atom-agentic-mtp", "same model, precision, framework and scenario; SKU mi325x"),
        (
            "glm5.2-fp8-mi325x-atom-agentic-mtp",
            "same model, framework and scenario; precision fp8, SKU mi325x",
        ),
        ("glm5.2-fp4-mi355x-vllm-agentic-mtp", "same model, precision, SKU and scenario; framework vllm"),
        ("kimik3-fp4-mi355x-atom-agentic-mtp", "same precision, SKU, framework and scenario; model kimik3"),
        (
            "glm5.2-fp4-mi325x-sglang-agentic-mtp",
            "same model, precision and scenario; SKU mi325x, framework sglang",
        ),
        (
            "glm5.2-fp4-b200-sglang-agentic-mtp",
            "same model, precision and scenario; SKU b200, framework sglang",
        ),
        (
            "glm5.2-fp4-mi325x-atom",
            "same model, precision and framework; SKU mi325x, scenario fixed-sequence",
        ),
    ]


def _real(shared: Path) -> list[Entry]:
    entries = []
    for master in ("amd", "nvidia"):
        text = (shared / f"upstream/root/configs/{master}-master.yaml").read_text()
        entries += [Entry(key, data) for key, data in load(text).items()]
    return entries


def test_real_keys_agree_with_their_entries_and_most_can_be_derived(shared: Path) -> None:
    entries = _real(shared)
    assert all(read_key(each.key) for each in entries)
    assert [each.key for each in entries if key_mismatches(each)] == []
    equal = [each for each in entries if derived_key(each).value == each.key]
    # The others carry words of their own (hicache, mooncake, dcp16, mtp2) or order agg and mtp freely.
    assert (len(equal), len(entries)) == (161, 208)
    kept = [each for each in entries if derived_key(each, each.key).value == each.key]
    assert len(kept) == 206  # all but the two that write trtllm for trt


def test_the_sibling_of_a_real_new_key(shared: Path) -> None:
    found = siblings("glm5.2-fp4-mi355x-vllm-agentic-mtp", _real(shared))
    assert {sibling.key for sibling in found[:2]} == {
        "glm5.2-fp4-mi355x-atom-agentic-mtp",
        "glm5.2-fp4-mi355x-sglang-agentic-mtp",
    }
