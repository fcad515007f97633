"""What a repository says at one moment: the work tree, a commit, or a wanted state laid over either.

Everything is read when it is asked for, and only what is asked for is parsed: a 324 KB config is cut into its
entries and one entry is parsed.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..schema.errors import BenchscribeError, Place, StateError
from ..schema.master import Entry
from ..schema.recipe import Recipe, Variant, parse_reference
from ..schema.yaml_text import Path, YamlTextError
from .blocks import Block, split_blocks
from .entry_text import EntryText, read_entry_text
from .files import Files, Overlay, inside
from .layout import Layout
from .recipe_blocks import recipe_of
from .yaml_bytes import yaml_text

if TYPE_CHECKING:
    from ..schema.runners import Runners
    from .bash_recipe import Script
    from .curves import Curve
    from .dram_cap import DramCap


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where an entry stands: the file and its block (offsets in the file's text, lines from 1)."""

    file: str
    block: Block

    @property
    def place(self) -> Place:
        return Place(self.file, self.block.line)


@dataclass(frozen=True, slots=True)
class RecipeFile:
    """A recipe a row names, read. `variant_name` is what stood behind the colon, empty without it."""

    path: str
    recipe: Recipe
    variant_name: str

    @property
    def variant(self) -> Variant | None:
        """The variant named, or the only one there is; None where it is absent or there are several."""
        return self.recipe.variant(self.variant_name)

    @property
    def variants(self) -> list[Variant]:
        """The variants of the name that stood behind the colon; all there are without one."""
        return [one for one in self.recipe.variants if not self.variant_name or one.name == self.variant_name]


@dataclass(frozen=True, slots=True)
class Missing:
    """A recipe that is not here. `folder` should hold it; empty: it is kept outside the checkout."""

    path: str
    folder: str
    reason: str


def _lowered(error: BenchscribeError, lines: int) -> BenchscribeError:
    """The error of a text that starts so many lines down in its file."""
    where = None if error.where is None else error.where.lowered(lines)
    return type(error)(error.what, where=where, hint=error.hint)


