"""Pictures of every screen and its main states, kept in `snapshots/` as SVG.

`BENCHSCRIBE_SNAPSHOTS=update pytest tests/tui/test_snapshots.py` draws them anew; look at each before keeping it.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from keyboard import Hands, World, run

from benchscribe.demo.sample import prepared_spec
from benchscribe.drafts import Draft
from benchscribe.tui import standing
from benchscribe.tui.app import BenchscribeApp
from benchscribe.tui.model import SpecModel
from benchscribe.tui.screens import home

FOLDER = Path(__file__).resolve().parents[2] / "snapshots"
DIFFERENT = Path(tempfile.gettempdir()) / "benchscribe-snapshots"
UPDATE = os.environ.get("BENCHSCRIBE_SNAPSHOTS") == "update"
KEY = "glm5.2-fp4-mi355x-atom-agentic-mtp"


class Album:
    """Takes pictures and holds them against those that are kept."""

    def __init__(self) -> None:
        self.different: list[str] = []

    async def take(self, hands: Hands, name: str) -> None:
        """A picture of the screen as it is."""
        await hands.settle()
        hands.app.clear_notifications()
        await hands.settle()
        svg, seen = _same_everywhere(hands.app.export_screenshot(title="benchscribe")), ""
        while svg != seen:  # scroll bars follow what they are about, a moment later
            await asyncio.sleep(0.05)
            await hands.settle()
            svg, seen = _same_everywhere(hands.app.export_screenshot(title="benchscribe")), svg
        path = FOLDER / f"{name}.svg"
        if UPDATE:
            path.write_text(svg, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != svg:
            self.different.append(name)
            DIFFERENT.mkdir(exist_ok=True)
            (DIFFERENT / f"{name}.svg").write_text(svg, encoding="utf-8")

    def close(self) -> None:
        """Every difference at once."""
        names = ", ".join(self.different)
        assert not self.different, f"these screens look different now: {names}; as they look now: {DIFFERENT}"


def _same_everywhere(svg: str) -> str:
    """Without the ids that change from run to run, and without boxes that are no cell wide."""
    svg = re.sub(r'<rect [^>]*width="0"[^>]*/>', "", svg)
    return re.sub(r"terminal-\d+", "terminal", svg) + ("" if svg.endswith("\n") else "\n")


@pytest.fixture(autouse=True)
def _fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands still, and the checkout is at home wherever the tests run."""
    monkeypatch.setattr(
        BenchscribeApp, "clock", staticmethod(lambda moment, form="%H:%M": {"%H:%M": "14:02"}.get(form, "12 Oct 14:02"))
    )
    monkeypatch.setattr(BenchscribeApp, "CURSOR_BLINK", False, raising=False)

    def facts(checkout: Any) -> list[standing.Fact]:
        return [
            replace(fact, text="/home/author/inferencex") if fact.name == "checkout" else fact
            for fact in standing.standing(checkout)
        ]

    monkeypatch.setattr(home, "standing", facts)
    monkeypatch.setenv("EDITOR", "vi")


async def begin(hands: Hands, spec: str | None = None) -> None:
    """The demo's own spec, at the edit step."""
    hands.app.begin(SpecModel.read(spec if spec is not None else prepared_spec().read_text(encoding="utf-8")))
    hands.app.go("edit")
    await hands.until(lambda: hands.step == "edit")
    await hands.planned()


async def still(hands: Hands) -> None:
    """No cursor is caught in a blink."""
    for widget in hands.app.screen.query("Input, TextArea"):
        widget.cursor_blink = False  # type: ignore[attr-defined]


