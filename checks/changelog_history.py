"""Rule `changelog-history`: the changelog starts with the base's exact bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.changelog_history import HistoryChange, history_changes
from ..checkout.changelog_text import first_difference, split, starts_cleanly
from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .model import RESEAT, Rule, Subject

SHOWN = 8
HINT = "`benchscribe check --fix` or `benchscribe reseat` restores the base's bytes and keeps this branch's own entries"
LINK_HINT = (
    "a link correction is the one edit of history the contract knows, alone in its change; "
    "the quick gate on pull requests rejects even that"
)


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per place where old bytes changed; many are summed up."""
    base, now = subject.base_changelog, subject.changelog
    path = subject.changelog_path
    if subject.has_conflict:
        return
    if now.startswith(base):
        yield from _continued(subject)
        return
    if not now.strip():
        yield RULE.finding(Place(path, 1), "the changelog is empty, its history gone", HINT, fix=Fix(RESEAT))
        return
    changes = history_changes(base, now)
    if _is_only_link_corrections(subject, changes):
        yield from (_link_correction(path, change) for change in changes)
        return
    for change in changes[:SHOWN]:
        yield RULE.finding(Place(path, change.line), change.what, HINT, fix=Fix(RESEAT))
    if len(changes) > SHOWN:
        more = changes[SHOWN]
        message = f"{len(changes) - SHOWN} more places of the base's bytes changed, the first: {more.what}"
        yield RULE.finding(Place(path, more.line), message, HINT, fix=Fix(RESEAT))
    if not changes and all(own.at_tail for own in subject.own):
        yield RULE.finding(Place(path, first_difference(base, now)), _other(base, now), HINT, fix=Fix(RESEAT))


def _is_only_link_corrections(subject: Subject, changes: tuple[HistoryChange, ...]) -> bool:
    alone = not subject.own and subject.files <= {subject.changelog_path}
    return bool(changes) and alone and all(change.is_link for change in changes)


def _link_correction(path: str, change: HistoryChange) -> Finding:
    return RULE.finding(Place(path, change.line), change.what, LINK_HINT, severity=Severity.WARNING)


def _continued(subject: Subject) -> Iterator[Finding]:
    """The base's bytes stand, but what follows goes on with its last entry or holds no entry."""
    base, now = subject.base_changelog, subject.changelog
    suffix = now[len(base) :]
    blanks = suffix[: len(suffix) - len(suffix.lstrip())]
    place = Place(subject.changelog_path, (base + blanks).count(b"\n") + 1)
    if not starts_cleanly(suffix, base):
        message = "the base's last entry was added to here; what is appended starts with `- config-keys:`"
        yield RULE.finding(place, message, HINT, fix=Fix(RESEAT))
    elif suffix and not suffix.strip():
        place = Place(subject.changelog_path, base.count(b"\n") + (not base.endswith(b"\n")))
        message = "blank lines were added behind the last entry, and no entry"
        yield RULE.finding(place, message, HINT, fix=Fix(RESEAT))


def _other(base: bytes, now: bytes) -> str:
    if b"\r\n" in now:
        return f"the line ends of {len(split(base).blocks)} old entries became CRLF"
    return "the base's bytes changed here"


RULE = Rule(
    id="changelog-history",
    severity=Severity.ERROR,
    title="the changelog starts with the base's exact bytes",
    explanation=(
        "The changelog is append-only down to its blank lines: some are empty, some hold two spaces, some "
        "are missing, and every byte has to survive. Editors that trim blanks, formatters, and conflicts "
        "solved by hand break this; the merge helper then refuses the branch. Only a link correction, alone "
        "in its change, may touch old bytes."
    ),
    example_before="(two spaces between the entries of #2643 and #2660 became an empty line)",
    example_after="(the base's bytes, then the branch's own entry)",
    judge=judge,
)
