"""From wanted data to wanted bytes: which files change, and the edits that make them so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..checkout.blocks import split_blocks
from ..checkout.snapshot import Snapshot
from ..derive.pairing import pair_for_writer
from ..schema.errors import StateError
from ..schema.results import Edit
from ..schema.spec import KeyChange
from ..schema.strict import Mistake
from ..schema.yaml_text import Path
from ..writers.block_comment import put_block_comment
from ..writers.yaml_blocks import (
    insert_block_after,
    insert_block_before,
    remove_block,
    rename_block,
    render_block,
    replace_block,
    without_comments,
)
from ..writers.yaml_comments import put_comments
from ..writers.yaml_edit import rewrite
from ..writers.yaml_pairing import by_likeness
from .anchors import ensure_reads_as
from .entries import WantedEntry
from .places import UnknownPlace, entry_place, recipe_place

if TYPE_CHECKING:
    from .wanted_recipe import WantedRecipe


@dataclass(slots=True)
class Texts:
    """The texts of the files a plan touches, as they will be; None for a file that goes."""

    snapshot: Snapshot
    wanted: dict[str, str | None] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def text(self, path: str) -> str | None:
        """The file's text as far as it is planned."""
        return self.wanted[path] if path in self.wanted else self.snapshot.text(path)

    def edits(self) -> tuple[Edit, ...]:
        """The edits for every file whose bytes differ from the work tree's."""
        found = []
        for path, text in self.wanted.items():
            before = self.snapshot.read(path)
            after = None if text is None else text.encode("utf-8")
            if before != after:
                found.append(Edit(path, before, after))
        return tuple(found)


def write_entry(texts: Texts, wanted: WantedEntry, change: KeyChange, start_text: str, after_key: str) -> None:
    """Put one wanted entry into its master config: in place, or as a new entry behind `after_key`.

    A new entry takes the shape of `start_text`'s: order, indentation, row style.
    """
    place = texts.snapshot.keys.get(wanted.key)
    if wanted.data is None:
        if place is not None:
            _remove_entry(texts, wanted.key, place.file, archive=change.archive)
        return
    file = place.file if place is not None else texts.snapshot.keys[after_key].file
    text = _require(texts, file)
    if place is not None:
        old = _block_text(text, wanted.key, file)
    else:
        old = rename_block(without_comments(start_text), wanted.key)
    block = rewrite(old, {wanted.key: wanted.data}, pair=_pair, file=file)
    # The comment above the key stands outside the block, so it takes the whole file.
    found = {name: _entry_path(texts, wanted, name) for name in change.comments if name != "key"}
    comments = {path: change.comments[name] for name, path in found.items() if path is not None}
    block = put_comments(block, comments, file=file) if comments else block
    if block.startswith("#"):
        what = "the whole entry stands on one line; only key can have a comment"
        texts.mistakes.append(Mistake((*wanted.spec_path, "comments"), what, "write it as comments: {key: …}"))
    if place is not None:
        text = replace_block(text, wanted.key, block, file=file)
    else:
        text = insert_block_after(text, after_key, block, file=file)
    if "key" in change.comments:
        text = put_block_comment(text, wanted.key, change.comments["key"], file=file)
    texts.wanted[file] = text


def _pair(path: Path, before: list[Any], after: list[Any]) -> list[int | None]:
    found = pair_for_writer(path, before, after)
    return by_likeness(path, before, after) if found is None else found


def _require(texts: Texts, file: str) -> str:
    text = texts.text(file)
    if text is None:
        raise StateError(f"{file} is not there")
    return text


def _block_text(text: str, name: str, file: str) -> str:
    block = next(block for block in split_blocks(text, file) if block.name == name)
    return text[block.start : block.end]


def _entry_path(texts: Texts, wanted: WantedEntry, name: str) -> Path | None:
    try:
        return entry_place(wanted, name)
    except UnknownPlace as error:
        texts.mistakes.append(Mistake((*wanted.spec_path, "comments", name), str(error)))
        return None


def _remove_entry(texts: Texts, key: str, file: str, *, archive: bool) -> None:
    text = _require(texts, file)
    if archive:
        _archive(texts, key, file, _block_text(text, key, file))
    texts.wanted[file] = remove_block(text, key, file=file)


def _archive(texts: Texts, key: str, file: str, block: str) -> None:
    """Move a retired entry to the archive's file of the same name."""
    target = f"{texts.snapshot.layout.archive}/{file.rpartition('/')[2]}"
    old = texts.text(target)
    if not old:
        texts.wanted[target] = block
        return
    blocks = split_blocks(old)
    if any(found.name == key for found in blocks):
        raise StateError(f"the archive {target} already holds {key}", hint="remove it there, or drop archive")
    if not blocks:
        texts.wanted[target] = old.rstrip("\n") + "\n\n" + block
        return
    texts.wanted[target] = insert_block_after(old, blocks[-1].name, block)


def write_recipe(texts: Texts, recipe: WantedRecipe, spec_path: Path) -> None:
    """Put a wanted schema-2 recipe into its file: changed blocks in place, new ones inserted, dropped ones out."""
    text = _require(texts, recipe.path)
    like = text = rewrite(text, recipe.data, pair=_pair, file=recipe.path)
    for block in recipe.new:
        rendered = render_block(block.name, block.data, like=like)
        if block.after:
            text = insert_block_after(text, block.after, rendered)
        else:
            text = insert_block_before(text, block.before, rendered)
    for name in dict.fromkeys(recipe.removed):
        text = remove_block(text, name)
    ensure_reads_as(text, recipe.now.data, recipe.path)
    texts.wanted[recipe.path] = _recipe_comments(texts, text, recipe, recipe.comments, spec_path)


def _recipe_comments(
    texts: Texts, text: str, recipe: WantedRecipe, comments: Mapping[str, str | None], spec_path: Path
) -> str:
    now = recipe.now.data
    found: dict[Path, str | None] = {}
    for name, comment in comments.items():
        if name in recipe.removed:
            continue
        try:
            found[recipe_place(now, name)] = comment
        except UnknownPlace as error:
            texts.mistakes.append(Mistake((*spec_path, "comments", name), str(error)))
    return put_comments(text, found, file=recipe.path) if found else text
