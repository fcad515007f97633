"""A step with the plan beside it: what follows, or the exact bytes."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import SystemCommand
from textual.widgets import ContentSwitcher

from ...schema.results import Finding, Line, Severity
from ..editor import open_in_editor
from ..widgets.diff_view import DiffView
from ..widgets.follows_pane import FollowsPane
from ..widgets.what_follows import WhatFollows
from .step import StepScreen


class PlannedScreen(StepScreen):
    """Expects `#side` to switch between `#follows` and `#bytes`."""

    def show_outcome(self) -> None:
        """The plan beside the form; the pane out of sight is brought up to date when it comes into sight."""
        bench = self.bench
        side = self.query_one("#side", ContentSwitcher)
        if side.border_subtitle != (summary := self._summary()):
            side.border_subtitle = summary
        if side.current == "bytes":
            self.query_one("#bytes", DiffView).show(bench.good.edits if bench.good is not None else ())
        else:
            self.query_one(FollowsPane).show(bench.outcome, bench.good_outcome)

    def _summary(self) -> str:
        outcome = self.bench.outcome
        if outcome is None:
            return ""
        if outcome.plan is None:
            count = len(outcome.problems) or 1
            return f"✗ {count} to be mended"
        if outcome.judged is None:
            return "checking…"
        errors = sum(one.severity is Severity.ERROR for one in outcome.findings)
        warnings = sum(one.severity is Severity.WARNING for one in outcome.findings)
        parts = [f"✗ {errors} error{'s' if errors != 1 else ''}"] if errors else []
        parts += [f"⚠ {warnings} warning{'s' if warnings != 1 else ''}"] if warnings else []
        return " ".join(parts) or "✓ no errors"

    # Keys

    def show_bytes(self) -> None:
        """The exact bytes in the side pane, in sight."""
        self._switch("bytes")
        self.add_class("-bytes")
        if self.has_class("-narrow") or self.has_class("-linear"):
            self.add_class("-flipped")

    def _switch(self, name: str) -> None:
        side = self.query_one("#side", ContentSwitcher)
        side.current = name
        side.border_title = "Bytes" if name == "bytes" else "What follows"
        self.show_outcome()

    def action_bytes(self) -> None:
        """What follows, or the bytes."""
        side = self.query_one("#side", ContentSwitcher)
        had_focus = self.focused is not None and side in self.focused.ancestors_with_self
        if side.current == "bytes":
            self._switch("follows")
            self.remove_class("-flipped", "-bytes")
            if had_focus:
                self.call_after_refresh(self.focus_form)
            return
        if not had_focus:
            self._left = self.focused
        self.show_bytes()
        self.query_one("#bytes").focus()

    def action_flip(self) -> None:
        """To the other pane; where panes stack, the other one comes into sight."""
        side = self.query_one("#side", ContentSwitcher)
        inside = self.focused is not None and side in self.focused.ancestors_with_self
        stacked = self.has_class("-narrow") or self.has_class("-linear")
        if inside or (stacked and self.has_class("-flipped")):
            self.remove_class("-flipped")
            self.call_after_refresh(self.focus_form)
        else:
            self._left = self.focused
            self.add_class("-flipped")
            self.call_after_refresh(self.query_one(f"#{side.current}").focus)

    def focus_form(self) -> None:
        """Back to where the author was in the form."""
        left = getattr(self, "_left", None)
        if left is not None and left.is_attached and left.display:
            left.focus()
        else:
            self.focus_next()

    def action_fix(self) -> None:
        """Apply the fix of the finding one stands on; from elsewhere, go to the first that has one."""
        follows = self.query_one(WhatFollows)
        chosen = follows.chosen if follows.has_focus else None
        if isinstance(chosen, Finding) and chosen.fix is not None:
            self.apply_fix(chosen)
            return
        if self.query_one("#side", ContentSwitcher).current != "follows":
            self.action_bytes()
        if not follows.go_to_fix():
            self.notify("No finding has a fix that can be applied here.", markup=False)
            return
        if not follows.has_focus:
            self.action_flip()
        self.notify("f2 again applies the fix of this finding.", markup=False)

    def apply_fix(self, finding: Finding) -> None:
        """Lay a finding's fix over the spec."""
        if finding.fix is None:
            way_out = finding.hint or "it is for you to decide"
            self.notify(f"No fix can be applied here. The way out: {way_out}", title=finding.rule, markup=False)
        elif self.bench.apply_fix(finding.fix):
            self.notify("The fix is in the spec; ^z takes it back.", title=finding.rule, markup=False)
        else:
            self.notify("This fix is not one for the spec: `benchscribe check --fix` applies it.", markup=False)

    @on(WhatFollows.FixWanted)
    def _fix_wanted(self, event: WhatFollows.FixWanted) -> None:
        self.apply_fix(event.finding)

    @on(WhatFollows.Chosen)
    def _chosen(self, event: WhatFollows.Chosen) -> None:
        if isinstance(event.subject, Finding):
            self.go_to_finding(event.subject)
        elif isinstance(event.subject, Line):
            self.toggle_line(event.subject)

    @on(WhatFollows.OpenWanted)
    def _open_wanted(self, event: WhatFollows.OpenWanted) -> None:
        self._open(event.place)

    @on(DiffView.OpenPlace)
    def _open_place(self, event: DiffView.OpenPlace) -> None:
        self._open(f"{event.path}:{event.line}")

    def _open(self, place: str) -> None:
        open_in_editor(self.bench, place)

    def toggle_line(self, line: Line) -> None:
        """A derived changelog line in or out."""
        from ..entry_form import toggle_omit

        toggle_omit(self.bench.model, line.id)
        self.show_outcome()

    def go_to_finding(self, finding: Finding) -> None:
        """Show where a finding is."""

    def commands(self) -> Iterable[SystemCommand]:
        yield SystemCommand("Bytes", "The exact bytes beside the form, or what follows (v)", self.action_bytes)
        yield SystemCommand("Save the spec", "Keep it as a file of its own", self.save_spec)

    def save_spec(self) -> None:
        """Keep the spec in the state directory and say where."""
        from ..saving import save_spec

        save_spec(self.bench)
