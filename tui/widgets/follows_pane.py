"""The side pane of a planned step: what is to be mended on top, below it what follows."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ..planning import Outcome
from ..text import literal, say
from .what_follows import WhatFollows

MOST = 6


class FollowsPane(Vertical):
    """Problems come and go above the list, so that the list stays as it is while a value is half typed."""

    def __init__(self) -> None:
        super().__init__(id="follows")
        self._mend = Static("", markup=False, classes="to-mend")
        self._mend.display = False
        self._shown: tuple[Any, ...] = ()
        self.list = WhatFollows()

    def compose(self) -> ComposeResult:
        yield self._mend
        yield self.list

    def focus(self, scroll_visible: bool = True) -> FollowsPane:
        self.list.focus(scroll_visible)
        return self

    def show(self, outcome: Outcome | None, good: Outcome | None) -> None:
        """Show an outcome; where it has no plan, that of the last good one stays in view under its problems."""
        problems = _problems(outcome)
        if problems != self._shown:
            self._shown = problems
            say(self._mend, _told(problems, is_stale=good is not None))
            self._mend.display = bool(problems)
        self.list.show(outcome if outcome is not None and outcome.plan is not None else good)


def _problems(outcome: Outcome | None) -> tuple[Any, ...]:
    if outcome is None:
        return ()
    return (*outcome.problems, *([outcome.error] if outcome.error is not None else []))


def _told(problems: tuple[Any, ...], *, is_stale: bool) -> Content:
    parts: list[Any] = [("To be mended", "bold $text-muted")]
    for problem in problems[:MOST]:
        field = literal(getattr(problem, "field", "")).removeprefix("changes[0].")
        place = getattr(problem, "where", None)
        hint = "".join(f"\n  {literal(text)}" for text in (f"at {place}" if place else "", problem.hint) if text)
        name = f"{field} " if field else ""
        parts += ["\n", ("✗ ", "$text-error bold"), (name, "bold"), literal(problem.what), (hint, "$text-muted")]
    if len(problems) > MOST:
        parts.append((f"\nand {len(problems) - MOST} more", "$text-muted"))
    if is_stale:
        parts.append(("\n\nAs it was before that", "bold $text-muted"))
    return Content.assemble(*parts)
