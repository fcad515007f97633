"""Describing a branch that was made by hand: its entry, and a spec that would make the same change."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..schema.changelog import Entry, parse_entry
from ..schema.errors import BenchscribeError, UsageError
from ..schema.results import Derived, Edit, Line
from ..schema.spec import ChangelogChange, Note
from .branch import Branch
from .changelog import Changelog, plan_changelog, read_bytes
from .values import derived_values


@dataclass(frozen=True, slots=True)
class Description:
    """The entry for what a branch changed: its lines, its text, the edit that puts it at the tail.

    `replaced` is what the branch's present entry holds and the new one does not (lines, flags); `untold` are
    bash recipes that changed in nothing that could be read as a fact.
    """

    branch: Branch
    changelog: Changelog
    derived: tuple[Derived[Any], ...]
    replaced: tuple[str, ...]
    untold: tuple[str, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.changelog.lines

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (self.changelog.edit,) if self.changelog.edit is not None else ()


def describe(branch: Branch, *, number: int | None, language: str) -> Description:
    """The entry that says what the branch changed; keys and flags of the entries it already has are kept.

    Raises UsageError for Chinese lines where the layout has English entries only (source: FACTS §2).
    """
    checkout = branch.checkout
    if language == "both" and checkout.layout.name == "e2e":
        raise UsageError(
            "entries are English only in the e2e layout",
            hint="leave out --language both: the Chinese half goes into commit and pull request",
        )
    own = own_entries(branch)
    asked = _asked(branch, own, language)
    changelog = plan_changelog(checkout, checkout, branch.change, asked, number)
    flags = asked[0].flags if len(asked) == 1 else ()
    derived = derived_values(branch.change, checkout.after, flags)
    return Description(branch, changelog, derived, tuple(one.what for one in changelog.given_up), _untold(branch))


def own_entries(branch: Branch) -> list[Entry]:
    """The branch's own entries that can be read."""
    found = []
    for block in read_bytes(branch.checkout).own:
        try:
            found.append(parse_entry(block))
        except BenchscribeError:
            continue
    return found


def _asked(branch: Branch, own: Sequence[Entry], language: str) -> list[ChangelogChange]:
    """What the new entries are to be: a promise (flag) is never dropped silently.

    Of several entries (a companion for an extra eval key) each keeps its keys; a changed key that none of them
    names goes to the first.
    """
    if len(own) < 2:
        kept = dict(own[0].flags) if own else {}
        return [ChangelogChange.model_validate({"language": language, **kept})]
    changed = [one.key for one in branch.change.remaining]
    named = [[key for key in changed if _names(entry, key)] for entry in own]
    named[0] += [key for key in changed if not any(key in keys for keys in named)]
    return [
        ChangelogChange.model_validate({"language": language, "keys": keys, **dict(entry.flags)})
        for entry, keys in zip(own, named, strict=True)
        if keys
    ]


def _names(entry: Entry, key: str) -> bool:
    return any(fnmatch.fnmatchcase(key, pattern) for pattern in entry.config_keys)


def _untold(branch: Branch) -> tuple[str, ...]:
    """Changed bash recipes of keys whose settings, as far as they are known, read as before."""
    told = {key.key for key in branch.change.keys if key.before is None or any(one.differences for one in key.points)}
    return tuple(
        script.path
        for script in branch.change.scripts
        if not script.new and not script.gone and not told.intersection(script.keys)
    )


def notes_of(branch: Branch, lines: tuple[Line, ...]) -> list[Note]:
    """What the branch's own entry says beyond the derived lines, as notes of the author's."""
    derived = {line.en for line in lines} | {line.zh for line in lines}
    own = own_entries(branch)
    return [Note(en=text) for entry in own for text in entry.description if text not in derived]
