"""The author's own lines: English for the entry, Chinese for the commit and the pull request."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import DataTable

from ..text import cell
from .field import Field
from .vim_table import TableSection, VimTable


class NotesEditor(TableSection):
    """A table of lines; enter edits one below it."""

    BOX = "note-editor"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "add"),
        Binding("d,delete", "drop", "drop", key_display="d"),
        Binding("J,shift+down", "move(1)", "move down", show=False),
        Binding("K,shift+up", "move(-1)", "move up", show=False),
        Binding("u", "app.undo", "undo", show=False),
        Binding("escape", "close_editor", "done"),
    ]

    class Changed(Message):
        """All lines anew, each with `en` and `zh`."""

        def __init__(self, notes: list[dict[str, str]], run: str = "") -> None:
            super().__init__()
            self.notes = notes
            self.run = run

    def __init__(self) -> None:
        super().__init__(id="own-lines")
        self._notes: list[dict[str, str]] = []
        self._editing = 0
        self._to_open: int | None = None

    def compose(self) -> ComposeResult:
        yield VimTable(id="notes-table")
        with Vertical(id="note-editor"):
            yield Field("en", label="English", placeholder="one line, as a sentence")
            yield Field(
                "zh", label="中文", placeholder="the same in Chinese; without it the English stands in both halves"
            )

    def on_mount(self) -> None:
        self.table.add_column("English", key="en")
        self.table.add_column("中文", key="zh")
        self.query_one("#note-editor").display = False

    @property
    def table(self) -> VimTable:
        return self.query_one("#notes-table", VimTable)

    def show(self, notes: list[dict[str, str]]) -> None:
        """The lines as they stand in the spec."""
        self._notes = [dict(note) for note in notes]
        table = self.table
        at = table.cursor_row
        table.clear()
        for note in self._notes:
            table.add_row(cell(note["en"][:60] or "(empty)"), cell(note["zh"][:30] or "–"))
        table.go_to_row(at)
        editor = self.query_one("#note-editor")
        if editor.display and self._editing < len(self._notes):
            self._fill()
        else:
            editor.display = False
        if self._to_open is not None and self._to_open < len(self._notes):
            opening, self._to_open = self._to_open, None
            table.go_to_row(opening)
            self.edit(opening)

    def _fill(self) -> None:
        for field in self.query(Field):
            field.fill(self._notes[self._editing][field.field_name])

    def fail(self, index: int, language: str, text: str) -> None:
        """A mistake of one line, where that line is being edited."""
        for field in self.query(Field):
            if self._editing == index and field.field_name == language:
                field.fail(text)

    def clear_mistakes(self) -> None:
        for field in self.query(Field):
            field.fail("")

    def edit(self, index: int) -> None:
        """Open one line under the table."""
        if 0 <= index < len(self._notes):
            self._editing = index
            self.query_one("#note-editor").display = True
            self._fill()
            self.call_after_refresh(self.query(Field).first().focus)

    @on(DataTable.RowSelected)
    def _selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self.edit(event.cursor_row)

    @on(Field.Changed)
    def _changed(self, event: Field.Changed) -> None:
        event.stop()
        notes = [dict(note) for note in self._notes]
        notes[self._editing][event.field.field_name] = event.text
        self.post_message(self.Changed(notes, f"note {self._editing} {event.field.field_name}"))

    @on(Field.Done)
    def _done(self, event: Field.Done) -> None:
        event.stop()
        fields = list(self.query(Field))
        if event.field is fields[0]:
            fields[1].focus()
        else:
            self.close_editor()

    def action_add(self) -> None:
        self._to_open = len(self._notes)
        self.post_message(self.Changed([*self._notes, {"en": "", "zh": ""}]))

    def action_drop(self) -> None:
        at = self.table.cursor_row
        self.query_one("#note-editor").display = False
        if 0 <= at < len(self._notes):
            self.post_message(self.Changed([note for index, note in enumerate(self._notes) if index != at]))

    def action_move(self, step: int) -> None:
        at, to = self.table.cursor_row, self.table.cursor_row + step
        if 0 <= at < len(self._notes) and 0 <= to < len(self._notes):
            notes = list(self._notes)
            notes[at], notes[to] = notes[to], notes[at]
            self.post_message(self.Changed(notes))
            self.call_later(self.table.go_to_row, to)
