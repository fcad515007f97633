"""Commit: the message in both languages, yours to edit, and exactly which files go in."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from ...checkout.checkout import Checkout
from ...plan import Plan
from ...plan.committing import CommitPlan, make_commit, plan_commit, plan_commit_of
from ...plan.messages import LONGEST_SUBJECT
from ...schema.errors import BenchscribeError
from ..text import literal
from ..widgets.field import Field
from .step import StepScreen


class CommitScreen(StepScreen):
    """Commits the files of a written plan, or the branch's own uncommitted change."""

    CSS_PATH = "commit.tcss"
    step_name = "commit"
    title_text = "Commit"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "commit", "commit", key_display="^s"),
        Binding("f6", "flip", "files", priority=True),
    ]
    HELP_TEXT = (
        "The message is derived from the change; edit it freely, its first line is the subject. The files listed are staged "
        "and committed exactly as they lie in the work tree; what else is staged or changed stays as it is.\n\n"
        "^s commits. Hooks run; what they say is shown, and esc stops them. Where one refuses or is stopped, the files "
        "stay written and staged."
    )

    def __init__(self, written: Plan | None = None) -> None:
        super().__init__()
        self._written = written
        self._plan: CommitPlan | None = None
        self._said: list[str] = []
        self._is_busy = False
        self._stop = Event()

    def body(self) -> ComposeResult:
        with Horizontal(classes="panes"):
            with Vertical(classes="pane main", id="message"):
                yield Field("subject")
                yield TextArea("", id="message-text", tab_behavior="focus", compact=True)
                yield Field("signoff", label="sign off", options=[("no", "no"), ("yes", "yes")])
            with VerticalScroll(classes="pane side", id="staged"):
                yield Static("reading…", id="staged-text", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#message").border_title = "Message"
        self.query_one("#staged").border_title = "Goes in"
        self._field("subject").focus()
        self._read()

    @work(thread=True, exclusive=True, group="commit")
    def _read(self) -> None:
        bench = self.bench
        try:
            if self._written is not None:
                found = plan_commit_of(self._written)
            else:
                found = plan_commit(Checkout.open(bench.checkout.git_root, base=bench.base))
            signs = any(
                bench.checkout.git.setting(name) == "true" for name in ("benchscribe.signoff", "format.signOff")
            )
        except BenchscribeError as error:
            self.from_thread(self._fail, error)
            return
        self.from_thread(self._show_plan, found, signs)

    def _fail(self, error: BenchscribeError) -> None:
        self._is_busy = False
        hint = f"  {error.hint}" if error.hint else ""
        self.banner.say(f"✗ {error.what}{hint}", "error")
        self._show_files()

    def _show_plan(self, plan: CommitPlan, signs: bool) -> None:
        self._plan = plan
        subject, _, body = plan.text.partition("\n") if not plan.nothing_to_do else ("", "", "")
        field = self._field("subject")
        field.fill(subject)
        if isinstance(field.answer, Input):
            field.answer.cursor_position = 0
        self._show_length(subject)
        self.query_one(TextArea).text = body.strip("\n")
        self._field("signoff").fill("yes" if signs else "no")
        self._show_files()
        if plan.nothing_to_do:
            self.banner.say("nothing to commit: HEAD already holds these files")

    def _show_files(self) -> None:
        plan = self._plan
        parts: list[object] = []
        if plan is not None:
            parts += [part for path in plan.paths for part in (("✓\u00a0", "$text-success bold"), f"{literal(path)}\n")]
            parts += [part for text in plan.notices for part in (("⚠ ", "$text-warning bold"), f"{literal(text)}\n")]
            left = [
                *(f"{path} (staged)" for path in plan.left_staged),
                *(path for path in plan.left_dirty if path not in plan.left_staged),
            ]
            if left:
                parts.append(("\nStays as it is\n", "$text-muted"))
                parts += [f"  {literal(path)}\n" for path in left]
        if self._said:
            parts.append(("\nSaid by git and hooks\n", "$text-muted"))
            parts += [f"  {literal(line)}\n" for line in self._said[-40:]]
        self.query_one("#staged-text", Static).update(Content.assemble(*parts))  # type: ignore[arg-type]

    def _field(self, name: str) -> Field:
        return next(field for field in self.query(Field) if field.field_name == name)

    def on_field_changed(self, event: Field.Changed) -> None:
        if event.field.field_name == "subject":
            self._show_length(event.text)

    def on_field_done(self, event: Field.Done) -> None:
        self.focus_next()

    def _show_length(self, subject: str) -> None:
        is_long = len(subject) > LONGEST_SUBJECT
        self._field("subject").note(f"{'⚠ ' if is_long else ''}{len(subject)} of {LONGEST_SUBJECT}")

    @property
    def text(self) -> str:
        """The whole message."""
        body = self.query_one(TextArea).text.strip("\n")
        return self._field("subject").text.strip() + (f"\n\n{body}\n" if body else "\n")

    def action_commit(self) -> None:
        plan = self._plan
        if plan is None or plan.nothing_to_do or self._is_busy:
            return
        if not self._field("subject").text.strip():
            self._field("subject").fail("a commit needs a subject")
            self._field("subject").focus()
            return
        self._is_busy = True
        self._stop = Event()
        self.banner.say("committing; hooks may take a while… (esc stops them)")
        self._commit(replace(plan, text=self.text), self._field("signoff").text == "yes")

    @work(thread=True, exclusive=True, group="commit")
    def _commit(self, plan: CommitPlan, signoff: bool) -> None:
        def show(line: str) -> None:
            self._said.append(line)
            self.from_thread(self._show_files)

        try:
            made = make_commit(plan, signoff=signoff, show=show, stop=self._stop)
        except BenchscribeError as error:
            self.from_thread(self._fail, error)
            return
        warnings = [f"a hook put {path} into the commit too" for path in made.added]
        warnings += [f"a hook changed {path} after it was staged" for path in made.rewritten]
        self.from_thread(self._done, f"{made.commit[:10]} {made.summary}", warnings)

    def _done(self, summary: str, warnings: list[str]) -> None:
        self._is_busy = False
        self.bench.committed = summary
        self.app.pop_screen()
        self.app.notify(summary, title="Committed", timeout=8, markup=False)
        for text in warnings:
            self.app.notify(text, severity="warning", markup=False)
        self.bench.reload()

    def action_flip(self) -> None:
        """To the files and back."""
        staged = self.query_one("#staged")
        if self.focused is staged:
            self.remove_class("-flipped")
            self.call_after_refresh(self._field("subject").focus)
        else:
            self.add_class("-flipped")
            self.call_after_refresh(staged.focus)

    def action_back(self) -> None:
        if self._is_busy:
            self._stop.set()
            self.banner.say("stopping the commit…")
        else:
            self.app.pop_screen()
