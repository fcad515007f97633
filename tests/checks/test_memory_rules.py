"""Host memory: tiers against budgets both ways, units, and C05, C16. Figures by hand from FACTS §4."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from small_checkout import RECIPE, e2e, entry, master, recipe, root, variant

from benchscribe.schema.results import Severity

ROW = (
    "- { tp: TP, kv-offloading: dram, kv-offload-backend: { name: lmcache }, conc-list: [16], "
    f"spec-decoding: mtp, srt-recipe: {RECIPE} }}"
)


def lmcache_branch(
    tmp_path: Path, utilization: str, env: str = "LMCACHE_MAX_LOCAL_CPU_SIZE: '256'", tps: tuple[int, ...] = (4,)
) -> Path:
    rows = "\n".join(ROW.replace("TP", str(tp)) for tp in tps)
    text = recipe(*(variant(f"tp{tp}_c16", tp, 16, env=env, dram=True) for tp in tps))
    base = master("- { tp: 1, conc-list: [1] }", key="kept")
    files = e2e(base + master(rows, utilization=utilization), entry("Add."), more={RECIPE: text})
    return make_branch(tmp_path, e2e(base), files)


def test_c05_short_by_far_and_the_utilization_that_covers(tmp_path: Path) -> None:
    (found,) = findings(lmcache_branch(tmp_path, "0.171"), "dram-budget")
    assert found.severity is Severity.ERROR
    # 2861022 MiB × 2^20 × 0.171 × 4/8 / 10^9 = 256.5 → 256 GB
    assert "takes 4 × 256 GiB = 1099.5 GB" in found.message
    assert "leaves a budget of 256 GB" in found.message
    assert found.hint.startswith("dram-utilization: 0.74 covers it")
    assert found.text == "0.171"
    assert found.fix is not None
    (change,) = found.fix.arguments["patch"]["changes"]
    assert change == {"config-key": "key", "scenarios": {"agentic-coding": {"dram-utilization": 0.74}}}


@pytest.mark.parametrize("utilization", ["0.74", "0.80", "1"])
def test_a_budget_that_covers_is_quiet(tmp_path: Path, utilization: str) -> None:
    path = lmcache_branch(tmp_path, utilization)
    assert findings(path, "dram-budget") == findings(path, "dram-oversize") == []


def test_more_than_half_too_much_is_a_warning(tmp_path: Path) -> None:
    # TP4 at 0.80: 1199 GB; 4 × 64 GiB = 274.9 GB.
    (found,) = findings(lmcache_branch(tmp_path, "0.80", "LMCACHE_MAX_LOCAL_CPU_SIZE: '64'"), "dram-oversize")
    assert found.severity is Severity.WARNING
    assert "4.4 times its tier of 4 × 64 GiB = 274.9 GB" in found.message
    assert found.hint.startswith("dram-utilization: 0.19 is enough")


def test_rows_that_share_a_utilization_are_judged_together(tmp_path: Path) -> None:
    # TP8 needs 2199 GB of 2399; TP2 then has 599 GB for 549.8 GB. Nothing is too much.
    assert findings(lmcache_branch(tmp_path, "0.80", tps=(8, 2)), "dram-oversize") == []


def test_c16_fixed_per_rank_under_a_small_budget(tmp_path: Path) -> None:
    found = findings(lmcache_branch(tmp_path, "0.20", tps=(2, 4)), "dram-budget")
    assert [one.message.partition(":")[0] for one in found] == ["row TP2", "row TP4"]
    assert "a budget of 149 GB: 3.69 times" in found[0].message
    assert "a budget of 299 GB: 3.68 times" in found[1].message
    assert all("dram-utilization: 0.74 covers it" in one.hint for one in found)


SCRIPT_ROW = "- { tp: 2, kv-offloading: dram, kv-offload-backend: { name: lmcache }, conc-list: [16] }"


def script_branch(tmp_path: Path, line: str, tp: int = 2, utilization: str = "0.20") -> Path:
    script = f'#!/usr/bin/env bash\ncheck_env_vars TP CONC TOTAL_CPU_DRAM_GB\n{line}\npython3 -m atom.entrypoints.openai_server -tp "$TP"\n'
    path = "benchmarks/single_node/agentic/glm5.2_fp4_mi355x_atom.sh"
    base = master("- { tp: 1, conc-list: [1] }", key="kept")
    config = base + master(SCRIPT_ROW.replace("tp: 2", f"tp: {tp}"), utilization=utilization)
    return make_branch(tmp_path, root(base), root(config, entry("Add."), more={path: script}))


def test_c16_a_script_fixes_a_size_and_never_reads_the_budget_it_requires(tmp_path: Path) -> None:
    (found,) = findings(script_branch(tmp_path, "export LMCACHE_L1_SIZE_GB=200"), "dram-budget")
    assert "takes 200 GB (benchmarks/single_node/agentic/glm5.2_fp4_mi355x_atom.sh:3)" in found.message
    assert "a budget of 149 GB" in found.message
    assert found.message.endswith("the script requires TOTAL_CPU_DRAM_GB but never reads it")
    assert "0.27 covers it" in found.hint


def test_gb_taken_for_gib(tmp_path: Path) -> None:
    # 599 GB at TP4 and 0.40: 149 GB per rank, written as 149 GiB: 640 GB.
    line = "export LMCACHE_MAX_LOCAL_CPU_SIZE=$((TOTAL_CPU_DRAM_GB / TP))"
    (found,) = findings(script_branch(tmp_path, line, tp=4, utilization="0.40"), "dram-budget")
    assert "GB are taken for GiB" in found.message
    assert "the budget's share is 139 GiB" in found.message
    assert found.fix is None


def test_every_rank_takes_the_whole_budget(tmp_path: Path) -> None:
    line = 'export LMCACHE_MAX_LOCAL_CPU_SIZE="$TOTAL_CPU_DRAM_GB"'
    (found,) = findings(script_branch(tmp_path, line, tp=4), "dram-budget")
    assert "each of the 4 ranks takes the whole budget" in found.message


def test_a_share_of_the_budget_in_its_own_unit_is_quiet(tmp_path: Path) -> None:
    for number, line in enumerate(
        (
            "export LMCACHE_MAX_LOCAL_CPU_SIZE=$((TOTAL_CPU_DRAM_GB * 93 / 100 / TP))",
            'export LMCACHE_L1_SIZE_GB="$TOTAL_CPU_DRAM_GB"',
            "export LMCACHE_L1_SIZE_GB=$(compute_it)",
        )
    ):
        path = script_branch(tmp_path / str(number), line, tp=4)
        assert findings(path, "dram-budget") == findings(path, "dram-oversize") == []


def test_a_yaml_recipe_may_take_the_whole_budget_per_rank_too(tmp_path: Path) -> None:
    path = lmcache_branch(tmp_path, "0.5", "LMCACHE_MAX_LOCAL_CPU_SIZE: '${TOTAL_CPU_DRAM_GB}'")
    (found,) = findings(path, "dram-budget")
    assert "each of the 4 ranks takes the whole budget" in found.message


def test_a_lower_bound_says_that_it_is_one(tmp_path: Path) -> None:
    text = (
        "base:\n  schema: 2\n  engine: sglang\n  roles:\n    agg:\n      nodes: 1\n      args:\n        hicache-size: 128\n"
        "override_tp8_c16:\n  roles:\n    agg:\n      gpus: 8\n  benchmark:\n    env:\n      CONC: '16'\n      KV_OFFLOADING: dram\n"
    )
    row = f"- {{ tp: 8, kv-offloading: dram, kv-offload-backend: {{ name: hicache }}, conc-list: [16], srt-recipe: {RECIPE} }}"
    base = master("- { tp: 1, conc-list: [1] }", key="kept")
    for utilization, short in (("0.30", True), ("0.95", False)):
        files = e2e(base + master(row, utilization=utilization, framework="sglang"), entry("Add."), more={RECIPE: text})
        path = make_branch(tmp_path / utilization, e2e(base), files)
        found = findings(path, "dram-budget")
        assert bool(found) is short
        assert all("at least 8 × 128 GB = 1024 GB (a lower bound" in one.message for one in found)
        assert findings(path, "dram-oversize") == []


def test_an_untouched_debt_is_not_the_branchs(tmp_path: Path) -> None:
    path = lmcache_branch(tmp_path, "0.171")
    import subprocess

    subprocess.run(["git", "add", "-A"], cwd=path, check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"], cwd=path, check=True)
    subprocess.run(["git", "branch", "-f", "main"], cwd=path, check=True)
    config = path / "inferencex-e2e/configs/amd-master.yaml"
    config.write_text(config.read_text().replace("nightly_202608201032", "nightly_202609010000"))
    assert findings(path, "dram-budget") == []
    assert len(findings(path, "dram-budget", everything=True)) == 1
