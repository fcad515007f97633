"""The recipes of a plan: what is wanted of each, and their texts. Remembered, as most edits of a spec leave them be."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from ..checkout.checkout import Checkout
from ..schema.master import Entry
from ..schema.spec import KeyChange
from ..schema.strict import Mistake
from ..schema.yaml_text import Path
from .entries import WantedEntry
from .texts import Texts, write_recipe

if TYPE_CHECKING:
    from .wanted_recipe import WantedRecipe

# Fields of an entry that no recipe hangs on.
FREE_FIELDS = ("image", "model")


@dataclass(frozen=True, slots=True)
class Recipes:
    """The recipes a spec asks for, by path; `texts` is None where there are mistakes."""

    wanted: Mapping[str, WantedRecipe] = field(default_factory=dict)
    texts: Texts | None = None
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What recipes are worked out from: two questions with one `fingerprint` have one answer."""

    fingerprint: bytes
    changes: Sequence[KeyChange] = field(compare=False)
    entries: Mapping[str, Entry | None] = field(compare=False)


def work_out_recipes(checkout: Checkout, changes: Sequence[KeyChange], entries: Mapping[str, WantedEntry]) -> Recipes:
    """The recipes for a spec's changes, whose entries are already wanted."""
    if all(change.recipe is None for change in changes):
        return Recipes(texts=Texts(checkout.after))
    bare = {key: _bare(entry) for key, entry in entries.items()}
    asked = [(change.config_key, change.recipe) for change in changes]
    # Pickles hold values with their spelling and style, and equal ones mean equal questions.
    fingerprint = pickle.dumps((asked, {key: entry and entry.data for key, entry in bare.items()}))
    return _answer(checkout, Question(fingerprint, changes, bare))


def _bare(wanted: WantedEntry) -> Entry | None:
    if wanted.data is None:
        return None
    return Entry(wanted.key, {name: value for name, value in wanted.data.items() if name not in FREE_FIELDS})


@lru_cache(maxsize=4)
def _answer(checkout: Checkout, question: Question) -> Recipes:
    from .recipes import want_recipe

    recipes: dict[str, WantedRecipe] = {}
    paths: dict[str, Path] = {}
    mistakes: list[Mistake] = []
    for index, change in enumerate(question.changes):
        entry = question.entries[change.config_key]
        if change.recipe is None or entry is None:
            continue
        path: Path = ("changes", index, "recipe")
        was = [one for one in (checkout.entry(entry.key), checkout.entry_at_base(entry.key)) if one]
        others = _others(checkout, question.entries, entry, change)
        found = want_recipe(checkout.after, change.recipe, entry, was, others, path, recipes)
        if isinstance(found, Mistake):
            mistakes.append(found)
            continue
        recipes[found.path] = found
        paths[found.path] = path
        mistakes += found.mistakes
    if mistakes:
        return Recipes(recipes, None, tuple(mistakes))
    texts = Texts(checkout.after)
    for name, recipe in recipes.items():
        write_recipe(texts, recipe, paths[name])
    return Recipes(recipes, texts)


def _others(checkout: Checkout, wanted: Mapping[str, Entry | None], entry: Entry, change: KeyChange) -> list[Entry]:
    """Other keys that name the same recipe file, as they will be."""
    snapshot = checkout.after
    references = {reference.partition(":")[0] for _, row in entry.rows() for reference in row.recipe_references}
    names = {reference.rpartition("/")[2] for reference in references}
    if change.recipe is not None and change.recipe.file:
        names.add(change.recipe.file.rpartition("/")[2])
    found: list[Entry | None] = []
    for key, text in snapshot.key_texts.items():
        if key in wanted:
            found += [wanted[key]] if key != entry.key else []
        elif any(name in text for name in names):
            found.append(snapshot.entry(key))
    return [one for one in found if one is not None]
