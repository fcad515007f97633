"""Changed bash recipes as changelog lines: flags, exports, variables, per concurrency; what is not known is not told."""

from __future__ import annotations

from pathlib import Path

import pytest
from prose_facts import sentences_differ, settings
from small_checkout import master, root
from upstream_checkout import git

from benchscribe.checkout.checkout import Checkout
from benchscribe.plan.branch import Branch, read_branch
from benchscribe.plan.specifying import specify
from benchscribe.plan.values import derived_values

FOLDER = "benchmarks/single_node/agentic"
SCRIPT = f"{FOLDER}/glm5.2_fp4_mi355x_vllm_mtp.sh"
ROWS = """\
- { tp: 4, kv-offloading: none, conc-list: [1, 2, 32], spec-decoding: mtp }
- { tp: 8, kv-offloading: none, conc-list: [4, 8], spec-decoding: mtp }
"""
CONFIG = master(ROWS, key="glm5.2-fp4-mi355x-vllm-agentic-mtp", framework="vllm", image="vllm/vllm-openai-rocm:v0.24.1")
BASE = """\
#!/usr/bin/env bash
set -euo pipefail
source "$(dirname "$0")/../../benchmark_lib.sh"
check_env_vars MODEL TP CONC RESULT_DIR TOTAL_CPU_DRAM_GB

SERVER_LOG=/workspace/server.log
export VLLM_ROCM_USE_AITER=1
DRAFTS=3
MAX_NUM_SEQS=$((CONC * 2))
SPECULATION="{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": $DRAFTS}"

vllm serve "$MODEL" --port "$PORT" \\
  --tensor-parallel-size "$TP" \\
  --max-num-seqs "$MAX_NUM_SEQS" \\
  --max-num-batched-tokens 8192 \\
  --gpu-memory-utilization 0.90 \\
  --speculative-config "$SPECULATION" \\
  > "$SERVER_LOG" 2>&1 &
"""


def change(tmp_path: Path, *replaced: tuple[str, str], base: str = BASE, config: str = CONFIG, **more: str) -> Branch:
    """A branch on which parts of the script read differently; `more` are further files of the branch."""
    directory = tmp_path / "checkout"
    write(directory, root(config) | {SCRIPT: base})
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", "base")
    git(directory, "checkout", "-qb", "work")
    text = base
    for old, new in replaced:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    write(directory, {SCRIPT: text, **more})
    return read_branch(Checkout.open(directory))


def write(directory: Path, files: dict[str, str | bytes] | dict[str, str]) -> None:
    for path, data in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(data if isinstance(data, str) else data.decode())


def told(branch: Branch) -> list[str]:
    lines = branch.lines()
    for line in lines:
        assert not sentences_differ(line.en, line.zh), (line.en, line.zh)
    return [line.en for line in lines]


def test_a_flag_that_changed_for_every_point(tmp_path: Path) -> None:
    branch = change(tmp_path, ("--max-num-batched-tokens 8192", "--max-num-batched-tokens 16384"))
    assert told(branch) == ["Change --max-num-batched-tokens from 8K to 16K at every point."]


def test_a_flag_that_changed_for_one_concurrency(tmp_path: Path) -> None:
    case = 'case "$CONC" in\n  32) UTILIZATION=0.85 ;;\n  *) UTILIZATION=0.90 ;;\nesac\n\nvllm serve'
    branch = change(
        tmp_path,
        ("vllm serve", case),
        ("--gpu-memory-utilization 0.90", '--gpu-memory-utilization "$UTILIZATION"'),
    )
    # The new variable only carries what the flag says.
    assert told(branch) == ["Change --gpu-memory-utilization from 0.90 to 0.85 at TP4 C32."]


def test_an_export_more_and_one_less(tmp_path: Path) -> None:
    branch = change(tmp_path, ("export VLLM_ROCM_USE_AITER=1", "export VLLM_USE_V2=1\nexport HSA_NO_SCRATCH_RECLAIM=1"))
    assert told(branch) == [
        "Set VLLM_USE_V2=1 and HSA_NO_SCRATCH_RECLAIM=1; drop VLLM_ROCM_USE_AITER (was 1) at every point."
    ]


