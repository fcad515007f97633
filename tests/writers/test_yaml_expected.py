"""The retune of specs/glm52-atom-retune.yaml on the real files, byte for byte."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

from benchscribe.checkout.blocks import find_block
from benchscribe.schema.yaml_text import load
from benchscribe.writers.yaml_blocks import insert_block_after, insert_block_before, render_block, replace_block
from benchscribe.writers.yaml_comments import put_comment, put_comments
from benchscribe.writers.yaml_edit import rewrite

KEY = "glm5.2-fp4-mi355x-atom-agentic-mtp"
RECIPE = "benchmarks/single_node/srt-slurm-recipes/glm5.2/atom/mi355x-fp4-mtp/agentic.yaml"
DIGEST = "1bb1909a3f5d6c7e8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7"


def test_master_config_equals_the_expected_bytes(shared: Path) -> None:
    project = shared / "upstream/e2e/inferencex-e2e"
    text = (project / "configs/amd-master.yaml").read_text()
    spec = load((shared / "specs/glm52-atom-retune.yaml").read_text())["changes"][0]
    block = find_block(text, KEY)
    assert block is not None
    lines = text[block.start : block.end]
    wanted = deepcopy(load(lines))
    wanted[KEY]["image"] = spec["set"]["image"]
    item = wanted[KEY]["scenarios"]["agentic-coding"][0]
    item["dram-utilization"] = 0.74
    recipe = item["search-space"][0]["srt-recipe"]
    rows = spec["scenarios"]["agentic-coding"]["search-space"]
    for row in rows:
        row["srt-recipe"] = recipe
    item["search-space"] = rows

    lines = rewrite(lines, wanted)
    place = (KEY, "scenarios", "agentic-coding", 0, "dram-utilization")
    lines = put_comment(lines, place, "1109 GB, for four ranks of 256 GiB each.")
    result = put_comment(replace_block(text, KEY, lines), (KEY,), None)

    assert result == (shared / "specs/expected/glm52-amd-master.yaml").read_text()


def _variant(conc: int, admission: int, sizes: str, drafts: int, env: dict[str, str]) -> dict[str, Any]:
    args = {"max-num-seqs": admission, "cudagraph-capture-sizes": sizes, "num-speculative-tokens": drafts}
    return {
        "roles": {"agg": {"gpus": 4, "args": args, "env": env}},
        "benchmark": {"env": {"CONC": str(conc)}},
    }


def test_recipe_equals_the_expected_bytes(shared: Path) -> None:
    text = (shared / "upstream/e2e/inferencex-e2e" / RECIPE).read_text()
    args = load((shared / "specs/glm52-atom-retune.yaml").read_text())["changes"][0]["recipe"]["points"][1]["args"]
    wanted = deepcopy(load(text))
    wanted["base"]["frontend"]["container_image"] = f"rocm/atom-dev@sha256:{DIGEST}"
    wanted["base"]["roles"]["agg"]["env"]["ATOM_MONO_ENABLE"] = "0"
    variant = wanted["override_tp4_c2"]["roles"]["agg"]
    variant["args"] |= {"max-num-seqs": 2, "cudagraph-capture-sizes": "[1,2]", "num-speculative-tokens": 3}
    variant["env"] = {"ATOM_MONO_ENABLE": "1"}

    text = rewrite(text, wanted)
    text = put_comments(text, {(): None, ("override_tp4_c2",): None})
    mono = _variant(1, 1, "[1]", 3, {"ATOM_MONO_ENABLE": "1"})
    text = insert_block_before(text, "override_tp4_c2", render_block("override_tp4_c1", mono, like=text))
    before = "override_tp4_c10"
    for conc, drafts in ((16, 4), (24, 4), (32, 4), (40, 4), (48, 3)):
        sizes = ",".join(str(size) for size in (1, 2, *range(4, 2 * conc + 1, 4)))
        env = {"LMCACHE_MAX_LOCAL_CPU_SIZE": "256", "ATOM_DCP_PREFILL_QREP": "1", "PYTHONHASHSEED": "0"}
        point = _variant(conc, 2 * conc, f"[{sizes}]", drafts, env)
        point["roles"]["agg"]["args"] |= {"decode-context-parallel-size": 4, **args}
        point["benchmark"]["env"]["KV_OFFLOADING"] = "dram"
        name = f"override_tp4_dcp4_c{conc}"
        text = insert_block_after(text, before, render_block(name, point, like=text))
        before = name

    assert text == (shared / "specs/expected/glm52-agentic.yaml").read_text()


def test_a_new_key_stands_behind_its_sibling_in_the_siblings_layout(shared: Path) -> None:
    """SPEC "Rows, variants, bytes": a copy without comments adds its 14 lines and one empty line."""
    from benchscribe.writers.yaml_blocks import rename_block, without_comments

    text = (shared / "upstream/root/configs/amd-master.yaml").read_text()
    block = find_block(text, KEY)
    assert block is not None
    new = "glm5.2-fp4-mi355x-vllm-agentic-mtp"
    copy = without_comments(rename_block(text[block.start : block.end], new))
    wanted = deepcopy(load(copy))
    spec = load((shared / "specs/glm52-vllm-new-key.yaml").read_text())["changes"][0]
    wanted[new] |= spec["set"]
    item = wanted[new]["scenarios"]["agentic-coding"][0]
    item |= spec["scenarios"]["agentic-coding"]
    copy = rewrite(copy, wanted)
    assert "#" not in copy
    assert copy.splitlines()[-4:] == [
        "    - dram-utilization: 0.60",
        "      search-space:",
        '       - { tp: 4, kv-offloading: dram, kv-offload-backend: { name: lmcache, version: "0.4.5" },'
        " conc-list: [4, 8, 16], spec-decoding: mtp }",
        "       - { tp: 8, kv-offloading: none, conc-list: [1, 2, 4], spec-decoding: mtp }",
    ]
    result = insert_block_after(text, KEY, copy)
    assert len(result.splitlines()) == len(text.splitlines()) + 15
    assert result[: block.end] == text[: block.end]
    assert result.endswith(text[block.end :])
    assert result[block.end :].startswith(f"\n{new}:\n  image: vllm/vllm-openai-rocm:v0.24.1\n")
