"""Mutable tags, foreign images and retired models: judged for what a branch adds."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from small_checkout import entry, master, root

ROW = "- { tp: 8, kv-offloading: none, conc-list: [1] }"
KEPT = master(ROW, key="kept", image="rocm/atom-dev:latest")


def with_image(tmp_path: Path, image: str, **more: str) -> Path:
    return make_branch(tmp_path, root(KEPT), root(KEPT + master(ROW, image=image, **more), entry("Add.")))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("image", "text"),
    [
        ("vllm/vllm-openai:latest", "latest"),
        ("vllm/vllm-openai", "vllm/vllm-openai"),
        ("vllm/vllm-openai:nightly", "nightly"),
        ("r", "r"),
        ("rocm/atom:rocm7-latest", "rocm7-latest"),
        ("vllm/vllm-openai:nightly-4080263bb2c5", ""),
        ("rocm/atom-dev:nightly_202608201032", ""),
        ("vllm/vllm-openai:latest@sha256:" + "a" * 64, ""),
        ("vllm/vllm-openai:v0.25.1", ""),
        ("vllm/vllm-openai:kimi-k3", ""),
    ],
)
def test_mutable_tags(tmp_path: Path, image: str, text: str) -> None:
    assert [one.text for one in findings(with_image(tmp_path, image), "mutable-tag")] == ([text] if text else [])


@pytest.mark.parametrize(
    ("framework", "runner", "image", "count"),
    [
        ("vllm", "mi355x", "rocm/vllm-dev:nightly_20260801", 1),
        ("vllm", "mi355x", "vllm/vllm-openai-rocm:v0.25.1", 0),
        ("sglang", "cluster:b300-nv", "lmsysorg/sglang:v0.5.16", 0),
        ("sglang", "cluster:b300-nv", "docker.io/lmsysorg/sglang:v0.5.16", 0),
        ("sglang", "cluster:b300-nv", "rocm/sgl-dev:v0.5.16", 1),
        ("atom", "mi355x", "rocm/atom-dev:nightly_20260801", 0),
        ("dynamo-vllm", "mi355x", "rocm/vllm-dev:nightly_20260801", 0),
        ("vllm", "newsku", "rocm/vllm-dev:nightly_20260801", 0),
    ],
)
def test_foreign_images(tmp_path: Path, framework: str, runner: str, image: str, count: int) -> None:
    assert len(findings(with_image(tmp_path, image, framework=framework, runner=runner), "foreign-image")) == count


def test_an_image_that_stays_is_an_old_debt(tmp_path: Path) -> None:
    path = make_branch(tmp_path, root(KEPT), root(KEPT.replace("[1]", "[1, 2]"), entry("More.", keys=("kept",))))
    assert findings(path, "mutable-tag") == []
    assert [one.text for one in findings(path, "mutable-tag", everything=True)] == ["latest"]


PAGE = """\
# Models

| model | prefix | state |
|---|---|---|
| GLM-5.2 | glm5.2 | live |
| Llama 3.3 70B | 70b | retired |

## Deprecated

- `kimik2`: nobody asks for it

| scenario | state |
|---|---|
| fixed-seq-len 8k1k | live |
| fixed-seq-len 1k1k | retired, but for MI300X |
"""
FIXED = {"scenario": "fixed-seq-len"}


def added(tmp_path: Path, config: str, page: str = PAGE) -> list[str]:
    more = {"MODELS.md": page} if page else {}
    path = make_branch(tmp_path, root(KEPT, more=more), root(KEPT + config, entry("Add.")))
    return [one.message for one in findings(path, "retired-model")]


def test_retired_models_by_table_and_by_heading(tmp_path: Path) -> None:
    assert added(tmp_path / "a", master(ROW, prefix="70b")) == ["model 70b is retired (MODELS.md:6)"]
    assert added(tmp_path / "b", master(ROW, prefix="kimik2")) == ["model kimik2 is retired (MODELS.md:10)"]
    assert added(tmp_path / "c", master(ROW, prefix="glm5.2")) == []
    assert added(tmp_path / "d", master(ROW, prefix="70b"), page="") == []


def test_retired_scenarios_with_their_exceptions(tmp_path: Path) -> None:
    short = master(ROW, **FIXED).replace("isl: 8192", "isl: 1024")  # type: ignore[arg-type]
    assert added(tmp_path / "a", short) == ["scenario 1k/1k is retired (MODELS.md:15)"]
    assert added(tmp_path / "b", short.replace("cluster:mi355x-amds", "mi300x")) == []
    assert added(tmp_path / "c", master(ROW, **FIXED)) == []  # type: ignore[arg-type]


def test_a_retired_model_that_is_there_already_is_an_old_debt(tmp_path: Path) -> None:
    old = master(ROW, prefix="70b")
    path = make_branch(
        tmp_path, root(old, more={"MODELS.md": PAGE}), root(old.replace("[1]", "[1, 2]"), entry("More."))
    )
    assert findings(path, "retired-model") == []
