"""The command palette: everything there is, what the screen offers first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.screen import Screen

from .themes import CONTRAST, DARK, LIGHT

if TYPE_CHECKING:
    from .app import BenchscribeApp

THEMES = ((DARK, "dark"), (LIGHT, "light"), (CONTRAST, "high contrast"), ("textual-ansi", "16 colours"))


def palette(app: BenchscribeApp, screen: Screen[Any]) -> Iterator[SystemCommand]:
    """The screen's own commands, then those of the app."""
    from .screens.step import StepScreen

    if isinstance(screen, StepScreen):
        yield from screen.commands()
    yield SystemCommand("Help for this screen", "Keys and what this screen is for (F1)", app.action_help)
    yield SystemCommand("Undo", "Take back the last change (ctrl+z)", app.action_undo)
    yield SystemCommand("Redo", "The undone change again (ctrl+y)", app.action_redo)
    for name, title in THEMES:
        yield SystemCommand(f"Theme: {title}", "Colours of the whole app", partial(setattr, app, "theme", name))
    yield SystemCommand("Linear layout", "One column without frames, for screen readers", app.action_linear)
    yield SystemCommand("Quit", "Leave (ctrl+q)", app.action_leave)
