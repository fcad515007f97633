"""The comment blocks of an entry and its recipe: kept, dropped or rewritten one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import DataTable, Static, TextArea

from ..comments import CommentBlock
from ..text import cell, literal
from .field import Field
from .vim_table import TableSection, VimTable


class CommentsList(TableSection):
    """A table of blocks; enter edits one below it, d drops it, r restores it, a adds one somewhere else."""

    BOX = "comment-editor"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d,x,delete", "drop", "drop", key_display="d"),
        Binding("r", "restore", "restore", show=False),
        Binding("escape", "close_editor", "done"),
        Binding("a", "add", "add"),
        Binding("u", "app.undo", "undo", show=False),
    ]

    class Changed(Message):
        """What is wanted of one block: a text, None to drop it, or `keep` to leave it."""

        def __init__(self, name: str, of_recipe: bool, text: str | None, *, keep: bool = False, run: str = "") -> None:
            super().__init__()
            self.name = name
            self.of_recipe = of_recipe
            self.text = text
            self.keep = keep
            self.run = run

    def __init__(self) -> None:
        super().__init__(id="comments")
        self._blocks: list[CommentBlock] = []
        self._wanted: dict[tuple[bool, str], str | None] = {}
        self._editing: tuple[bool, str] | None = None
        self._adding = False

    def compose(self) -> ComposeResult:
        yield VimTable(id="comment-table")
        with Vertical(id="comment-editor"):
            yield Field("place", placeholder="dram-utilization, rows[1], image; a recipe's: recipe:override_tp4_c1")
            yield TextArea(
                "",
                compact=True,
                tab_behavior="focus",
                placeholder="the comment, without #",
                highlight_cursor_line=False,
            )
            yield Static(
                "all is marked: typing replaces it, an arrow key goes on with it · esc done",
                markup=False,
                classes="hint",
            )

    def on_mount(self) -> None:
        for name in ("", "where", "comment"):
            self.table.add_column(name, key=name or "state")
        self.query_one("#comment-editor").display = False

    @property
    def table(self) -> VimTable:
        return self.query_one("#comment-table", VimTable)

    def show(
        self, blocks: Sequence[CommentBlock], of_entry: Mapping[str, str | None], of_recipe: Mapping[str, str | None]
    ) -> None:
        """The blocks that are there, and what the spec wants of them and of others."""
        self._wanted = {(False, name): text for name, text in of_entry.items()}
        self._wanted.update({(True, name): text for name, text in of_recipe.items()})
        known = {(block.of_recipe, block.name) for block in blocks}
        added = [
            CommentBlock(name, "", "", 0, recipe)
            for (recipe, name), text in self._wanted.items()
            if (recipe, name) not in known
        ]
        self._blocks = [*blocks, *added]
        table = self.table
        at = table.cursor_row
        table.clear()
        for block in self._blocks:
            key = (block.of_recipe, block.name)
            state, text = "", block.text
            if key in self._wanted:
                wanted = self._wanted[key]
                state, text = (
                    ("dropped", block.text) if wanted is None else ("rewritten" if block.text else "new", wanted)
                )
            style = "strike dim" if state == "dropped" else "bold" if state else ""
            where = f"recipe:{block.name}" if block.of_recipe else block.name
            table.add_row(
                cell(state, "bold"),
                cell(where if len(where) <= 34 else f"{where[:12]}…{where[-21:]}"),
                cell(" ".join(text.split())[:90], style),
            )
        table.go_to_row(at)
        if self._editing is not None and not self._adding:
            self._fill_area(self._editing)

    def _current(self) -> CommentBlock | None:
        at = self.table.cursor_row
        return self._blocks[at] if 0 <= at < len(self._blocks) else None

    @on(DataTable.RowSelected, "#comment-table")
    def _edit(self, event: DataTable.RowSelected) -> None:
        event.stop()
        block = self._current()
        if block is not None:
            self._open((block.of_recipe, block.name), adding=False)

    def _open(self, key: tuple[bool, str] | None, *, adding: bool) -> None:
        self._editing, self._adding = key, adding
        self.query_one("#comment-editor").display = True
        self.query_one(Field).display = adding
        if adding:
            self.query_one(Field).fill("")
            self._put_text("")
            self.call_after_refresh(self.query_one(Field).focus)
        else:
            assert key is not None
            self._fill_area(key)
            # What is there is marked, as the hint below says.
            self.query_one(TextArea).select_all()
            self.call_after_refresh(self.query_one(TextArea).focus)

    def _fill_area(self, key: tuple[bool, str]) -> None:
        block = next((one for one in self._blocks if (one.of_recipe, one.name) == key), None)
        wanted = self._wanted.get(key)
        self._put_text(wanted if wanted is not None else block.text if block is not None else "")

    def _put_text(self, text: str) -> None:
        area = self.query_one(TextArea)
        if area.text != text:
            with area.prevent(TextArea.Changed):
                area.text = text

    @on(Field.Changed)
    def _place_changed(self, event: Field.Changed) -> None:
        event.stop()
        name = event.text.strip()
        self._editing = (name.startswith("recipe:"), name.removeprefix("recipe:")) if name else None

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self._editing is None:
            return
        of_recipe, name = self._editing
        text = event.text_area.text.rstrip("\n")
        block = next((one for one in self._blocks if (one.of_recipe, one.name) == self._editing), None)
        same = text == (block.text if block is not None else "")
        self.post_message(self.Changed(name, of_recipe, text, keep=same, run=f"comment {name}"))

    def action_drop(self) -> None:
        """Drop the block; a second time restores it."""
        block = self._current()
        if block is not None:
            dropped = self._wanted.get((block.of_recipe, block.name), "") is None
            self.post_message(self.Changed(block.name, block.of_recipe, None, keep=dropped or not block.text))

    def action_restore(self) -> None:
        block = self._current()
        if block is not None:
            self.post_message(self.Changed(block.name, block.of_recipe, None, keep=True))

    def action_add(self) -> None:
        self._open(None, adding=True)

    def close_editor(self) -> bool:
        self._editing = None
        return super().close_editor()

    def name_errors(self, errors: Mapping[str, str]) -> None:
        """Mistakes of comment places, by the place's name."""
        for (_, name), _text in self._wanted.items():
            if name in errors:
                self.app.notify(literal(errors[name]), title=f"comment {name}", severity="error", markup=False)
