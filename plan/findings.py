"""What a plan has to say about itself beside its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..checkout.checkout import Checkout
from ..checkout.recipes import find_recipes
from ..checkout.snapshot import Missing
from ..derive.change import Change, KeyChange, compare_entries
from ..schema.results import SPEC_PATCH, Finding, Fix, Line, Severity
from ..schema.spec_reader import SpecReading
from .changelog import GivenUp

LONGEST_SUBJECT = 72


def plan_findings(
    reading: SpecReading, checkout: Checkout, wanted: Checkout, change: Change, unknown_ids: Sequence[tuple[str, str]]
) -> Iterator[Finding]:
    """Findings about the spec itself and about what its entries refer to."""
    yield from _spec_findings(reading, unknown_ids)
    yield from _dropped_rows(reading, checkout, wanted)
    for key in change.remaining:
        yield from _recipe_findings(checkout, wanted, key)


def _dropped_rows(reading: SpecReading, checkout: Checkout, wanted: Checkout) -> Iterator[Finding]:
    """A search-space is the whole list; rows left out of it go, which is easily done by mistake."""
    for index, one in enumerate(reading.require().changes):
        before, after = checkout.entry(one.config_key), wanted.entry(one.config_key)
        if before is None or after is None or not any(one.scenarios.values()):
            continue
        items = compare_entries(before, after)
        gone = [row for item in items if item.after is not None for row in item.rows if row.after is None]
        if gone:
            points = sum(len(row.row.concurrencies) for row in gone)
            rows = f"{len(gone)} row{'' if len(gone) == 1 else 's'} ({points} point{'' if points == 1 else 's'})"
            message = f"search-space is the whole list: {rows} of {one.config_key} are dropped"
            line = reading.line_of(("changes", index, "scenarios"))
            yield Finding("rows-dropped", Severity.INFO, reading.path, line, message, "repeat them to keep them")


def given_up_findings(path: str, given_up: Sequence[GivenUp]) -> Iterator[Finding]:
    """What the branch's present entries promise and the spec does not ask for: it goes, but never silently."""
    for one in given_up:
        message = f"the branch's present entry has {one.what}; the spec does not ask for it, so it goes"
        hint = "say it under changelog: to keep it, a line under notes:"
        fix = Fix(SPEC_PATCH, {"patch": {"changelog": {"notes": [one.note]}}}) if one.note else None
        yield Finding("entry-replaced", Severity.WARNING, path, 0, message, hint, fix=fix)


def restored_findings(path: str, restored: Sequence[Line]) -> Iterator[Finding]:
    """Derived lines that somebody may have left out of the branch's present entry on purpose: they come in again."""
    for line in restored:
        message = f"the branch's present entry does not have the derived line {line.en!r}; now it comes in"
        fix = Fix(SPEC_PATCH, {"patch": {"changelog": {"omit": [line.id]}}})
        yield Finding("entry-line", Severity.INFO, path, 0, message, f"to leave it out: omit: [{line.id!r}]", fix=fix)


def _spec_findings(reading: SpecReading, unknown_ids: Sequence[tuple[str, str]]) -> Iterator[Finding]:
    spec = reading.require()
    if spec.title is not None and len(spec.title.en) > LONGEST_SUBJECT:
        message = f"the title has {len(spec.title.en)} characters; a commit subject is best kept to {LONGEST_SUBJECT}"
        line = reading.line_of(("title", "en"))
        yield Finding("title-length", Severity.WARNING, reading.path, line, message, "shorten title.en")
    for index, entry in enumerate(spec.changelog):
        for number, note in enumerate(entry.notes):
            if note.zh is None:
                line = reading.line_of(("changelog", index, "notes", number))
                message = "the note has no Chinese, so the English stands in both halves"
                yield Finding("note-language", Severity.WARNING, reading.path, line, message, "add zh: to the note")
    for field, name in unknown_ids:
        line = reading.line_of(("changelog", 0, field))
        message = f"{field} names {name!r}, which is no derived line's id"
        yield Finding(
            f"{field}-unknown",
            Severity.WARNING,
            reading.path,
            line,
            message,
            "--dry-run --format json shows the ids",
        )


def _recipe_findings(checkout: Checkout, wanted: Checkout, key: KeyChange) -> Iterator[Finding]:
    """Recipes that the entry names and the plan removes, or that nobody can judge here, for want of their folder."""
    told: set[str] = set()
    for item, row in key.entry.rows():
        for found in find_recipes(wanted.after, key.entry, item, row):
            if not isinstance(found, Missing) or found.path in told:
                continue
            place = wanted.after.place(key.key)
            if checkout.read(found.path) is not None:
                told.add(found.path)
                message = f"{found.path} goes, but a row of {key.key} names it"
                hint = "drop its remove: true, or let the row name another recipe"
                yield Finding("recipe-missing", Severity.ERROR, place.path, place.line, message, hint)
            elif not checkout.can_judge(found):
                told.add(found.path)
                message = f"{found.path} could not be judged: {found.reason}"
                yield Finding("recipe-missing", Severity.INFO, place.path, place.line, message)
