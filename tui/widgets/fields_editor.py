"""What the editors of one row and of one rule share."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from .field import Field


class FieldsEditor(Vertical):
    """Named fields under a table, hidden until they are wanted; escape goes back to the table."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "done")]

    class Closed(Message):
        """Back to the table."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.display = False
        self._fields: dict[str, Field] = {}

    def on_mount(self) -> None:
        self.border_subtitle = "esc done"

    def field(self, name: str) -> Field:
        """One field by name."""
        if not self._fields:
            self._fields = {field.field_name: field for field in self.query(Field)}
        return self._fields[name]

    @on(Field.Done)
    def _done(self, event: Field.Done) -> None:
        event.stop()
        self.action_close()

    def action_close(self) -> None:
        self.post_message(self.Closed())
