"""Rule `prose-points`: topologies and concurrencies that an entry names stand in the rows of its keys."""

from __future__ import annotations

from collections.abc import Iterator

from ..derive.claims import Kind
from ..schema.results import Finding, Severity
from .model import Rule, Subject
from .prose_claims import prose_findings


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per `TPn`, `DCPn`, `EPn`, list or range of concurrencies that no row bears out."""
    yield from prose_findings(subject, RULE, (Kind.TOPOLOGY, Kind.CONCURRENCY))


RULE = Rule(
    id="prose-points",
    severity=Severity.ERROR,
    title="topologies and concurrencies in an entry stand in the rows of its keys",
    explanation=(
        "TPn, EPn, DEPn, DCPn and PPn must be the parallelism of some row of the keys that the entry names; "
        "each concurrency of a list, and both ends of a range, must be a point: of the rows with that "
        "topology where one is written right before the list, else of any. Dropped points, comparisons, "
        "measurements and thresholds such as conc>=64 are not judged."
    ),
    example_before='    - "Sweep TP4 at conc [1, 2, 4, 8]"   # the TP4 row has conc-list: [1, 2, 4]',
    example_after='    - "Sweep TP4 at conc [1, 2, 4]"',
    judge=judge,
)
