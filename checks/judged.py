"""What of the configs is the branch's business, and where it stands: shared by the rules over rows and recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..checkout.recipes import script_paths
from ..schema.errors import BenchscribeError, Place
from ..schema.master import Entry, Item, Row
from ..schema.yaml_text import Path
from .model import Subject

if TYPE_CHECKING:
    from ..derive.claim_facts import KeyFacts

_PREFIX = re.compile(r"^\s+model-prefix:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JudgedKey:
    """One config key that the branch changes, itself or through its recipe; `before` is None for a new one."""

    key: str
    before: Entry | None
    after: Entry

    def rows(self) -> Iterator[tuple[Item, int, Row]]:
        """Every row as it now is, with its item and its index in the item's list."""
        for item in self.after.items():
            for index, row in enumerate(item.rows):
                yield item, index, row


def judged_keys(subject: Subject) -> tuple[JudgedKey, ...]:
    """The changed keys that still exist; where old debts are asked for, every key."""
    if subject.everything:
        names = list(subject.after.keys)
    else:
        changed = (change.key for change in subject.change.remaining)
        through_recipes = (key for recipe in subject.change.recipes for key in recipe.keys)
        names = list(dict.fromkeys([*changed, *through_recipes, *_script_keys(subject)]))
    found = []
    for name in names:
        after = _entry(subject, name, now=True)
        if after is not None:
            found.append(JudgedKey(name, _entry(subject, name, now=False), after))
    return tuple(found)


def _entry(subject: Subject, key: str, *, now: bool) -> Entry | None:
    """An entry that can be read; one that cannot is another rule's finding."""
    try:
        return (subject.after if now else subject.before).entry(key)
    except BenchscribeError:
        return None


def _script_keys(subject: Subject) -> Iterator[str]:
    """The keys that run a bash recipe which the branch changes."""
    folder = f"{subject.after.layout.single_node_recipes}/"
    scripts = {path for path in subject.files if path.startswith(folder) and path.endswith(".sh")}
    if not scripts or not subject.after.layout.bash_recipes:
        return
    starts = {path.rpartition("/")[2] for path in scripts}
    for key, place in subject.after.keys.items():
        text = subject.after.master_text(place.file)[place.block.start : place.block.end]
        prefix = _PREFIX.search(text)
        if prefix is None or not any(name.startswith(f"{prefix[1]}_") for name in starts):
            continue
        entry = _entry(subject, key, now=True)
        if entry is not None and any(_runs(subject, entry, item, row, scripts) for item, row in entry.rows()):
            yield key


def _runs(subject: Subject, entry: Entry, item: Item, row: Row, scripts: set[str]) -> bool:
    if entry.multinode or row.multinode or row.recipe_references:
        return False
    found = (
        path for path in script_paths(subject.after.layout, entry, item, row) if subject.after.read(path) is not None
    )
    return next(found, "") in scripts


def row_path(item: Item, index: int) -> Path:
    """The path, inside an entry, of a row."""
    return ("scenarios", item.scenario, item.index, "search-space", index)


def row_place(subject: Subject, key: str, item: Item, index: int, *field: str | int) -> Place:
    """Where a row, or a field of it, stands now."""
    return subject.place(key, (*row_path(item, index), *field))


def facts_now(subject: Subject, key: str) -> KeyFacts:
    """What ships for a key."""
    from ..derive.claim_facts import facts_for

    return facts_for(subject.after, (key,))


def facts_before(subject: Subject, key: str) -> KeyFacts:
    """What shipped for a key at the base."""
    from ..derive.claim_facts import facts_for

    return facts_for(subject.before, (key,))
