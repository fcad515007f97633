"""Findings for people: grouped by file, each with its source line, a mark under the offending text, and the way out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..checks.model import Subject
from ..checks.not_judged import BEGINNING, is_not_judged
from ..checks.not_judged import RULE as RECIPES
from ..schema.counting import plural
from ..schema.results import Finding, Severity
from .output import SIGNS, Printer

WIDTH = 100  # of a source line as shown; changelog lines are often far longer
MOST_UNJUDGED = 6
ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def print_findings(printer: Printer, subject: Subject, findings: Sequence[Finding]) -> None:
    """Nothing at all for a clean branch; what could not be judged stands at the end, in one line each."""
    told = [finding for finding in findings if not is_not_judged(finding)]
    if not told:
        return
    for number, (path, group) in enumerate(groupby(told, key=lambda finding: finding.path)):
        if number:
            printer.line()
        printer.line((path or "the checkout", "head"))
        lines = _lines(subject, path)
        for finding in group:
            _print_finding(printer, finding, lines)
    printer.line()
    printer.line((f"{summary(told)}, against {subject.checkout.base}", "head"))
    for why in _not_judged(findings):
        printer.line((f"{BEGINNING}{why}", "dim"))


def clean(subject: Subject, findings: Sequence[Finding], rules: int) -> str:
    """The one line, for stderr, of a run with neither errors nor warnings: how much was judged, and what was not."""
    base, files = subject.checkout.base, len(subject.files)
    scope = f"{plural(rules, 'rule')} on {plural(files, 'file')}, against {base}"
    if subject.everything:
        scope = f"{plural(rules, 'rule')} on the whole checkout, against {base}"
    elif not files:
        scope = f"nothing differs from {base}"
    unjudged = list(_not_judged(findings))
    return f"No errors, no warnings: {scope}." + (f" Not judged: {'; '.join(unjudged)}." if unjudged else "")


def _not_judged(findings: Sequence[Finding]) -> Iterator[str]:
    """What could not be judged, each thing once, and not more than a reader takes in."""
    whys = list(dict.fromkeys(_why(one) for one in findings if is_not_judged(one)))
    yield from whys[:MOST_UNJUDGED]
    if len(whys) > MOST_UNJUDGED:
        yield f"{len(whys) - MOST_UNJUDGED} more (--format json lists them)"


def _why(finding: Finding) -> str:
    """A missing recipe is named by the message itself; of what a rule stumbled over, the place is told."""
    why = finding.message.removeprefix(BEGINNING)
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return why if finding.rule == RECIPES else f"{finding.rule} ({place}): {why}"


def summary(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`."""
    counts = Counter(finding.severity for finding in findings)
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info"}
    parts = [plural(counts[severity], words[severity]) for severity in ORDER if counts[severity]]
    return ", ".join(parts)


def _lines(subject: Subject, path: str) -> list[str]:
    data = subject.after.read(path) if path else None
    return (data or b"").decode("utf-8", "backslashreplace").split("\n")


def _print_finding(printer: Printer, finding: Finding, lines: Sequence[str]) -> None:
    place = f"line {finding.line}  " if finding.line else ""
    sign = SIGNS[finding.severity]
    printer.line(
        "  ",
        (f"{sign} {finding.severity}", finding.severity.value),
        f"  {place}",
        finding.message,
        (f"  [{finding.rule}]", "dim"),
    )
    if 0 < finding.line <= len(lines) and lines[finding.line - 1].strip():
        gutter = f"{finding.line:>7} │ "
        shown, start, length = excerpt(lines[finding.line - 1], finding.text)
        printer.line((gutter, "dim"), shown)
        if length:
            printer.line((" " * 7 + " │ ", "dim"), " " * start, ("^" * length, finding.severity.value))
    if finding.hint:
        printer.line("          ", ("→ " + finding.hint, "dim"))


def excerpt(line: str, text: str, width: int = WIDTH) -> tuple[str, int, int]:
    """The part of a line to show, and where in it the offending text stands: start and length (0: nowhere)."""
    line = "".join(character if character.isprintable() else "·" for character in line.rstrip())
    at = line.find(text) if text else -1
    length = len(text) if at >= 0 else 0
    if at < 0:
        at = 0
    begin = 0
    if len(line) > width and at + length > width - 10:
        begin = max(0, min(at - 20, len(line) - width))
    shown = line[begin : begin + width]
    head, tail = "…" if begin else "", "…" if begin + width < len(line) else ""
    return head + shown + tail, at - begin + len(head), min(length, width - (at - begin))