def test_wide(world: World) -> None:
    album = Album()

    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await hands.until(lambda: "uncommitted" in str(hands.app.screen.query_one("#facts").render()))
            await album.take(hands, "home")
            await hands.press("question_mark")
            await album.take(hands, "help")
            await hands.press("escape", "c")
            await still(hands)
            await hands.until(lambda: all(row.points for row in hands.app.screen._rows.values()))
            await album.take(hands, "pick")
            await hands.type("nothing like it")
            await album.take(hands, "pick-empty")
            await hands.press("escape", "a")
            await still(hands)
            await hands.type("glm5.2-fp4-mi355x-vllm-agentic-mtp")
            await album.take(hands, "pick-new-key")
            await hands.press("escape")
            await begin(hands)
            await still(hands)
            await album.take(hands, "edit")
            await hands.press("down", "enter")
            await still(hands)
            await album.take(hands, "edit-row")
            await hands.press("escape", "f3", "down", "enter")
            await still(hands)
            await album.take(hands, "edit-rule")
            await hands.press("escape", "g", "enter")
            await still(hands)
            await hands.pilot.resize_terminal(120, 64)  # where all of it is in sight, whatever has the focus
            await album.take(hands, "edit-base")
            await hands.press("escape", "p")
            await still(hands)
            await album.take(hands, "edit-points")
            await hands.pilot.resize_terminal(120, 40)
            await hands.press("p", "f6", "j")
            await album.take(hands, "edit-reason")
            await hands.press("v")
            await album.take(hands, "edit-bytes")
            await hands.press("v", "f6")
            hands.app.screen.field("image").focus()
            await still(hands)
            await hands.type("rocm/atom dev")
            await hands.planned()
            await album.take(hands, "edit-error")
            await hands.press("ctrl+z")
            await hands.planned()
            await hands.press("ctrl+s")
            await still(hands)
            await hands.planned()
            await album.take(hands, "changelog")
            await hands.press("ctrl+s")
            await hands.planned()
            await album.take(hands, "review")
            await hands.press("n", "s")
            await album.take(hands, "review-side-by-side")
            await hands.press("s", "w")
            if type(hands.app.screen).__name__ == "AskScreen":
                await album.take(hands, "review-ask")
                await hands.press("w")
            await hands.until(lambda: hands.step == "done" and hands.app.screen._request is not None)
            await album.take(hands, "done")
            await hands.press("c")
            await hands.until(lambda: hands.step == "commit" and bool(hands.app.screen.text.strip()))
            await still(hands)
            await album.take(hands, "commit")
            await hands.press("ctrl+s")
            await hands.until(lambda: hands.step == "done" and bool(hands.app.committed))
            hands.app.committed = "0a1b2c3d4e 3 files changed, 92 insertions(+), 9 deletions(-)"
            hands.app.screen._fill_actions()
            await still(hands)
            await album.take(hands, "done-committed")
            await hands.press("h", "m")
            await hands.until(lambda: hands.step == "commit" and hands.app.screen._plan is not None)
            await still(hands)
            await album.take(hands, "commit-empty")
            await hands.press("escape", "k")
            await hands.until(lambda: hands.step == "check" and not hands.app.screen._is_busy)
            await album.take(hands, "check")

    run(story())
    album.close()


def test_mistakes(world: World) -> None:
    """What may not be written, and what cannot even be planned."""
    album = Album()
    spec = prepared_spec().read_text(encoding="utf-8")

    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await begin(hands, spec.replace("dram-utilization: auto", "dram-utilization: 0.3"))
            hands.app.go("review")
            await hands.planned()
            await still(hands)
            await album.take(hands, "review-blocked")
            hands.app.go_home()
            await begin(hands, spec)
            await hands.press("ctrl+s", "n", "a")
            await hands.planned()
            await still(hands)
            await album.take(hands, "changelog-error")

    run(story())
    album.close()


