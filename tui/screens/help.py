"""Help for the screen one is on: what it is for, and every key that works there."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

EVERYWHERE = (
    ("tab  shift+tab", "next, previous field"),
    ("esc", "one step back; nothing is lost"),
    ("^s", "one step forward"),
    ("^z  ^y", "undo, redo"),
    ("^p", "command palette: everything there is"),
    ("j k g G", "down, up, first, last, in tables, lists and diffs"),
    ("F7  F8", "files changed underneath: read them again, or keep what was read"),
    ("?  F1", "this help (F1 while typing in a field)"),
    ("^q", "quit; unsaved work is asked about and kept as a draft"),
)


TOLD_ELSEWHERE = (
    "app.help", "back", "reload", "keep", "app.focus_next", "app.focus_previous", "screen.copy_text", "nothing",
)  # fmt: skip


class HelpScreen(ModalScreen[None]):
    """Closed by any of escape, ? and F1."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q", "dismiss", "close", show=False),
        Binding("j", "scroll(1)", "down", show=False),
        Binding("k", "scroll(-1)", "up", show=False),
    ]

    def __init__(self, about: Screen[Any]) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help", can_focus=True):
            yield Static(self._text(), id="help-text")

    def on_mount(self) -> None:
        box = self.query_one("#help")
        box.border_title = f"Help · {getattr(self._about, 'title_text', '') or 'dialog'}"
        box.border_subtitle = "esc close"
        box.focus()

    def _text(self) -> Content:
        text = getattr(self._about, "help_text", "") or getattr(self._about, "HELP_TEXT", "")
        parts: list[Any] = [text.strip(), "\n\n"]
        own = _keys(self._about)
        if own:
            parts += [("Keys here", "bold $accent"), "\n"]
            parts += [part for key, text in own for part in ((f"  {key:<16}", "bold"), f"{text}\n")]
            parts.append("\n")
        parts += [("Everywhere", "bold $accent"), "\n"]
        parts += [part for key, text in EVERYWHERE for part in ((f"  {key:<16}", "bold"), f"{text}\n")]
        return Content.assemble(*parts)

    def action_scroll(self, step: int) -> None:
        self.query_one("#help").scroll_relative(y=step, animate=False)


def _keys(screen: Screen[Any]) -> list[tuple[str, str]]:
    """The screen's own keys with what they do, each action once."""
    found: dict[str, tuple[str, str]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if active.node is screen.app or not binding.description or binding.action in TOLD_ELSEWHERE:
            continue
        if active.node is not screen and not binding.show:
            continue
        key = binding.key_display or screen.app.get_key_display(binding)
        found.setdefault(binding.action, (key, binding.description))
    return list(found.values())
