"""What follows from the author's decisions: problems, derived values, findings and lines, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ...plan import Plan
from ...schema.results import Derived, Finding, Line, Severity
from ..planning import Outcome
from ..text import literal

BRIEF = 26
SIGNS = {
    Severity.ERROR: ("✗", "$text-error"),
    Severity.WARNING: ("⚠", "$text-warning"),
    Severity.INFO: ("ℹ", "$text-muted"),
}


@dataclass(frozen=True, slots=True)
class Followed:
    """One item: what it is about, in short, and its reason at length."""

    subject: Any
    short: Content
    long: Content


class WhatFollows(OptionList):
    """A list whose focused item opens in place."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "down", show=False),
        Binding("k", "cursor_up", "up", show=False),
        Binding("enter", "select", "choose"),
        Binding("f2", "fix", "fix"),
        Binding("e", "open", "$EDITOR"),
    ]

    class Chosen(Message):
        """An item was chosen with enter; `subject` is the problem, value, finding or line."""

        def __init__(self, subject: Any) -> None:
            super().__init__()
            self.subject = subject

    class FixWanted(Message):
        """The fix of a finding is to be applied."""

        def __init__(self, finding: Finding) -> None:
            super().__init__()
            self.finding = finding

    class OpenWanted(Message):
        """A place is to be opened in the editor."""

        def __init__(self, place: str) -> None:
            super().__init__()
            self.place = place

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.only_findings = False
        self._items: list[Followed | None] = []
        self._prompts: list[Content] = []
        self._open: int | None = None

    def show(self, outcome: Outcome | None) -> None:
        """Show what a plan came to. Most keys change little of it, so what reads as before is left alone."""
        found: list[tuple[Followed | None, Content]] = []

        def heading(text: str) -> None:
            found.append((None, Content.styled(text, "bold $text-muted")))

        def add(followed: Followed) -> None:
            found.append((followed, followed.short))

        if outcome is not None and outcome.plan is not None:
            _plan_items(outcome, outcome.plan, heading, add, only_findings=self.only_findings)
        if not found:
            heading("Nothing follows yet: change a field or a row.")
        self._put(found)

    def _put(self, found: list[tuple[Followed | None, Content]]) -> None:
        """Into the list: prompts that changed where the shape is the same, else everything anew."""
        items = [item for item, _ in found]
        prompts = [prompt for _, prompt in found]
        shape = [item is None for item in items]
        old, self._prompts = self._prompts, prompts
        if self._open is None and shape == [item is None for item in self._items]:
            self._items = items
            for at, prompt in enumerate(prompts):
                if prompt != old[at]:
                    self.replace_option_prompt_at_index(at, prompt)
            return
        kept = self.highlighted
        self._items, self._open = items, None
        self.set_options(Option(prompt, disabled=item is None) for item, prompt in found)
        if kept is not None and kept < len(items) and items[kept] is not None:
            self.highlighted = kept

    def show_findings(self, findings: Sequence[Finding], summary: str) -> None:
        """Nothing but findings, under a line that sums them up."""
        items = [finding_item(finding) for finding in findings]
        self._items, self._open = [None, *items], None
        sign = "✓ " if not findings else ""
        self.clear_options()
        self.add_option(Option(Content.styled(f"{sign}{literal(summary)}", "bold $text-muted"), disabled=True))
        self.add_options(Option(item.short) for item in items)
        if items:
            self.highlighted = 1

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        self._unfold()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Each key where it does something: a fix that there is, a place to open, a finding or line to choose."""
        chosen = self.chosen
        if action == "fix":
            return isinstance(chosen, Finding) and chosen.fix is not None
        if action == "open":
            return bool(place_of(chosen))
        return action != "select" or isinstance(chosen, (Finding, Line))

    def on_focus(self) -> None:
        if self.highlighted is None:
            self.highlighted = next((at for at, item in enumerate(self._items) if item is not None), None)
        self._unfold()

    def on_blur(self) -> None:
        self._fold()

    def _fold(self) -> None:
        if self._open is not None and self._open < self.option_count and (item := self._items[self._open]) is not None:
            self.replace_option_prompt_at_index(self._open, item.short)
        self._open = None

    def _unfold(self) -> None:
        at = self.highlighted
        if at == self._open:
            return
        self._fold()
        if self.has_focus and at is not None and at < len(self._items) and (item := self._items[at]) is not None:
            self.replace_option_prompt_at_index(at, item.long)
            self._open = at

    def go_to_fix(self) -> bool:
        """Highlight the first finding with a fix, at or behind the one highlighted; False where there is none."""
        places = [
            at
            for at, item in enumerate(self._items)
            if item is not None and isinstance(item.subject, Finding) and item.subject.fix is not None
        ]
        if places:
            self.highlighted = next((at for at in places if at >= (self.highlighted or 0)), places[0])
        return bool(places)

    @property
    def chosen(self) -> Any:
        """What the highlighted item is about."""
        at = self.highlighted
        item = self._items[at] if at is not None and at < len(self._items) else None
        return item.subject if item is not None else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.chosen is not None:
            self.post_message(self.Chosen(self.chosen))

    def action_fix(self) -> None:
        if isinstance(self.chosen, Finding):
            self.post_message(self.FixWanted(self.chosen))

    def action_open(self) -> None:
        place = place_of(self.chosen)
        if place:
            self.post_message(self.OpenWanted(place))


def place_of(subject: Any) -> str:
    """Where something stands in a file, as `path:line`; empty where that is nowhere."""
    if isinstance(subject, Finding):
        return f"{subject.path}:{subject.line}"
    if isinstance(subject, Derived):
        return next((given.source for given in subject.inputs if ":" in given.source), "")
    return ""


def _plan_items(outcome: Outcome, plan: Plan, heading: Any, add: Any, *, only_findings: bool) -> None:
    findings = outcome.findings
    if findings:
        if not only_findings:
            heading("Findings")
        for finding in findings:
            add(finding_item(finding))
    elif only_findings:
        is_judged = outcome.judged is not None
        heading("✓ no findings: every rule was asked" if is_judged else "the rules are being asked…")
    if only_findings:
        return
    whose = _whose(plan)
    if plan.derived:
        heading(f"Derived values{whose}")
        for value in plan.derived:
            add(_derived(plan, value))
    if plan.lines:
        heading(f"Changelog, derived{whose}")
        for line in plan.lines:
            add(_line(line, line.id in _omitted(plan)))


def _whose(plan: Plan) -> str:
    """Which keys a plan speaks of, where they are others than the spec's: a branch may have changed more."""
    keys = [one.key for one in plan.change.keys]
    asked = {one.config_key for one in plan.spec.changes} if plan.spec is not None else set()
    return f" · {', '.join(map(literal, keys))}" if set(keys) - asked else ""


