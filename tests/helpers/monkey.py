"""A monkey at the keyboard: any key but those that are meant to write."""

from __future__ import annotations

import random

from keyboard import Hands

KEYS = (
    *"abcdefghijklmnopqrstuvxyzJKGNS0123456789 .,:-_/?[]{}",
    "tab", "shift+tab", "enter", "escape", "up", "down", "left", "right", "home", "end", "pageup", "pagedown",
    "backspace", "delete", "space", "ctrl+z", "ctrl+y", "ctrl+s", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8",
    "ctrl+a", "ctrl+k", "ctrl+u", "ctrl+w", "shift+up", "shift+down",
)  # fmt: skip
# Screens on which a key may rightly change the checkout or leave the app.
WRITES = ("review", "commit", "check", "reseat", "done")


async def play(hands: Hands, *, seed: int, count: int) -> None:
    """Press so many keys; where the next one could write, another is taken."""
    chance = random.Random(seed)
    for _ in range(count):
        key = chance.choice(KEYS)
        if hands.step in WRITES and key in ("ctrl+s", "w"):
            key = "escape"
        if type(hands.app.screen).__name__ == "AskScreen":
            key = "escape"
        hands._send(key)
        await hands._drain()
        if chance.random() < 0.05:
            await hands.settle()
    await hands.settle()
