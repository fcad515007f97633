"""Review: every byte that will change, every finding, and the one key that writes."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher

from ...plan import apply_plan, recover
from ...schema.errors import BenchscribeError
from ...schema.results import Finding, Severity
from ..planning import Outcome
from ..widgets.diff_view import DiffView
from ..widgets.follows_pane import FollowsPane
from ..widgets.what_follows import WhatFollows
from .planned import PlannedScreen


class ReviewScreen(PlannedScreen):
    """The diff on the left, findings on the right; `w` writes all files or none."""

    CSS_PATH = "review.tcss"
    step_name = "review"
    title_text = "Review"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "write", "write"),
        Binding("ctrl+s", "write", "write", show=False),
        Binding("f6", "flip", "findings", priority=True),
        Binding("f2", "fix", "fix", show=True),
        Binding("S", "save", "save spec", show=False),
        Binding("e", "edit_place", "$EDITOR", show=False),
    ]
    HELP_TEXT = (
        "The diff of every file: n and N walk the changes, enter folds a file or shows more lines around a change, s puts old "
        "and new side by side, h and l scroll sideways.\n"
        "F6 goes to the findings: enter shows where one is, f2 applies its fix where it has one, e opens its place in $EDITOR.\n\n"
        "w writes all files or none. Errors forbid it; warnings are asked about once. S saves the spec as a file."
    )

    def body(self) -> ComposeResult:
        with Horizontal(classes="panes"):
            yield DiffView(id="diff", classes="pane main")
            with ContentSwitcher(initial="follows", classes="pane side", id="side"):
                yield FollowsPane()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#side").border_title = "Findings"
        self.query_one(WhatFollows).only_findings = True
        self.show_outcome()
        self.query_one("#diff").focus()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self.is_mounted:
            self.show_outcome()

    def refill(self) -> None:
        self.show_outcome()

    def show_outcome(self) -> None:
        super().show_outcome()
        plan = self.bench.good
        view = self.query_one("#diff", DiffView)
        edits = plan.edits if plan is not None else ()
        view.show(edits)
        files = plan.files if plan is not None else ()
        added, removed = sum(one.added for one in files), sum(one.removed for one in files)
        count = f"{len(files)} file{'s' if len(files) != 1 else ''}"
        view.border_title = f"Review  {count}, +{added} −{removed}" if files else "Review"
        view.border_subtitle = self._state()
        self.refresh_bindings()

    def _state(self) -> str:
        bench, outcome = self.bench, self.bench.outcome
        if outcome is None or not bench.is_planned:
            return "planning…"
        if outcome.plan is None or outcome.blocked:
            return "✗ not to be written: see the findings"
        if outcome.judged is None:
            return "checking…"
        if outcome.plan.nothing_to_do:
            return "✓ every file already is as wanted"
        return "w writes"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """`write` is dim where it would be refused."""
        if action == "write":
            return True if self._may_write() else None
        return True

    def _may_write(self) -> bool:
        outcome = self.bench.outcome
        if outcome is None or outcome.plan is None or not self.bench.is_planned or outcome.judged is None:
            return False
        return not outcome.blocked and not outcome.plan.nothing_to_do

    @on(DiffView.Split)
    def _split(self, event: DiffView.Split) -> None:
        self.set_class(event.is_split, "-split")

    # Writing

    def action_write(self) -> None:
        outcome = self.bench.outcome
        if outcome is None or not self._may_write():
            return
        warnings = [one for one in outcome.findings if one.severity is Severity.WARNING]
        unseen = [one for one in warnings if _identity(one) not in self.bench.accepted_warnings]
        if unseen:
            self._ask(outcome, unseen)
        else:
            self._write(outcome)

    def _ask(self, outcome: Outcome, warnings: list[Finding]) -> None:
        from .ask import AskScreen

        lines = [f"⚠ {one.message}" for one in warnings[:6]]
        more = [f"and {len(warnings) - 6} more"] if len(warnings) > 6 else []
        choices = [("w", "Write all the same", "write"), ("escape", "Back to the review", "back")]
        title = f"Write with {len(warnings)} warning{'s' if len(warnings) > 1 else ''}?"
        dialog = AskScreen(title, "\n".join([*lines, *more]), choices)
        self.app.push_screen(dialog, lambda answer: self._answered(answer, outcome, warnings))

    def _answered(self, answer: str | None, outcome: Outcome, warnings: list[Finding]) -> None:
        if answer == "write":
            self.bench.accepted_warnings.update(_identity(one) for one in warnings)
            self._write(outcome)

    @work(thread=True, exclusive=True, group="write")
    def _write(self, outcome: Outcome) -> None:
        plan = outcome.plan
        assert plan is not None
        try:
            recover(plan.checkout.git)
            written = apply_plan(plan)
        except BenchscribeError as error:
            self.from_thread(self._refused, error)
            return
        self.from_thread(self.bench.wrote, plan, written)

    def _refused(self, error: BenchscribeError) -> None:
        where = f"{error.where}: " if error.where else ""
        hint = f"  {error.hint}" if error.hint else ""
        self.banner.say(f"✗ nothing was written. {where}{error.what}{hint}   F7 reads the checkout again", "error")

    # Keys

    def action_back(self) -> None:
        self.bench.go("changelog")

    def action_save(self) -> None:
        self.save_spec()

    def action_edit_place(self) -> None:
        path, line = self.query_one("#diff", DiffView).place
        if path:
            self._open(f"{path}:{line}")

    def go_to_finding(self, finding: Finding) -> None:
        view = self.query_one("#diff", DiffView)
        if view.go_to(finding.path, finding.line):
            self.remove_class("-flipped")
            self.call_after_refresh(view.focus)
        else:
            self._open(f"{finding.path}:{finding.line}")

    def focus_form(self) -> None:
        self.query_one("#diff").focus()


def _identity(finding: Finding) -> tuple[str, str, str]:
    """What makes a warning the same one after another plan."""
    return finding.rule, finding.path, finding.message
