"""The specs of the shared folder on the real data: exact bytes, exact lines, exit codes (issue "Foundation")."""

from __future__ import annotations

from pathlib import Path

import pytest
from append_contract import added_entries, assert_appended
from upstream_checkout import benchscribe, changed_lines, contents, upstream

RECIPE = "inferencex-e2e/benchmarks/single_node/srt-slurm-recipes/glm5.2/atom/mi355x-fp4-mtp/agentic.yaml"
E2E_CONFIG = "inferencex-e2e/configs/amd-master.yaml"
E2E_CHANGELOG = "inferencex-e2e/perf-changelog.yaml"
AMD, NVIDIA, CHANGELOG = "configs/amd-master.yaml", "configs/nvidia-master.yaml", "perf-changelog.yaml"
NEW_ROUTER = "sha256:1bb1909a3f5d6c7e8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7"


@pytest.fixture
def e2e(shared: Path, tmp_path: Path) -> Path:
    return upstream(shared, "e2e", tmp_path / "e2e")


@pytest.fixture
def root(shared: Path, tmp_path: Path) -> Path:
    return upstream(shared, "root", tmp_path / "root")


def test_the_retune_gives_the_expected_bytes_and_an_entry_that_says_it_all(e2e: Path, shared: Path) -> None:
    before = contents(e2e)
    spec = shared / "specs" / "glm52-atom-retune.yaml"
    done = benchscribe(e2e, "--from-spec", spec, "--format", "json")
    assert done.code == 0, done.err
    after = contents(e2e)
    assert after[E2E_CONFIG] == (shared / "specs/expected/glm52-amd-master.yaml").read_bytes()
    assert after[RECIPE] == (shared / "specs/expected/glm52-agentic.yaml").read_bytes()
    assert {path for path in after if after[path] != before[path]} == {E2E_CONFIG, RECIPE, E2E_CHANGELOG}

    assert_appended(before[E2E_CHANGELOG], after[E2E_CHANGELOG])
    (entry,) = added_entries(before[E2E_CHANGELOG], after[E2E_CHANGELOG])
    assert entry["config-keys"] == ["glm5.2-fp4-mi355x-atom-agentic-mtp"]
    assert entry["scenario-type"] == ["agentic-coding"]
    assert entry["pr-link"].endswith("/pull/4308")
    prose = "\n".join(entry["description"])
    for fact in (
        "nightly_202609211553",
        "nightly_202610181506",
        NEW_ROUTER,
        "from 0.171 to 0.74",
        "1109 GB",
        "4 × 256 GiB = 1099.5 GB",
        "TP4 C1",
        "C16, C24, C32, C40 and C48",
        "golden AL 2.99",
        "golden AL 3.33",
        "ATOM_MONO_ENABLE=1",
        "0 at every other point",
        "ATOM_DCP_PREFILL_QREP=1",
        "PYTHONHASHSEED=0",
        "LMCACHE_MAX_LOCAL_CPU_SIZE=256",
        "the BF16 MTP layer 78 stays BF16",
    ):
        assert fact in prose

    (utilization,) = [one for one in done.json["derived"] if one["name"] == "dram-utilization"]
    assert utilization["value"] == 0.74
    assert utilization["reason"].startswith("1109 GB ≥ 4 × 256 GiB = 1099.5 GB")
    assert "0.73 gives 1094 GB" in utilization["reason"]

    again = benchscribe(e2e, "--from-spec", spec)
    assert again.code == 0
    assert "Nothing to do" in again.out
    assert contents(e2e) == after


def test_200_gib_in_place_of_256_needs_less(e2e: Path, shared: Path, tmp_path: Path) -> None:
    text = (shared / "specs" / "glm52-atom-retune.yaml").read_text()
    benchscribe(e2e, "--from-spec", shared / "specs" / "glm52-atom-retune.yaml")
    corrected = tmp_path / "corrected.yaml"
    corrected.write_text(text.replace("per-rank: 256 GiB", "per-rank: 200 GiB").replace("1109 GB", "869 GB"))
    before = contents(e2e)
    done = benchscribe(e2e, "--from-spec", corrected, "--format", "json")
    assert done.code == 0, done.err
    (utilization,) = [one for one in done.json["derived"] if one["name"] == "dram-utilization"]
    assert (utilization["value"], "869 GB" in utilization["reason"]) == (0.58, True)
    assert done.json["entry"].count("- config-keys:") == 1
    assert "from 0.171 to 0.58" in done.json["entry"], "the entry describes the whole branch, not the correction"
    after = contents(e2e)
    assert b"LMCACHE_MAX_LOCAL_CPU_SIZE: '200'" in after[RECIPE]
    removed, added = changed_lines(before[RECIPE], after[RECIPE])
    assert len(removed) == len(added) == 5


def test_the_image_bump_changes_one_line_and_appends_one_entry(root: Path, shared: Path) -> None:
    before = contents(root)
    done = benchscribe(root, "--from-spec", shared / "specs" / "qwen35-image-bump.yaml")
    assert done.code == 0, done.err
    after = contents(root)
    removed, added = changed_lines(before[AMD], after[AMD])
    assert removed == ["  image: lmsysorg/sglang-rocm:v0.5.17-rocm720-mi35x-20260818"]
    assert added == ["  image: lmsysorg/sglang-rocm:v0.5.18-rocm720-mi35x-20260825"]
    assert_appended(before[CHANGELOG], after[CHANGELOG])
    (entry,) = added_entries(before[CHANGELOG], after[CHANGELOG])
    assert entry["config-keys"] == ["qwen3.5-fp4-mi355x-sglang-agentic-mtp"]
    assert "v0.5.17-rocm720-mi35x-20260818" in entry["description"][0]
    assert "v0.5.18-rocm720-mi35x-20260825" in entry["description"][0]
    assert entry["pr-link"].endswith("/pull/XXX")
    assert {path for path in after if after[path] != before[path]} == {AMD, CHANGELOG}


