"""Rule `changelog-fields`: every own entry parses as one entry, with the fields, types and flags it may have."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.changelog_text import ENTRY_START
from ..schema.changelog import entry_problems
from ..schema.errors import Place
from ..schema.results import Finding, Severity
from .model import OwnEntry, Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """Problems of fields by line; and text that only looks like an entry."""
    for own in subject.own:
        problems = entry_problems(own.data, subject.after.layout.changelog_flags)
        last = own.data.rstrip(b"\n").count(b"\n") + 1  # YAML may only notice behind the entry
        for problem in problems:
            place = Place(subject.changelog_path, own.line + min(problem.line, last) - 1)
            yield RULE.finding(place, problem.what, problem.hint, text=problem.field)
        if not problems:
            yield from _look_alikes(subject, own)
    yield from _unseen_entries(subject)


def _look_alikes(subject: Subject, own: OwnEntry) -> Iterator[Finding]:
    """Prose with a line that starts like an entry: the merge helper counts these lines."""
    for match in ENTRY_START.finditer(own.data, 1):
        place = Place(subject.changelog_path, own.line + own.data.count(b"\n", 0, match.start()))
        message = "a line of prose starts like an entry (`- config-keys:`), so entries are miscounted"
        yield RULE.finding(place, message, "put the description on one line, in double quotes")


def _unseen_entries(subject: Subject) -> Iterator[Finding]:
    """An own block that YAML reads as several entries: one of them does not start with `- config-keys:`."""
    for own in subject.own:
        if own.entry is not None:
            continue
        for number, line in enumerate(own.data.split(b"\n")[1:], own.line + 1):
            if line.startswith(b"- ") or (line.startswith(b"-") and line.strip() == b"-"):
                message = "an entry starts with `- config-keys:`, spelled exactly so; this one does not"
                yield RULE.finding(Place(subject.changelog_path, number), message, "put config-keys first")


RULE = Rule(
    id="changelog-fields",
    severity=Severity.ERROR,
    title="an entry has the fields, types and flags it may have",
    explanation=(
        "An entry has, in this order, config-keys, scenario-type (optional), description, pr-link, then "
        "flags, and nothing else, no field twice. append-only excludes every eval flag, no-evals (e2e) the "
        "other ones, and eval-min-prefill-ep is a whole number from 1. There are as many `- config-keys:` "
        "lines as parsed entries."
    ),
    example_before="  append-only: true\n  evals-only: true",
    example_after="  append-only: true",
    judge=judge,
)
