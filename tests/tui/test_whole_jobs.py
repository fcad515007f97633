"""Whole jobs from Home to Done by keys alone; the bytes on disk are the answer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from keyboard import files_of, run

from benchscribe.commands import from_spec
from benchscribe.tui.model import SpecModel

CONTAINER = "rocm/atom-dev@sha256:1bb1909a3f5d6c7e8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7"
RECIPE = "inferencex-e2e/benchmarks/single_node/srt-slurm-recipes/glm5.2/atom/mi355x-fp4-mtp/agentic.yaml"


async def retune(hands: Any) -> None:
    """The GLM-5.2 retune from its description in prose, up to the review."""
    await hands.press("c")
    await hands.type("glm atom")
    await hands.press("enter")
    await hands.until(lambda: hands.step == "edit")
    await hands.press("f")
    await hands.type("rocm/atom-dev:nightly_202610181506")
    # TP4: C1 added.
    await hands.press("f3", "enter")
    await hands.type("1 2 4 8 10")
    await hands.press("enter")
    # The DCP4 arm with its tier.
    await hands.press("a")
    await hands.type("16-48/8")
    await hands.press("tab", "tab")
    await hands.type("4")
    await hands.press("tab", "enter", "down", "enter", "tab")
    await hands.type("lmcache 0.5.6.dev139+gf22dec28")
    await hands.press("tab")
    await hands.type("256 GiB per rank")
    await hands.press("escape", "shift+tab")
    await hands.type("auto")
    await overrides(hands)
    await comments(hands)
    await hands.press("ctrl+s")
    await hands.until(lambda: hands.step == "changelog")
    await hands.press("n", "a")
    await hands.type("Draft data types are unchanged: the BF16 MTP layer 78 stays BF16.")
    await hands.press("enter")
    await hands.type("Draft 数据类型不变：BF16 的 MTP 第 78 层保持 BF16。")
    await hands.press("enter", "p")
    await hands.type("4308")


async def overrides(hands: Any) -> None:
    """Base's environment and router image, then what TP4 C1 C2 and the DCP4 arm run with."""
    await hands.press("f3", "enter")
    await hands.type("ATOM_MONO_ENABLE=0")
    await hands.press("tab", "tab", "tab")
    await hands.type(f"frontend:\n  container_image: {CONTAINER}")
    await hands.press("escape", "down", "enter", "tab")
    await hands.type("4")
    await hands.press("tab")
    await hands.type("2x")
    await hands.press("tab")
    await hands.type("auto")
    await hands.press("tab", "tab")
    await hands.type("ATOM_DCP_PREFILL_QREP=1\nPYTHONHASHSEED=0")
    await hands.press("tab")
    await hands.type("extra-kv-connectors:\n  - { kv_connector: lmcache_offload, kv_role: offload }")
    await hands.press("escape", "a")
    # The new rule is about the last row, TP8; the arm is chosen anew: TP4.
    await hands.press("shift+tab", "enter", "up", "enter", "tab")
    await hands.type("1 2")
    await hands.press("tab")
    await hands.type("3")
    await hands.press("tab")
    await hands.type("1x")
    await hands.press("tab")
    await hands.type("auto")
    await hands.press("tab", "tab")
    await hands.type("ATOM_MONO_ENABLE=1")
    await hands.press("escape", "a")
    await hands.press("shift+tab", "enter", "down", "enter", "tab")
    await hands.type("48")
    await hands.press("tab")
    await hands.type("3")
    await hands.press("escape")


async def comments(hands: Any) -> None:
    """Stale comments dropped; the one about the utilization rewritten."""
    await hands.press("f3", "d", "down", "enter")
    await hands.type("1109 GB, for four ranks of 256 GiB each.")
    await hands.press("escape", "down", "d", "down", "down", "d")


