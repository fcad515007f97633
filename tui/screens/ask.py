"""A question with a few answers, each on a key of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ..text import literal


class AskScreen(ModalScreen[str]):
    """Returns the chosen answer's name; the last choice is what escape means."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stay", "stay", show=False)]

    def __init__(self, title: str, question: str, choices: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self._title = title
        self._question = question
        self._choices = list(choices)

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(
                "\n".join(literal(line) for line in self._question.split("\n")), markup=False, id="ask-question"
            )
            options = [
                Option(
                    Content.assemble((f"{'esc' if key == 'escape' else key}", "bold $accent"), f"  {literal(text)}"),
                    id=name,
                )
                for key, text, name in self._choices
            ]
            yield OptionList(*options, markup=False, id="ask-answers")

    def on_mount(self) -> None:
        self.query_one("#ask").border_title = self._title
        self.query_one(OptionList).focus()

    def on_key(self, event: Key) -> None:
        name = next((name for key, _, name in self._choices if key == event.key), "")
        if name:
            event.stop()
            self.dismiss(name)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id or "")

    def action_stay(self) -> None:
        self.dismiss(self._choices[-1][2])
