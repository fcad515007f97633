"""A proposal about the branch as it stands: findings and a diff to look at, and one key that writes it.

`check` and `reseat` are such proposals.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import OptionList

from ...checkout.checkout import Checkout
from ...checks.model import SAFE_ACTIONS
from ...checks.registry import judge, rule_names
from ...checks.settings import read_settings
from ...checks.subject import read_subject
from ...plan import apply_edits, recover
from ...plan.fixing import plan_fixes
from ...plan.reseating import Reseating, apply_reseat, plan_reseat
from ...schema.errors import BenchscribeError
from ...schema.results import Edit, Finding
from ..editor import open_in_editor
from ..widgets.diff_view import DiffView
from ..widgets.what_follows import WhatFollows, place_of
from .step import StepScreen


class ProposalScreen(StepScreen):
    """Subclasses look at the branch in a worker, say what they found, and write what they propose."""

    CSS_PATH = "proposal.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "write", "write"),
        Binding("ctrl+s", "write", "write", show=False),
        Binding("f6", "flip", "the other pane", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._edits: tuple[Edit, ...] = ()
        self._findings: list[Finding] = []
        self._is_busy = True

    def body(self) -> ComposeResult:
        with Horizontal(classes="panes"):
            yield WhatFollows(id="findings")
            yield DiffView(id="diff", classes="pane side")

    def on_mount(self) -> None:
        super().on_mount()
        findings = self.query_one("#findings", OptionList)
        findings.add_class("pane")
        findings.border_title = self.title_text
        findings.focus()
        self._look()

    @abstractmethod
    def look(self, checkout: Checkout) -> tuple[list[Finding], Sequence[Edit], str]:
        """Findings, the edits proposed, and a line that sums them up."""

    @abstractmethod
    def apply(self) -> list[str]:
        """Write what is proposed; the paths."""

    @work(thread=True, exclusive=True, group="proposal")
    def _look(self) -> None:
        try:
            checkout = Checkout.open(self.bench.checkout.git_root, base=self.bench.base)
            found, edits, summary = self.look(checkout)
        except BenchscribeError as error:
            self.from_thread(self._fail, error)
            return
        self.from_thread(self._show, found, tuple(edits), summary)

    def _show(self, found: list[Finding], edits: tuple[Edit, ...], summary: str) -> None:
        self._edits, self._findings, self._is_busy = edits, found, False
        box = self.query_one("#findings", WhatFollows)
        box.show_findings(found, summary)
        diff = self.query_one("#diff", DiffView)
        diff.show(edits)
        diff.border_title = "What would be written" if edits else "Nothing to write"
        self.refresh_bindings()

    def _fail(self, error: BenchscribeError) -> None:
        self._is_busy = False
        where = f"{error.where}: " if error.where else ""
        hint = f"  {error.hint}" if error.hint else ""
        self.banner.say(f"✗ {where}{error.what}{hint}", "error")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "write":
            return True if self._edits and not self._is_busy else None
        return True

    def action_write(self) -> None:
        if self._edits and not self._is_busy:
            self._is_busy = True
            self._write()

    @work(thread=True, exclusive=True, group="proposal")
    def _write(self) -> None:
        try:
            recover(self.bench.checkout.git)
            written = self.apply()
        except BenchscribeError as error:
            self.from_thread(self._fail, error)
            return
        self.from_thread(self._tell_written, written)

    def _tell_written(self, written: list[str]) -> None:
        self.notify("\n".join(written), title="Written", markup=False)
        self.bench.reload()
        self._look()

    def on_what_follows_chosen(self, event: WhatFollows.Chosen) -> None:
        if place := place_of(event.subject):
            open_in_editor(self.bench, place)

    def on_what_follows_fix_wanted(self, event: WhatFollows.FixWanted) -> None:
        if event.finding.fix is None:
            self.notify("This finding has no fix that can be applied; its hint says what to do.", markup=False)
        elif event.finding.fix.action in SAFE_ACTIONS:
            self.notify("w writes this fix with the other safe ones.", markup=False)
        else:
            what = "This fix is one for a spec: Describe the branch (d on Home) opens it as one, f2 applies it there."
            self.notify(what, markup=False, timeout=8)

    def on_what_follows_open_wanted(self, event: WhatFollows.OpenWanted) -> None:
        open_in_editor(self.bench, event.place)

    def on_diff_view_open_place(self, event: DiffView.OpenPlace) -> None:
        open_in_editor(self.bench, f"{event.path}:{event.line}")

    def action_flip(self) -> None:
        """To the diff and back."""
        diff = self.query_one("#diff")
        if self.focused is diff:
            self.remove_class("-flipped")
            self.call_after_refresh(self.query_one("#findings").focus)
        else:
            self.add_class("-flipped")
            self.call_after_refresh(diff.focus)

    def action_back(self) -> None:
        self.app.pop_screen()


class CheckScreen(ProposalScreen):
    """The branch judged by every rule; the safe fixes are one key away."""

    step_name = "check"
    title_text = "Check"
    HELP_TEXT = (
        "Every rule on the branch as it stands in the work tree. enter opens a finding's place in $EDITOR.\n\n"
        "On the right stands what the safe fixes would write (links, tail position, separators, a missing entry); w writes it."
    )

    def look(self, checkout: Checkout) -> tuple[list[Finding], Sequence[Edit], str]:
        subject = read_subject(checkout)
        found = judge(subject, read_settings(checkout.after, rule_names()))
        summary = f"every rule was asked: {len(found) or 'no'} finding{'s' if len(found) != 1 else ''}"
        return found, plan_fixes(subject, found).edits, summary

    def apply(self) -> list[str]:
        return apply_edits(self.bench.checkout.git, self._edits)


class ReseatScreen(ProposalScreen):
    """The branch's own entries at the true tail, main's history in place."""

    step_name = "reseat"
    title_text = "Reseat"
    HELP_TEXT = (
        "Takes the changelog's history from the base's tip, byte for byte, and puts this branch's own entries behind it. "
        "Also settles a conflict in the changelog while a merge or rebase is under way.\n\nw writes it."
    )

    def __init__(self) -> None:
        super().__init__()
        self._reseating: Reseating | None = None

    def look(self, checkout: Checkout) -> tuple[list[Finding], Sequence[Edit], str]:
        plan = plan_reseat(checkout, base_ref=self.bench.base)
        self._reseating = plan
        entries = f"{len(plan.moved)} own entr{'y' if len(plan.moved) == 1 else 'ies'}"
        summary = (
            f"main's history stands, {entries} at its tail"
            if plan.nothing_to_do
            else f"{entries} behind the history of {plan.main}"
        )
        return list(plan.findings), plan.edits, summary

    def apply(self) -> list[str]:
        assert self._reseating is not None
        return apply_reseat(self._reseating)
