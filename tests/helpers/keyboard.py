"""The app driven by keys alone, on real checkouts."""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.events import Key, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot

from benchscribe.demo.sample import create
from benchscribe.drafts import Drafts
from benchscribe.tui.app import BenchscribeApp
from benchscribe.tui.planning import WatchedCheckout


class Hands:
    """Somebody at a keyboard."""

    def __init__(self, app: BenchscribeApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Keys by name, one after the other; each has had its effect before the next."""
        for key in keys:
            self._send(key)
            await self.settle()

    async def press_write(self) -> None:
        """Write, and say yes where findings make the app ask once more."""
        await self.press("w")
        if type(self.app.screen).__name__ == "AskScreen":
            await self.press("w")

    async def type(self, text: str) -> None:
        """A text, as fast as keys can come; what a keyboard has no key for is pasted."""
        for run in re.findall(r"[\x20-\x7e\n]+|[^\x20-\x7e\n]+", text):
            if run.isascii():
                for sign in run:
                    self._send(NAMES.get(sign, sign))
            elif self.app.focused is not None:
                self.app.focused.post_message(Paste(run))
            await self.settle()

    def _send(self, key: str) -> None:
        sign = {"space": " ", "enter": "\r", "tab": "\t"}.get(key, key if len(key) == 1 else None)
        event = Key(_character_to_key(key) if len(key) == 1 and not key.isalnum() else key, sign)
        event.set_sender(self.app)
        assert self.app._driver is not None
        self.app._driver.send_message(event)

    async def settle(self) -> None:
        """Until every widget has done what it had to, and the screen is drawn. Planning may go on.

        Pilot's own pause waits for the process to be idle, which planning keeps it from being.
        """
        await self._drain()  # the app has the key
        while self.app.is_taking_keys:
            await asyncio.sleep(0.002)
        for _ in range(3):
            await self._drain()
            await asyncio.sleep(0.006)
        self.app.screen._on_timer_update()
        await self._drain()

    async def _drain(self) -> None:
        """Until the app, the screen, and whatever holds the focus have handled what was waiting for them."""
        focused = self.app.focused
        pumps = dict.fromkeys(
            [self.app, self.app.screen, *(focused.ancestors_with_self if focused is not None else ())]
        )
        waiting = [asyncio.Event() for _ in pumps]
        told = [pump.call_later(event.set) for pump, event in zip(pumps, waiting, strict=True)]
        for event, was_told in zip(waiting, told, strict=True):
            if was_told:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), 5)

    async def planned(self) -> None:
        """Until the plan of what was typed is there, and judged."""
        for _ in range(6000):
            outcome = self.app.outcome
            if self.app.is_planned and outcome is not None and (outcome.plan is None or outcome.judged is not None):
                await self.settle()
                return
            await asyncio.sleep(0.01)
        raise AssertionError("no plan came")

    async def until(self, holds: Callable[[], bool]) -> None:
        """Until something is so."""
        for _ in range(1500):
            if holds():
                await self.settle()
                return
            await asyncio.sleep(0.01)
        outcome = self.app.outcome
        said = [*outcome.problems, *outcome.findings, outcome.error] if outcome is not None else []
        raise AssertionError(f"it did not come about on {self.step}: {said}\n{self.app.model.text}")

    @property
    def step(self) -> str:
        """The step in view."""
        return getattr(self.app.screen, "step_name", "")


NAMES = {" ": "space", "\n": "enter"}


class World:
    """A state directory and checkouts of one test."""

    def __init__(self, tmp_path: Path, shared: Path | None) -> None:
        self.tmp_path = tmp_path
        self.shared = shared
        self.drafts = Drafts(tmp_path / "state")

    def upstream(self, layout: str) -> Path:
        """A git checkout of the real data in one layout."""
        assert self.shared is not None
        target = self.tmp_path / layout
        subprocess.run([str(self.shared / "mkcheckout"), layout, str(target)], check=True, capture_output=True)
        return target

    def demo(self) -> Path:
        return create(self.tmp_path / "demo")

    @asynccontextmanager
    async def open(self, root: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Hands]:
        """The app on a checkout."""
        checkout = WatchedCheckout.open(root)
        assert isinstance(checkout, WatchedCheckout)
        app = BenchscribeApp(checkout, drafts=self.drafts)
        # Plans are made where a story waits for one, not between its keys.
        app.least_pause = 0.2
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            hands = Hands(app, pilot)
            await hands.until(lambda: hands.step == "home")
            yield hands


def run(story: Coroutine[Any, Any, None]) -> None:
    """Run a story to its end."""
    asyncio.run(story)


def files_of(root: Path) -> dict[str, bytes]:
    """Every file outside .git with its bytes."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
