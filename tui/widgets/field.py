"""One field of a form: label, answer, what it was, and its mistake right under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label, Select, Static

from ..text import literal, say

LABEL_WIDTH = 13


class ChoiceInput(Input):
    """Free text that knows the checkout's own values: → takes the one shown in grey, alt+↓ and alt+↑ walk them all.

    Arrows alone lead to the next and previous field, so that none of them changes an answer.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+down,ctrl+down", "walk(1)", "next value here", show=False),
        Binding("alt+up,ctrl+up", "walk(-1)", "previous value here", show=False),
        Binding("down", "app.focus_next", "next field", show=False),
        Binding("up", "app.focus_previous", "previous field", show=False),
    ]

    # A line of fixed width never changes the layout of its screen, and laying one out takes as long as a plan.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    def __init__(self, value: str, choices: Sequence[str], *, id: str | None = None, placeholder: str = "") -> None:
        self.choices = list(choices)
        suggester = SuggestFromList(self.choices, case_sensitive=True) if choices else None
        super().__init__(value, placeholder=placeholder, suggester=suggester, compact=True, id=id)

    def action_walk(self, step: int) -> None:
        """Take the next or previous of the checkout's values."""
        if not self.choices:
            return
        if self.value in self.choices:
            at = (self.choices.index(self.value) + step) % len(self.choices)
        else:
            near = [at for at, choice in enumerate(self.choices) if choice.startswith(self.value)]
            at = near[0 if step > 0 else -1] if near else 0 if step > 0 else len(self.choices) - 1
        self.value = self.choices[at]
        self.cursor_position = len(self.value)


class ChoiceSelect(Select[Any]):
    """A list of answers; a letter goes to the next one that starts with it, open or not."""

    def on_key(self, event: Key) -> None:
        if self.expanded or event.character is None or not event.character.isalnum():
            return
        event.stop()
        values = [value for _, value in self._options]
        at = values.index(self.value) if self.value in values else -1
        turned = [*self._options[at + 1 :], *self._options[: at + 1]]
        for prompt, value in turned:
            if str(prompt).lower().startswith(event.character.lower()):
                self.value = value
                return


class Field(Vertical):
    """A labelled answer. Posts `Changed` for what the author does, never for what `fill` puts in."""

    class Changed(Message):
        """The author changed the answer."""

        def __init__(self, field: Field, text: str) -> None:
            super().__init__()
            self.field = field
            self.text = text

        @property
        def control(self) -> Field:
            return self.field

    class Done(Message):
        """Enter was pressed in the field."""

        def __init__(self, field: Field) -> None:
            super().__init__()
            self.field = field

    def __init__(
        self,
        name: str,
        *,
        label: str = "",
        choices: Sequence[str] = (),
        options: Sequence[tuple[str, str]] = (),
        placeholder: str = "",
        classes: str = "",
    ) -> None:
        super().__init__(name=name, classes=f"field {classes}")
        self.field_name = name
        self._label = label or name
        self._choices = choices
        self._options = list(options)
        self._placeholder = placeholder
        # A select tells of its own first value, and late: only another one than that is the author's.
        self._known = self._options[0][1] if self._options else ""
        self._answer = self._make_answer()
        self._note = Static("", markup=False, classes="field-note")
        self._under = Static("", markup=False, classes="field-under")
        self._error = Static("", markup=False, classes="field-error")
        self._texts = ("", "")

    def compose(self) -> ComposeResult:
        with Horizontal(classes="field-line"):
            yield Label(literal(self._label), markup=False, classes="field-label")
            yield self._answer
            yield self._note
        yield self._under
        yield self._error

    def _make_answer(self) -> Input | Select[str]:
        if self._options:
            shown = [(Content(literal(text)), value) for text, value in self._options]
            return ChoiceSelect(shown, allow_blank=False, compact=True, classes="field-answer")
        return ChoiceInput("", self._choices, placeholder=self._placeholder).add_class("field-answer")

    @property
    def answer(self) -> Input | Select[str]:
        """The widget that takes the answer."""
        return self._answer

    @property
    def text(self) -> str:
        """The answer as it stands."""
        return str(self.answer.value)

    def fill(self, text: str) -> None:
        """Put a value in without telling anyone; what is there already stays, with its cursor."""
        answer = self.answer
        self._known = text
        if answer.value == text:
            return
        if isinstance(answer, Select):
            known = [value for _, value in self._options]
            if text not in known:
                self._options.append((text, text))
                with answer.prevent(Select.Changed):
                    answer.set_options([(Content(literal(one)), value) for one, value in self._options])
            with answer.prevent(Select.Changed):
                answer.value = text
        else:
            with answer.prevent(Input.Changed):
                answer.value = text
                answer.cursor_position = len(text)

    def select(self) -> None:
        """Mark the whole answer, so that typing replaces it."""
        if isinstance(self._answer, Input):
            self._answer.action_select_all()

    def note(self, text: str) -> None:
        """A dim remark behind the answer, or below it where the answer needs the room."""
        if text != self._texts[0]:
            self._texts = (text, self._texts[1])
            self._note.update(literal(text))
            self._under.update(literal(text))
            self.set_class(bool(text), "-noted")
        self._place_note()

    def _place_note(self) -> None:
        room = self.size.width - LABEL_WIDTH
        needed = cell_len(self.text) + cell_len(self._texts[0]) + 3
        self.set_class(bool(self._texts[0]) and 0 < room < needed, "-under")

    def on_resize(self) -> None:
        self._place_note()

    def fail(self, text: str) -> None:
        """The mistake under the answer; empty for none."""
        if text != self._texts[1]:
            self._texts = (self._texts[0], text)
            say(self._error, f"✗ {literal(text)}" if text else "")
            self.set_class(bool(text), "-failed")

    def mark_changed(self, changed: bool) -> None:
        """Bold what differs from the checkout."""
        self.set_class(changed, "-changed")

    def focus(self, scroll_visible: bool = True) -> Field:
        self.answer.focus(scroll_visible)
        return self

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._place_note()
        self.post_message(self.Changed(self, event.value))

    @on(Select.Changed)
    def _selected(self, event: Select.Changed) -> None:
        event.stop()
        if str(event.value) != self._known:
            self._known = str(event.value)
            self.post_message(self.Changed(self, self._known))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Done(self))
