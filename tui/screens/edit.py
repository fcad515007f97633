"""Edit: the author's decisions about one key on the left, what follows from them on the right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, Input, Select, Static, Tab, Tabs

from ...derive.pairing import pair_rows
from ...schema.errors import BenchscribeError
from ...schema.master import Row
from ...schema.results import Finding
from ..choices import backends_in_use, runner_labels, values_in_use
from ..comments import CommentBlock, entry_comments, recipe_comments
from ..form import COMMON_FIELDS, MULTI_NODE_FIELDS, SWITCHES, ItemPlace, KeyForm, set_all_images
from ..grid import base_now, grid_of, has_yaml_recipe
from ..text import literal
from ..widgets.comments_list import CommentsList
from ..widgets.diff_view import DiffView
from ..widgets.field import Field
from ..widgets.follows_pane import FollowsPane
from ..widgets.overrides import Overrides
from ..widgets.search_space import SearchSpace
from ..widgets.what_follows import WhatFollows
from .edit_errors import show_errors
from .edit_help import HELP_OF_SECTIONS, HELP_TEXT
from .planned import PlannedScreen


class EditScreen(PlannedScreen):
    """Top-level fields, search space, overrides and comments of one key at a time."""

    CSS_PATH = "edit.tcss"
    step_name = "edit"
    title_text = "Edit"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "next", "next", key_display="^s"),
        Binding("f5", "bytes", "bytes", show=True),
        Binding("v", "bytes", "bytes", show=False),
        Binding("f6", "flip", "pane", priority=True),
        Binding("f2", "fix", "fix", show=False),
        Binding("f3", "section(1)", "part"),
        Binding("f4", "section(-1)", "previous section", show=False),
        Binding("left_square_bracket", "key(-1)", "previous key", show=False),
        Binding("right_square_bracket", "key(1)", "next key", show=False),
        Binding("f", "jump('fields')", "to the fields", show=False),
        Binding("r", "jump('rows')", "to the rows", show=False),
        Binding("o", "jump('rules')", "to the overrides", show=False),
        Binding("m", "jump('comment-table')", "to the comments", show=False),
    ]
    HELP_TEXT = HELP_TEXT

    def __init__(self) -> None:
        super().__init__()
        self.index = 0
        self._item = 0
        self._is_fresh = True
        self._filled_for: tuple[Any, ...] = ()
        self.all_fields = False
        self._titles: dict[str, str] = {}
        self._fields: dict[str, Field] = {}

    def body(self) -> ComposeResult:
        with Horizontal(classes="panes"):
            with VerticalScroll(classes="pane main", id="form", can_focus=False):
                yield Tabs(id="key-tabs")
                yield Field("image-for-all", label="all images")
                yield Static("", id="removed", markup=False)
                with Vertical(id="fields", classes="section"):
                    yield Field("config-key", label="key")
                    for name in (*COMMON_FIELDS, *MULTI_NODE_FIELDS):
                        options = [("no", "false"), ("yes", "true")] if name in SWITCHES else []
                        choices = self._choices(name) if not options else ()
                        yield Field(name, choices=choices, options=options)
                with Vertical(id="space", classes="section"):
                    yield Select([("", 0)], allow_blank=False, compact=True, id="item")
                    yield Field("dram-utilization", label="dram-util.", choices=("auto",), placeholder="auto, or 0.74")
                    yield SearchSpace()
                with Vertical(id="recipe", classes="section"):
                    yield Overrides()
                with Vertical(id="notes", classes="section"):
                    yield CommentsList()
            with ContentSwitcher(initial="follows", classes="pane side", id="side"):
                yield FollowsPane()
                yield DiffView(id="bytes")

    def _choices(self, name: str) -> list[str]:
        snapshot = self.bench.checkout.after
        return runner_labels(snapshot) if name == "runner" else values_in_use(snapshot, name)

    def on_mount(self) -> None:
        super().on_mount()
        self._titles = {"fields": "Fields", "space": "Search space", "recipe": "Overrides", "notes": "Comments"}
        self.query_one("#side").border_title = "What follows"
        self.refill()
        self._focus_start()

    def _focus_start(self) -> None:
        """In the rows, where no letter is typed by mistake; for a bump in the image, which is to be typed."""
        if self.bench.job == "bump" and not self.form.is_removed:
            self.field("image-for-all" if len(self.changes) > 1 else "image").focus()
        elif self.form.is_removed:
            self.query_one(WhatFollows).focus()
        else:
            self.action_jump("rows" if self.query_one("#space").display else "fields")

    def on_descendant_focus(self) -> None:
        self.mark_section(self._titles)

    @property
    def help_text(self) -> str:
        """The help for the section one is in first."""
        inside = self.focused.ancestors_with_self if self.focused is not None else ()
        here = [name for name in HELP_OF_SECTIONS if self.query_one(f"#{name}") in inside]
        rest = [name for name in HELP_OF_SECTIONS if name not in here]
        return "\n\n".join([self.HELP_TEXT, *(HELP_OF_SECTIONS[name] for name in (*here, *rest))])

    # The form and the model

    @property
    def changes(self) -> list[Any]:
        found = self.bench.model.data.get("changes")
        return found if isinstance(found, list) else []

    @property
    def form(self) -> KeyForm:
        self.index = min(self.index, max(0, len(self.changes) - 1))
        return KeyForm(self.bench.model, self.index, self.bench.checkout)

    @property
    def item(self) -> ItemPlace | None:
        items = self.form.items()
        return items[min(self._item, len(items) - 1)] if items else None

    def field(self, name: str) -> Field:
        """A field of the form by name."""
        if not self._fields:
            inner = "RowEditor Field, RuleEditor Field, CommentsList Field"
            nested = set(self.query(inner))
            self._fields = {one.field_name: one for one in self.query(Field) if one not in nested}
        return self._fields[name]

    def refill(self) -> None:
        if not self.changes:
            self.bench.go_home()
            return
        self._filled_for = ()
        self._fill()
        self.show_outcome()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self.is_mounted and self.changes:
            self.refill()
            if not self._is_fresh:
                self.call_after_refresh(self._unmark)
            self._is_fresh = False

    def _unmark(self) -> None:
        """Back on the screen, nothing is marked for the next key to replace."""
        if isinstance(self.focused, Input):
            self.focused.action_end()

    def _fill(self) -> None:
        """Every widget from the model."""
        form = self.form
        self._fill_tabs()
        title = f"Edit  {literal(form.key)}" + ("  new" if form.is_new else "")
        self.query_one("#form").border_title = title
        removed = form.is_removed
        self.query_one("#removed").display = removed
        if removed:
            archive = " and kept in the archive" if form.change.get("archive") else ""
            self.query_one("#removed", Static).update(
                f"✗ This key is retired: its entry goes{archive}. The palette keeps it again."
            )
        for name in ("fields", "space", "recipe", "notes"):
            self.query_one(f"#{name}").display = not removed
        if removed:
            return
        self._fill_fields(form)
        self._fill_space(form)
        self._fill_recipe(form)
        self._fill_comments(form)
        self.on_descendant_focus()

    def _fill_tabs(self) -> None:
        tabs = self.query_one("#key-tabs", Tabs)
        several = len(self.changes) > 1
        tabs.display = several
        self.field("image-for-all").display = several and not self.form.is_removed
        if several:
            images = {
                KeyForm(self.bench.model, at, self.bench.checkout).field("image") for at in range(len(self.changes))
            }
            self.field("image-for-all").fill(images.pop() if len(images) == 1 else self.field("image-for-all").text)
            self.field("image-for-all").answer.choices = self._choices("image")  # type: ignore[union-attr]
        names = [str(change.get("config-key", "")) for change in self.changes if isinstance(change, dict)]
        if several and [str(tab.label) for tab in tabs.query(Tab)] != names:
            tabs.clear()
            for at, name in enumerate(names):
                tabs.add_tab(Tab(Content(literal(name)), id=f"tab-{at}"))

    def _fill_fields(self, form: KeyForm) -> None:
        self.field("config-key").display = form.is_new
        self.field("config-key").fill(form.key)
        if form.is_new and form.like:
            self.field("config-key").note(f"like {form.like}")
        for name in (*COMMON_FIELDS, *MULTI_NODE_FIELDS):
            field = self.field(name)
            now, before = form.field(name), form.original(name)
            field.display = name in COMMON_FIELDS or self.all_fields or not {now, before} <= {"", "false"}
            if name in SWITCHES:
                now = now or "false"
            if field.text.strip() != now:
                field.fill(now)
            changed = form.changed(name)
            field.mark_changed(changed)
            field.note(f"was {before.rpartition(':')[2] if name == 'image' else before or 'absent'}" if changed else "")

    def _fill_space(self, form: KeyForm) -> None:
        items = form.items()
        select = self.query_one("#item", Select)
        select.display = len(items) > 1
        if len(items) > 1:
            with select.prevent(Select.Changed):
                select.set_options([(literal(one.label), at) for at, one in enumerate(items)])
                select.value = min(self._item, len(items) - 1)
        item = self.item
        if item is None:
            self.query_one("#space").display = False
            return
        rows, before = form.rows(item), form.original_rows(item)
        points = sum(len(Row(row).concurrencies) for row in rows)
        space = self.query_one("#space")
        self._titles["space"] = f"Search space · {literal(item.label)}"
        space.border_subtitle = f"{points} points"
        utilization = self.field("dram-utilization")
        original = form.original_utilization(item)
        utilization.display = item.scenario == "agentic-coding"
        asked = form.utilization(item)
        if utilization.text.strip() != (asked or original) and not utilization.answer.has_focus:
            utilization.fill(asked or original)
        utilization.mark_changed(bool(asked))
        utilization.note(f"was {original or 'absent'}" if asked else "")
        pairs = pair_rows([Row(row) for row in before], [Row(row) for row in rows])
        widget = self.query_one(SearchSpace)
        widget.with_tiers = has_yaml_recipe(self.bench.checkout.after, form.start)
        tiers = [form.tier(row, rows) for row in rows]
        widget.show(rows, before, pairs, tiers, backends_in_use(self.bench.checkout.after))

    def _fill_recipe(self, form: KeyForm) -> None:
        section = self.query_one("#recipe")
        section.display = has_yaml_recipe(self.bench.checkout.after, form.start)
        item = self.item
        if not section.display or item is None:
            return
        now = base_now(self.bench.checkout.after, form.start)
        self.query_one(Overrides).show(form.base(), now, form.rules(), form.rows(item))

    def _fill_comments(self, form: KeyForm) -> None:
        snapshot = self.bench.checkout.after
        blocks: list[CommentBlock] = []
        if not form.is_new:
            try:
                blocks = entry_comments(snapshot, form.start) + recipe_comments(snapshot, form.start)
            except BenchscribeError:
                blocks = []
        self.query_one("#notes").display = not form.is_new or bool(form.comments(of_recipe=False))
        self.query_one(CommentsList).show(blocks, form.comments(of_recipe=False), form.comments(of_recipe=True))

    # What the author does

    @on(Field.Changed)
    def _field_changed(self, event: Field.Changed) -> None:
        name, form = event.field.field_name, self.form
        if name == "image-for-all":
            set_all_images(self.bench.model, self.bench.checkout, event.text)
        elif name == "config-key":
            self.bench.name_by_hand = bool(event.text.strip())
            form.rename(event.text if event.text.strip() else form.derived_name())
        elif name == "dram-utilization":
            if (item := self.item) is not None:
                form.set_utilization(item, event.text)
        else:
            form.set_field(name, event.text)
            if form.is_new and not self.bench.name_by_hand:
                form.rename(form.derived_name())
        self._fill_tabs()
        if self.form.is_new:
            self.query_one("#form").border_title = f"Edit  {literal(self.form.key)}  new"
        self._fill_fields(self.form)
        if name == "dram-utilization":
            self._fill_space(self.form)

    @on(SearchSpace.Changed)
    def _rows_changed(self, event: SearchSpace.Changed) -> None:
        if (item := self.item) is not None:
            self.form.set_rows(item, event.rows, event.run and f"{self.index} {event.run}")
            self._fill_space(self.form)
            self._fill_recipe(self.form)

    @on(SearchSpace.TierChanged)
    def _tier_changed(self, event: SearchSpace.TierChanged) -> None:
        if (item := self.item) is not None:
            rows = self.form.rows(item)
            self.form.set_tier(rows[event.row], rows, event.text, f"{self.index} tier {event.row}")
            self._fill_recipe(self.form)
            self.query_one(SearchSpace)._tiers = [self.form.tier(row, rows) for row in rows]

    @on(Overrides.RulesChanged)
    def _rules_changed(self, event: Overrides.RulesChanged) -> None:
        self.form.set_rules(event.rules, event.run and f"{self.index} {event.run}")
        self._fill_recipe(self.form)
        self._fill_space(self.form)

    @on(Overrides.BaseChanged)
    def _base_changed(self, event: Overrides.BaseChanged) -> None:
        self.form.set_base(event.patch, event.run and f"{self.index} {event.run}")
        self._fill_recipe(self.form)

    @on(CommentsList.Changed)
    def _comment_changed(self, event: CommentsList.Changed) -> None:
        run = event.run and f"{self.index} {event.run}"
        self.form.set_comment(event.name, event.text, of_recipe=event.of_recipe, keep=event.keep, run=run)
        self._fill_comments(self.form)

    @on(Tabs.TabActivated, "#key-tabs")
    def _tab_changed(self, event: Tabs.TabActivated) -> None:
        at = int((event.tab.id or "tab-0").removeprefix("tab-"))
        if at != self.index and at < len(self.changes):
            self.index, self._item = at, 0
            self._fill()
            self.show_outcome()

    @on(Select.Changed, "#item")
    def _item_changed(self, event: Select.Changed) -> None:
        if isinstance(event.value, int) and event.value != self._item:
            self._item = event.value
            self._fill()

    @on(Field.Done)
    def _field_done(self, event: Field.Done) -> None:
        """enter: nothing is marked any longer; another field is another key's, so that nothing is typed over there."""
        self._unmark()

    # The plan

    def show_outcome(self) -> None:
        super().show_outcome()
        # Where panes stack, the form tells how the findings stand.
        summary = self.query_one("#side").border_subtitle or ""
        shown = summary if self.has_class("-narrow") else ""
        form = self.query_one("#form")
        if (form.border_subtitle or "") != shown:
            form.border_subtitle = shown
        show_errors(self)
        self._show_grid()

    def _show_grid(self) -> None:
        if not self.query_one("#recipe").display:
            return
        plan = self.bench.good
        snapshot = plan.wanted.after if plan is not None else self.bench.checkout.after
        self.query_one(Overrides).show_grid(grid_of(snapshot, self.form.key))

    # Keys

    def action_next(self) -> None:
        self.bench.model.end_run()
        self.bench.go("changelog")

    def action_jump(self, name: str) -> None:
        if self.form.is_removed:
            return
        if name == "fields":
            self.field("config-key" if self.form.is_new else "image").focus()
        else:
            self.query_one(f"#{name}").focus()

    def action_section(self, step: int) -> None:
        """To the next or previous of fields, rows, overrides and comments, from inside a field too."""
        names = {"fields": "fields", "space": "rows", "recipe": "rules", "notes": "comment-table"}
        shown = [name for name in names if self.query_one(f"#{name}").display]
        if not shown:
            return
        inside = self.focused.ancestors_with_self if self.focused is not None else ()
        now = next((at for at, name in enumerate(shown) if self.query_one(f"#{name}") in inside), -1 if step > 0 else 0)
        self.action_jump(names[shown[(now + step) % len(shown)]])

    def action_key(self, step: int) -> None:
        """The next or previous of several keys."""
        count = len(self.changes)
        if count > 1:
            self.query_one("#key-tabs", Tabs).active = f"tab-{(self.index + step) % count}"

    def action_back(self) -> None:
        """Out of a field to the rows, from there to Home."""
        if self.query_one(CommentsList).close_editor():
            return
        if self.is_typing() and self.query_one("#space").display:
            self.action_jump("rows")
        else:
            self.bench.go_home()

    def go_to_finding(self, finding: Finding) -> None:
        """Show the finding's line among the bytes."""
        self.show_bytes()
        view = self.query_one("#bytes", DiffView)
        if not view.go_to(finding.path, finding.line):
            self.notify(f"{finding.path}:{finding.line} is in no changed file; e opens it in $EDITOR", markup=False)
        view.focus()

    def commands(self) -> Iterable[SystemCommand]:
        yield from super().commands()
        yield SystemCommand("Show all fields", "multinode, disagg, router and transfer too", self._show_all_fields)
        removed = self.form.is_removed
        if removed:
            yield SystemCommand("Keep this key", "Not retired after all", lambda: self._retire(False))
        else:
            yield SystemCommand("Retire this key", "Its entry is taken out of the config", lambda: self._retire(True))
            if self.bench.checkout.layout.archive:
                yield SystemCommand(
                    "Retire and archive this key",
                    "Its entry moves to the archive",
                    lambda: self._retire(True, archive=True),
                )

    def _show_all_fields(self) -> None:
        self.all_fields = True
        self._fill_fields(self.form)

    def _retire(self, removed: bool, *, archive: bool = False) -> None:
        self.form.set_removed(removed, archive=archive)
        self.refill()