def test_the_retune_by_keys_ends_in_the_bytes_of_its_spec(real_world: Any, capsys: Any) -> None:
    root, shared = real_world.upstream("e2e"), real_world.shared

    async def story() -> None:
        async with real_world.open(root) as hands:
            await retune(hands)
            await hands.press("ctrl+s")
            await hands.until(lambda: hands.step == "review")
            await hands.planned()
            await hands.press_write()
            await hands.until(lambda: hands.step == "done")

    run(story())
    expected = shared / "specs" / "expected"
    assert (root / RECIPE).read_bytes() == (expected / "glm52-agentic.yaml").read_bytes()
    master = root / "inferencex-e2e/configs/amd-master.yaml"
    assert master.read_bytes() == (expected / "glm52-amd-master.yaml").read_bytes()
    # Title aside (it stands in no file), the same spec from its file finds nothing left to do.
    assert (
        from_spec.run(
            str(shared / "specs/glm52-atom-retune.yaml"), root, base="", number=None, dry_run=True, output_format="text"
        )
        == 0
    )
    assert "Nothing to do" in capsys.readouterr().out
    changed = subprocess.run(
        ["git", "-C", str(root), "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    assert sorted(Path(line[3:]).name for line in changed.stdout.splitlines()) == [
        "agentic.yaml",
        "amd-master.yaml",
        "perf-changelog.yaml",
    ]


async def write(hands: Any) -> None:
    """From the edit step to Done; warnings are answered once."""
    await hands.press("ctrl+s")
    await hands.until(lambda: hands.step == "changelog")
    await hands.press("ctrl+s")
    await hands.until(lambda: hands.step == "review")
    await hands.planned()
    await hands.press_write()
    await hands.until(lambda: hands.step == "done")


def spec_bytes(spec: Path, layout: str, world: Any) -> dict[str, bytes]:
    """What `--from-spec` makes of a spec in a fresh checkout."""
    root = world.upstream(layout)
    assert from_spec.run(str(spec), root, base="", number=None, dry_run=False, output_format="json") == 0
    found = files_of(root)
    shutil.rmtree(root)
    return found


def test_a_new_key_from_a_sibling(real_world: Any) -> None:
    wanted = spec_bytes(real_world.shared / "specs/glm52-vllm-new-key.yaml", "root", real_world)
    root = real_world.upstream("root")

    async def story() -> None:
        async with real_world.open(root) as hands:
            await hands.press("a")
            await hands.type("glm5.2-fp4-mi355x-vllm-agentic-mtp")
            table = hands.app.screen.query_one("#keys")
            keys = [str(table.get_row_at(at)[0]) for at in range(3)]
            # The nearest relative is the same model and SKU; which framework is for the author to say.
            while not str(table.get_row_at(table.cursor_row)[0]).startswith("glm5.2-fp4-mi355x-atom"):
                await hands.press("down")
            assert any(key.startswith("glm5.2-fp4-mi355x") for key in keys)
            await hands.press("enter")
            await hands.until(lambda: hands.step == "edit")
            assert hands.app.model.data["changes"][0]["set"] == {"framework": "vllm"}
            await hands.press("f", "tab")
            await hands.type("vllm/vllm-openai-rocm:v0.24.1")
            await hands.press("f3", "shift+tab")
            await hands.type("0.60")
            await hands.press("tab")
            rows = hands.app.screen.query_one("SearchSpace")
            # The sibling has more arms than the new key needs.
            while len(rows.rows) > 2:
                await hands.press("g", "d")
            await hands.press("g", "enter")
            await hands.type("4 8 16")
            for field, text in (("tp", "4"), ("dcp-size", "1")):
                rows.editor.field(field).focus()
                await hands.press("ctrl+a", "ctrl+k")
                await hands.type(text)
            editor = rows.editor
            editor.field("kv-offloading").focus()
            if editor.field("kv-offloading").text == "none":
                await hands.press("enter", "down", "enter")
            editor.field("backend").focus()
            await hands.press("ctrl+a", "ctrl+k")
            await hands.type("lmcache 0.4.5")
            await hands.press("escape", "down", "enter")
            await hands.type("1 2 4")
            editor.field("tp").focus()
            await hands.press("ctrl+a", "ctrl+k")
            await hands.type("8")
            editor.field("kv-offloading").focus()
            if editor.field("kv-offloading").text == "dram":
                await hands.press("enter", "up", "enter")
            await hands.press("escape")
            await write(hands)

    run(story())
    assert files_of(root) == wanted


def test_two_keys_get_one_image(real_world: Any) -> None:
    keys = ("qwen3.5-fp4-mi355x-sglang-agentic-mtp", "qwen3.5-fp8-mi300x-sglang-agentic-mtp")
    image = "lmsysorg/sglang-rocm:v0.5.18-rocm720-mi35x-20260825"
    spec = real_world.tmp_path / "bump.yaml"
    changes = "".join(f"  - config-key: {key}\n    set: {{ image: {image} }}\n" for key in keys)
    spec.write_text(f"benchscribe: 1\nchanges:\n{changes}")
    wanted = spec_bytes(spec, "root", real_world)
    root = real_world.upstream("root")

    async def story() -> None:
        async with real_world.open(root) as hands:
            await hands.press("b")
            for key in keys:
                await hands.press("ctrl+a", "ctrl+k")
                await hands.type(key)
                await hands.press("enter")
            assert hands.app.screen._marked.keys() == set(keys)
            await hands.press("ctrl+s")
            await hands.until(lambda: hands.step == "edit")
            await hands.type(image)
            await write(hands)

    run(story())
    assert files_of(root) == wanted


def test_an_append_only_extension(real_world: Any) -> None:
    wanted = spec_bytes(real_world.shared / "specs/dsv4-b300-append-points.yaml", "root", real_world)
    root = real_world.upstream("root")

    async def story() -> None:
        async with real_world.open(root) as hands:
            await hands.press("e")
            await hands.type("dsv4 b300 vllm agentic mtp")
            await hands.press("enter")
            await hands.until(lambda: hands.step == "edit")
            rows = hands.app.screen.query_one("SearchSpace")
            for at, text in ((0, "1 2 4"), (1, "1 2 4 6 8 10"), (2, "16"), (3, "48 64"), (4, "128 256 384 512 576")):
                if " ".join(map(str, rows.rows[at].get("conc-list", ()))) != text:
                    rows.table.go_to_row(at)
                    await hands.press("enter")
                    await hands.type(text)
                    await hands.press("escape")
            await hands.press("ctrl+s")
            await hands.until(lambda: hands.step == "changelog")
            assert hands.app.model.data["changelog"] == {"append-only": True}
            await hands.press("p")
            await hands.type("2750")
            await hands.press("ctrl+s")
            await hands.until(lambda: hands.step == "review")
            await hands.planned()
            await hands.press_write()
            await hands.until(lambda: hands.step == "done")

    run(story())
    assert files_of(root) == wanted


def test_the_demo_from_an_image_to_a_commit(world: Any) -> None:
    root = world.demo()

    async def story() -> None:
        async with world.open(root) as hands:
            await hands.press("c")
            await hands.type("glm5.2-fp4-mi355x-atom-agentic-mtp")
            await hands.press("enter")
            await hands.until(lambda: hands.step == "edit")
            await hands.press("f")
            await hands.type("rocm/atom-dev:nightly_202610141730")
            await write(hands)
            await hands.press("c")
            await hands.until(lambda: hands.step == "commit" and bool(hands.app.screen.text.strip()))
            await hands.press("ctrl+k")
            await hands.type("perf: my own subject")
            await hands.press("ctrl+s")
            await hands.until(lambda: hands.step == "done")

    run(story())
    git = ["git", "-C", str(root)]
    said = subprocess.run([*git, "log", "-1", "--format=%B"], check=True, capture_output=True, text=True).stdout
    assert said.startswith("perf: my own subject\n")
    assert "nightly_202610141730" in said
    assert "镜像" in said
    assert subprocess.run([*git, "status", "--porcelain"], check=True, capture_output=True).stdout == b""
    text = (root / "inferencex-e2e/configs/amd-master.yaml").read_text()
    assert "  image: rocm/atom-dev:nightly_202610141730\n" in text


def test_a_stale_comment_is_rewritten_and_another_dropped(real_world: Any) -> None:
    root = real_world.upstream("e2e")
    path = root / "inferencex-e2e/configs/amd-master.yaml"
    before = path.read_text()

    async def story() -> None:
        async with real_world.open(root) as hands:
            await hands.press("c")
            await hands.type("glm atom")
            await hands.press("enter")
            await hands.until(lambda: hands.step == "edit")
            await hands.press("shift+tab")
            await hands.type("0.2")
            await hands.press("f3")
            await comments(hands)
            await write(hands)

    run(story())
    now = path.read_text()
    assert "    # 1109 GB, for four ranks of 256 GiB each.\n    - dram-utilization: 0.2\n" in now
    assert "matching the standalone recipe" in before
    assert "matching the standalone recipe" not in now
    assert "One variant per point." not in (root / RECIPE).read_text()


def test_a_finding_is_mended_by_its_fix(real_world: Any) -> None:
    """A budget too small for its tier blocks writing; f2 on the finding mends it, undo takes the fix back."""
    root = real_world.upstream("e2e")
    spec = (real_world.shared / "specs/glm52-atom-retune.yaml").read_text()
    spec = spec.replace("dram-utilization: auto", "dram-utilization: 0.2")

    async def story() -> None:
        async with real_world.open(root) as hands:
            hands.app.begin(SpecModel.read(spec))
            hands.app.go("edit")
            await hands.until(lambda: hands.step == "edit")
            await hands.planned()
            assert hands.app.outcome.blocked
            await hands.press("f6")
            follows = hands.app.screen.query_one("WhatFollows")
            for _ in range(40):
                if getattr(follows.chosen, "rule", "") == "dram-budget":
                    break
                await hands.press("j")
            await hands.press("f2")
            item = hands.app.model.data["changes"][0]["scenarios"]["agentic-coding"]
            assert item["dram-utilization"] == 0.74
            assert len(item["search-space"]) == 3
            await hands.planned()
            assert not hands.app.outcome.blocked
            await hands.press("ctrl+z")
            assert hands.app.model.data["changes"][0]["scenarios"]["agentic-coding"]["dram-utilization"] == 0.2

    run(story())
