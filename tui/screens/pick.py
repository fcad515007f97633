"""Pick: which key, or which keys, or which sibling a new key starts from."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Input, Select, Static
from textual.worker import get_current_worker

from ...derive.naming import read_key
from ...schema.errors import BenchscribeError
from ..keys import FACETS, KeyRow, found, ranked_siblings, row_by_name, row_of
from ..model import SpecModel
from ..starts import start_bump, start_change, start_extension, start_new, start_retirement, with_own_words
from ..text import cell, lines_of, literal
from ..widgets.vim_table import VimTable
from .step import StepScreen

TITLES = {
    "change": "Change a key",
    "new": "Add a key",
    "bump": "Bump an image",
    "extend": "Extend a curve",
    "retire": "Retire a key",
}
HINTS = {
    "change": "words in any order: glm atom mi355x",
    "new": "the new key's name, or words to find a sibling by",
    "bump": "words; enter marks a key, ^s goes on with the marked ones",
    "extend": "words; new points will join the key you pick",
    "retire": "words; the entry of the key you pick will be removed",
}
COLUMNS = (
    ("key", "key"), ("image", "tag"), ("scenario", "scenario"), ("pts", "points"),
    ("SKU", "sku"), ("framework", "framework"), ("prec", "precision"), ("model", "model"),
)  # fmt: skip
CHUNK = 8


class SearchInput(Input):
    """Arrows walk the table below while one types."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "walk(1)", "down", show=False),
        Binding("up", "walk(-1)", "up", show=False),
        Binding("pagedown", "walk(10)", "page down", show=False),
        Binding("pageup", "walk(-10)", "page up", show=False),
    ]

    def action_walk(self, step: int) -> None:
        table = self.screen.query_one(VimTable)
        table.go_to_row(table.cursor_row + step)


