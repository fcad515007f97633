"""Printing: results to stdout, everything else to stderr; text from files is data and never a control sequence."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..schema.results import Derived, Edit, Finding, Severity
from ..schema.visible import visible

if TYPE_CHECKING:
    from ..plan import Plan

STYLES = {
    "head": "bold",
    "dim": "dim",
    "added": "green",
    "removed": "red",
    "hunk": "cyan",
    "error": "bold red",
    "warning": "yellow",
    "info": "blue",
    "value": "bold",
}
_DIFF_STYLES = {"---": "head", "+++": "head", "@@ ": "hunk", "+": "added", "-": "removed"}
SIGNS = {Severity.ERROR: "✗", Severity.WARNING: "⚠", Severity.INFO: "ℹ"}


class Printer:
    """Lines of styled parts, in colour on a terminal (never under NO_COLOR), plain elsewhere."""

    def __init__(self, stream: Any = None) -> None:
        self._stream = stream if stream is not None else sys.stdout
        self._console: Any = None
        if self._stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
            from rich.console import Console

            self._console = Console(file=self._stream, highlight=False, soft_wrap=True)

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print one line of plain texts and (text, style name) pairs."""
        if self._console is None:
            text = "".join(part if isinstance(part, str) else part[0] for part in parts)
            self._write(visible(text) + "\n")
            return
        from rich.text import Text

        pieces = [
            (visible(part), "") if isinstance(part, str) else (visible(part[0]), STYLES[part[1]]) for part in parts
        ]
        self._console.print(Text.assemble(*pieces))

    def _write(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def derived_lines(printer: Printer, derived: Sequence[Derived[Any]]) -> None:
    """Every derived value with its reason and where its inputs were read."""
    for value in derived:
        shown = ", ".join(str(one) for one in value.value) if isinstance(value.value, tuple) else str(value.value)
        printer.line("  ", (value.name, "head"), "  ", (shown or "–", "value"))
        printer.line("    ", value.reason)
        for given in value.inputs:
            source = f"  ({given.source})" if given.source else ""
            printer.line("    ", (f"{given.name}: {given.value}{source}", "dim"))


def finding_lines(printer: Printer, findings: Iterable[Finding]) -> None:
    """Every finding: sign, rule, place, message, and what to do."""
    for finding in findings:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        sign = SIGNS[finding.severity]
        printer.line("  ", (f"{sign} {finding.severity}", finding.severity.value), f"  {finding.rule}  {place}")
        printer.line("    ", finding.message)
        if finding.hint:
            printer.line("    ", (finding.hint, "dim"))


def diff_lines(printer: Printer, edits: Iterable[Edit]) -> None:
    """A unified diff per file."""
    from ..plan.diff import unified_diff

    for edit in edits:
        for line in unified_diff(edit):
            style = next((name for start, name in _DIFF_STYLES.items() if line.startswith(start)), "")
            printer.line((line, style) if style else line)


def plan_text(printer: Printer, plan: Plan, *, done: str) -> None:
    """The text form of a plan: values with reasons, the diff per file, the entry, the findings."""
    printer.line(("base", "head"), f"  {plan.checkout.base}, {plan.checkout.base.reason}")
    if plan.derived:
        printer.line()
        printer.line(("What follows", "head"))
        derived_lines(printer, plan.derived)
    if plan.edits:
        printer.line()
        diff_lines(printer, plan.edits)
    if plan.entry:
        printer.line()
        printer.line(("Changelog entry", "head"))
        for line in plan.entry.rstrip("\n").split("\n"):
            printer.line("  ", line)
    if plan.findings:
        printer.line()
        printer.line(("Findings", "head"))
        finding_lines(printer, plan.findings)
    printer.line()
    for change in plan.files:
        printer.line("  ", change.path, "  ", (f"+{change.added}", "added"), " ", (f"−{change.removed}", "removed"))
    printer.line((done, "head"))


def plan_json(plan: Plan) -> dict[str, Any]:
    """The stable JSON of a plan (DESIGN, "The command line")."""
    return {
        "ok": not plan.blocked,
        "base": plan.checkout.base.commit,
        "files": [{"path": one.path, "added": one.added, "removed": one.removed} for one in plan.files],
        "derived": [derived_json(one) for one in plan.derived],
        "lines": [{"id": line.id, "en": line.en, "zh": line.zh} for line in plan.lines],
        "entry": plan.entry,
        "findings": [finding_json(finding) for finding in plan.findings],
    }


def derived_json(value: Derived[Any]) -> dict[str, Any]:
    """One derived value as JSON."""
    return {"name": value.name, "value": _json_value(value.value), "reason": value.reason}


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding as JSON."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "hint": finding.hint,
    }


def _json_value(value: Any) -> Any:
    from decimal import Decimal
    from fractions import Fraction

    if isinstance(value, (Decimal, Fraction)):
        return float(value)
    if isinstance(value, tuple):
        return [_json_value(one) for one in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)


def print_json(data: dict[str, Any]) -> None:
    """JSON to stdout, in ASCII so that no terminal or pipe can be upset by it."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def say(text: str) -> None:
    """A message to stderr."""
    Printer(sys.stderr).line(text)
