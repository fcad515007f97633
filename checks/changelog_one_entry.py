"""Rule `changelog-one-entry`: in the e2e layout a pull request has one entry, and perhaps an evals-only companion."""

from __future__ import annotations

from collections.abc import Iterator

from ..schema.errors import Place
from ..schema.results import Finding, Severity
from .model import Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """A finding on every own entry beyond the first of its kind."""
    if not subject.after.layout.e2e or subject.has_conflict:
        return
    first: dict[bool, int] = {}
    for own in subject.own:
        is_companion = "evals-only" in own.flags
        if is_companion in first:
            message = f"this is another entry of the branch beside the one in line {first[is_companion]}"
            hint = "one entry per pull request: put its keys and lines into the first"
            yield RULE.finding(Place(subject.changelog_path, own.line), message, hint)
        else:
            first[is_companion] = own.line


RULE = Rule(
    id="changelog-one-entry",
    severity=Severity.ERROR,
    title="one entry per pull request (e2e)",
    explanation=(
        "From autumn 2026 a pull request adds one entry that names all of its keys. A companion marked "
        "evals-only, for an extra key that exists for an eval, is accepted beside it."
    ),
    example_before="(two entries, one per key)",
    example_after="(one entry with both keys)",
    judge=judge,
)
