"""Rule `changelog-link`: the link of an own entry is canonical, an accepted placeholder, or this pull request's."""

from __future__ import annotations

from collections.abc import Iterator

from ..schema.changelog import is_accepted_link, is_placeholder, link_number, pull_request_link
from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .model import LINK, OwnEntry, Rule, Subject

PLACEHOLDER_HINT = "accepted while there is no number: XXX, or the canonical link ending in XXX"


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per own entry whose link the merge helper would refuse, or is not of `--pr`."""
    for own in subject.own:
        if own.entry is None or not own.entry.pr_link:
            continue
        found = _wrong(own.entry.pr_link, subject.pull_request)
        if found:
            yield _finding(subject, own, *found)


def _wrong(link: str, number: int | None) -> tuple[str, str] | None:
    """What is wrong with a link, and the way out; None where nothing is."""
    if not is_accepted_link(link):
        meant = link_number(link)
        if meant is not None and number in (None, meant):
            return f"the link {link!r} is not in its canonical form", f"write {pull_request_link(meant)}"
        way = f"write {pull_request_link(number)}" if number else f"write the number; {PLACEHOLDER_HINT}"
        return f"the link {link!r} is none the merge helper takes", way
    if number is not None and is_placeholder(link):
        return (
            f"the link is still a placeholder, but this is pull request {number}",
            f"write {pull_request_link(number)}",
        )
    if number is not None and link_number(link) != number:
        return (
            f"the link is of pull request {link_number(link)}, but this is {number}",
            f"write {pull_request_link(number)}",
        )
    return None


def _finding(subject: Subject, own: OwnEntry, message: str, hint: str) -> Finding:
    assert own.entry is not None
    link = own.entry.pr_link
    number = subject.pull_request if subject.pull_request is not None else link_number(link)
    place = Place(subject.changelog_path, own.line_at("pr-link"))
    return RULE.finding(place, message, hint, fix=Fix(LINK, {"number": number}), text=link)


RULE = Rule(
    id="changelog-link",
    severity=Severity.ERROR,
    title="an entry's link is canonical, an accepted placeholder, or this pull request's",
    explanation=(
        "The merge helper accepts https://github.com/SemiAnalysisAI/InferenceX/pull/<N> and, while a pull "
        "request has no number, XXX or that URL ending in XXX. TBD, PLACEHOLDER, xxxx and YYYY break it, "
        "although older guides suggest them. With --pr N the link must carry that number."
    ),
    example_before="  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/TBD",
    example_after="  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/XXX",
    judge=judge,
)
