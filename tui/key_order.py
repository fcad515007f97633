"""Keys one after the other: each has had its effect before the next is looked at.

Textual sends a key to whatever has the focus at that moment, and a key that moves the focus takes a while to do so:
what is typed right behind it, faster than the screen keeps up, would still reach the field that was left.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets import Input, TextArea

# Longer than any handler takes; a screen that is going away never answers.
PATIENCE = 0.25
# An answer to a key may itself be answered: enter in a field is told to the form, which moves the focus.
ROUNDS = 2


class KeyOrderApp(App[int]):
    """Queues keys and pasted text, and hands on the next when the last one has been dealt with."""

    def __init__(self) -> None:
        super().__init__()
        self._to_come: deque[events.Event] = deque()
        self._taking: asyncio.Task[None] | None = None

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await super().on_event(event)
            return
        self._to_come.append(event)
        if not self.is_taking_keys:
            self._taking = asyncio.create_task(self._take())

    @property
    def is_taking_keys(self) -> bool:
        """Whether a key is still being dealt with, or waits for that."""
        return self._taking is not None and not self._taking.done()

    async def _take(self) -> None:
        while self._to_come:
            try:
                event = self._to_come.popleft()
                is_text = self._is_text(event)
                await super().on_event(event)
                if not is_text:
                    await self._dealt_with()
            except Exception as error:
                self._to_come.clear()
                self._handle_exception(error)

    def _is_text(self, event: events.Event) -> bool:
        """Whether it only goes into the field that has the focus, where it stands in line anyway."""
        is_printable = isinstance(event, events.Paste) or (isinstance(event, events.Key) and event.is_printable)
        return is_printable and isinstance(self.focused, (Input, TextArea))

    async def _dealt_with(self) -> None:
        """Until what has the focus, everything around it, and the app have handled what was waiting for them."""
        for _ in range(ROUNDS):
            focused = self.focused
            chain: list[MessagePump] = list(focused.ancestors_with_self) if focused is not None else []
            if not self.is_running or not self.screen_stack:
                return
            for pump in dict.fromkeys([*chain, self.screen, self]):
                handled = asyncio.Event()
                if pump.call_later(handled.set):
                    with suppress(TimeoutError):
                        await asyncio.wait_for(handled.wait(), PATIENCE)
