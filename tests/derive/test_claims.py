"""Prose against facts: what is supported, contradicted, and left unknown (CASEBOOK C03, C04, C13)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from branches import make_branch
from small_checkout import RECIPE, e2e, master, recipe, root, variant

from benchscribe.checkout.checkout import Checkout
from benchscribe.derive.claim_facts import KeyFacts
from benchscribe.derive.claim_patterns import claims_in
from benchscribe.derive.claims import Verdict, judge_line

SCRIPT = """\
#!/usr/bin/env bash
export AITER_QUICK_REDUCE_QUANTIZATION=INT4
python3 -m atom.entrypoints.openai_server --model "$MODEL" -tp "$TP" \\
  --max-num-batched-tokens 16384 --long-prefill-token-threshold 16384 \\
  --state-checkpoint-interval-tokens 8192 --method mtp --num-speculative-tokens 3 \\
  --spec-decode-acceptance-length 2.49 --gpu-memory-utilization 0.85 --max-num-seqs $((2 * CONC)) \\
  --kv-cache-dtype fp8 --router-policy "$POLICY"
"""
DSV4 = {"model": "deepseek-ai/DeepSeek-V4-Pro", "prefix": "dsv4"}
ROWS = "- { tp: 4, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp }\n- { tp: 8, ep: 8, dp-attn: true, kv-offloading: none, conc-start: 16, conc-end: 64, spec-decoding: mtp }"
OTHER = master("- { tp: 1, conc-list: [1] }", key="other-key-fp4-mi355x", image="a/b:c")


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> tuple[KeyFacts, KeyFacts]:
    """A root key with a bash recipe, before (old image, TP4 C1 only) and after."""
    script = {"benchmarks/single_node/agentic/dsv4_fp4_mi355x_atom_mtp.sh": SCRIPT}
    old = "- { tp: 4, kv-offloading: none, conc-list: [1, 4], spec-decoding: mtp }"
    base = root(OTHER + master(old, image="rocm/atom-dev:nightly_202608010000", **DSV4), more=script)
    branch = {"configs/amd-master.yaml": OTHER + master(ROWS, **DSV4)}
    checkout = Checkout.open(make_branch(tmp_path_factory.mktemp("claims"), base, branch))
    return KeyFacts(checkout.before, ("key",)), KeyFacts(checkout.after, ("key",))


def verdicts(facts: tuple[KeyFacts, KeyFacts], line: str) -> dict[str, Verdict]:
    return {one.claim.text: one.verdict for one in judge_line(line, *facts)}


def contradicted(facts: tuple[KeyFacts, KeyFacts], line: str) -> list[tuple[str, str]]:
    return [(one.claim.text, one.shipped) for one in judge_line(line, *facts) if one.verdict is Verdict.CONTRADICTED]


def test_the_sentence_of_c03(facts: tuple[KeyFacts, KeyFacts]) -> None:
    line = (
        "Use rocm/atom-dev:nightly_202608181633, FP8 KV/index caches, 32K state checkpoints, "
        "16K batching/prefill chunks, and FULL cudagraph mode."
    )
    assert contradicted(facts, line) == [
        ("rocm/atom-dev:nightly_202608181633", "the config ships rocm/atom-dev:nightly_202608201032"),
        ("32K state checkpoints", "--state-checkpoint-interval-tokens is 8192"),
    ]


@pytest.mark.parametrize("rate", ["0.4966666667", "0.4967", "0.496667"])
def test_c04_a_rate_equals_the_length_under_the_engines_relation(facts: tuple[KeyFacts, KeyFacts], rate: str) -> None:
    found = verdicts(facts, f"Three-token MTP with synthetic acceptance rate {rate}.")
    assert found[f"acceptance rate {rate}"] is Verdict.SUPPORTED
    assert found["Three-token MTP"] is Verdict.SUPPORTED


SUPPORTED = [
    "Image: rocm/atom-dev:nightly_202608201032",
    "Bump image from rocm/atom-dev:nightly_202608010000 to rocm/atom-dev:nightly_202608201032",
    "New image nightly_202608201032 (was nightly_202608010000)",
    "镜像从 rocm/atom-dev:nightly_202608010000 升级到 rocm/atom-dev:nightly_202608201032。",
    "Sweep TP4 at conc [1, 2] and DEP8 at concurrency 16 through 64",
    "新增 TP4 C1/C2，并发 16、32、64",
    "Set AITER_QUICK_REDUCE_QUANTIZATION=INT4 and --max-num-batched-tokens 16384",
    "Use gpu-memory-utilization 0.85 and GPU memory utilization 0.85",
    "8K state checkpoints",
    "golden AL 2.49 at 3 draft tokens",
    "使用 3 个 draft token，接受长度 2.49",
    "--kv-cache-dtype fp8, --max-num-seqs 128",
]


@pytest.mark.parametrize("line", SUPPORTED)
def test_what_ships_is_supported(facts: tuple[KeyFacts, KeyFacts], line: str) -> None:
    found = verdicts(facts, line)
    assert found
    assert set(found.values()) <= {Verdict.SUPPORTED, Verdict.UNKNOWN}
    assert Verdict.SUPPORTED in found.values()


WRONG = [
    ("Bump image to rocm/atom-dev:nightly_202608181633", "rocm/atom-dev:nightly_202608181633"),
    (
        "Bump image from rocm/atom-dev:nightly_202607010000 to rocm/atom-dev:nightly_202608201032",
        "rocm/atom-dev:nightly_202607010000",
    ),
    ("镜像升级到 rocm/atom-dev:nightly_202608181633。", "rocm/atom-dev:nightly_202608181633"),
    ("Use the nightly_202608181633 image", "nightly_202608181633"),
    ("Sweep TP2 and TP4", "TP2"),
    ("Add DCP4 points", "DCP4"),
    ("Sweep TP4 at conc [1, 2, 16]", "conc [1, 2, 16]"),
    ("DEP8 at concurrency 16 through 128", "concurrency 16 through 128"),
    ("新增 TP4 并发 1、2、8", "并发 1、2、8"),
    ("Add concurrency 4 at TP4", "concurrency 4"),
    ("MTP with 5 draft tokens", "5 draft tokens"),
    ("five-token MTP", "five-token MTP"),
    ("使用 5 个 draft token", "5 个 draft token"),
    ("synthetic AL 2.54 for throughput", "AL 2.54"),
    ("acceptance rate 0.51", "acceptance rate 0.51"),
    ("Set AITER_QUICK_REDUCE_QUANTIZATION=INT6", "AITER_QUICK_REDUCE_QUANTIZATION=INT6"),
    ("Set --max-num-batched-tokens 32768", "--max-num-batched-tokens 32768"),
    ("Set --kv-cache-dtype bf16, nothing else", "--kv-cache-dtype bf16"),
    ("Raise GPU memory utilization to 0.95", "Raise GPU memory utilization to 0.95"),
    ("max-num-batched-tokens from 8192 to 32768", "max-num-batched-tokens from 8192 to 32768"),
]


@pytest.mark.parametrize(("line", "text"), WRONG)
def test_what_cannot_be_true_is_contradicted(facts: tuple[KeyFacts, KeyFacts], line: str, text: str) -> None:
    assert [words for words, _ in contradicted(facts, line)] == [text]


UNKNOWN = [
    "Matches the sibling's image rocm/atom-dev:nightly_202608181633",
    "Bump image to rocm/atom-dev:nightly_202608201032, replacing rocm/atom-dev:nightly_202607010000 of #2600",
    "Router image rocm/atom-router:v3",
    "Drop TP2 and TP16",
    "TP16 would not fit the node",
    "Compared with TP2 at conc 512 it is faster",
    "conc>=128 is out of reach",
    "Measured acceptance length 1.68 on this workload",
    "Previously 7 draft tokens were used",
    "NEVER_SET_ANYWHERE=1 and --no-such-flag 3",
    "--router-policy round_robin, as before",
    "--router-policy round_robin, here",
    "other-key-fp4-mi355x runs TP2 with 7 draft tokens",
    "10.5 GB/GPU of weights, 8k1k, 100K+ prompts, vLLM 0.25.1, 1.5 TB",
    "Set --max-num-seqs=2*CONC",
    "the AL at 2 draft tokens would be 2.27",
    "移除 TP2 与 TP16",
    "AIPerf 0.4.1, run 30326393603, CUDA 13.0",
    "C2C bandwidth, C4 dataset, ROCm 7.2",
    "Raise concurrency from the old 4 to more",
    "32K context windows and 64K outputs",
]


@pytest.mark.parametrize("line", UNKNOWN)
def test_in_doubt_nothing_is_contradicted(facts: tuple[KeyFacts, KeyFacts], line: str) -> None:
    assert contradicted(facts, line) == []


def test_a_claim_about_a_recipe_that_is_not_here_is_unknown(tmp_path: Path) -> None:
    checkout = Checkout.open(make_branch(tmp_path, root(master(ROWS))))
    facts = KeyFacts(checkout.before, ("key",)), KeyFacts(checkout.after, ("key",))
    line = "Set AITER_QUICK_REDUCE_QUANTIZATION=INT6, --max-num-seqs 7, 5 draft tokens, AL 9.99, 32K state checkpoints"
    assert contradicted(facts, line) == []


@pytest.fixture(scope="module")
def lmcache(tmp_path_factory: pytest.TempPathFactory) -> tuple[KeyFacts, KeyFacts]:
    """An e2e key: TP4 with LMCache 256 GiB per rank under dram-utilization 0.74, a budget of 1109 GB."""
    rows = (
        "- { tp: 4, dcp-size: 4, kv-offloading: dram, kv-offload-backend: { name: lmcache }, "
        f"conc-list: [16], spec-decoding: mtp, srt-recipe: {RECIPE} }}"
    )
    text = recipe(
        variant(
            "tp4_dcp4_c16",
            4,
            16,
            args="decode-context-parallel-size: 4\nnum-speculative-tokens: 3",
            env="LMCACHE_MAX_LOCAL_CPU_SIZE: '256'",
            dram=True,
        )
    )
    files = e2e(master(rows, utilization="0.74"), more={RECIPE: text})
    checkout = Checkout.open(make_branch(tmp_path_factory.mktemp("lmcache"), files))
    return KeyFacts(checkout.before, ("key",)), KeyFacts(checkout.after, ("key",))


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("LMCache DRAM tier of 256 GiB per rank", []),
        ("LMCache DRAM tier of 256 GB per rank", ["256 GB per rank"]),
        ("LMCache DRAM tier of 256 GiB per server", ["256 GiB per server"]),
        ("LMCache takes 1099.5 GB per server", []),
        ("每个 rank 256 GiB 的 LMCache 卸载", []),
        ("每个 rank 128 GiB 的 LMCache 卸载", ["每个 rank 128 GiB"]),
        ("a budget of 1109 GB", []),
        ("a budget of 1200 GB", ["budget of 1200 GB"]),
        ("dram-utilization 0.74", []),
        ("dram-utilization: 0.171", ["dram-utilization: 0.171"]),
        ("weights take 201 GB per rank", []),
        ("three-token MTP with golden AL 2.99", []),
        ("golden AL 3.33", ["AL 3.33"]),
        ("KV offload with kv-offloading=dram", []),
        ("KV offload with kv-offloading=none", ["kv-offloading=none"]),
    ],
)
def test_memory_and_golden_claims(lmcache: tuple[KeyFacts, KeyFacts], line: str, wrong: list[str]) -> None:
    assert [text for text, _ in contradicted(lmcache, line)] == wrong


def test_a_contradiction_names_the_place_of_the_fact(facts: tuple[KeyFacts, KeyFacts]) -> None:
    (found,) = (one for one in judge_line("32K state checkpoints", *facts) if one.verdict is Verdict.CONTRADICTED)
    assert str(found.place) == "benchmarks/single_node/agentic/dsv4_fp4_mi355x_atom_mtp.sh:5"


def test_claims_stand_in_the_lines_order_with_their_own_text() -> None:
    line = "TP4 C1, image a/b:c1, FOO_BAR=2 and 3 draft tokens"
    found = claims_in(line)
    assert [line[one.start : one.start + len(one.text)] for one in found] == [one.text for one in found]
    assert [one.text for one in found if one.kind.value != "phrase"] == [
        "TP4",
        "C1",
        "a/b:c1",
        "FOO_BAR=2",
        "3 draft tokens",
    ]


# A claim about one arm is held against that arm's rows.

ARM_ROWS = (
    "- { tp: 4, kv-offloading: none, conc-list: [1, 64], spec-decoding: mtp, srt-recipe: R }\n"
    "- { tp: 4, dcp-size: 4, kv-offloading: dram, kv-offload-backend: { name: lmcache }, conc-list: [16], spec-decoding: mtp, srt-recipe: R }\n"
    "- { tp: 2, kv-offloading: none, conc-list: [2], spec-decoding: mtp, srt-recipe: R }\n"
    "- { tp: 8, kv-offloading: none, conc-list: [4], spec-decoding: mtp, srt-recipe: R }"
).replace("R }", f"{RECIPE} }}")
ARMS = (
    variant("tp4_c1", 4, 1, args="num-speculative-tokens: 4"),
    variant("tp4_c64", 4, 64, args="num-speculative-tokens: 4"),
    variant(
        "tp4_dcp4_c16",
        4,
        16,
        args="num-speculative-tokens: 4\ndecode-context-parallel-size: 4",
        env="LMCACHE_MAX_LOCAL_CPU_SIZE: '256'",
        dram=True,
    ),
    variant("tp2_c2", 2, 2, args="num-speculative-tokens: 4"),
    variant("tp8_c4", 8, 4, args="num-speculative-tokens: 5"),
)


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> tuple[KeyFacts, KeyFacts]:
    """An e2e key with four arms: 4 drafts at TP4, TP4+DCP4 (LMCache, 256 GiB per rank) and TP2, 5 at TP8."""
    files = e2e(master(ARM_ROWS, utilization="0.74"), more={RECIPE: recipe(*ARMS)})
    checkout = Checkout.open(make_branch(tmp_path_factory.mktemp("arms"), files))
    return KeyFacts(checkout.before, ("key",)), KeyFacts(checkout.after, ("key",))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Extend TP2 to C64.", [("C64", "the TP2 rows have concurrency 2")]),
        ("TP2 扩展到 C64。", [("C64", "the TP2 rows have concurrency 2")]),
        ("Golden AL 3.33 at TP8.", [("AL 3.33", "at TP8 the golden AL is 3.61 at 5 draft tokens")]),
        ("在 TP8 上使用 4 个 draft token。", [("4 个 draft token", "at TP8 its points run with 5 draft tokens")]),
        (
            "Keep 512 GiB of LMCache per rank on TP4+DCP4.",
            [("512 GiB of LMCache per rank", "at TP4+DCP4 per rank it is 256 GiB")],
        ),
        ("Reserve 512 GiB of LMCache per rank.", [("512 GiB of LMCache per rank", "per rank it is 256 GiB")]),
    ],
)
def test_one_arm_is_held_against_its_own_rows(
    arms: tuple[KeyFacts, KeyFacts], line: str, found: list[tuple[str, str]]
) -> None:
    assert contradicted(arms, line) == found


@pytest.mark.parametrize(
    "line",
    [
        "Extend TP4 to C64.",
        "Golden AL 3.61 at TP8.",
        "Golden AL 3.33 at TP4+DCP4.",
        "Keep 256 GiB of LMCache per rank on TP4+DCP4.",
        "Run TP2 and TP4 up to C64.",
        "Add TP8, sweep C64.",
        "Keep LMCache at 256 GiB per rank next to the new TP8 arm.",
        "TP8 joins the C64 sweep.",
        "Golden AL 3.33 beside TP8.",
        "在 TP8 上使用 5 个 draft token。",
    ],
)
def test_what_may_speak_of_another_arm_is_not_narrowed(arms: tuple[KeyFacts, KeyFacts], line: str) -> None:
    assert contradicted(arms, line) == []


def test_a_long_line_between_arm_and_claim_takes_no_time(arms: tuple[KeyFacts, KeyFacts]) -> None:
    started = time.monotonic()
    verdicts(arms, "C64 " + "the new " * 4000 + "TP2")
    assert time.monotonic() - started < 5