class PickScreen(StepScreen):
    """A fuzzy search over all keys; the table fills in as entries are read."""

    CSS_PATH = "pick.tcss"
    step_name = "pick"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "next", "go on", key_display="^s"),
        Binding("slash", "search", "search", show=False),
        Binding("f6", "flip", "preview", priority=True),
        Binding("space", "mark", "mark", show=False),
        Binding("ctrl+l", "clear", "clear filters", show=False),
    ]
    HELP_TEXT = (
        "Type words in any order; each must be somewhere in the key, model, image, SKU, framework or scenario. Letters left "
        "out are fine (glmatom). The boxes under the search narrow by one property each.\n\n"
        "Enter takes the key under the cursor. For an image bump enter (or space in the table) marks keys, ^s goes on.\n"
        "For a new key, type its whole name: relatives are ranked, with what they share; enter starts from one."
    )

    def __init__(self, kind: str) -> None:
        self.title_text = TITLES[kind]
        super().__init__()
        self.kind = kind
        self._rows: dict[str, KeyRow] = {}
        self._shown: list[KeyRow] = []
        self._marked: dict[str, None] = {}
        self._reasons: dict[str, str] = {}
        self._options: dict[str, list[str]] = {}

    def body(self) -> ComposeResult:
        with Horizontal(classes="panes"):
            with Vertical(classes="pane main", id="pick"):
                yield SearchInput(placeholder=HINTS[self.kind], id="search", compact=True, select_on_focus=False)
                with Horizontal(id="chips"):
                    for facet in FACETS:
                        yield Select([], prompt="SKU" if facet == "sku" else facet, id=f"chip-{facet}", compact=True)
                yield VimTable(id="keys")
                yield Static("", id="pick-note", markup=False)
            with VerticalScroll(classes="pane side", id="preview"):
                yield Static("", id="preview-text", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        table = self.query_one(VimTable)
        columns = [("why", "why"), *COLUMNS[1:]] if self.kind == "new" else COLUMNS[1:]
        if self.kind == "bump":
            table.add_column("✓", key="mark", width=1)
        table.add_column("key", key="key")
        for title, name in columns:
            table.add_column(title, key=name, width=46 if name == "why" else None)
        self.query_one("#pick").border_title = self.title_text
        self.query_one("#preview").border_title = "Entry"
        self._rows = {key: row_by_name(key) for key in self.bench.checkout.after.keys}
        self._fill_chips()
        self._search()
        self.query_one("#search").focus()
        self._read_entries()

    # Filling in

    @work(thread=True, exclusive=True, group="entries")
    def _read_entries(self) -> None:
        worker = get_current_worker()
        checkout = self.bench.checkout
        rows: list[KeyRow] = []
        for key in list(self._rows):
            if worker.is_cancelled:
                return
            try:
                entry = checkout.entry(key)
            except BenchscribeError:
                entry = None
            if entry is not None:
                rows.append(row_of(entry))
            if len(rows) >= CHUNK:
                self.from_thread(self._take, rows)
                rows = []
        if not worker.is_cancelled:
            self.from_thread(self._take, rows, True)

    def _take(self, rows: list[KeyRow], is_last: bool = False) -> None:
        tables = self.query(VimTable)
        if not tables:  # the screen was left while entries were read
            return
        table = tables.first()
        visible = {row.key for row in self._shown}
        for row in rows:
            self._rows[row.key] = row
            if row.key in visible:
                for name, value in self._cells(row).items():
                    table.update_cell(row.key, name, value, update_width=True)
        self._shown = [self._rows[row.key] for row in self._shown]
        if is_last:
            self._fill_chips()
            self._search()

    def _fill_chips(self) -> None:
        for facet in FACETS:
            values = sorted({str(getattr(row, facet)) for row in self._rows.values()} - {""})
            if values == self._options.get(facet):
                continue
            self._options[facet] = values
            chip = self.query_one(f"#chip-{facet}", Select)
            kept = chip.value
            with self.prevent(Select.Changed):
                chip.set_options([(Content(literal(value)), value) for value in values])
                if kept in values:
                    chip.value = kept

    @on(Input.Changed, "#search")
    @on(Select.Changed)
    def _narrow(self) -> None:
        self._search()

    def _search(self) -> None:
        query = self.query_one("#search", Input).value
        facets = {}
        for facet in FACETS:
            value = self.query_one(f"#chip-{facet}", Select).value
            facets[facet] = "" if value is Select.NULL else str(value)
        self._reasons = ranked_siblings(query.strip(), list(self._rows)) if self.kind == "new" else {}
        if self._reasons:
            self._shown = [self._rows[key] for key in self._reasons]
        else:
            self._shown = found(self._rows.values(), query, facets)
        table = self.query_one(VimTable)
        table.clear()
        names = [str(column.value) for column in table.columns]
        for row in self._shown:
            cells = self._cells(row)
            table.add_row(*(cells[name] for name in names), key=row.key)
        self._note()
        self._preview()

    def _cells(self, row: KeyRow) -> dict[str, Any]:
        cells: dict[str, Any] = {
            "key": cell(row.key, "bold" if row.key in self._marked else ""),
            "tag": cell(row.tag[:34]),
            "scenario": cell(row.scenario),
            "points": cell(row.points or "", justify="right"),
            "framework": cell(row.framework),
            "sku": cell(row.sku),
            "precision": cell(row.precision),
            "model": cell(row.model),
        }
        if self.kind == "new":
            cells["why"] = cell(self._reasons.get(row.key, ""))
        if self.kind == "bump":
            cells["mark"] = cell("✓" if row.key in self._marked else " ")
        return cells

    def _note(self) -> None:
        count, total = len(self._shown), len(self._rows)
        text = f"{count} of {total} keys" if count != total else f"{total} keys"
        if self.kind == "bump":
            text += f" · {len(self._marked)} marked"
        if not count:
            text = f"No key fits. {total} keys in all; ^l clears the filters."
        self.query_one("#pick-note", Static).update(text)

    # The preview

    @on(DataTable.RowHighlighted)
    def _preview(self) -> None:
        row = self._current()
        preview = self.query_one("#preview-text", Static)
        if row is None:
            preview.update("")
            return
        snapshot = self.bench.checkout.after
        place = snapshot.keys[row.key]
        text = snapshot.master_text(place.file)
        head = (f"{literal(place.file)}:{place.block.line}\n", "$text-muted")
        why = self._reasons.get(row.key, "")
        parts: list[Any] = [(f"{literal(why)}\n", "$text-accent")] if why else []
        comment = text[place.block.comment_start : place.block.start].strip("\n")
        parts += [head, (("\n".join(lines_of(comment)) + "\n") if comment else "", "$text-muted")]
        parts.append("\n".join(lines_of(text[place.block.start : place.block.end])))
        preview.update(Content.assemble(*parts))

    def _current(self) -> KeyRow | None:
        at = self.query_one(VimTable).cursor_row
        return self._shown[at] if 0 <= at < len(self._shown) else None

    # Choosing

    @on(Input.Submitted, "#search")
    @on(DataTable.RowSelected)
    def _choose(self) -> None:
        row = self._current()
        if row is None:
            return
        if self.kind == "bump":
            self._toggle(row)
        else:
            self._start([row.key])

    def action_mark(self) -> None:
        if self.kind == "bump" and not self.is_typing() and (row := self._current()) is not None:
            self._toggle(row)

    def _toggle(self, row: KeyRow) -> None:
        if row.key in self._marked:
            del self._marked[row.key]
        else:
            self._marked[row.key] = None
        table = self.query_one(VimTable)
        for name, value in self._cells(row).items():
            if name in ("mark", "key"):
                table.update_cell(row.key, name, value)
        self._note()

    def action_next(self) -> None:
        row = self._current()
        keys = list(self._marked) or ([row.key] if row is not None else [])
        if keys:
            self._start(keys)

    def _start(self, keys: list[str]) -> None:
        checkout = self.bench.checkout
        try:
            data = self._carried(self._spec_of(keys))
        except BenchscribeError as error:
            self.notify(error.what, title="This entry cannot be read", severity="error", markup=False)
            return
        self.bench.begin(SpecModel(data))
        self.bench.job = self.kind
        typed = self.query_one("#search", Input).value.strip()
        self.bench.name_by_hand = (
            self.kind == "new" and read_key(typed) is not None and typed not in checkout.after.keys
        )
        self.app.pop_screen()
        self.bench.go("edit")

    def _carried(self, data: dict[str, Any]) -> dict[str, Any]:
        """With the author's lines of the branch's own entry; one that cannot be read is told of when planning."""
        try:
            return with_own_words(data, self.bench.checkout)
        except BenchscribeError:
            return data

    def _spec_of(self, keys: list[str]) -> dict[str, Any]:
        checkout = self.bench.checkout
        if self.kind == "new":
            return start_new(self.query_one("#search", Input).value.strip(), keys[0], checkout)
        starts = {"change": start_change, "bump": start_bump, "extend": start_extension, "retire": start_retirement}
        return starts[self.kind](keys)

    # Keys

    def action_search(self) -> None:
        self.query_one("#search").focus()

    def action_clear(self) -> None:
        for facet in FACETS:
            self.query_one(f"#chip-{facet}", Select).clear()
        self.query_one("#search", Input).value = ""

    def action_flip(self) -> None:
        self.toggle_class("-flipped")

    def action_back(self) -> None:
        self.app.pop_screen()
