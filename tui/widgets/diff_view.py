"""A diff one can walk through: files fold, gaps open, unified or side by side, YAML in colours.

Only the lines in sight are drawn, so a changelog of 396 KB costs no more than a short one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ...schema.results import Edit
from ..diffs import DiffRow, FileDiff, diff_rows, file_diff, lines_to_open, yaml_tokens
from ..text import literal

_MARKS = {"added": "+", "removed": "−"}


class DiffView(ScrollView, can_focus=True):
    """The diff of a plan's edits."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"diff--{name}"
        for name in (
            "added", "removed", "file", "gap", "number", "comment", "string", "key", "value", "cursor", "plain",
        )
    }  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "down", show=False),
        Binding("k,up", "move(-1)", "up", show=False),
        Binding("ctrl+d,pagedown", "page(1)", "page down", show=False),
        Binding("ctrl+u,pageup", "page(-1)", "page up", show=False),
        Binding("g,home", "go(0)", "top", show=False),
        Binding("G,end", "go(-1)", "end", show=False),
        Binding("n", "change(1)", "change"),
        Binding("N", "change(-1)", "previous change", show=False),
        Binding("h,left", "sideways(-8)", "left", show=False),
        Binding("l,right", "sideways(8)", "right", show=False),
        Binding("enter,space", "open", "fold, more"),
        Binding("s", "toggle_side_by_side", "split"),
    ]
    side_by_side = reactive(False, layout=False)
    cursor = reactive(0)

    class Split(Message):
        """Old and new stand side by side now, or no longer."""

        def __init__(self, is_split: bool) -> None:
            super().__init__()
            self.is_split = is_split

    class OpenPlace(Message):
        """A line is to be opened in the editor."""

        def __init__(self, path: str, line: int) -> None:
            super().__init__()
            self.path = path
            self.line = line

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._files: list[FileDiff] = []
        self._rows: list[DiffRow] = []
        self._folded: set[str] = set()
        self._opened: dict[str, set[int]] = {}
        self._width = 0

    def show(self, edits: Sequence[Edit]) -> None:
        """Show these edits; what is folded and opened stays so."""
        self._files = [file_diff(edit) for edit in edits]
        self._build()

    @property
    def place(self) -> tuple[str, int]:
        """The file and line, in the new file, under the cursor."""
        if not self._rows:
            return "", 0
        row = self._rows[self.cursor]
        line = row.new_line or next((other.new_line for other in self._rows[self.cursor :] if other.new_line), 0)
        return self._files[row.file].path, line

    def go_to(self, path: str, line: int) -> bool:
        """Put the cursor on a line of the new file, opening what hides it; False where the file is not shown."""
        number = next((at for at, found in enumerate(self._files) if found.path == path), None)
        if number is None:
            return False
        self._folded.discard(path)
        if line:
            self._opened.setdefault(path, set()).update(range(max(0, line - 4), line + 3))
        self._build()
        near = [at for at, row in enumerate(self._rows) if row.file == number and row.new_line]
        if near:
            self.cursor = min(near, key=lambda at: abs(self._rows[at].new_line - line))
            self.scroll_to(y=max(0, self.cursor - self.size.height // 3), animate=False)
        return True

    def _build(self) -> None:
        self._rows = diff_rows(self._files, self._folded, self._opened, side_by_side=self.side_by_side)
        longest = max((len(row.new or row.old) for row in self._rows), default=0)
        self._width = (
            max(self.size.width, longest + 16) if not self.side_by_side else max(self.size.width, 2 * longest + 20)
        )
        self.virtual_size = Size(self._width, len(self._rows))
        self.cursor = min(self.cursor, max(0, len(self._rows) - 1))
        self.refresh()

    def watch_side_by_side(self) -> None:
        self._build()

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._rows) - 1)) if self._rows else 0

    def watch_cursor(self) -> None:
        self.scroll_to_region(Region(self.scroll_offset.x, self.cursor, 1, 1), animate=False)
        self.refresh()

    # Actions

    def action_move(self, step: int) -> None:
        self.cursor += step

    def action_page(self, step: int) -> None:
        self.cursor += step * max(1, self.size.height - 2)

    def action_go(self, where: int) -> None:
        self.cursor = len(self._rows) - 1 if where < 0 else where
        self.scroll_to(x=0, animate=False)

    def action_sideways(self, step: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + step, animate=False)
        self.refresh()

    def action_change(self, step: int) -> None:
        """To the next or previous run of changed lines."""
        changed = [at for at, row in enumerate(self._rows) if row.kind in ("added", "removed", "pair")]
        starts = [at for at in changed if at - 1 not in changed]
        ahead = [at for at in starts if (at > self.cursor if step > 0 else at < self.cursor)]
        if ahead:
            self.cursor = ahead[0] if step > 0 else ahead[-1]
            self.scroll_to(x=0, animate=False)

    def action_open(self) -> None:
        """Fold or unfold a file, show more lines of a gap."""
        if not self._rows:
            return
        row = self._rows[self.cursor]
        path = self._files[row.file].path
        if row.kind == "file":
            self._folded.symmetric_difference_update({path})
        elif row.kind == "gap":
            self._opened.setdefault(path, set()).update(lines_to_open(row))
        else:
            self.post_message(self.OpenPlace(*self.place))
            return
        self._build()

    def action_toggle_side_by_side(self) -> None:
        self.side_by_side = not self.side_by_side
        self.post_message(self.Split(self.side_by_side))

    def on_click(self, event: Click) -> None:
        at = event.y + self.scroll_offset.y
        if 0 <= at < len(self._rows):
            self.cursor = at
            if self._rows[at].kind in ("file", "gap"):
                self.action_open()

    def on_resize(self) -> None:
        self._build()

    # Drawing

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if at >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[at]
        here = at == self.cursor and self.has_focus
        if row.kind == "file":
            strip = self._file_line(row)
        elif row.kind == "gap":
            start, end = row.hidden
            count = end - start
            text = f"{'':>6}  ⋯ {count:,} unchanged line{'s' if count != 1 else ''}"
            strip = Strip([Segment(text, self._style("gap"))])
        elif row.kind == "pair" or (self.side_by_side and row.kind == "same"):
            strip = self._pair_line(row, width)
        else:
            strip = self._line(row)
        if not (self.side_by_side and row.kind in ("pair", "same")) and row.kind not in ("file", "gap"):
            strip = self._scrolled(strip, width)
        strip = strip.adjust_cell_length(width, self._background(row))
        return strip.apply_style(self._style("cursor")) if here else strip

    def _scrolled(self, strip: Strip, width: int) -> Strip:
        """The gutter stays, the text scrolls."""
        offset = self.scroll_offset.x
        if not offset:
            return strip
        gutter = strip.crop(0, 9)
        return Strip.join([gutter, strip.crop(9 + offset, offset + width)])

    def _background(self, row: DiffRow) -> Style:
        name = {"added": "added", "removed": "removed", "file": "file"}.get(row.kind, "plain")
        return self._style(name)

    def _file_line(self, row: DiffRow) -> Strip:
        found = self._files[row.file]
        sign = "▸" if found.path in self._folded else "▾"
        note = f"  {found.note}" if found.note else ""
        style = self._style("file")
        counts = f"  +{found.added} −{found.removed}{note}"
        room = self.scrollable_content_region.width - len(counts) - 3
        path = literal(found.path)
        path = path if len(path) <= room else "…" + path[-room + 1 :]
        return Strip([Segment(f"{sign} {path}", style + Style(bold=True)), Segment(counts, style)])

    def _line(self, row: DiffRow) -> Strip:
        number = row.new_line or row.old_line
        mark = _MARKS.get(row.kind, " ")
        background = self._background(row)
        head = Segment(f"{number:>6} {mark} ", background + self._style("number", only_color=True))
        return Strip([head, *self._coloured(row.new if row.kind != "removed" else row.old, background)])

    def _pair_line(self, row: DiffRow, width: int) -> Strip:
        half = width // 2
        left = self._half(
            row.old, row.old_line, "removed" if row.kind == "pair" and row.old_line else "plain", half - 1
        )
        right = self._half(
            row.new, row.new_line, "added" if row.kind == "pair" and row.new_line else "plain", width - half
        )
        return Strip.join([left, Strip([Segment("│", self._style("gap"))]), right])

    def _half(self, text: str, number: int, kind: str, width: int) -> Strip:
        background = self._style(kind)
        mark = {"removed": "−", "added": "+"}.get(kind, " ")
        head = f"{number:>5} {mark} " if number else " " * 8
        strip = Strip(self._coloured(text, background)).crop(self.scroll_offset.x)
        number_style = background + self._style("number", only_color=True)
        return Strip.join([Strip([Segment(head, number_style)]), strip]).adjust_cell_length(width, background)

    def _coloured(self, text: str, background: Style) -> list[Segment]:
        styles = {"comment": "comment", "string": "string", "key": "key", "number": "value"}
        return [
            Segment(part, background + self._style(styles[kind], only_color=True) if kind else background)
            for part, kind in yaml_tokens(text)
        ]

    def _style(self, name: str, *, only_color: bool = False) -> Style:
        style = self.get_component_rich_style(f"diff--{name}")
        if not only_color:
            return style
        return Style(color=style.color, bold=style.bold, italic=style.italic, dim=style.dim, underline=style.underline)
