"""The end of the changelog as it will be: the last lines of history, then exactly the bytes that come."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
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

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "down", show=False),
        Binding("k", "scroll_up", "up", show=False),
        Binding("g", "scroll_home", "top", show=False),
        Binding("G", "scroll_end", "end", show=False),
        Binding("h", "scroll_left", "left", show=False),
        Binding("l", "scroll_right", "right", show=False),
    ]

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
    history, added, old_own = both.base, after[len(both.base) :], both.now[len(both.base) :]
    number = history.count(b"\n")
    parts: list[Any] = []
    old = history.decode("utf-8", "backslashreplace").split("\n")[:-1][-HISTORY:]
    for at, line in enumerate(old, number - len(old) + 1):
        parts += [(f"{at:>6}   ", "$text-muted"), (_dotted(line), "$text-muted"), "\n"]
    if not added:
        parts.append(("         nothing is appended\n", "$text-muted italic"))
    parts += _compared(_lines(old_own), _lines(added), number)
    if added and not added.endswith(b"\n"):
        parts.append(("         no line end at the end of the file\n", "$text-warning"))
    return Content.assemble(*parts)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "backslashreplace").split("\n")[:-1]


def _compared(old: list[str], new: list[str], above: int) -> list[Any]:
    """The new lines behind history, and the branch's own earlier ones that they replace."""
    parts: list[Any] = []
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("replace", "delete"):
            for at, line in enumerate(old[first:last], above + first + 1):
                parts += [(f"{at:>6} − ", "$text-error bold"), (_dotted(line), "$text-muted"), "\n"]
        sign, style = ("  ", "$text-muted") if tag == "equal" else ("+ ", "$text-success bold")
        for at, line in enumerate(new[start:end], above + start + 1):
            parts += [(f"{at:>6} {sign}", style), _dotted(line), "\n"]
    return parts


def _dotted(line: str) -> str:
    shown = literal(line)
    body = shown.rstrip(" ")
    return body + "·" * (len(shown) - len(body))