def test_draft_tokens_with_their_golden_length(tmp_path: Path) -> None:
    # GLM-5.2 MTP: 3 → 2.99, 4 → 3.33 (FACTS §5).
    branch = change(tmp_path, ("DRAFTS=3", 'DRAFTS=3\nif [ "$CONC" -ge 32 ]; then\n  DRAFTS=4\nfi'))
    lines = told(branch)
    assert lines[0] == "Change draft tokens from 3 to 4 (golden AL 3.33) at TP4 C32."
    assert not any("SPECULATION" in line and "num_speculative" in line for line in lines)


def test_the_golden_length_is_a_derived_value_too(tmp_path: Path) -> None:
    branch = change(tmp_path, ("DRAFTS=3", "DRAFTS=5"))
    values = {one.name: one.value for one in derived_values(branch.change, branch.checkout.after, ())}
    assert [str(value) for value in values["golden AL at 5 draft tokens"]] == ["3.61"]


def test_no_arm_is_called_unchanged_when_its_script_changed(tmp_path: Path) -> None:
    branch = change(tmp_path, ("DRAFTS=3", 'DRAFTS=3\nif [ "$TP" = 4 ]; then DRAFTS=4; fi'))
    assert told(branch) == ["Change draft tokens from 3 to 4 (golden AL 3.33) on the TP4 arm."]


def test_admission_by_arithmetic_is_told_as_a_multiple(tmp_path: Path) -> None:
    branch = change(tmp_path, ("CONC * 2", "CONC * 4"))
    assert told(branch) == ["Change --max-num-seqs from 2× the concurrency to 4× at every point."]


def test_a_switch_and_a_flag_dropped(tmp_path: Path) -> None:
    branch = change(tmp_path, ("--gpu-memory-utilization 0.90", "--enable-prefix-caching"))
    assert told(branch) == ["Add --enable-prefix-caching; drop --gpu-memory-utilization (was 0.90) at every point."]


def test_a_renamed_variable_that_only_feeds_a_flag_changes_nothing_else(tmp_path: Path) -> None:
    branch = change(
        tmp_path,
        ("MAX_NUM_SEQS=$((", "ADMISSION=$(("),
        ('--max-num-seqs "$MAX_NUM_SEQS"', '--max-num-seqs "$ADMISSION"'),
    )
    assert told(branch) == []


def test_a_renamed_variable_of_its_own(tmp_path: Path) -> None:
    branch = change(
        tmp_path, ("SERVER_LOG=/workspace/server.log", "LOG=/workspace/server.log"), ("$SERVER_LOG", "$LOG")
    )
    assert told(branch) == [
        "Set LOG=/workspace/server.log; drop SERVER_LOG (was /workspace/server.log) at every point."
    ]


def test_one_value_in_place_of_several(tmp_path: Path) -> None:
    base = BASE.replace("DRAFTS=3", 'case "$CONC" in\n  1|2) DRAFTS=5 ;;\n  32) DRAFTS=1 ;;\n  *) DRAFTS=3 ;;\nesac')
    branch = change(tmp_path, ("DRAFTS=5 ;;", "DRAFTS=3 ;;"), ("DRAFTS=1 ;;", "DRAFTS=3 ;;"), base=base)
    assert told(branch) == [
        "Set draft tokens to 3 (golden AL 2.99) on the TP4 arm (TP4 C1 and C2 were 5; TP4 C32 was 1).",
    ]


