"""Each kind of changelog line in both languages, on small branches."""

from __future__ import annotations

from pathlib import Path

import pytest
from prose_facts import sentences_differ
from small_checkout import master, root
from upstream_checkout import git

from benchscribe.checkout.checkout import Checkout
from benchscribe.derive.prose import derived_lines
from benchscribe.plan.branch import Branch, read_branch

DRAM = "- { tp: 4, kv-offloading: dram, kv-offload-backend: { name: lmcache, version: 0.5.1 }, conc-list: [16, 32] }"
NONE = "- { tp: 4, kv-offloading: none, conc-list: [16, 32] }"
TP8 = "- { tp: 8, kv-offloading: none, conc-list: [1, 2] }"
FIXED = {"scenario": "fixed-seq-len", "runner": "mi355x"}
PREFILL = "{ num-worker: 1, tp: 4, ep: 1, dp-attn: false%s }"
DECODE = "{ num-worker: %d, tp: 8, ep: 8, dp-attn: true%s }"
NODES = {"scenario": "fixed-seq-len", "runner": "mi355x", "multinode": True}


def nodes(workers: int, conc: str, settings: str = "", prefill: str = "", more: str = "") -> str:
    return f"- {{ conc-list: [{conc}], prefill: {PREFILL % prefill}, decode: {DECODE % (workers, settings)}{more} }}"


def branch(tmp_path: Path, before: str, after: str) -> Branch:
    directory = tmp_path / "checkout"
    write(directory, root(before))
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", "base")
    git(directory, "checkout", "-qb", "work")
    (directory / "configs/amd-master.yaml").write_text(after)
    return read_branch(Checkout.open(directory))


def write(directory: Path, files: dict[str, str | bytes]) -> None:
    for path, data in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data.encode() if isinstance(data, str) else data)


