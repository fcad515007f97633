"""Rule `prose-image`: images, tags and digests that an entry names are those that the config ships."""

from __future__ import annotations

from collections.abc import Iterator

from ..derive.claims import Kind
from ..schema.results import Finding, Severity
from .model import Rule, Subject
from .prose_claims import prose_findings


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per image, tag, digest or version that before and after contradict."""
    yield from prose_findings(subject, RULE, (Kind.IMAGE,))


RULE = Rule(
    id="prose-image",
    severity=Severity.ERROR,
    title="images, tags and digests in an entry are those the config ships",
    explanation=(
        "Each image reference, bare tag, digest and image version of a description is compared with the "
        "images of the keys that the entry names: what it says is shipped with the state now, the old half "
        "of a from/to pair with the base. It is a finding only where it can only mean the entry's own "
        "image; router and client images, other keys, history and comparisons are left alone."
    ),
    example_before='    - "Bump image to rocm/atom-dev:nightly_202608181633"   # the config has nightly_202608201032',
    example_after='    - "Bump image to rocm/atom-dev:nightly_202608201032"',
    judge=judge,
)
