"""Describing a branch that was made by hand: its entry, and a spec that would make the same change."""

from __future__ import annotations

from dataclasses import dataclass

from ..schema.changelog import Entry, parse_entry
from ..schema.errors import BenchscribeError
from ..schema.results import Edit, Line
from ..schema.spec import ChangelogChange, Note
from .branch import Branch
from .changelog import Changelog, plan_changelog, read_bytes


@dataclass(frozen=True, slots=True)
class Description:
    """The entry for what a branch changed: its lines, its text, the edit that puts it at the tail.

    `replaced` are description lines of the branch's present entry that the new one no longer has.
    """

    branch: Branch
    changelog: Changelog
    replaced: tuple[str, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.changelog.lines

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (self.changelog.edit,) if self.changelog.edit is not None else ()


def describe(branch: Branch, *, number: int | None, language: str) -> Description:
    """The entry that says what the branch changed; flags and scope of an entry it already has are kept."""
    own = own_entries(branch)
    asked = ChangelogChange.model_validate({"language": language, **_kept(own)})
    checkout = branch.checkout
    changelog = plan_changelog(checkout, checkout, branch.change, [asked], number)
    said = {text for entry in own for text in entry.description}
    stays = {line for line in said if changelog.edit is None or line in changelog.text}
    return Description(branch, changelog, tuple(sorted(said - stays)))


def own_entries(branch: Branch) -> list[Entry]:
    """The branch's own entries that can be read."""
    found = []
    for block in read_bytes(branch.checkout).own:
        try:
            found.append(parse_entry(block))
        except BenchscribeError:
            continue
    return found


def _kept(own: list[Entry]) -> dict[str, object]:
    """Flags of the one entry that is there: a promise is never dropped silently."""
    return dict(own[0].flags) if len(own) == 1 else {}


def notes_of(branch: Branch, lines: tuple[Line, ...]) -> list[Note]:
    """What the branch's own entry says beyond the derived lines, as notes of the author's."""
    derived = {line.en for line in lines} | {line.zh for line in lines}
    own = own_entries(branch)
    return [Note(en=text) for entry in own for text in entry.description if text not in derived]