CASES = {
    "precision, framework, model and runner, old and new": (
        master(TP8),
        master(TP8, precision="fp8", framework="vllm", model="amd/GLM-5.2", runner="mi355x"),
        [
            ("model", "Change the model from amd/GLM-5.2-MXFP4 to amd/GLM-5.2.", "将模型从 amd/GLM-5.2-MXFP4 改为 amd/GLM-5.2。"),
            ("precision", "Change the precision from fp4 to fp8.", "将精度从 fp4 改为 fp8。"),
            ("framework", "Change the framework from atom to vllm.", "将框架从 atom 改为 vllm。"),
            ("runner", "Change the runner from cluster:mi355x-amds to mi355x.", "将 runner 从 cluster:mi355x-amds 改为 mi355x。"),
        ],
    ),
    # 2,861,022 MiB × 2^20 × 4/8 × 0.20 = 299 GB and × 0.17 = 254 GB (FACTS §4).
    "a lower utilization with both budgets": (
        master(DRAM, utilization="0.20"),
        master(DRAM, utilization="0.17"),
        [
            (
                "utilization",
                "Lower dram-utilization from 0.20 to 0.17: a budget of 254 GB per server (was 299 GB) on TP4.",
                "将 dram-utilization 从 0.20 降低到 0.17：TP4 每个 server 的预算为 254 GB（原为 299 GB）。",
            )
        ],
    ),
    "another version of the backend": (
        master(DRAM, utilization="0.20"),
        master(DRAM.replace("0.5.1", "0.5.6"), utilization="0.20"),
        [("backend", "Move LMCache from 0.5.1 to 0.5.6.", "将 LMCache 从 0.5.1 改为 0.5.6。")],
    ),
    "offload turned off": (
        master(f"{DRAM}\n{TP8}", utilization="0.20"),
        master(f"{NONE}\n{TP8}", utilization="0.20"),
        [
            ("offload:tp4-no-kv-offload", "Turn off LMCache 0.5.1 DRAM offload on TP4 at C16 and C32.", "TP4 C16 和 C32：停用 LMCache 0.5.1 DRAM 卸载。"),
            ("unchanged", "TP8 is unchanged.", "TP8 保持不变。"),
        ],
    ),
    "one backend in place of another": (
        master(DRAM, utilization="0.20"),
        master(DRAM.replace("lmcache, version: 0.5.1", "mooncake"), utilization="0.20"),
        [
            (
                "offload:tp4-mooncake-offload",
                "Replace LMCache 0.5.1 DRAM offload with Mooncake DRAM offload on TP4 at C16 and C32.",
                "TP4 C16 和 C32：以 Mooncake DRAM 卸载取代 LMCache 0.5.1 DRAM 卸载。",
            )
        ],
    ),
    "speculation tells arms apart": (
        master("- { tp: 8, conc-list: [16] }", **FIXED),
        master("- { tp: 8, conc-list: [16] }\n- { tp: 8, conc-list: [4, 8], spec-decoding: mtp }", **FIXED),
        [
            ("arm-added:tp8-mtp", "Add TP8 (mtp) at C4 and C8.", "新增 TP8（mtp）：C4 和 C8。"),
            ("unchanged", "TP8 (no speculation) is unchanged.", "TP8（无投机解码）保持不变。"),
        ],
    ),
    "a range that moves names only the points that changed": (
        master("- { tp: 8, conc-start: 4, conc-end: 64 }", **FIXED),
        master("- { tp: 8, conc-start: 8, conc-end: 128 }", **FIXED),
        [("points:tp8", "Replace TP8 C4 with C128.", "TP8：以 C128 取代 C4。")],
    ),
    "a topology in place of another, in multi-node rows": (
        master(nodes(2, "64, 128"), **NODES),
        master(nodes(1, "64, 128"), **NODES),
        [
            (
                "arm-replaced:1p1d-prefill-tp4-decode-dep8",
                "Replace 1P2D (prefill TP4, decode DEP8) with 1P1D (prefill TP4, decode DEP8) at C64 and C128.",
                "以 1P1D（预填充 TP4，解码 DEP8）取代 1P2D（预填充 TP4，解码 DEP8）：C64 和 C128。",
            )
        ],
    ),
    "settings and router of a multi-node row": (
        master(nodes(1, "64", ', additional-settings: ["DECODE_MTP_SIZE=1", "SYNTHETIC_ACCEPTANCE=true"]'), **NODES),
        master(
            nodes(1, "64", ', additional-settings: ["DECODE_MTP_SIZE=2"]', more=", router: { name: sglang-router, version: 0.3.2 }"),
            **NODES,
        ),
        [
            ("router", "Set the router to sglang-router 0.3.2.", "将路由设为 sglang-router 0.3.2。"),
            ("setting:decode-mtp-size", "Change DECODE_MTP_SIZE from 1 to 2.", "将 DECODE_MTP_SIZE 从 1 改为 2。"),
            ("setting:synthetic-acceptance", "Drop decode SYNTHETIC_ACCEPTANCE (was true).", "移除解码 SYNTHETIC_ACCEPTANCE（原为 true）。"),
        ],
    ),
    "a key that goes and one that comes": (
        f"{master(TP8)}\n{master(TP8, key='gone')}",
        f"{master(TP8)}\n{master(TP8, key='come', precision='fp8')}",
        [
            (
                "key-added@come",
                "Add come: agentic-coding of amd/GLM-5.2-MXFP4 in FP8 on MI355X (cluster:mi355x-amds) with ATOM, image "
                "rocm/atom-dev:nightly_202608201032.",
                "新增 come：amd/GLM-5.2-MXFP4（FP8）在 MI355X（cluster:mi355x-amds）上的 agentic-coding 基准测试，框架 ATOM，镜像 "
                "rocm/atom-dev:nightly_202608201032。",
            ),
            ("search-space@come", "come: sweep TP8 at C1 and C2.", "come：扫描 TP8：C1 和 C2。"),
            ("key-removed@gone", "Remove gone.", "移除 gone。"),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_kind_of_line(name: str, tmp_path: Path) -> None:
    before, after, wanted = CASES[name]
    lines = branch(tmp_path, before, after).lines()
    assert [(line.id, line.en, line.zh) for line in lines] == wanted
    for line in lines:
        assert not sentences_differ(line.en, line.zh), line


def test_a_search_space_more_and_one_less(tmp_path: Path) -> None:
    one = master("- { tp: 8, conc-list: [16] }", **FIXED)
    two = one + (
        "    - isl: 1024\n      osl: 1024\n      search-space:\n      - { tp: 4, conc-list: [4, 8] }\n"
        "      - { tp: 8, dp-attn: true, conc-list: [64] }\n"
    )
    added = branch(tmp_path / "added", one, two).lines()
    assert [line.en for line in added] == [
        "Add the 1k1k fixed-seq-len search space: TP4 at C4 and C8; TP8 with DP attention at C64.",
        "The 8k1k fixed-seq-len search space is unchanged.",
    ]
    dropped = branch(tmp_path / "dropped", two, one).lines()
    assert [line.zh for line in dropped] == [
        "移除 1k1k fixed-seq-len 搜索空间：TP4：C4 和 C8；带 DP attention 的 TP8：C64。",
        "8k1k fixed-seq-len 搜索空间保持不变。",
    ]


@pytest.mark.parametrize(
    ("flag", "english", "chinese"),
    [
        (("append-only", True), "Points are only added; every existing point stays as it was.", "仅新增点，已有的点保持不变。"),
        (("evals-only", True), "These keys run for their accuracy evals only.", "这些 config 仅运行精度评估。"),
        (("all-evals", True), "Every point gets an accuracy eval.", "每个点都运行精度评估。"),
        (("no-evals", True), "No accuracy eval runs for this change.", "此变更不运行精度评估。"),
        (("eval-min-prefill-ep", 8), "Set eval-min-prefill-ep to 8 for the accuracy evals.", "精度评估的 eval-min-prefill-ep 为 8。"),
    ],
)  # fmt: skip
def test_what_a_flag_promises(tmp_path: Path, flag: tuple[str, bool | int], english: str, chinese: str) -> None:
    found = branch(tmp_path, master(TP8), master(TP8.replace("[1, 2]", "[1, 2, 4]")))
    *_, line = derived_lines(found.change, found.figures, None, [flag])
    assert (line.id, line.en, line.zh) == (f"scope:{flag[0]}", english, chinese)
