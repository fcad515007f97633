"""A data table with movement as in vi, and what sections with such a table share."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import DataTable


class VimTable(DataTable[Any]):
    """Rows are walked with j and k, g and G go to the ends, h and l move sideways."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "down", show=False),
        Binding("k", "cursor_up", "up", show=False),
        Binding("h", "cursor_left", "left", show=False),
        Binding("l", "cursor_right", "right", show=False),
        Binding("g", "scroll_top", "top", show=False),
        Binding("G", "scroll_bottom", "end", show=False),
        Binding("ctrl+d", "page_down", "page down", show=False),
        Binding("ctrl+u", "page_up", "page up", show=False),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(cursor_type="row", zebra_stripes=False, id=id, classes=classes)

    def action_cursor_up(self) -> None:
        """Up, and from the first row to what stands above the table."""
        if self.row_count and self.cursor_row > 0:
            super().action_cursor_up()
        else:
            self.screen.focus_previous()

    def action_cursor_down(self) -> None:
        """Down, and from the last row to what stands below the table."""
        if self.cursor_row < self.row_count - 1:
            super().action_cursor_down()
        else:
            self.screen.focus_next()

    def go_to_row(self, row: int) -> None:
        """Put the cursor on a row, or the nearest there is."""
        if self.row_count:
            self.move_cursor(row=max(0, min(row, self.row_count - 1)), animate=False)


class TableSection(Vertical):
    """A section around one table. Keys that change the row under the cursor work in the table alone: in a box that is
    open below it, the same letters are typed."""

    OF_THE_TABLE: ClassVar[tuple[str, ...]] = ("add", "duplicate", "drop", "restore", "move", "points")
    # The id of the box below the table, where escape shuts one.
    BOX: ClassVar[str] = ""

    @property
    def table(self) -> VimTable:
        """The section's table."""
        return self.query(VimTable).first()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether the key works where the focus is."""
        if action == "close_editor":
            return bool(self.BOX and self.query_one(f"#{self.BOX}").display)
        return action not in self.OF_THE_TABLE or self.table.has_focus

    def action_close_editor(self) -> None:
        """Shut the box, back to the table."""
        self.close_editor()

    def close_editor(self) -> bool:
        """Shut the box below the table; False where it was not open."""
        box = self.query_one(f"#{self.BOX}")
        if not box.display:
            return False
        box.display = False
        self.table.focus()
        return True