def _omitted(plan: Plan) -> set[str]:
    return {name for one in plan.spec.changelog for name in one.omit} if plan.spec is not None else set()


def finding_item(finding: Finding) -> Followed:
    """A finding: sign, message and rule in short; place, way out and keys at length."""
    sign, style = SIGNS[finding.severity]
    name = finding.path.rpartition("/")[2]
    brief = finding.message.replace(finding.path, name) if name else finding.message
    head = (f"{sign} ", f"{style} bold")
    rule = (finding.rule, "$text-muted")
    short = Content.assemble(head, literal(brief), "  ", rule)
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    more = [literal(place)] if place else []
    if finding.hint:
        more.append(literal(finding.hint))
    keys = ["enter: go there"] + (["f2: apply the fix"] if finding.fix is not None else [])
    keys += ["e: $EDITOR"] if place else []
    text = "".join(f"\n  {one}" for one in [*more, " · ".join(keys)])
    long = Content.assemble(head, literal(finding.message), "  ", rule, (text, "$text-muted"))
    return Followed(finding, short, long)


def derived_text(value: Any) -> str:
    """A derived value as people read it."""
    return ", ".join(str(one) for one in value) if isinstance(value, tuple) else str(value)


def _derived(plan: Plan, value: Derived[Any]) -> Followed:
    was = _was(plan, value)
    shown = derived_text(value.value)
    brief = shown if len(shown) <= BRIEF else f"{shown[: BRIEF - 1]}…"
    name, before = literal(value.name), (f"{was} → " if was else "", "$text-muted")
    short = Content.assemble(name, "  ", before, (literal(brief), "bold $text-accent"))
    whole = Content.assemble(name, "  ", before, (literal(shown), "bold $text-accent"))
    inputs = "".join(
        f"\n  · {literal(given.name)}: {literal(given.value)}"
        + (f"\n      {literal(given.source)}" if given.source else "")
        for given in value.inputs
    )
    opens = "\n  e: $EDITOR" if place_of(value) else ""
    return Followed(
        value, short, Content.assemble(whole, f"\n  {literal(value.reason)}", (inputs + opens, "$text-muted"))
    )


def _was(plan: Plan, value: Derived[Any]) -> str:
    """How a derived field of an entry read before, where it is one."""
    for key in plan.change.keys:
        for item in key.items:
            for difference in item.differences:
                if difference.name == value.name and difference.before is not None:
                    return str(getattr(difference.before, "spelling", difference.before))
    return ""


def _line(line: Line, is_omitted: bool) -> Followed:
    box = "☐" if is_omitted else "☑"
    short = Content.assemble(f"{box} ", (literal(line.en), "$text-muted" if is_omitted else ""))
    more = f"\n  {literal(line.zh)}\n  id {line.id}\n  enter: {'in' if is_omitted else 'out'}"
    return Followed(line, short, Content.assemble(short, (more, "$text-muted")))
