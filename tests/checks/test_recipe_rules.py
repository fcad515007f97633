"""Config against recipe: variants, containers, concurrencies (C15), topologies, missing files, GPUs per node."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from small_checkout import RECIPE, e2e, entry, master, recipe, root, variant

from benchscribe.schema.results import Severity

ROW = f"- {{ tp: 4, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp, srt-recipe: {RECIPE} }}"
BOTH = recipe(variant("tp4_c1", 4, 1), variant("tp4_c2", 4, 2))
PATH = f"inferencex-e2e/{RECIPE}"


def e2e_branch(tmp_path: Path, before: tuple[str, str], after: tuple[str, str], told: str = "Retune.") -> Path:
    """(rows, recipe) before and after."""
    old = e2e(master(before[0]), more={RECIPE: before[1]})
    new = e2e(master(after[0]), entry(told), more={RECIPE: after[1]})
    return make_branch(tmp_path, old, new)


def test_one_variant_per_point_is_quiet(tmp_path: Path) -> None:
    wider = ROW.replace("[1, 2]", "[1, 2, 4]")
    path = e2e_branch(tmp_path, (ROW, BOTH), (wider, BOTH + "\n" + variant("tp4_c4", 4, 4)))
    assert findings(path, "recipe-variant") == []


def test_a_new_point_without_a_variant(tmp_path: Path) -> None:
    path = e2e_branch(tmp_path, (ROW, BOTH), (ROW.replace("[1, 2]", "[1, 2, 4]"), BOTH))
    (found,) = findings(path, "recipe-variant")
    assert (found.path, found.line, found.severity) == ("inferencex-e2e/configs/amd-master.yaml", 12, Severity.ERROR)
    assert found.message == f"no variant of {PATH} serves TP4 C4; exactly one must"
    assert "its CONC is 1, the point's 4" in found.hint


def test_two_variants_for_one_point(tmp_path: Path) -> None:
    path = e2e_branch(tmp_path, (ROW, BOTH), (ROW, BOTH + "\n" + variant("tp4_c2_again", 4, 2)))
    messages = [found.message for found in findings(path, "recipe-variant")]
    assert messages == [f"2 variants of {PATH} serve TP4 C2: override_tp4_c2, override_tp4_c2_again; exactly one must"]


def test_a_variant_whose_last_point_is_dropped_is_left_unused(tmp_path: Path) -> None:
    path = e2e_branch(tmp_path, (ROW, BOTH), (ROW.replace("[1, 2]", "[1]"), BOTH))
    (found,) = findings(path, "recipe-variant")
    assert (found.path, found.text) == (PATH, "override_tp4_c2")
    assert "no longer serves any point" in found.message
    assert BOTH.splitlines()[found.line - 1] == "override_tp4_c2:"


def test_a_variant_that_was_unused_before_is_an_old_debt(tmp_path: Path) -> None:
    spare = BOTH + "\n" + variant("tp8_c64", 8, 64)
    path = e2e_branch(
        tmp_path, (ROW, spare), (ROW, spare.replace("num-speculative-tokens: 3", "num-speculative-tokens: 2"))
    )
    assert findings(path, "recipe-variant") == []
    assert [one.text for one in findings(path, "recipe-variant", everything=True)] == ["override_tp8_c64"]


FLAT = """\
name: "r"
model:
  path: m
  container: {container}
resources: {{ gpu_type: b200, gpus_per_node: 8, prefill_nodes: 1, decode_nodes: 1, prefill_workers: 1, decode_workers: 1 }}
backend:
  type: vllm
  vllm_config:
    prefill: {{ tensor-parallel-size: 8 }}
    decode: {{ tensor-parallel-size: 1, data-parallel-size: 8, enable-expert-parallel: true{more} }}
benchmark:
  type: sa-bench
  concurrencies: "{concurrencies}"
"""
FLAT_PATH = "benchmarks/multi_node/srt-slurm-recipes/vllm/r.yaml"
MULTI = """\
- spec-decoding: none
  conc-list: [{conc}]
  prefill:
    num-worker: 1
    tp: 8
    ep: 1
    dp-attn: false
    additional-settings:
    - "CONFIG_FILE=recipes/vllm/r.yaml"
  decode: {{ num-worker: 1, tp: 8, ep: {ep}, dp-attn: true }}
