"""Nothing is lost and nothing is written behind the author's back: kills, changes underneath, quitting, wild keys."""

from __future__ import annotations

import os
import pty
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from keyboard import Hands, World, files_of, run
from monkey import play

from benchscribe.drafts import Drafts
from benchscribe.tui.model import SpecModel

KEY = "glm5.2-fp4-mi355x-atom-agentic-mtp"


async def at_edit(hands: Hands) -> None:
    await hands.press("c")
    await hands.type(KEY)
    await hands.press("enter")
    await hands.until(lambda: hands.step == "edit")
    await hands.press("f")


def test_every_edit_is_a_draft_and_the_next_start_offers_it(world: World) -> None:
    root = world.demo()

    async def first() -> None:
        async with world.open(root) as hands:
            await at_edit(hands)
            await hands.type("rocm/atom-dev:nightly_1")
            (draft,) = world.drafts.of(root)
            assert "image: rocm/atom-dev:nightly_1" in draft.spec
            # No goodbye: the app is dropped as a kill would drop it.

    async def second() -> None:
        async with world.open(root) as hands:
            jobs = hands.app.screen.query_one("#jobs")
            assert KEY in str(jobs.get_option_at_index(1).prompt)
            await hands.press("enter")
            await hands.until(lambda: hands.step == "edit")
            assert hands.app.screen.field("image").text == "rocm/atom-dev:nightly_1"
            await hands.type("2")

    before = files_of(root)
    run(first())
    run(second())
    assert files_of(root) == before
    assert len(world.drafts.of(root)) == 1


def test_kill_9_in_mid_edit_loses_nothing(world: World) -> None:
    root = world.demo()
    before = files_of(root)
    state = world.tmp_path / "xdg"
    env = {**os.environ, "XDG_STATE_HOME": str(state), "TERM": "xterm-256color", "LINES": "40", "COLUMNS": "120"}
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(sys.executable, [sys.executable, "-m", "benchscribe", "--repo", str(root)], env)
    try:
        _read_until(terminal, b"What to do")
        os.write(terminal, b"c")
        _read_until(terminal, b"words in any order")
        os.write(terminal, KEY.encode())
        _read_until(terminal, b"1 of ")
        os.write(terminal, b"\r")
        _read_until(terminal, b"What follows")
        time.sleep(0.5)
        os.write(terminal, b"f")
        time.sleep(0.5)
        os.write(terminal, b"rocm/atom-dev:killed")
        drafts = Drafts(state / "benchscribe")
        _wait(lambda: any("atom-dev:killed" in draft.spec for draft in drafts.of(root)), terminal)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    (draft,) = drafts.of(root)
    assert "image: rocm/atom-dev:killed" in draft.spec
    assert files_of(root) == before


def _read_until(terminal: int, wanted: bytes, seconds: float = 30.0) -> None:
    _wait(lambda: wanted in seen, terminal, seconds, seen := bytearray())


def _wait(holds: Any, terminal: int, seconds: float = 30.0, seen: bytearray | None = None) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, bytes(seen or b"")[-2000:]
        if select.select([terminal], [], [], 0.05)[0]:
            data = os.read(terminal, 65536)
            if seen is not None:
                seen += data


def test_a_file_changed_underneath_is_told_and_never_overwritten(world: World) -> None:
    root = world.demo()
    master = root / "inferencex-e2e/configs/amd-master.yaml"

    async def story() -> None:
        async with world.open(root) as hands:
            await at_edit(hands)
            await hands.type("rocm/atom-dev:nightly_202610141730")
            await hands.planned()
            changed = master.read_text().replace("model: amd/GLM-5.2-MXFP4", "model: amd/GLM-5.2-MXFP4-v2")
            master.write_text(changed)
            hands.app._look_at_disk()
            await hands.settle()
            assert hands.app.step.banner.display
            assert "amd-master.yaml" in str(hands.app.step.banner.render())
            # Kept: the banner goes, but writing over the changed file is refused.
            await hands.press("f8")
            assert not hands.app.step.banner.display
            await hands.press("ctrl+s", "ctrl+s")
            await hands.until(lambda: hands.step == "review")
            await hands.planned()
            await hands.press_write()
            await hands.until(lambda: hands.app.step.banner.display)
            assert "nothing was written" in str(hands.app.step.banner.render())
            assert master.read_text() == changed
            # Reloaded: the same spec on the new bytes.
            await hands.press("f7")
            await hands.until(lambda: hands.app.is_planned and hands.app.outcome.judged is not None)
            await hands.press_write()
            await hands.until(lambda: hands.step == "done")

    run(story())
    text = master.read_text()
    assert "image: rocm/atom-dev:nightly_202610141730" in text
    assert "model: amd/GLM-5.2-MXFP4-v2" in text