class Snapshot:
    """One state of a checkout. Paths are relative to the git root, with `/`."""

    def __init__(self, files: Files, layout: Layout) -> None:
        self.files = files
        self.layout = layout
        self._bytes: dict[str, bytes | None] = {}
        self._texts: dict[str, str | None] = {}
        self._read: dict[str, EntryText] = {}
        self._entries: dict[str, Entry | None] = {}
        self._recipes: dict[str, Recipe | None] = {}
        self._scripts: dict[str, Script | None] = {}
        self._curves: dict[str, list[Curve]] = {}

    def with_changes(self, changes: Mapping[str, bytes | None]) -> Snapshot:
        """The same state with files replaced or added (bytes) or removed (None); the rest stays read."""
        other = Snapshot(Overlay(self.files, changes), self.layout)
        changed = {inside(path) for path in changes}
        other._bytes = {path: data for path, data in self._bytes.items() if path not in changed}
        other._texts = {path: text for path, text in self._texts.items() if path not in changed}
        other._recipes = {path: recipe for path, recipe in self._recipes.items() if path not in changed}
        masters = set(self.layout.masters)
        if not changed & masters:
            other._read, other._entries = dict(self._read), dict(self._entries)
        sources = {"runners": {self.layout.runners}, "dram_cap": {self.layout.generator}}
        sources |= dict.fromkeys(("_places", "keys", "key_texts"), masters)
        for name, paths in sources.items():
            if name in self.__dict__ and not paths & changed:
                other.__dict__[name] = self.__dict__[name]
        return other

    @property
    def name(self) -> str:
        """Which state this is, for messages."""
        return self.files.name

    def read(self, path: str) -> bytes | None:
        """A file's bytes, None where there is none; read once. Raises SystemFailure when it cannot be read."""
        if path not in self._bytes:
            self._bytes[path] = self.files.read(path)
        return self._bytes[path]

    def text(self, path: str) -> str | None:
        """A YAML file's text, None where there is none. Raises StateError for bytes no such file may hold."""
        if path not in self._texts:
            data = self.read(path)
            self._texts[path] = None if data is None else yaml_text(data, path)
        return self._texts[path]

    def has_folder(self, folder: str) -> bool:
        return self.files.has_folder(folder)

    # Master configs

    def master_text(self, file: str) -> str:
        """A master config's text, empty where the file is absent."""
        return self.text(file) or ""

    @cached_property
    def _places(self) -> dict[str, list[KeyPlace]]:
        found: dict[str, list[KeyPlace]] = {}
        for file in self.layout.masters:
            for block in split_blocks(self.master_text(file), file):
                found.setdefault(block.name, []).append(KeyPlace(file, block))
        return found

    @cached_property
    def keys(self) -> dict[str, KeyPlace]:
        """Every config key with its place, in the order of the files. Nothing is parsed for it."""
        return {key: places[0] for key, places in self._places.items()}

    @cached_property
    def key_texts(self) -> dict[str, str]:
        """Every config key with the lines of its entry."""
        return {
            key: self.master_text(place.file)[place.block.start : place.block.end] for key, place in self.keys.items()
        }

    @cached_property
    def repeated_keys(self) -> dict[str, tuple[KeyPlace, ...]]:
        """The keys that stand more than once, in one master or in two, with every place."""
        return {key: tuple(places) for key, places in self._places.items() if len(places) > 1}

    def near_keys(self, key: str) -> list[str]:
        """Up to three existing keys that were probably meant, the nearest first."""
        return difflib.get_close_matches(key, list(self.keys), 3, 0.75)

    def entry(self, key: str) -> Entry | None:
        """The entry under `key`, None where there is none.

        Raises StateError when the key stands twice or its block is not a mapping, YamlTextError when it
        does not parse: both with file and line.
        """
        if key not in self._entries:
            self._entries[key] = self._read_entry(key) if key in self.keys else None
        return self._entries[key]

    def place(self, key: str, path: Path = ()) -> Place:
        """Where a field of an entry stands: `("scenarios", "agentic-coding", 0)`, or as deep as it goes."""
        place = self.keys.get(key)
        if place is None:
            return Place(self.layout.masters[0])
        read, above = self.entry_text(key)
        return read.place(path, place.file).lowered(above)

    def _read_entry(self, key: str) -> Entry:
        if key in self.repeated_keys:
            first, second, *_ = self.repeated_keys[key]
            raise StateError(
                f"config key {key!r} stands at {first.place} too",
                where=second.place,
                hint="keep one of the two",
            )
        place = self.keys[key]
        read, above = self.entry_text(key)
        try:
            entry = read.entry(place.file)
        except StateError as error:
            raise _lowered(error, above) from None
        if entry is None:
            raise StateError(f"the entry of {key!r} is not a mapping", where=place.place)
        return entry

    def entry_text(self, key: str) -> tuple[EntryText, int]:
        """The entry's text as read, and how many lines of the file stand above the first one that was read.

        It is read by itself, so that an entry which only moved down is not read again.
        """
        place = self.keys[key]
        text, above = self.master_text(place.file), place.block.line - 1
        if key not in self._read:
            try:
                self._read[key] = read_entry_text(self.key_texts[key], key, place.file)
            except YamlTextError as error:
                # An alias may name an anchor of another entry; then only the whole file makes sense of it.
                if "&" not in text:
                    raise _lowered(error, above) from None
                self._read[key] = read_entry_text(text, key, place.file)
        read = self._read[key]
        return read, 0 if read.text is text else above

    # What entries refer to

    @cached_property
    def runners(self) -> Runners:
        """Hardware facts. Raises StateError where the checkout has no runners file."""
        text = self.text(self.layout.runners)
        if text is None:
            raise StateError("is not here, so no hardware is known", where=Place(self.layout.runners))
        from ..schema.runners import Runners

        return Runners(text, self.layout.runners)

    @cached_property
    def dram_cap(self) -> DramCap:
        """The cap on a node's DRAM, from the checkout's generator where it states it."""
        from .dram_cap import read_dram_cap

        data = self.read(self.layout.generator)
        return read_dram_cap(None if data is None else data.decode("utf-8", "replace"), self.layout.generator)

    def curves(self, model_prefix: str) -> list[Curve]:
        """Every golden curve in the files that begin with a model prefix; other files are not read."""
        from .curves import read_curves, starts_with_prefix

        if model_prefix not in self._curves:
            folder = self.layout.curves
            names = [name for name in self.files.names(folder) if starts_with_prefix(name, model_prefix)]
            texts = {f"{folder}/{name}": self.text(f"{folder}/{name}") for name in names}
            found = [curve for path, text in texts.items() if text for curve in read_curves(text, path)]
            self._curves[model_prefix] = found
        return self._curves[model_prefix]

    def recipe_file(self, path: str) -> Recipe | None:
        """The YAML recipe at `path`, None where there is none. Raises StateError where it is no recipe."""
        if path not in self._recipes:
            text = self.text(path)
            self._recipes[path] = None if text is None else recipe_of(text, path)
        return self._recipes[path]

    def script(self, path: str) -> Script | None:
        """The bash recipe at `path`, None where there is none."""
        if path not in self._scripts:
            from .bash_recipe import read_script

            data = self.read(path)
            self._scripts[path] = None if data is None else read_script(data, path)
        return self._scripts[path]

    def recipe(self, reference: str) -> RecipeFile | Missing:
        """What a row's `srt-recipe` or `CONFIG_FILE` names, in every form of FACTS §1."""
        named = parse_reference(reference)
        try:
            places = self._recipe_places(inside(named.path))
        except StateError as error:
            return Missing(named.path, "", error.what)
        for path in places:
            found = self.recipe_file(path)
            if found is not None:
                return RecipeFile(path, found, named.variant)
        if "/" not in named.path:
            return Missing(named.path, "", f"{named.path} is kept outside the checkout")
        path = places[0]
        return Missing(path, path.rpartition("/")[0], f"{path} is not in {self.name}")

    def named_variant(self, reference: str) -> tuple[RecipeFile, Variant] | None:
        """The one variant a reference names, with its recipe; None where there is none or it cannot be read."""
        try:
            found = self.recipe(reference)
            variant = found.variant if isinstance(found, RecipeFile) else None
        except BenchscribeError:
            return None
        return (found, variant) if isinstance(found, RecipeFile) and variant is not None else None

    def _recipe_places(self, path: str) -> list[str]:
        """Where a reference's path may stand, the likeliest first."""
        recipes = self.layout.multi_node_recipes
        if path.startswith("recipes/"):
            return [f"{recipes}/{path.removeprefix('recipes/')}", self.layout.at(path)]
        here = [self.layout.at(path)]
        if self.layout.below(path) is not None and self.layout.project_root:
            here.insert(0, path)
        return here if path.startswith("benchmarks/") else [*here, f"{recipes}/{path}"]
