"""A list of things that are in or out, told by a box and not by colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ..text import literal


class Toggles(OptionList):
    """Posts `Toggled` with a thing's name; what is in is for the screen to say."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "down", show=False),
        Binding("k", "cursor_up", "up", show=False),
        Binding("g", "first", "first", show=False),
        Binding("G", "last", "last", show=False),
        Binding("space,enter", "select", "in / out", key_display="space"),
        Binding("J,shift+down", "move(1)", "move", key_display="J K"),
        Binding("K,shift+up", "move(-1)", "move up", show=False),
    ]

    class Toggled(Message):
        """One thing is to change sides."""

        def __init__(self, toggles: Toggles, name: str) -> None:
            super().__init__()
            self.toggles = toggles
            self.name = name

        @property
        def control(self) -> Toggles:
            return self.toggles

    class Moved(Message):
        """One thing is to go up or down."""

        def __init__(self, toggles: Toggles, name: str, step: int) -> None:
            super().__init__()
            self.toggles = toggles
            self.name = name
            self.step = step

        @property
        def control(self) -> Toggles:
            return self.toggles

    def __init__(self, *, id: str | None = None, movable: bool = False) -> None:
        super().__init__(id=id, markup=False)
        self._movable = movable
        self._names: list[str] = []
        self._followed = ""

    def show(self, things: Sequence[tuple[str, str, bool]]) -> None:
        """Each thing's name, its text, and whether it is in."""
        at = self.highlighted
        followed, self._followed = self._followed, ""
        self._names = [name for name, _, _ in things]
        self.clear_options()
        self.add_options(
            Option(Content.assemble(("☑ " if is_in else "☐ ", "bold"), (literal(text), "" if is_in else "$text-muted")))
            for _, text, is_in in things
        )
        if things:
            self.highlighted = self._names.index(followed) if followed in self._names else min(at or 0, len(things) - 1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only some lists have an order that is the author's."""
        return action != "move" or self._movable

    def action_move(self, step: int) -> None:
        """The highlighted thing up or down; the cursor goes with it."""
        if self.highlighted is not None:
            self._followed = self._names[self.highlighted]
            self.post_message(self.Moved(self, self._followed, step))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Toggled(self, self._names[event.option_index]))