def test_quitting_with_unsaved_work_asks(world: World) -> None:
    root = world.demo()

    async def story() -> None:
        async with world.open(root) as hands:
            await at_edit(hands)
            await hands.type("rocm/atom-dev:x")
            await hands.press("ctrl+q")
            assert type(hands.app.screen).__name__ == "AskScreen"
            await hands.press("escape")
            assert hands.step == "edit"
            await hands.press("ctrl+q", "k")
            assert not hands.app.is_running or hands.app._exit
        assert len(world.drafts.of(root)) == 1

    run(story())


def test_undo_and_redo_refill_the_form(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await at_edit(hands)
            was = hands.app.screen.field("image").text
            await hands.type("rocm/atom-dev:x")
            await hands.press("tab")
            await hands.type("amd/Other")
            await hands.press("ctrl+z")
            assert hands.app.screen.field("model").text == "amd/GLM-5.2-MXFP4"
            assert hands.app.screen.field("image").text == "rocm/atom-dev:x"
            await hands.press("ctrl+z")
            assert hands.app.screen.field("image").text == was
            await hands.press("ctrl+y", "ctrl+y")
            assert hands.app.screen.field("model").text == "amd/Other"
            # Back to the checkout's own value: the field leaves the spec.
            await hands.press("ctrl+z", "ctrl+z")
            assert "set" not in hands.app.model.data["changes"][0]

    run(story())


def test_steps_keep_what_was_typed_forward_and_back(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await at_edit(hands)
            await hands.type("rocm/atom-dev:x")
            await hands.press("ctrl+s")
            await hands.press("n", "a")
            await hands.type("A line of mine.")
            await hands.press("escape", "ctrl+s")
            assert hands.step == "review"
            text = hands.app.model.text
            await hands.press("escape")
            assert hands.step == "changelog"
            await hands.press("escape")
            assert hands.step == "edit"
            assert hands.app.screen.field("image").text == "rocm/atom-dev:x"
            assert hands.app.model.text == text
            await hands.press("escape", "escape")
            assert hands.step == "home"

    run(story())


def test_errors_stand_at_their_fields(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await at_edit(hands)
            await hands.type("rocm/atom dev")
            await hands.planned()
            field = hands.app.screen.field("image")
            assert field.has_class("-failed")
            assert "blank" in str(field._error.render())
            await hands.press("f3", "enter")
            await hands.type("1 2 x")
            await hands.planned()
            conc = hands.app.screen.query_one("RowEditor").field("conc")
            assert conc.has_class("-failed")
            assert "'x' is no concurrency" in str(conc._error.render())

    run(story())


def test_resizing_wildly(world: World) -> None:
    async def story() -> None:
        chance = random.Random(7)
        async with world.open(world.demo()) as hands:
            await at_edit(hands)
            for step in ("edit", "changelog", "review"):
                hands.app.go(step)
                for _ in range(6):
                    await hands.pilot.resize_terminal(chance.randint(1, 200), chance.randint(1, 60))
            await hands.pilot.resize_terminal(120, 40)
            assert hands.step == "review"

    run(story())


def test_three_hundred_wild_keys(world: World) -> None:
    """No crash, and no byte of the checkout changes without Write."""
    root = world.demo()
    before = files_of(root)

    async def story() -> None:
        async with world.open(root) as hands:
            hands.app.begin(SpecModel({"benchscribe": 1, "changes": [{"config-key": KEY}]}))
            hands.app.go("edit")
            await hands.until(lambda: hands.step == "edit")
            await play(hands, seed=20261130, count=300)

    run(story())
    assert files_of(root) == before


def test_without_colour_and_linear(world: World, monkeypatch: Any) -> None:
    """NO_COLOR and the linear layout: one column, nothing told by colour alone."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("BENCHSCRIBE_LINEAR", "1")

    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await at_edit(hands)
            await hands.type("rocm/atom-dev:nightly_1")
            await hands.planned()
            svg = hands.app.export_screenshot()
            side = hands.app.screen.query_one("#side")
            assert not side.display or side.region.width == 0
            await hands.press("f6")
            assert hands.app.screen.query_one("#side").region.width > 100
            assert "╭" not in svg

    run(story())


def test_the_checkout_of_a_linked_worktree(world: World) -> None:
    root = world.demo()
    other = world.tmp_path / "linked"
    subprocess.run(["git", "-C", str(root), "worktree", "add", "-q", "-b", "other", str(other)], check=True)

    async def story() -> None:
        async with world.open(Path(other)) as hands:
            assert "other" in hands.app.place
            hands.app._look_at_disk()
            assert not hands.app.step.banner.display

    run(story())
