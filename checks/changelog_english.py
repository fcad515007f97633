"""Rule `changelog-english`: in the e2e layout descriptions are English only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .model import SPEC_PATCH, Rule, Subject

# Cyrillic to Mongolian, the CJK scripts with their punctuation, full-width forms, and the planes of further ideographs.
FOREIGN = re.compile("[\u0400-\u1dff\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]+")
HINT = "drop the line or write it in English; the translation stands in the commit and the pull request"


def judge(subject: Subject) -> Iterator[Finding]:
    """A finding on every description line that is not English."""
    if not subject.after.layout.e2e:
        return
    for own in subject.own:
        for index, text in enumerate(own.description):
            found = FOREIGN.search(text)
            if found:
                place = Place(subject.changelog_path, own.line_at("description", index))
                fix = Fix(SPEC_PATCH, {"patch": {"changelog": {"language": "en"}}})
                message = "this description is not English; the changelog is English only"
                yield RULE.finding(place, message, HINT, fix=fix, text=found[0])


RULE = Rule(
    id="changelog-english",
    severity=Severity.ERROR,
    title="descriptions are English only (e2e)",
    explanation=(
        "From autumn 2026 the changelog is written in English only. The Chinese half of a change stands in "
        "the commit message and in the pull request."
    ),
    example_before='    - "镜像：rocm/atom:v1 改为 rocm/atom:v2"',
    example_after='    - "Image: rocm/atom:v1 to rocm/atom:v2"',
    judge=judge,
)