def test_append_points_keeps_every_comment_and_puts_the_flag_last(root: Path, shared: Path) -> None:
    before = contents(root)
    done = benchscribe(root, "--from-spec", shared / "specs" / "dsv4-b300-append-points.yaml")
    assert done.code == 0, done.err
    after = contents(root)
    removed, added = changed_lines(before[NVIDIA], after[NVIDIA])
    assert removed == [
        "      - { tp: 8, kv-offloading: none, spec-decoding: mtp, conc-list: [1, 4] }",
        "      - { tp: 4, kv-offloading: none, spec-decoding: mtp, conc-list: [1, 2, 4, 6, 8] }",
    ]
    assert added == [
        "      - { tp: 8, kv-offloading: none, spec-decoding: mtp, conc-list: [1, 2, 4] }",
        "      - { tp: 4, kv-offloading: none, spec-decoding: mtp, conc-list: [1, 2, 4, 6, 8, 10] }",
    ]
    assert_appended(before[CHANGELOG], after[CHANGELOG])
    assert after[CHANGELOG].endswith(b"/pull/2750\n  append-only: true\n")


def test_a_new_key_stands_right_behind_its_sibling_in_the_siblings_layout(root: Path, shared: Path) -> None:
    before = contents(root)
    done = benchscribe(root, "--from-spec", shared / "specs" / "glm52-vllm-new-key.yaml", "--format", "json")
    assert done.code == 0, done.err
    after = contents(root)
    removed, added = changed_lines(before[AMD], after[AMD])
    assert removed == []
    assert added == [
        "glm5.2-fp4-mi355x-vllm-agentic-mtp:",
        "  image: vllm/vllm-openai-rocm:v0.24.1",
        "  model: amd/GLM-5.2-MXFP4",
        "  model-prefix: glm5.2",
        "  runner: cluster:mi355x-amds",
        "  precision: fp4",
        "  framework: vllm",
        "  multinode: false",
        "  scenarios:",
        "    agentic-coding:",
        "    - dram-utilization: 0.60",
        "      search-space:",
        '       - { tp: 4, kv-offloading: dram, kv-offload-backend: { name: lmcache, version: "0.4.5" }, '
        "conc-list: [4, 8, 16], spec-decoding: mtp }",
        "       - { tp: 8, kv-offloading: none, conc-list: [1, 2, 4], spec-decoding: mtp }",
        "",
    ]
    (info,) = done.json["findings"]
    assert (info["severity"], "glm5.2_fp4_mi355x_vllm_mtp.sh" in info["message"]) == ("info", True)
    assert_appended(before[CHANGELOG], after[CHANGELOG])


def test_the_broken_spec_writes_nothing_and_tells_all(e2e: Path, shared: Path) -> None:
    before = contents(e2e)
    done = benchscribe(e2e, "--from-spec", shared / "specs" / "broken.yaml", "--format", "json")
    assert done.code == 2
    assert contents(e2e) == before
    findings = {(one["line"], one["message"].split(":")[0]) for one in done.json["findings"]}
    assert len(findings) == 12
    (key,) = [one for one in done.json["findings"] if one["line"] == 5]
    assert "glm5.2-fp4-mi355x-atom-agentic-mtp" in key["hint"]
    assert all(one["path"].endswith("broken.yaml") and one["severity"] == "error" for one in done.json["findings"])


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        ("e2e", "glm52-atom-retune"),
        ("root", "qwen35-image-bump"),
        ("root", "dsv4-b300-append-points"),
        ("root", "glm52-vllm-new-key"),
    ],
)
def test_a_second_time_nothing_and_the_link_alone_with_pr(layout: str, name: str, shared: Path, tmp_path: Path) -> None:
    checkout = upstream(shared, layout, tmp_path / "checkout")
    spec = tmp_path / "spec.yaml"
    text = (shared / "specs" / f"{name}.yaml").read_text()
    spec.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith("pr:")))
    assert benchscribe(checkout, "--from-spec", spec).code == 0
    first = contents(checkout)
    again = benchscribe(checkout, "--from-spec", spec)
    assert (again.code, "Nothing to do" in again.out, contents(checkout)) == (0, True, first)

    assert benchscribe(checkout, "--from-spec", spec, "--pr", "4311").code == 0
    linked = contents(checkout)
    (changelog,) = [path for path in linked if linked[path] != first[path]]
    removed, added = changed_lines(first[changelog], linked[changelog])
    assert removed == ["  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/XXX"]
    assert added == ["  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/4311"]
    assert benchscribe(checkout, "--from-spec", spec).code == 0
    assert contents(checkout) == linked


def test_a_dry_run_writes_nothing_and_reads_the_spec_from_standard_input(root: Path, shared: Path) -> None:
    before = contents(root)
    text = (shared / "specs" / "qwen35-image-bump.yaml").read_text()
    done = benchscribe(root, "--from-spec", "-", "--dry-run", stdin=text)
    assert done.code == 0, done.err
    assert "+  image: lmsysorg/sglang-rocm:v0.5.18-rocm720-mi35x-20260825" in done.out
    assert contents(root) == before
