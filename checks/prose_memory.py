"""Rule `prose-memory`: host memory and utilization in an entry are those of tiers, budgets and config."""

from __future__ import annotations

from collections.abc import Iterator

from ..derive.claims import Kind
from ..schema.results import Finding, Severity
from .model import Rule, Subject
from .prose_claims import prose_findings


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per size per rank, per server or of a budget, and per utilization, that is another one."""
    yield from prose_findings(subject, RULE, (Kind.MEMORY, Kind.UTILIZATION))


RULE = Rule(
    id="prose-memory",
    severity=Severity.ERROR,
    title="sizes per rank and per server, budgets and utilizations in an entry are the real ones",
    explanation=(
        "'256 GiB per rank', '1000 GB per server' and a budget are compared with the tiers that the recipes "
        "reserve and with the budget that runner and dram-utilization give; GB are decimal and GiB binary, "
        "and a size per rank is not one per server. dram-utilization must be an item's. Sizes of anything "
        "else are not judged."
    ),
    example_before='    - "LMCache offload tier of 256 GB per rank"   # LMCACHE_MAX_LOCAL_CPU_SIZE is 256 GiB',
    example_after='    - "LMCache offload tier of 256 GiB per rank"',
    judge=judge,
)
