"""`benchscribe rules` and `benchscribe explain ID`: what is judged, and why."""

from __future__ import annotations

from difflib import get_close_matches

from ..checks.registry import rule_names, rules
from ..schema.errors import UsageError
from .output import Printer, print_json


def run(output_format: str) -> int:
    """Print the table of rules."""
    if output_format == "json":
        table = [{"id": rule.id, "severity": rule.severity.value, "title": rule.title} for rule in rules()]
        print_json({"rules": table})
        return 0
    printer = Printer()
    width = max(len(rule.id) for rule in rules())
    for rule in rules():
        printer.line(
            (rule.id.ljust(width), "head"), "  ", (rule.severity.ljust(7), rule.severity.value), "  ", rule.title
        )
    return 0


def explain(name: str) -> int:
    """Print one rule: what it wants and why, with a text before and after. Raises UsageError for an unknown id."""
    rule = next((one for one in rules() if one.id == name), None)
    if rule is None:
        near = get_close_matches(name, rule_names(), 1)
        hint = f"did you mean {near[0]}?" if near else "`benchscribe rules` lists them"
        raise UsageError(f"no rule {name!r}", hint=hint)
    printer = Printer()
    printer.line((rule.id, "head"), "  ", (str(rule.severity), rule.severity.value), "  ", rule.title)
    printer.line()
    for line in _wrapped(rule.explanation):
        printer.line(line)
    for title, text, style in (("wrong", rule.example_before, "removed"), ("right", rule.example_after, "added")):
        printer.line()
        printer.line((title, style))
        for line in text.split("\n"):
            printer.line("    ", line)
    return 0


def _wrapped(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, 100)