def test_narrow(world: World) -> None:
    album = Album()

    async def story() -> None:
        async with world.open(world.demo(), size=(80, 24)) as hands:
            await hands.until(lambda: "uncommitted" in str(hands.app.screen.query_one("#facts").render()))
            await album.take(hands, "narrow-home")
            await hands.press("c")
            await still(hands)
            await hands.until(lambda: all(row.points for row in hands.app.screen._rows.values()))
            await album.take(hands, "narrow-pick")
            await hands.press("f6")
            await album.take(hands, "narrow-pick-preview")
            await hands.press("escape")
            await begin(hands)
            await still(hands)
            await album.take(hands, "narrow-edit")
            await hands.press("down", "enter")
            await still(hands)
            await album.take(hands, "narrow-edit-row")
            await hands.press("escape", "f6")
            await album.take(hands, "narrow-edit-flipped")
            await hands.press("f6", "ctrl+s")
            await still(hands)
            await hands.planned()
            await album.take(hands, "narrow-changelog")
            await hands.press("f6")
            await album.take(hands, "narrow-changelog-bytes")
            await hands.press("f6", "ctrl+s")
            await hands.planned()
            await album.take(hands, "narrow-review")
            await hands.press_write()
            await hands.until(lambda: hands.step == "done" and hands.app.screen._request is not None)
            await album.take(hands, "narrow-done")
            await hands.press("c")
            await hands.until(lambda: hands.step == "commit" and bool(hands.app.screen.text.strip()))
            await still(hands)
            await album.take(hands, "narrow-commit")

    run(story())
    album.close()


@pytest.mark.parametrize("theme", ["light", "contrast"])
def test_themes(world: World, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHSCRIBE_THEME", f"benchscribe-{theme}")
    album = Album()

    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await begin(hands)
            await still(hands)
            await album.take(hands, f"{theme}-edit")
            hands.app.go("review")
            await hands.planned()
            await album.take(hands, f"{theme}-review")

    run(story())
    album.close()


def test_text_of_every_kind(world: World) -> None:
    """Wide characters align; markup, escapes and direction marks are shown, never followed."""
    album = Album()
    note = "换用更快的 [red]内核[/red] \\x1b[31m \\u202e rtl"
    spec = prepared_spec().read_text(encoding="utf-8")
    spec = spec.replace('en: "The MTP head keeps its BF16 weights."', f'en: "{note}"')

    async def story() -> None:
        root = world.demo()
        draft = Draft("d", str(root), "功能/重新调优-[red]", f"benchscribe: 1\nchanges:\n  - config-key: {KEY}\n", 1.0)
        world.drafts.save(draft)
        async with world.open(root) as hands:
            await hands.until(lambda: "uncommitted" in str(hands.app.screen.query_one("#facts").render()))
            await album.take(hands, "home-draft")
            await begin(hands, spec)
            hands.app.go("changelog")
            await hands.settle()
            await still(hands)
            await hands.planned()
            await album.take(hands, "changelog-odd-text")

    run(story())
    album.close()


def test_long_list(world: World) -> None:
    """Three hundred keys scroll."""
    album = Album()

    async def story() -> None:
        root = world.demo()
        master = root / "inferencex-e2e" / "configs" / "nvidia-master.yaml"
        entry = (
            "demo{n}-fp8-b200-sglang:\n  image: lmsysorg/sglang:v0.5.{n}-cu130\n  model: demo/Demo-{n}-FP8\n  model-prefix: demo{n}\n"
            "  runner: b200-nscale\n  precision: fp8\n  framework: sglang\n  multinode: false\n  scenarios:\n    fixed-seq-len:\n"
            "    - isl: 8192\n      osl: 1024\n      search-space:\n      - {{ tp: 8, conc-start: 4, conc-end: 64 }}\n\n"
        )
        master.write_text(master.read_text() + "\n" + "".join(entry.format(n=n) for n in range(300)))
        async with world.open(root) as hands:
            await hands.press("c")
            await still(hands)
            await hands.until(lambda: all(row.points for row in hands.app.screen._rows.values()))
            await hands.press("pagedown", "pagedown", "pagedown")
            await album.take(hands, "pick-long")

    run(story())
    album.close()