@pytest.mark.parametrize(
    "replaced",
    [
        [("--gpu-memory-utilization 0.90", '--gpu-memory-utilization "$(utilization_for "$MODEL")"')],
        [("--gpu-memory-utilization 0.90", '--gpu-memory-utilization "$UTILIZATION"')],
        # A JSON value known on one side and not on the other: nothing that stands in it is known to differ.
        [('num_speculative_tokens\\": $DRAFTS', 'num_speculative_tokens\\": $(drafts)')],
        [("export VLLM_ROCM_USE_AITER=1", "export VLLM_ROCM_USE_AITER=$(nproc)")],
        # The script does not say any more which server starts with what.
        [("vllm serve", 'launch "$MODEL"; start'), ("source ", "server_function\nsource ")],
    ],
)
def test_a_value_unknown_on_one_side_says_nothing(tmp_path: Path, replaced: list[tuple[str, str]]) -> None:
    lines = told(change(tmp_path, *replaced))
    for line in lines:
        for name in ("gpu-memory", "speculative", "draft", "AITER", "max-num-seqs", "batched"):
            assert name not in line


def test_comments_and_layout_are_no_news(tmp_path: Path) -> None:
    branch = change(tmp_path, ("DRAFTS=3", "# three drafts\nDRAFTS=3   # as the curve has it"))
    assert told(branch) == [] and branch.change.keys == ()


def test_a_new_script_with_a_new_key(tmp_path: Path) -> None:
    new = master(ROWS, key="glm5.2-fp4-mi355x-sglang-agentic-mtp", framework="sglang", image="lmsysorg/sglang:v0.5.18")
    script = f"{FOLDER}/glm5.2_fp4_mi355x_sglang_mtp.sh"
    text = (
        'python3 -m sglang.launch_server --model-path "$MODEL" --tp "$TP" --speculative-algorithm EAGLE '
        "--speculative-num-steps 3 --speculative-num-draft-tokens 4 --max-running-requests 64\n"
    )
    branch = change(tmp_path, **{"configs/amd-master.yaml": f"{CONFIG}\n{new}", script: text})
    assert told(branch) == [
        "Add glm5.2-fp4-mi355x-sglang-agentic-mtp: agentic-coding of amd/GLM-5.2-MXFP4 in FP4 on MI355X "
        "(cluster:mi355x-amds) with SGLang, speculative decoding (mtp), image lmsysorg/sglang:v0.5.18.",
        "Sweep TP4 at C1, C2 and C32; TP8 at C4 and C8.",
        "Set draft tokens to 3 (golden AL 2.99).",
        "Set --speculative-algorithm to EAGLE.",
        f"Add the recipe {script}.",
    ]


def test_every_setting_of_a_line_is_found_again_in_the_script(tmp_path: Path) -> None:
    replaced = (
        ("export VLLM_ROCM_USE_AITER=1", "export VLLM_ROCM_USE_AITER=0\nexport PYTHONHASHSEED=0"),
        ("--max-num-batched-tokens 8192", "--max-num-batched-tokens 32768 --block-size 16"),
        ("SERVER_LOG=/workspace/server.log", "SERVER_LOG=/workspace/vllm.log"),
    )
    lines = told(change(tmp_path, *replaced))
    assert sorted(fact for line in lines for fact in settings(line)) == sorted(
        [
            ("VLLM_ROCM_USE_AITER", "1", "0"),
            ("PYTHONHASHSEED", None, "0"),
            ("--max-num-batched-tokens", "8K", "32K"),
            ("--block-size", None, "16"),
            ("SERVER_LOG", "/workspace/server.log", "/workspace/vllm.log"),
        ],
        key=str,
    )


def test_the_spec_of_a_script_change_leaves_the_script_and_says_so(tmp_path: Path) -> None:
    text, left = specify(change(tmp_path, ("DRAFTS=3", "DRAFTS=4")))
    assert left == (SCRIPT,)
    assert text.startswith(f"# Not in this spec, left as it is: {SCRIPT}\n")


def test_a_value_of_several_lines_takes_one(tmp_path: Path) -> None:
    branch = change(tmp_path, ("DRAFTS=3", 'DRAFTS=3\nexport PROMPT="one\ntwo"\nexport LONG="' + "word " * 200 + '"'))
    (line,) = told(branch)
    assert "PROMPT=one two" in line and "\n" not in line and len(line) < 400
