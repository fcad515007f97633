"""The line at the top: where one is, and whether what one has done is safe."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from ..text import literal


class TopBar(Widget):
    """Checkout on the left, step in the middle, draft state on the right."""

    def __init__(self, step: str) -> None:
        super().__init__()
        self.step = step
        self._shown = ("", "")

    def compose(self) -> ComposeResult:
        yield Static(id="top-place")
        yield Static(id="top-state")

    def show(self, place: str, state: str) -> None:
        """What stands left and right."""
        if self._shown == (place, state):
            return
        self._shown = (place, state)
        left = Content.assemble(
            ("benchscribe", "bold $accent"), "  ", (self.step, "bold"), "  ", (literal(place), "$text-muted")
        )
        self.query_one("#top-place", Static).update(left)
        self.query_one("#top-state", Static).update(Content(literal(state)))
