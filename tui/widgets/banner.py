"""A banner under the top line: something happened that needs a decision, and nothing else waits for it."""

from __future__ import annotations

from textual.widgets import Static

from ..text import literal


class Banner(Static):
    """Hidden while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__(markup=False, id="banner")
        self.display = False

    def say(self, text: str, severity: str = "warning") -> None:
        """Show a text; an empty one hides the banner."""
        self.update(literal(text))
        self.set_class(severity == "error", "-error")
        self.display = bool(text)
