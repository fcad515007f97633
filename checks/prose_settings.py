"""Rule `prose-settings`: variables, flags and their numbers in an entry are those that the recipes set."""

from __future__ import annotations

from collections.abc import Iterator

from ..derive.claims import Kind
from ..schema.results import Finding, Severity
from .model import Rule, Subject
from .prose_claims import prose_findings


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per `NAME=value`, `--flag value` or number beside a flag's words that the recipes contradict."""
    yield from prose_findings(subject, RULE, (Kind.SETTING, Kind.PHRASE))


RULE = Rule(
    id="prose-settings",
    severity=Severity.ERROR,
    title="variables, flags and their numbers in an entry are those the recipes set",
    explanation=(
        "NAME=value, --flag value, a flag's own name or words with a number, and K-sized numbers beside a "
        "flag's words (32K state checkpoints) are compared with every value the setting has at any point of "
        "the entry's keys. It is a finding only where the recipe of every point could be read, the setting "
        "is there, and none of its values is the one named; a setting that no file sets, or that a script "
        "leaves open, is not judged."
    ),
    example_before='    - "Use 32K state checkpoints"   # --state-checkpoint-interval-tokens 8192',
    example_after='    - "Use 8K state checkpoints"',
    judge=judge,
)
