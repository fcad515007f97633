"""The search space: rows as a table, added, duplicated, edited, moved and dropped; the focused row opens below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import DataTable, Static

from ...schema.master import Row
from ..rows import concurrency_text
from ..text import cell, literal
from .row_editor import RowEditor
from .vim_table import TableSection, VimTable


class SearchSpace(TableSection):
    """Shows rows; tells what the author wants of them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "add"),
        Binding("c", "duplicate", "copy"),
        Binding("d,delete", "drop", "drop", key_display="d"),
        Binding("J,shift+down", "move(1)", "move down", show=False),
        Binding("K,shift+up", "move(-1)", "move up", show=False),
        Binding("u", "app.undo", "undo", show=False),
    ]

    class Changed(Message):
        """All rows anew. `run` names what is being typed in, empty for a single step."""

        def __init__(self, rows: list[dict[str, Any]], run: str = "") -> None:
            super().__init__()
            self.rows = rows
            self.run = run

    class TierChanged(Message):
        """The tier of one row's arm."""

        def __init__(self, row: int, text: str) -> None:
            super().__init__()
            self.row = row
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="search-space")
        self.rows: list[dict[str, Any]] = []
        self._before: list[dict[str, Any]] = []
        self._tiers: list[str] = []
        self._shape: tuple[Any, ...] = ()
        self.with_tiers = False
        self._to_open: int | None = None

    def compose(self) -> ComposeResult:
        yield VimTable(id="rows")
        yield Static("", id="row-detail", markup=False)
        yield RowEditor()

    @property
    def table(self) -> VimTable:
        return self.query_one("#rows", VimTable)

    @property
    def editor(self) -> RowEditor:
        return self.query_one(RowEditor)

    def show(
        self,
        rows: Sequence[Mapping[str, Any]],
        before: Sequence[Mapping[str, Any]],
        pairs: Sequence[int | None],
        tiers: Sequence[str],
        backends: Sequence[str],
    ) -> None:
        """The rows as they should read; `pairs` says which row before each one is."""
        self.rows = [dict(row) for row in rows]
        self._before = [dict(row) for row in before]
        self._pairs = list(pairs)
        self._tiers = list(tiers)
        self.editor.backends = list(backends)
        self._fill_table()
        if self.editor.display and self.editor.row_index < len(self.rows):
            self._fill_editor()
        elif self.editor.display:
            self.editor.display = False
        if self._to_open is not None and self._to_open < len(self.rows):
            at, self._to_open = self._to_open, None
            self.table.go_to_row(at)
            self.edit(at)

    def _fill_table(self) -> None:
        table = self.table
        agentic = any("kv-offloading" in row for row in self.rows)
        wanted = (
            "arm",
            *(("kv", "backend") if agentic else ()),
            "spec",
            "concurrency",
            "+/−",
            *(("tier",) if self.with_tiers else ()),
        )
        at = table.cursor_row
        if wanted != self._shape:
            table.clear(columns=True)
            for name in wanted:
                table.add_column(name, key=name)
            self._shape = wanted
        else:
            table.clear()
        for index, row in enumerate(self.rows):
            cells = self._cells(index, row)
            table.add_row(*(cells[name] for name in wanted))
        table.go_to_row(at)
        self._detail()

    def _cells(self, index: int, data: Mapping[str, Any]) -> dict[str, Text]:
        row = Row(data)
        pair = self._pairs[index] if index < len(self._pairs) else None
        old = self._before[pair] if pair is not None else None
        new_style = "bold" if old is None else ""
        changed = old is not None and concurrency_text(old) != concurrency_text(data)
        return {
            "arm": cell(_arm(row), new_style),
            "kv": cell(row.kv_offloading, new_style),
            "backend": cell(_cut(f"{row.backend} {row.backend_version}".strip(), 17), new_style),
            "spec": cell(row.spec_decoding, new_style),
            "concurrency": cell(concurrency_text(data), "bold" if changed or old is None else ""),
            "+/−": cell(_difference(row, old), "bold"),
            "tier": cell(self._tiers[index].replace(" per ", "/") if index < len(self._tiers) else ""),
        }

    @on(DataTable.RowHighlighted, "#rows")
    def _detail(self) -> None:
        """What the columns have no room for, of the row under the cursor."""
        at = self.table.cursor_row
        detail = self.query_one("#row-detail", Static)
        if not 0 <= at < len(self.rows):
            detail.update("no rows: a adds one")
            return
        data = self.rows[at]
        shown = {"tp", "dcp-size", "kv-offloading", "conc-list", "conc-start", "conc-end"}
        parts = [f"{name}: {_short(value)}" for name, value in data.items() if name not in shown]
        detail.update(literal(" · ".join(parts)))

    # What the author does

    @on(DataTable.RowSelected, "#rows")
    def _edit(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self.edit(event.cursor_row)

    def edit(self, index: int) -> None:
        """Open one row under the table."""
        if not 0 <= index < len(self.rows):
            return
        self.editor.row_index = index
        self.editor.display = True
        self.editor.with_tier = self.with_tiers
        self._fill_editor()
        self.call_after_refresh(self.editor.focus_first)

    def _fill_editor(self) -> None:
        at = self.editor.row_index
        pair = self._pairs[at] if at < len(self._pairs) else None
        old = self._before[pair] if pair is not None else None
        self.editor.fill(self.rows[at], old, self._tiers[at] if at < len(self._tiers) else "")

    @on(RowEditor.Changed)
    def _row_changed(self, event: RowEditor.Changed) -> None:
        event.stop()
        rows = [dict(row) for row in self.rows]
        rows[self.editor.row_index] = event.row
        self.post_message(self.Changed(rows, f"row {self.editor.row_index} {event.name}"))

    @on(RowEditor.TierChanged)
    def _tier_changed(self, event: RowEditor.TierChanged) -> None:
        event.stop()
        self.post_message(self.TierChanged(self.editor.row_index, event.text))

    @on(RowEditor.Closed)
    def _editor_closed(self, event: RowEditor.Closed) -> None:
        event.stop()
        self.editor.display = False
        self.table.focus()

    def action_add(self) -> None:
        """A new row behind the cursor: like its neighbour, without points yet."""
        at = self.table.cursor_row if self.rows else -1
        like = self.rows[at] if self.rows else {"tp": 1}
        row = {name: value for name, value in like.items() if name not in ("conc-start", "conc-end", "router")}
        row["conc-list"] = []
        self._put(at + 1, row)

    def action_duplicate(self) -> None:
        if self.rows:
            self._put(self.table.cursor_row + 1, dict(self.rows[self.table.cursor_row]))

    def _put(self, at: int, row: dict[str, Any]) -> None:
        rows = [dict(one) for one in self.rows]
        rows.insert(at, row)
        self._to_open = at
        self.post_message(self.Changed(rows))

    def action_drop(self) -> None:
        at = self.table.cursor_row
        if len(self.rows) > 1 and 0 <= at < len(self.rows):
            self.editor.display = False
            self.post_message(self.Changed([dict(row) for index, row in enumerate(self.rows) if index != at]))
        elif self.rows:
            self.app.notify(
                "The last row stays: a search space needs one. To drop the whole key, use Retire.", markup=False
            )

    def action_move(self, step: int) -> None:
        at = self.table.cursor_row
        to = at + step
        if 0 <= at < len(self.rows) and 0 <= to < len(self.rows):
            rows = [dict(row) for row in self.rows]
            rows[at], rows[to] = rows[to], rows[at]
            self.post_message(self.Changed(rows))
            self.call_later(self.table.go_to_row, to)


def _arm(row: Row) -> str:
    return str(row)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(_short(one) for one in value.values())
    if isinstance(value, list):
        return " ".join(str(one) for one in value)
    text = str(value)
    return text if len(text) <= 60 else "…" + text[-59:]


def _difference(row: Row, old: Mapping[str, Any] | None) -> str:
    """`new`, or the points that come and go: `+1 −64`."""
    if old is None:
        return "new"
    before, now = Row(old).concurrencies, row.concurrencies
    parts = [f"+{one}" for one in now if one not in before] + [f"−{one}" for one in before if one not in now]
    text = " ".join(parts[:4])
    return text + (" …" if len(parts) > 4 else "")


def chips(points: Sequence[int], before: Sequence[int]) -> Content:
    """Points as chips: new ones with a plus, dropped ones with a minus; nothing by colour alone."""
    parts: list[Any] = []
    for point in points:
        is_new = point not in before
        parts += [(f" {'+' if is_new else ''}{point} ", "reverse bold" if is_new else "reverse"), " "]
    for point in before:
        if point not in points:
            parts += [(f" −{point} ", "strike $text-muted"), " "]
    return Content.assemble(*parts) if parts else Content("no points yet: type 1 2 4 8, 16-48/8 or 4..64")
