"""A schema-2 recipe while its wanted state is worked out: what stays, what is new and where, what goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..derive.sizing import Assignment
from ..schema.master import Point
from ..schema.recipe import BASE, Recipe, Variant
from ..schema.serving import serving_of
from ..schema.strict import Mistake


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A variant to insert: behind `after`, or before `before` (one of the two is empty)."""

    name: str
    data: Mapping[str, Any]
    after: str
    before: str


@dataclass(frozen=True, slots=True)
class Sized:
    """What a knob came to at one point."""

    point: Point
    assignment: Assignment


Made = dict[str, tuple[Any, Any, tuple[Variant, ...]]]


@dataclass(frozen=True, eq=False)
class GrowingRecipe(Recipe):
    """A recipe while blocks are replaced and added, always as wholes: those that stay keep the variants `made`."""

    made: Made

    def _of_block(self, name: str) -> Iterator[Variant]:
        base, block = self.data[BASE], self.data[name]
        made = self.made.get(name)
        if made is None or made[0] is not base or made[1] is not block:
            made = self.made[name] = (base, block, tuple(super()._of_block(name)))
        return iter(made[2])


@dataclass(slots=True)
class WantedRecipe:
    """One recipe while its wanted state is worked out; `data` are the blocks that stay, in the file's order."""

    path: str
    recipe: Recipe
    data: dict[str, Any]
    new: list[NewBlock] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    comments: dict[str, str | None] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    sized: list[Sized] = field(default_factory=list)
    made: Made = field(default_factory=dict)

    @property
    def now(self) -> Recipe:
        """The recipe as it would read with what was worked out so far."""
        blocks = {**self.data, **{block.name: block.data for block in self.new}}
        kept = {name: data for name, data in blocks.items() if name not in self.removed}
        return GrowingRecipe(self.path, kept, None, self.made)

    def insert(self, point: Point, name: str, data: Mapping[str, Any]) -> None:
        """Take in a point's new variant, in order of tp, dcp and conc, first among those of its own arm."""
        key = _order_of_point(point)
        placed = [
            (order, variant.block_name)
            for variant in self.now.variants
            if (order := _order_of_variant(variant)) is not None
        ]
        arm = [(order, block) for order, block in placed if order[:-1] == key[:-1]]
        for known in (arm, placed):
            smaller = [block for order, block in known if order < key]
            if smaller:
                self.new.append(NewBlock(name, data, after=max(smaller, key=self.order.index), before=""))
                return
            if known and known is arm:
                self.new.append(NewBlock(name, data, after="", before=known[0][1]))
                return
        first = next((block for _, block in placed), "")
        self.new.append(NewBlock(name, data, after="" if first else BASE, before=first))

    @property
    def order(self) -> list[str]:
        """The blocks in the order the file will have them."""
        names = list(self.data)
        for block in self.new:
            if block.after:
                names.insert(names.index(block.after) + 1, block.name)
            else:
                names.insert(names.index(block.before), block.name)
        return names


def _order_of_point(point: Point) -> tuple[int, ...]:
    topology = point.row.topology
    dram = int(point.row.kv_offloading == "dram")
    return (topology.gpus, topology.dcp, topology.ep, int(topology.dp_attn), dram, point.concurrency)


def _order_of_variant(variant: Variant) -> tuple[int, ...] | None:
    """The same of a variant; None where it does not say what it serves."""
    serving = serving_of(variant)
    if serving.gpus is None or variant.concurrency is None:
        return None
    dram = int(variant.kv_offloading == "dram")
    return (serving.gpus, serving.dcp, serving.ep or 1, int(bool(serving.dp_attn)), dram, variant.concurrency)
