"""The end of the changelog as it will be: the last lines of history, then exactly the bytes that come."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ...plan import Plan
from ...plan.changelog import read_bytes
from ...schema.errors import BenchscribeError
from ..planning import Outcome
from ..text import literal

HISTORY = 6


class TailView(VerticalScroll, can_focus=True):
    """Line numbers as in the file; blanks at a line's end are shown as dots, for they are bytes too."""

    def compose(self) -> ComposeResult:
        yield Static("", markup=False, id="tail-text")

    def show(self, plan: Plan | None, outcome: Outcome | None) -> None:
        """The tail as the plan leaves it, under what keeps the spec from being planned."""
        troubles: list[Any] = []
        if outcome is not None and outcome.plan is None:
            for problem in outcome.problems:
                hint = f"; {problem.hint}" if problem.hint else ""
                troubles += [
                    ("✗ ", "$text-error bold"),
                    (literal(problem.field), "bold"),
                    f" {literal(problem.what + hint)}\n",
                ]
            if outcome.error is not None:
                troubles += [("✗ ", "$text-error bold"), f"{literal(outcome.error.what)}\n"]
        tail = tail_content(plan) if plan is not None else Content("" if troubles else "no plan yet")
        self.query_one("#tail-text", Static).update(Content.assemble(*troubles, tail))


def tail_content(plan: Plan) -> Content:
    """History's last lines and the bytes behind them; a replaced own entry is not history."""
    try:
        both = read_bytes(plan.checkout)
    except BenchscribeError as error:
        return Content(literal(error.what))
    after = plan.wanted.read(both.path) or b""
    history, added = both.base, after[len(both.base) :]
    number = history.count(b"\n")
    parts: list[Any] = []
    old = history.decode("utf-8", "backslashreplace").split("\n")[:-1][-HISTORY:]
    for at, line in enumerate(old, number - len(old) + 1):
        parts += [(f"{at:>6}   ", "$text-muted"), (_dotted(line), "$text-muted"), "\n"]
    if not added:
        parts.append(("         nothing is appended\n", "$text-muted italic"))
    for at, line in enumerate(added.decode("utf-8", "backslashreplace").split("\n")[:-1], number + 1):
        parts += [(f"{at:>6} + ", "$text-success bold"), _dotted(line), "\n"]
    if added and not added.endswith(b"\n"):
        parts.append(("         no line end at the end of the file\n", "$text-warning"))
    return Content.assemble(*parts)


def _dotted(line: str) -> str:
    shown = literal(line)
    body = shown.rstrip(" ")
    return body + "·" * (len(shown) - len(body))
