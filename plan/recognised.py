"""Which files of a branch are ours to commit or carry: those the tool knows, and no others."""

from __future__ import annotations

from collections.abc import Iterable

from ..checkout.checkout import Checkout
from ..checkout.recipes import find_recipes
from ..checkout.snapshot import RecipeFile, Snapshot
from ..derive.change import Change
from ..schema.errors import BenchscribeError

RECIPE_ENDINGS = (".yaml", ".yml", ".sh")


def recognised(checkout: Checkout, change: Change, files: Iterable[str], tracked: Iterable[str]) -> tuple[str, ...]:
    """Those of the files that are a master config, an archived one, the changelog or a recipe; sorted.

    A recipe that git does not know yet counts only where a changed key uses it: else it may be anything.
    """
    layout, known = checkout.layout, set(tracked)
    fixed = {*layout.masters, layout.changelog}
    roots = tuple(f"{root}/" for root in layout.recipe_roots)
    archive = f"{layout.archive}/" if layout.archive else ""
    used = recipes_of(checkout.after, change)
    found = []
    for path in files:
        is_recipe = path.startswith(roots) and path.endswith(RECIPE_ENDINGS) and (path in known or path in used)
        is_archive = bool(archive) and path.startswith(archive) and path.endswith(RECIPE_ENDINGS)
        if path in fixed or is_recipe or is_archive or path in used:
            found.append(path)
    return tuple(sorted(found))


def recipes_of(snapshot: Snapshot, change: Change) -> frozenset[str]:
    """The recipe files, YAML and bash, that the changed keys use now."""
    found: set[str] = set()
    for key in change.remaining:
        for item, row in key.entry.rows():
            try:
                recipes = find_recipes(snapshot, key.entry, item, row)
            except BenchscribeError:
                continue
            found |= {
                one.path if isinstance(one, RecipeFile) else one
                for one in recipes
                if isinstance(one, (RecipeFile, str))
            }
    return frozenset(found)
