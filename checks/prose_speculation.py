"""Rule `prose-speculation`: draft tokens and acceptance lengths in an entry are those that run."""

from __future__ import annotations

from collections.abc import Iterator

from ..derive.claims import Kind
from ..schema.results import Finding, Severity
from .model import Rule, Subject
from .prose_claims import prose_findings


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per count of draft tokens, AL or acceptance rate that recipes and curves contradict."""
    yield from prose_findings(subject, RULE, (Kind.DRAFT_TOKENS, Kind.ACCEPTANCE))


RULE = Rule(
    id="prose-speculation",
    severity=Severity.ERROR,
    title="draft tokens and acceptance lengths in an entry are those that run",
    explanation=(
        "'n draft tokens', 'n-token MTP' and MTPn must be the depth of some speculative point. An "
        "acceptance length or rate must be what a recipe forces, or the golden AL at a depth in use; "
        "lengths and rates are equal under the engine's relation, so a rate of 0.4966666667 is an AL of "
        "2.49 at 3 draft tokens. Measured values are not judged."
    ),
    example_before='    - "Run MTP with 5 draft tokens"   # num-speculative-tokens: 3 at every point',
    example_after='    - "Run MTP with 3 draft tokens"',
    judge=judge,
)