"""


def flat_branch(
    tmp_path: Path,
    *,
    conc: str = "1536",
    ep: int = 8,
    container: str = "vllm/vllm-openai:v0.25.1",
    more: str = "",
    concurrencies: str = "1536",
) -> Path:
    kwargs = {
        "image": "vllm/vllm-openai:v0.25.1",
        "framework": "dynamo-vllm",
        "runner": "mi355x",
        "scenario": "fixed-seq-len",
        "multinode": True,
    }
    old = root(
        master("- { tp: 1, conc-list: [1] }", key="kept"),
        more={"benchmarks/multi_node/srt-slurm-recipes/vllm/kept.yaml": "name: k\n"},
    )
    config = master("- { tp: 1, conc-list: [1] }", key="kept") + master(MULTI.format(conc=conc, ep=ep), **kwargs)  # type: ignore[arg-type]
    text = FLAT.format(container=container, more=more, concurrencies=concurrencies)
    return make_branch(tmp_path, old, root(config, entry("Add it."), more={FLAT_PATH: text}))


RECIPE_RULES = (
    "recipe-container",
    "recipe-concurrency",
    "recipe-topology",
    "recipe-missing",
    "recipe-variant",
    "node-gpus",
)


def recipe_findings(path: Path) -> list[tuple[str, int, str]]:
    return [(one.rule, one.line, one.text) for one in findings(path) if one.rule in RECIPE_RULES]


def test_a_multi_node_row_that_agrees_is_quiet(tmp_path: Path) -> None:
    assert recipe_findings(flat_branch(tmp_path)) == []


def test_c15_label_and_run_differ(tmp_path: Path) -> None:
    path = flat_branch(tmp_path, conc="2048")
    (found,) = findings(path, "recipe-concurrency")
    assert found.message == f"the row's concurrency is 2048, but its recipe runs 1536 ({FLAT_PATH}:13:3)"
    assert (path / found.path).read_text().splitlines()[found.line - 1].strip() == "conc-list: [2048]"


def test_a_launchers_alias_is_not_judged_and_another_image_is(tmp_path: Path) -> None:
    assert findings(flat_branch(tmp_path / "a", container="vllm-container"), "recipe-container") == []
    assert (
        findings(flat_branch(tmp_path / "b", container="docker.io/vllm/vllm-openai:v0.25.1"), "recipe-container") == []
    )
    (found,) = findings(flat_branch(tmp_path / "c", container="vllm/vllm-openai:v0.24.0"), "recipe-container")
    assert (found.path, found.line, found.text) == (FLAT_PATH, 4, "vllm/vllm-openai:v0.24.0")
    assert found.fix is not None
    (change,) = found.fix.arguments["patch"]["changes"]
    assert change["recipes"] == [{"file": FLAT_PATH, "patch": {"model": {"container": "vllm/vllm-openai:v0.25.1"}}}]


@pytest.mark.parametrize(
    ("ep", "more", "words"), [(1, "", "ep is 1"), (8, ", decode-context-parallel-size: 4", "dcp-size is 1")]
)
def test_ep_and_dcp_of_a_block_and_its_recipe(tmp_path: Path, ep: int, more: str, words: str) -> None:
    (found,) = findings(flat_branch(tmp_path, ep=ep, more=more), "recipe-topology")
    assert found.message.startswith(f"decode of the row: {words}")


def test_a_missing_recipe_only_where_its_folder_is(tmp_path: Path) -> None:
    row = ROW.replace("agentic.yaml", "agentik.yaml")
    (found,) = findings(e2e_branch(tmp_path / "a", (ROW, BOTH), (row, BOTH)), "recipe-missing")
    assert found.severity is Severity.ERROR
    assert found.message.endswith("benchmarks/single_node/srt-slurm-recipes/agentik.yaml is not in the work tree")
    elsewhere = ROW.replace("srt-slurm-recipes/", "kept-elsewhere/")
    assert findings(e2e_branch(tmp_path / "b", (ROW, BOTH), (elsewhere, BOTH)), "recipe-missing") == []


def test_a_variant_that_the_file_does_not_have(tmp_path: Path) -> None:
    row = ROW.replace("agentic.yaml", "agentic.yaml:override_tp4_c3")
    (found,) = findings(e2e_branch(tmp_path, (ROW, BOTH), (row, BOTH)), "recipe-missing")
    assert "has no variant override_tp4_c3" in found.message


def test_a_missing_script_is_a_warning_and_only_where_scripts_are(tmp_path: Path) -> None:
    rows = "- { tp: 8, kv-offloading: none, conc-list: [1] }"
    folder = {"benchmarks/single_node/agentic/other.sh": "#!/usr/bin/env bash\n"}
    base = master(rows, key="kept", prefix="kept")
    path = make_branch(tmp_path / "a", root(base, more=folder), root(base + master(rows), entry("Add."), more=folder))
    (found,) = findings(path, "recipe-missing")
    assert found.severity is Severity.WARNING
    assert "neither glm5.2_fp4_mi355x_atom.sh nor glm5.2_fp4_mi355x.sh" in found.message
    assert (
        findings(make_branch(tmp_path / "b", root(base), root(base + master(rows), entry("Add."))), "recipe-missing")
        == []
    )


@pytest.mark.parametrize(("row", "count"), [("tp: 8, pp: 2", 1), ("tp: 8, dcp-size: 8", 0), ("tp: 4, pcp-size: 2", 0)])
def test_gpus_fit_the_node(tmp_path: Path, row: str, count: int) -> None:
    base = master("- { tp: 1, conc-list: [1] }", key="kept")
    new = root(base + master(f"- {{ {row}, kv-offloading: none, conc-list: [1] }}"), entry("Add."))
    found = findings(make_branch(tmp_path, root(base), new), "node-gpus")
    assert [one.message for one in found] == ["row TP8+PP2 takes 16 GPUs, a node has 8"][:count]
