"""Golden acceptance lengths by layout: root wants them, e2e never by hand (C04, C17)."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from small_checkout import RECIPE, e2e, entry, master, recipe, root, variant

SCRIPT_PATH = "benchmarks/single_node/agentic/glm5.2_fp4_mi355x_atom_mtp.sh"
HEAD = "#!/usr/bin/env bash\n"
SERVER = "python3 -m atom.entrypoints.openai_server --method mtp --num-speculative-tokens 3"
ROW = "- { tp: 4, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp }"
KEPT = master("- { tp: 1, conc-list: [1] }", key="kept")
FIGURE = "spec-decode-acceptance-length"


def root_branch(tmp_path: Path, script: str, **more: str) -> Path:
    config = KEPT + master(ROW, **more)  # type: ignore[arg-type]
    return make_branch(tmp_path, root(KEPT), root(config, entry("Add."), more={SCRIPT_PATH: HEAD + script}))


GUARDED = f'ACC=(--{FIGURE} 2.99)\nif [ "$EVAL_ONLY" = "true" ]; then ACC=(); fi\n{SERVER} "${{ACC[@]}}"\n'


def test_the_golden_length_for_throughput_only_is_quiet(tmp_path: Path) -> None:
    assert findings(root_branch(tmp_path, GUARDED), "golden-acceptance") == []


def test_the_rate_that_stands_for_it_is_quiet(tmp_path: Path) -> None:
    # (2.99 - 1) / 3 = 0.6633333333
    script = GUARDED.replace(f"{FIGURE} 2.99", "spec-decode-acceptance-rate 0.6633333333")
    assert findings(root_branch(tmp_path, script), "golden-acceptance") == []


@pytest.mark.parametrize(
    ("script", "message", "hint"),
    [
        (
            GUARDED.replace("2.99", "3.10"),
            f"{FIGURE} is 3.10, an AL of 3.1; the golden AL at 3 draft tokens is 2.99",
            "write 2.99",
        ),
        (
            f"{SERVER}\n",
            "the recipe speculates with 3 draft tokens but forces no acceptance length",
            f"write {FIGURE}: 2.99",
        ),
        (
            f"{SERVER} --{FIGURE} 2.99\n",
            f"{FIGURE} is forced where EVAL_ONLY is true as well",
            "leave it out where EVAL_ONLY is true",
        ),
        (
            GUARDED.replace("2.99", "4.20"),
            f"{FIGURE} 4.20 is an AL of 4.2, but 3 draft tokens accept 4 at most",
            "draft tokens + 1 = 4",
        ),
    ],
)
def test_wrong_missing_or_in_evals_too(tmp_path: Path, script: str, message: str, hint: str) -> None:
    (found,) = findings(root_branch(tmp_path, script), "golden-acceptance")
    assert message in found.message
    assert hint in found.hint
    assert found.path == SCRIPT_PATH


def test_without_a_curve_nothing_is_judged(tmp_path: Path) -> None:
    path = root_branch(tmp_path, GUARDED.replace("2.99", "3.10"), prefix="nocurve")
    assert findings(path, "golden-acceptance") == []


def test_a_depth_that_the_script_leaves_open_is_not_judged(tmp_path: Path) -> None:
    path = root_branch(tmp_path, f'{SERVER.replace(" 3", "")} "$DEPTH" --{FIGURE} 3.10\n')
    assert findings(path, "golden-acceptance") == []


MULTI = """\
- spec-decoding: mtp
  conc-list: [64]
  prefill:
    num-worker: 1
    tp: 8
    ep: 1
    dp-attn: false
    additional-settings:
    - "SYNTHETIC_ACCEPTANCE=true"
    - "SYNTHETIC_ACCEPTANCE_LENGTH=3.77"
  decode: { num-worker: 1, tp: 8, ep: 1, dp-attn: false }
"""


def test_c17_hand_written_settings_in_e2e_and_how_it_is_done_in_root(tmp_path: Path) -> None:
    rows = MULTI + MULTI.replace("[64]", "[128]").replace('    - "SYNTHETIC_ACCEPTANCE=true"\n', "")
    config = KEPT + master(rows, multinode=True, framework="dynamo-vllm")
    path = make_branch(tmp_path / "e2e", e2e(KEPT), e2e(config, entry("Add.")))
    found = findings(path, "golden-acceptance")
    assert [one.text for one in found] == [
        "SYNTHETIC_ACCEPTANCE=true",
        "SYNTHETIC_ACCEPTANCE_LENGTH=3.77",
        "SYNTHETIC_ACCEPTANCE_LENGTH=3.77",
    ]
    lines = (path / "inferencex-e2e/configs/amd-master.yaml").read_text().splitlines()
    assert [lines[one.line - 1].strip().strip('- "') for one in found] == [one.text for one in found]
    path = make_branch(tmp_path / "root", root(KEPT), root(config, entry("Add.")))
    assert findings(path, "golden-acceptance") == []


def test_e2e_recipes_and_launchers_write_none_by_hand(tmp_path: Path) -> None:
    row = f"- {{ tp: 4, kv-offloading: none, conc-list: [1], spec-decoding: mtp, srt-recipe: {RECIPE} }}"
    stated = recipe(variant("tp4_c1", 4, 1, args=f"num-speculative-tokens: 3\n{FIGURE}: 2.99"))
    launcher = {
        "runners/launch.sh": "#!/bin/bash\nexport SYNTHETIC_ACCEPTANCE_LENGTH=2.99\n# SYNTHETIC_ACCEPTANCE_LENGTH=1\necho $SYNTHETIC_ACCEPTANCE_LENGTH\n"
    }
    files = e2e(KEPT + master(row), entry("Add."), more={RECIPE: stated, **launcher})
    found = findings(make_branch(tmp_path / "a", e2e(KEPT), files), "golden-acceptance")
    assert [(one.path.rpartition("/")[2], one.line) for one in found] == [("agentic.yaml", 16), ("launch.sh", 2)]
    clean = e2e(KEPT + master(row), entry("Add."), more={RECIPE: recipe(variant("tp4_c1", 4, 1))})
    assert findings(make_branch(tmp_path / "b", e2e(KEPT), clean), "golden-acceptance") == []
