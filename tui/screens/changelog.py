"""Changelog: which derived lines the entry keeps, what the author adds, and the exact bytes that come of it."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Select

from ...schema.results import Line
from ..entry_form import FLAGS, entries, move_line, notes, set_entry, set_notes, set_top, toggle_omit
from ..rows import scalar
from ..text import literal
from ..widgets.field import Field
from ..widgets.notes_editor import NotesEditor
from ..widgets.tail_view import TailView
from ..widgets.toggles import Toggles
from .step import StepScreen

SECTIONS = {"lines": "Derived lines", "own-lines": "Your lines", "entry-fields": "Number, title and flags"}


class ChangelogScreen(StepScreen):
    """Lines, notes and flags above, bytes below."""

    CSS_PATH = "changelog.tcss"
    step_name = "changelog"
    title_text = "Changelog"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "next", "next", key_display="^s"),
        Binding("f6", "flip", "bytes", priority=True),
        Binding("l", "jump('lines')", "to the derived lines", show=False),
        Binding("n", "jump('notes-table')", "to your lines", show=False),
        Binding("p", "jump('pr')", "to the pull request", show=False),
        Binding("t", "jump('flags')", "to the flags", show=False),
        Binding("f3", "section(1)", "part"),
        Binding("f4", "section(-1)", "previous section", show=False),
    ]
    HELP_TEXT = (
        "The derived lines tell what the whole branch changes against its base; an entry the branch already has is replaced. "
        "space takes a line out or in, J K move it.\n"
        "Your own lines come after them: a adds one, enter edits, d drops, J K move. The Chinese half is for the commit and "
        "the pull request.\n"
        "Below stand the exact bytes that will be appended, behind the last lines of history, which never change; lines of "
        "the branch's earlier entry that go are shown with −. Blanks at the end of a line are shown as dots.\n\n"
        "F3 and F4 walk the sections; l n p t jump to derived lines, your lines, number, flags."
    )

    def __init__(self) -> None:
        super().__init__()
        self._index = 0
        self._lines: list[Line] = []
        self._omitted: set[str] = set()

    def body(self) -> ComposeResult:
        with Vertical(classes="panes", id="entry-panes"):
            with VerticalScroll(classes="pane main", id="entry", can_focus=False):
                yield Select([("", 0)], allow_blank=False, compact=True, id="which-entry")
                yield Toggles(id="lines", movable=True)
                yield NotesEditor()
                with Vertical(id="entry-fields", classes="section"):
                    yield Field("pr", label="pull request", placeholder="its number; nothing: the XXX placeholder")
                    yield Field("title.en", label="title", placeholder="derived; commit subject and pull-request title")
                    yield Field("title.zh", label="标题", placeholder="derived")
                    yield Field("ai-model", label="AI model", placeholder="for the disclosure; No AI used is an answer")
                    yield Toggles(id="flags")
                    yield Field("eval-min-prefill-ep", label="prefill ep ≥", placeholder="a number, or nothing")
                    yield Field("language", options=[("English", "en"), ("English and Chinese", "both")])
            yield TailView(classes="pane side", id="tail")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#entry").border_title = "Entry"
        self.query_one("#tail").border_title = "Bytes to come"
        self.refill()
        self.query_one("#lines").focus()

    def on_descendant_focus(self) -> None:
        self.mark_section(SECTIONS)

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self.is_mounted:
            self.refill()

    @property
    def entry(self) -> dict[str, Any]:
        """What the spec says of the entry in view."""
        every = entries(self.bench.model)
        return every[min(self._index, len(every) - 1)]

    def refill(self) -> None:
        every = entries(self.bench.model)
        which = self.query_one("#which-entry", Select)
        which.display = len(every) > 1
        if len(every) > 1:
            names = [literal(", ".join(map(str, one.get("keys") or ["every changed key"]))) for one in every]
            with which.prevent(Select.Changed):
                which.set_options([(Content(f"entry {at + 1}: {name}"), at) for at, name in enumerate(names)])
                which.value = min(self._index, len(every) - 1)
        self._fill_flags()
        self._fill_fields()
        self.query_one(NotesEditor).show(notes(self.entry))
        self.show_outcome()

    def _fill_flags(self) -> None:
        known = self.bench.checkout.layout.changelog_flags
        entry = self.entry
        flags = [(name, name, entry.get(name) is True) for name in FLAGS if name in known]
        self.query_one("#flags", Toggles).show(flags)

    def _fill_fields(self) -> None:
        data, entry = self.bench.model.data, self.entry
        given = data.get("title")
        title = given if isinstance(given, dict) else {}
        values = {
            "eval-min-prefill-ep": entry.get("eval-min-prefill-ep"),
            "language": entry.get("language") or "en",
            "pr": data.get("pr"),
            "title.en": title.get("en"),
            "title.zh": title.get("zh"),
            "ai-model": data.get("ai-model"),
        }
        for field in self.query("#entry-fields Field").results(Field):
            field.fill("" if values[field.field_name] is None else str(values[field.field_name]))
        self._tell_number()
        self._field("language").display = not self.bench.checkout.layout.e2e

    def _tell_number(self) -> None:
        """What an empty number means: the one the branch's entry already has, or none yet."""
        plan = self.bench.good
        number = plan.pull_request if plan is not None else None
        answer = self._field("pr").answer
        if isinstance(answer, Input):
            none = "its number; nothing: the XXX placeholder"
            answer.placeholder = none if number is None else f"{number}, which the branch's entry has"

    def _field(self, name: str) -> Field:
        return next(field for field in self.query(Field) if field.field_name == name)

    # The plan

    def show_outcome(self) -> None:
        bench = self.bench
        plan = bench.good
        lines = list(plan.lines) if plan is not None else []
        omitted = {str(one) for one in self.entry.get("omit") or []}
        if lines != self._lines or omitted != self._omitted:
            self._lines, self._omitted = lines, omitted
            self._fill_lines()
        self._tell_number()
        self.query_one(TailView).show(plan, bench.outcome)
        outcome = bench.outcome
        stale = outcome is not None and outcome.plan is None
        tail = self.query_one("#tail")
        tail.border_subtitle = (
            "✗ as it was before the mistakes" if stale else (f"{len(plan.entry.splitlines())} lines" if plan else "")
        )
        self._show_errors()

    def _fill_lines(self) -> None:
        box = self.query_one("#lines", Toggles)
        box.show([(line.id, line.en, line.id not in self._omitted) for line in self._lines])
        box.border_subtitle = "" if self._lines else "nothing changed yet"

    def _show_errors(self) -> None:
        problems = self.bench.outcome.problems if self.bench.outcome is not None else ()
        texts: dict[str, str] = {}
        own = self.query_one(NotesEditor)
        own.clear_mistakes()
        for one in problems:
            field = one.field
            if ".notes[" in field:
                number = int(field.partition(".notes[")[2].partition("]")[0])
                own.fail(
                    number, "zh" if field.endswith(".zh") else "en", f"{one.what}{f'; {one.hint}' if one.hint else ''}"
                )
                continue
            name = field if field.startswith("title") or field in ("pr", "ai-model") else field.rpartition(".")[2]
            texts[name] = f"{one.what}{f'; {one.hint}' if one.hint else ''}"
        for field_widget in self.query("#entry-fields Field").results(Field):
            field_widget.fail(texts.get(field_widget.field_name, ""))
        flagged = [texts[name] for name in FLAGS if name in texts]
        self.query_one("#entry-fields").border_subtitle = literal(f"✗ {flagged[0]}") if flagged else ""

    # What the author does

    @on(Toggles.Toggled, "#lines")
    def _line_toggled(self, event: Toggles.Toggled) -> None:
        toggle_omit(self.bench.model, event.name, self._index)
        self._omitted = {str(one) for one in self.entry.get("omit") or []}
        self._fill_lines()

    @on(Toggles.Moved, "#lines")
    def _line_moved(self, event: Toggles.Moved) -> None:
        move_line(self.bench.model, event.name, event.step, [line.id for line in self._lines], self._index)

    @on(Toggles.Toggled, "#flags")
    def _flag_toggled(self, event: Toggles.Toggled) -> None:
        entry = self.entry
        entry[event.name] = entry.get(event.name) is not True
        set_entry(self.bench.model, self._index, entry)
        self._fill_flags()

    @on(NotesEditor.Changed)
    def _notes_changed(self, event: NotesEditor.Changed) -> None:
        set_notes(self.bench.model, self._index, event.notes, event.run)
        self.query_one(NotesEditor).show(notes(self.entry))

    @on(Field.Changed)
    def _field_changed(self, event: Field.Changed) -> None:
        name, text = event.field.field_name, event.text.strip()
        model = self.bench.model
        if name in ("eval-min-prefill-ep", "language"):
            entry = self.entry
            entry[name] = scalar(text) if name != "language" else None if text == "en" else text
            set_entry(model, self._index, entry, f"entry {name}")
        elif name.startswith("title."):
            title = dict(model.data.get("title") or {})
            title[name.removeprefix("title.")] = event.text
            order = {key: title[key] for key in ("en", "zh") if title.get(key)}
            set_top(model, "title", order)
        else:
            set_top(model, name, scalar(text) if name == "pr" and text else text)

    @on(Select.Changed, "#which-entry")
    def _entry_changed(self, event: Select.Changed) -> None:
        if isinstance(event.value, int) and event.value != self._index:
            self._index = event.value
            self.refill()

    @on(Field.Done)
    def _done(self, event: Field.Done) -> None:
        self.focus_next()

    # Keys

    def action_next(self) -> None:
        self.bench.model.end_run()
        self.bench.go("review")

    def action_back(self) -> None:
        if not self.query_one(NotesEditor).close_editor():
            self.bench.go("edit")

    def action_jump(self, name: str) -> None:
        if name == "pr":
            self._field("pr").focus()
        else:
            self.query_one(f"#{name}").focus()

    def action_section(self, step: int) -> None:
        """To the next or previous of derived lines, your lines, number and flags."""
        names = {"lines": "lines", "own-lines": "notes-table", "entry-fields": "pr"}
        order = list(names)
        inside = self.focused.ancestors_with_self if self.focused is not None else ()
        now = next((at for at, name in enumerate(order) if self.query_one(f"#{name}") in inside), -1 if step > 0 else 0)
        self.action_jump(names[order[(now + step) % len(order)]])

    def action_flip(self) -> None:
        """To the bytes and back."""
        tail = self.query_one("#tail")
        if self.focused is tail:
            self.remove_class("-flipped")
            self.call_after_refresh(self.query_one("#lines").focus)
        else:
            self.add_class("-flipped")
            self.call_after_refresh(tail.focus)
