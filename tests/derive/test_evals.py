"""Which points get an eval (FACTS §7), in both layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchscribe.derive.evals import EvaluatedPoint, count_points, evaluated_points
from benchscribe.schema.master import Entry
from benchscribe.schema.yaml_text import load


def entry(key: str, scenario: str, items: list[dict[str, Any]], **fields: Any) -> Entry:
    data = {
        "image": "r/i:1",
        "model": "m",
        "runner": "cluster:x",
        "precision": "fp4",
        "framework": "atom",
        "multinode": False,
        "scenarios": {scenario: items},
        **fields,
    }
    return Entry(key, data)


def agentic(key: str, *rows: dict[str, Any], **fields: Any) -> Entry:
    return entry(key, "agentic-coding", [{"search-space": list(rows)}], **fields)


def fixed(key: str, *rows: dict[str, Any], isl: int = 8192, osl: int = 1024, **fields: Any) -> Entry:
    return entry(key, "fixed-seq-len", [{"isl": isl, "osl": osl, "search-space": list(rows)}], **fields)


def shown(points: list[EvaluatedPoint]) -> list[str]:
    return [f"{found.entry.key} {found.point}" for found in points]


NONE = {"kv-offloading": "none", "spec-decoding": "mtp"}
GLM52 = (
    {"tp": 4, "conc-list": [1, 2, 4, 8, 10], **NONE},
    {
        "tp": 4,
        "dcp-size": 4,
        "conc-list": [16, 24, 32, 40, 48],
        "kv-offloading": "dram",
        "spec-decoding": "mtp",
    },
    {"tp": 8, "conc-list": [1, 2, 4], **NONE},
)


@pytest.mark.parametrize("layout", ["root", "e2e"])
def test_the_glm52_retune_is_evaluated_at_c48_only(layout: str) -> None:
    found = evaluated_points([agentic("glm", *GLM52)], layout)
    assert shown(found) == ["glm TP4+DCP4 C48"]
    assert found[0].reason == "the first at the highest concurrency of its group"
    assert found[0].item.scenario == "agentic-coding"
    assert count_points([agentic("glm", *GLM52)]) == 13


@pytest.mark.parametrize("layout", ["root", "e2e"])
def test_a_second_key_needs_an_entry_of_its_own(layout: str) -> None:
    mono = agentic("glm-mono", {"tp": 4, "conc-list": [1, 2], **NONE})
    # In one entry they are one group; alone the small points are evaluated.
    assert shown(evaluated_points([agentic("glm", *GLM52), mono], layout)) == ["glm TP4+DCP4 C48"]
    assert shown(evaluated_points([mono], layout, {"evals-only": True})) == ["glm-mono TP4 C2"]
    assert shown(evaluated_points([mono], layout, {"all-evals": True})) == [
        "glm-mono TP4 C1",
        "glm-mono TP4 C2",
    ]


def test_agentic_groups_are_finer_in_e2e() -> None:
    rows = (
        {"tp": 8, "conc-list": [1, 4], "spec-decoding": "mtp"},
        {"tp": 8, "ep": 8, "dp-attn": True, "conc-list": [128, 64], "spec-decoding": "mtp"},
        {"tp": 8, "conc-list": [16]},
        {"tp": 4, "dp-attn": True, "ep": 4, "conc-list": [128], "spec-decoding": "mtp"},
    )
    first = agentic("a", *rows)
    assert shown(evaluated_points([first], "root")) == ["a DEP8 C128"]
    assert shown(evaluated_points([first], "e2e")) == ["a TP8 C4", "a DEP8 C128", "a TP8 C16"]
    other_image = agentic("b", {"tp": 8, "conc-list": [2], "spec-decoding": "mtp"}, image="r/i:2")
    assert shown(evaluated_points([first, other_image], "root")) == ["a DEP8 C128"]
    assert shown(evaluated_points([first, other_image], "e2e"))[-1] == "b TP8 C2"


def test_fixed_sequences_highest_and_upper_median_with_every_topology_there() -> None:
    found = evaluated_points(
        [
            fixed(
                "f",
                {"tp": 4, "conc-start": 4, "conc-end": 256},
                {"tp": 8, "conc-start": 4, "conc-end": 64},
            )
        ],
        "root",
    )
    # Eligible: 16, 32, 64, 128, 256; the highest is 256, the upper median 64.
    assert shown(found) == ["f TP4 C64", "f TP4 C256", "f TP8 C64"]
    assert found[0].reason == "the upper-median concurrency of its group, of C16, C32, C64, C128, C256"
    assert found[1].reason.startswith("the highest concurrency")


def test_an_even_count_takes_the_upper_median() -> None:
    found = evaluated_points([fixed("f", {"tp": 4, "conc-list": [16, 32, 64, 128]})], "e2e")
    assert shown(found) == ["f TP4 C64", "f TP4 C128"]
    two = evaluated_points([fixed("f", {"tp": 4, "conc-list": [16, 32]})], "e2e")
    assert shown(two) == ["f TP4 C32"]


def test_what_is_too_small_or_not_8k1k_gets_none() -> None:
    small = fixed("s", {"tp": 4, "conc-list": [4, 8]})
    short = fixed("k", {"tp": 4, "conc-list": [64]}, isl=1024, osl=1024)
    assert evaluated_points([small, short], "root") == []
    split = fixed("d", {"tp": 4, "conc-list": [64]}, {"tp": 4, "conc-list": [32], "spec-decoding": "mtp"})
    assert shown(evaluated_points([split], "root")) == ["d TP4 C64", "d TP4 C32"]


def workers(tp: int, concurrencies: list[int], prefill_ep: int = 1) -> dict[str, Any]:
    prefill = {"num-worker": 1, "tp": tp, "ep": prefill_ep, "dp-attn": False}
    return {"prefill": prefill, "decode": {**prefill, "ep": 1}, "conc-list": concurrencies}


def test_multi_node_each_parallelism_at_its_highest() -> None:
    rows = (workers(4, [8, 16, 64]), workers(4, [128]), workers(8, [1, 4]))
    many = agentic("d", *rows, multinode=True)
    assert [found.point.concurrency for found in evaluated_points([many], "root")] == [128]
    found = evaluated_points([many], "e2e")
    assert [point.point.concurrency for point in found] == [128, 4]
    assert found[1].reason == "the deployment's highest concurrency, none reaches C16"
    fixed_many = fixed("f", *rows, multinode=True)
    assert [found.point.concurrency for found in evaluated_points([fixed_many], "e2e")] == [128]
    other = fixed("o", *rows, isl=1024, osl=1024, multinode=True)
    assert evaluated_points([other], "e2e") == []


def test_flags() -> None:
    many = agentic("d", workers(8, [64], prefill_ep=8), workers(8, [32], prefill_ep=1), multinode=True)
    single = agentic("s", {"tp": 4, "conc-list": [1]})
    both = [many, single]
    assert [found.point.concurrency for found in evaluated_points(both, "root")] == [64, 32, 1]
    limited = evaluated_points(both, "root", {"eval-min-prefill-ep": 4})
    assert [found.point.concurrency for found in limited] == [64, 1]
    assert evaluated_points(both, "e2e", {"no-evals": True}) == []
    assert len(evaluated_points(both, "root", {"all-evals": True})) == 3
    assert evaluated_points(both, "root", {}, ["fixed-seq-len"]) == []


def test_the_real_masters_count(shared: Path) -> None:
    entries = []
    for master in ("amd", "nvidia"):
        text = (shared / f"upstream/root/configs/{master}-master.yaml").read_text()
        entries += [Entry(key, data) for key, data in load(text).items()]
    assert count_points(entries) == sum(len(row.concurrencies) for each in entries for _, row in each.rows())
    by_key = {each.key: each for each in entries}
    # Real rows: TP4 4..64 and TP8 4..64, so 16, 32 and 64 are eligible.
    found = evaluated_points([by_key["dsr1-fp4-mi355x-sglang"]], "root")
    assert shown(found) == [
        "dsr1-fp4-mi355x-sglang TP4 C32",
        "dsr1-fp4-mi355x-sglang TP4 C64",
        "dsr1-fp4-mi355x-sglang TP8 C32",
        "dsr1-fp4-mi355x-sglang TP8 C64",
    ]
