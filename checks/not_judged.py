"""What a check without findings does not vouch for: recipes that are not in this checkout, or cannot be read here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..checkout.recipes import find_recipes
from ..checkout.snapshot import Missing, Snapshot
from ..derive.claim_facts import script_at
from ..schema.errors import BenchscribeError
from ..schema.master import Entry, Item, Row
from ..schema.results import Finding, Severity
from .judged import judged_keys, row_place
from .model import Subject
from .settings import Settings

RULE = "recipe-missing"
BEGINNING = "not judged: "
ASKED_FOR = "upstream"  # whose silence is an answer in itself: the checkout's own programs, run on demand


@dataclass(frozen=True, slots=True)
class Unread:
    """Why nothing can be said of what a row's recipe sets; `path` is the file's where one is missing."""

    why: str
    path: str = ""


def unread_recipe(snapshot: Snapshot, entry: Entry, item: Item, row: Row) -> Unread | None:
    """What kept a row's recipes from being read; None where all of them were."""
    try:
        recipes = find_recipes(snapshot, entry, item, row)
        if not recipes:
            return Unread(f"rows of {entry.key} name no recipe")
        for recipe in recipes:
            if isinstance(recipe, Missing):
                return Unread(f"{_file(recipe.path)} is not in this checkout", recipe.path)
            if isinstance(recipe, str) and (lines := script_at(snapshot, recipe).problems):
                return Unread(f"{_file(recipe)} holds what is no bash (line {lines[0]})")
    except BenchscribeError as error:
        return Unread(error.what)
    return None


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def not_judged(subject: Subject, found: Sequence[Finding], settings: Settings | None = None) -> list[Finding]:
    """An info per recipe of the branch's keys that could not be read, but for those that `found` tells of already.

    They are part of what `check` prints, never of what blocks a plan.
    """
    settings = settings or Settings()
    if settings.is_off(RULE):
        return []
    told = "\n".join(finding.message for finding in found if finding.rule == RULE)
    infos: dict[str, Finding] = {}
    for unread, finding in _infos(subject):
        if not unread.path or _file(unread.path) not in told:
            infos.setdefault(unread.why, finding)
    return settings.applied(infos.values())


def _infos(subject: Subject) -> Iterator[tuple[Unread, Finding]]:
    for key in judged_keys(subject):
        for item, index, row in key.rows():
            unread = unread_recipe(subject.after, key.after, item, row)
            if unread is not None:
                place = row_place(subject, key.key, item, index)
                message = BEGINNING + unread.why + (f", the recipe of {key.key}" if unread.path else "")
                yield unread, Finding(RULE, Severity.INFO, place.path, place.line, message)


def is_not_judged(finding: Finding) -> bool:
    """Whether a finding says of something that it could not be judged."""
    return finding.severity is Severity.INFO and finding.rule != ASKED_FOR and finding.message.startswith(BEGINNING)
