"""Overrides: the recipe's base, rules over points, and the grid of points × settings that results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import DataTable, Static

from ...derive.wording import value as value_words
from ..grid import Grid
from ..rows import arm_match, tier_brief
from ..text import cell, literal, say
from .rule_editor import RuleEditor
from .vim_table import TableSection, VimTable

COLUMNS = ("rule", "draft", "admission", "graphs", "tier", "env and args")


class Overrides(TableSection):
    """Rules from top to bottom, later ones win; the first line is the recipe's base."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "add"),
        Binding("d,delete", "drop", "drop", key_display="d"),
        Binding("J,shift+down", "move(1)", "move down", show=False),
        Binding("K,shift+up", "move(-1)", "move up", show=False),
        Binding("p", "points", "points"),
        Binding("u", "app.undo", "undo", show=False),
    ]

    class RulesChanged(Message):
        """All rules anew."""

        def __init__(self, rules: list[dict[str, Any]], run: str = "") -> None:
            super().__init__()
            self.rules = rules
            self.run = run

    class BaseChanged(Message):
        """The patch of the recipe's base anew."""

        def __init__(self, patch: dict[str, Any], run: str) -> None:
            super().__init__()
            self.patch = patch
            self.run = run

    def __init__(self) -> None:
        super().__init__(id="overrides")
        self.rules: list[dict[str, Any]] = []
        self.base: dict[str, Any] = {}
        self.now: Mapping[str, Any] = {}
        self.rows: list[dict[str, Any]] = []
        self._to_open: int | None = None
        self._grid: Grid | None = None

    def compose(self) -> ComposeResult:
        yield VimTable(id="rules")
        yield RuleEditor()
        yield VimTable(id="points")
        yield Static("", id="points-note", markup=False)

    def on_mount(self) -> None:
        for name in COLUMNS:
            self.table.add_column(name, key=name)
        self.query_one("#points").display = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "points":
            return any(table.has_focus for table in self.query(VimTable))
        return super().check_action(action, parameters)

    @property
    def table(self) -> VimTable:
        return self.query_one("#rules", VimTable)

    @property
    def editor(self) -> RuleEditor:
        return self.query_one(RuleEditor)

    def show(
        self,
        base: Mapping[str, Any],
        now: Mapping[str, Any],
        rules: Sequence[Mapping[str, Any]],
        rows: Sequence[Mapping[str, Any]],
    ) -> None:
        """The base's patch over what base says now, and the rules, over the rows they are about."""
        self.now = now
        self.base, self.rules, self.rows = dict(base), [dict(rule) for rule in rules], [dict(row) for row in rows]
        table = self.table
        at = table.cursor_row
        table.clear()
        table.add_row(cell("base", "bold" if base else ""), *[cell("")] * 4, cell(_words(_base_parts(base))))
        for rule in self.rules:
            table.add_row(*_rule_cells(rule, self.rows))
        table.go_to_row(at)
        if self.editor.display:
            if self.editor.rule_index <= len(self.rules):
                self._fill_editor()
            else:
                self.editor.display = False
        if self._to_open is not None and self._to_open <= len(self.rules):
            at, self._to_open = self._to_open, None
            table.go_to_row(at)
            self.edit(at)

    def show_grid(self, grid: Grid | None) -> None:
        """Points × settings as the plan has them; • marks what differs from base."""
        self._grid = grid
        table = self.query_one("#points", VimTable)
        note = self.query_one("#points-note", Static)
        if grid is None:
            say(note, "")
            return
        if not table.display:
            none_yet = "" if self.rules else ", each with its variant in the recipe; a adds a rule"
            say(note, f"{len(grid.rows)} points{none_yet}; p shows points × settings")
            return
        say(note, "• differs from base · p hides")
        at = table.cursor_row
        table.clear(columns=True)
        table.add_column("point")
        for setting in grid.settings:
            table.add_column(literal(str(setting)))
        for row in grid.rows:
            cells = [cell(row.point)]
            for setting in grid.settings:
                value = row.values.get(setting)
                shown = "–" if value is None else value_words(value)
                differs = grid.differs(row, setting)
                cells.append(cell(f"{'•' if differs else ' '}{shown[:24]}", "bold" if differs else "dim"))
            table.add_row(*cells)
        table.go_to_row(at)

    # What the author does

    @on(DataTable.RowSelected, "#rules")
    def _edit(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self.edit(event.cursor_row)

    def edit(self, index: int) -> None:
        """Open base (0) or a rule (from 1) under the table."""
        self.editor.rule_index = index
        self.editor.display = True
        self._fill_editor()
        self.call_after_refresh(self.editor.focus_first)

    def _fill_editor(self) -> None:
        at = self.editor.rule_index
        if at == 0:
            self.editor.fill_base(self.base, self.now)
        else:
            self.editor.fill_rule(self.rules[at - 1], self.rows)

    @on(RuleEditor.Changed)
    def _changed(self, event: RuleEditor.Changed) -> None:
        event.stop()
        at = self.editor.rule_index
        if at == 0:
            self.post_message(self.BaseChanged(event.data, f"base {event.name}"))
            return
        rules = [dict(rule) for rule in self.rules]
        rules[at - 1] = event.data
        self.post_message(self.RulesChanged(rules, f"rule {at} {event.name}"))

    @on(RuleEditor.Closed)
    def _editor_closed(self, event: RuleEditor.Closed) -> None:
        event.stop()
        self.editor.display = False
        self.table.focus()

    def action_add(self) -> None:
        """A rule behind the one under the cursor and for the same arm, to be filled in; behind base, for the last row's."""
        at = self.table.cursor_row
        if 0 < at <= len(self.rules) and isinstance(given := self.rules[at - 1].get("match"), Mapping):
            match = {name: value for name, value in given.items() if name != "conc"}
        else:
            at, match = len(self.rules), arm_match(self.rows[-1], self.rows) if self.rows else {}
        rules = [dict(rule) for rule in self.rules]
        rules.insert(at, {"match": match})
        self._to_open = at + 1
        self.post_message(self.RulesChanged(rules))

    def action_drop(self) -> None:
        at = self.table.cursor_row
        self.editor.display = False
        if at == 0:
            self.post_message(self.BaseChanged({}, ""))
        elif at <= len(self.rules):
            self.post_message(
                self.RulesChanged([dict(rule) for index, rule in enumerate(self.rules, 1) if index != at])
            )

    def action_move(self, step: int) -> None:
        at, to = self.table.cursor_row - 1, self.table.cursor_row - 1 + step
        if 0 <= at < len(self.rules) and 0 <= to < len(self.rules):
            rules = [dict(rule) for rule in self.rules]
            rules[at], rules[to] = rules[to], rules[at]
            self.post_message(self.RulesChanged(rules))
            self.call_later(self.table.go_to_row, to + 1)

    def action_points(self) -> None:
        points = self.query_one("#points", VimTable)
        points.display = not points.display
        self.show_grid(self._grid)
        if points.display and points.row_count:
            points.focus()
            self.call_after_refresh(points.scroll_visible, animate=False)


def rule_name(rule: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """A rule's points as people say them: `TP4 C1 C2`, `TP4+DCP4`; its fields where they are no arm's."""
    from ...schema.master import Row

    match = rule.get("match")
    if not isinstance(match, Mapping) or not match:
        return "all points"
    rest = {name: value for name, value in match.items() if name != "conc"}
    row = next((one for one in rows if rest == arm_match(one, rows)), None)
    head = str(Row(row)) if row is not None else " ".join(f"{name}={value}" for name, value in rest.items()) or "all"
    conc = match.get("conc")
    points = conc if isinstance(conc, list) else [conc] if conc is not None else []
    return " ".join([head, *(f"C{one}" for one in points)])


def _rule_cells(rule: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    graphs = rule.get("graphs")
    words = _words({name: rule.get(name) for name in ("env", "args", "bench-env", "patch") if rule.get(name)})
    return [
        cell(rule_name(rule, rows)),
        cell(rule.get("draft-tokens", "")),
        cell(rule.get("admission", "")),
        cell(",".join(map(str, graphs)) if isinstance(graphs, list) else graphs or ""),
        cell(tier_brief(rule["offload"]) if "offload" in rule else ""),
        cell(words[:60]),
    ]


def _base_parts(base: Mapping[str, Any]) -> dict[str, Any]:
    return dict(base)


def _words(parts: Mapping[str, Any]) -> str:
    """Everything a mapping sets, as `NAME=value`."""
    found: list[str] = []
    for name, value in parts.items():
        if isinstance(value, Mapping):
            inner = _words(value)
            found += [inner] if inner else []
        else:
            found.append(f"{name}={value_words(value) if not isinstance(value, str) else value}")
    return " ".join(found)
