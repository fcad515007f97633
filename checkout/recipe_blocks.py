"""A YAML recipe read block by block, so that a block met before (at the base, in the last plan) is not read again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ..schema.errors import BenchscribeError
from ..schema.recipe import BASE, Recipe, Variant, read_recipe
from ..schema.yaml_size import require_finite
from ..schema.yaml_text import Node, Path, YamlMap, compose, value_of
from .blocks import split_blocks

# Whatever may tie a block to what stands outside of it: an anchor, an alias, a tag, a directive, a marker.
_TIED = re.compile(r"(?:^|[\s\[{,])[&*!](?=\S)|^(?:%|---|\.\.\.)", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class BlockRecipe(Recipe):
    """A recipe whose blocks were read by themselves: `trees` has each one's node tree and the lines above it."""

    trees: Mapping[str, tuple[Node, int]]

    @property
    def roots(self) -> Collection[tuple[Node, int]]:
        return self.trees.values()

    def _tree(self, path: Path) -> tuple[Node | None, int]:
        return self.trees.get(str(path[0]), (None, 0)) if path else (None, 0)

    def _of_block(self, name: str) -> Iterator[Variant]:
        try:
            return iter(_variants(self.trees[BASE][0], self.trees[name][0], name))
        except BenchscribeError:
            return super()._of_block(name)  # which says where


@lru_cache(maxsize=64)
def recipe_of(text: str, path: str) -> Recipe:
    """The recipe in a file's text, by blocks where they stand alone, else as a whole. Errors as with `read_recipe`."""
    if _TIED.search(text):
        return read_recipe(text, path)
    try:
        blocks = split_blocks(text, path)
        names = [block.name for block in blocks]
        edges = [0, *(edge for block in blocks for edge in (block.start, block.end)), len(text)]
        between = (text[start:end] for start, end in list(pairwise(edges))[::2])
        if not names or len(names) != len(set(names)) or not all(_is_comment(part) for part in between):
            return read_recipe(text, path)
        trees: dict[str, tuple[Node, int]] = {}
        for block in blocks:
            node = compose(text[block.start : block.end], path)
            assert node is not None
            require_finite(node, path)
            trees[block.name] = (node, block.line - 1)
        return BlockRecipe(path, YamlMap({name: _data(tree, name) for name, (tree, _) in trees.items()}), None, trees)
    except (BenchscribeError, KeyError):
        return read_recipe(text, path)


def _is_comment(text: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


@lru_cache(maxsize=1024)
def _data(tree: Node, name: str) -> Any:
    """A block's data, the same object for the same text: nothing may change it."""
    return value_of(tree)[name]


@lru_cache(maxsize=1024)
def _variants(base: Node, block: Node, name: str) -> tuple[Variant, ...]:
    alone = Recipe("", {BASE: _data(base, BASE), name: _data(block, name)}, None)
    return tuple(variant for variant in alone.variants if variant.block_name == name and name != BASE)
