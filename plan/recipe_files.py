"""`recipes:` of a spec: YAML recipes as wholes, patched, created or removed (SPEC)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..checkout.checkout import Checkout
from ..checkout.files import inside
from ..schema.errors import StateError
from ..schema.recipe import parse_reference
from ..schema.spec import KeyChange, RecipeFileChange
from ..schema.strict import Mistake, merged
from ..schema.yaml_text import Path, load
from ..writers.yaml_blocks import render_block
from ..writers.yaml_comments import put_comment
from ..writers.yaml_edit import rewrite
from .places import UnknownPlace, recipe_place
from .texts import Texts

ENDINGS = (".yaml", ".yml")
FOLDERS = ("benchmarks", "recipes")


def recipe_file_mistakes(checkout: Checkout, changes: Sequence[KeyChange]) -> Iterator[Mistake]:
    """What is wrong with the `recipes` of a spec: files that are no recipes, and wishes that exclude each other."""
    made: dict[str, str] = {}
    for index, change in enumerate(changes):
        for number, wish in enumerate(change.recipes):
            path: Path = ("changes", index, "recipes", number)
            found = list(_own_mistakes(checkout, wish, path))
            yield from found
            if not found:
                yield from _double_mistakes(checkout, wish, path, made)
    for index, change in enumerate(changes):
        if change.recipe is not None and change.recipe.file:
            yield from _layered_mistakes(checkout, change.recipe.file, ("changes", index, "recipe", "file"), made)


def _layered_mistakes(checkout: Checkout, file: str, path: Path, made: dict[str, str]) -> Iterator[Mistake]:
    if leads_out := _link_out(checkout, file):
        yield Mistake(path, f"{file} {leads_out}", "name a file of the checkout")
    elif kind := made.get(_place(checkout, file)):
        yield Mistake(path, f"recipes: has {kind} for this file, which speaks for all of it", "say it in one place")


def _own_mistakes(checkout: Checkout, wish: RecipeFileChange, path: Path) -> Iterator[Mistake]:
    asked = [name for name in ("patch", "create", "remove") if getattr(wish, name) not in (None, False)]
    if len(asked) > 1:
        yield Mistake((*path, asked[1]), f"{asked[0]} and {asked[1]} exclude each other", "keep one of them")
    if not asked and not wish.comments:
        yield Mistake(path, "says nothing about the file", "allowed: patch, create, remove, comments")
    if wish.remove and wish.comments:
        yield Mistake((*path, "comments"), "remove excludes comments", "a file that goes needs nothing else")
    if wish.create == {}:
        yield Mistake((*path, "create"), "is empty", "a recipe has at least one field")
    yield from _file_mistakes(checkout, wish, (*path, "file"))


def _file_mistakes(checkout: Checkout, wish: RecipeFileChange, path: Path) -> Iterator[Mistake]:
    named = parse_reference(wish.file)
    if leads_out := _link_out(checkout, wish.file):
        yield Mistake(path, f"{wish.file} {leads_out}", "name a file of the checkout")
    elif named.variant:
        yield Mistake(path, f"names the variant {named.variant!r}", f"recipes: takes whole files: {named.path}")
    elif not _holds_recipes(checkout, wish.file):
        roots = " or ".join(f"{folder}/" for folder in FOLDERS)
        yield Mistake(path, f"{wish.file} is no place for a YAML recipe", f"allowed: a .yaml file below {roots}")


def _place(checkout: Checkout, file: str) -> str:
    return checkout.after.recipe(file).path


def _link_out(checkout: Checkout, file: str) -> str:
    """What is wrong with a path that leaves the checkout through a link, empty for any other."""
    try:
        for place in (file, checkout.layout.at(file)):
            checkout.read(place)
    except StateError as error:
        return error.what
    return ""


def _holds_recipes(checkout: Checkout, file: str) -> bool:
    """Whether the path may be a YAML recipe's: by its ending, and by where it stands, or would stand."""
    layout = checkout.layout
    folders = tuple(layout.at(f"{folder}/") for folder in FOLDERS)
    there = [place for place in (inside(file), layout.at(inside(file))) if checkout.read(place) is not None]
    if not file.endswith(ENDINGS) or (there and not there[0].startswith(folders)):
        return False
    return _place(checkout, file).startswith(folders)


def _double_mistakes(checkout: Checkout, wish: RecipeFileChange, path: Path, made: dict[str, str]) -> Iterator[Mistake]:
    """A file may be patched in several places; what makes or removes it as a whole stands alone."""
    place = _place(checkout, wish.file)
    kind = "remove" if wish.remove else "create" if wish.create is not None else ""
    before = made.get(place)
    if before == "remove" or (kind and before is not None):
        what = f"{place} stands in the spec twice, and {before or 'patch'} speaks for the whole file"
        yield Mistake((*path, "file"), what, "say it in one place")
    made[place] = before or kind


def write_recipe_file(texts: Texts, change: RecipeFileChange, path: str, spec_path: Path) -> None:
    """Patch, create or remove any YAML recipe as a whole, from its text as far as it is planned."""
    old = texts.text(path)
    if change.remove:
        texts.wanted[path] = None
        return
    if old is None and change.create is None:
        texts.mistakes.append(Mistake((*spec_path, "file"), f"{path} is not there to be patched", "create it"))
        return
    if change.create is not None:
        data = change.create
    else:
        texts.snapshot.recipe_file(path)  # what is no recipe is refused, with its place
        data = merged(load(old or "", path), change.patch or {})
    text = render_document(data) if old is None else rewrite(old, data, file=path)
    for name, comment in change.comments.items():
        try:
            text = put_comment(text, recipe_place(data, name), comment, file=path)
        except UnknownPlace as error:
            texts.mistakes.append(Mistake((*spec_path, "comments", name), str(error)))
    texts.wanted[path] = text


def render_document(data: Mapping[str, Any]) -> str:
    """A whole new recipe: top-level blocks in the spec's order, one empty line around those that are mappings."""
    parts: list[str] = []
    previous_is_block = False
    for name, value in data.items():
        is_block = isinstance(value, Mapping) and bool(value)
        if parts and (is_block or previous_is_block):
            parts.append("\n")
        parts.append(render_block(name, value))
        previous_is_block = is_block
    return "".join(parts)
