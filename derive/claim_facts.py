"""What one state of a checkout ships for some config keys: the facts that prose is held against.

Facts come from the entries, from YAML recipes and from bash recipes; whatever cannot be read leaves them
incomplete, and then nothing is contradicted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from ..checkout.recipes import find_script
from ..checkout.snapshot import Missing, Snapshot
from ..schema.arguments import canonical, leaves, spelled_number
from ..schema.engines import Relation, engine_of
from ..schema.errors import BenchscribeError, Place
from ..schema.image import image_or_none
from ..schema.master import Entry, Item, Point, Row, Topology, points_of
from .acceptance import Acceptance
from .compare import variant_of
from .figures import CheckoutFigures
from .stated import NOTHING_STATED, Shipped, Stated, setting_name, variant_states
from .tiers import BUDGET_VARIABLE, TIER_KNOBS, Tier, read_tiers

if TYPE_CHECKING:
    from ..checkout.bash_facts import Facts as ScriptFacts
    from ..checkout.bash_recipe import Script

_IMAGE_NAMES = ("container", "container-image", "image")
_DRAFT_SETTINGS = ("DECODE_MTP_SIZE",)
SYNTHETIC_LENGTH = "SYNTHETIC_ACCEPTANCE_LENGTH"


@dataclass(frozen=True, eq=False)
class RunFacts:
    """One point and what its recipe sets; `known` is False where no recipe of it can be read.

    `from_budget` says that a script works the tiers out from the budget it is handed.
    """

    entry: Entry
    item: Item
    point: Point
    known: bool
    stated: Stated = NOTHING_STATED
    from_budget: bool = False

    @property
    def settings(self) -> tuple[tuple[str, Shipped], ...]:
        return self.stated.settings

    @property
    def arguments(self) -> Mapping[str, Any]:
        return self.stated.arguments

    @property
    def environment(self) -> Mapping[str, Any]:
        return self.stated.environment

    @property
    def tiers(self) -> tuple[Tier, ...]:
        return self.stated.tiers

    @property
    def place(self) -> Place | None:
        return self.stated.place

    @property
    def speculates(self) -> bool:
        return self.point.row.spec_decoding != "none"

    @property
    def draft_tokens(self) -> int | None:
        """The draft tokens the point runs with, None where they are not known."""
        if not self.speculates:
            return 0
        for setting in self.point.row.settings:
            name, _, value = setting.partition("=")
            if name in _DRAFT_SETTINGS and value.isdigit():
                return int(value)
        engine = engine_of(self.entry.framework)
        return self.stated.draft_tokens(engine) if engine is not None and self.known else None

    @property
    def stated_drafts(self) -> frozenset[int]:
        """Every count that any of the recipe's roles states, as the engine's own knobs count it."""
        engine = engine_of(self.entry.framework)
        return self.stated.stated_drafts(engine) if engine is not None else frozenset()

    @property
    def acceptances(self) -> tuple[Acceptance, ...]:
        """The acceptance figures that the recipe, or the row's own settings, force."""
        engine = engine_of(self.entry.framework)
        found = self.stated.acceptances(engine) if engine is not None else ()
        for setting in self.point.row.settings:
            name, _, value = setting.partition("=")
            number = spelled_number(value)
            if name == SYNTHETIC_LENGTH and number is not None:
                found = (*found, Acceptance(Relation.LENGTH, number, name))
        return found


class KeyFacts:
    """The facts of some keys in one state. Keys that are not there count as nothing."""

    def __init__(self, snapshot: Snapshot, keys: Iterable[str]) -> None:
        self.snapshot = snapshot
        self.keys = tuple(keys)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        found = (self.snapshot.entry(key) for key in self.keys if key in self.snapshot.keys)
        return tuple(entry for entry in found if entry is not None)

    @cached_property
    def rows(self) -> tuple[tuple[Entry, Item, Row], ...]:
        return tuple((entry, item, row) for entry in self.entries for item, row in entry.rows())

    @cached_property
    def topologies(self) -> tuple[Topology, ...]:
        """Those of every row and every worker block."""
        return tuple(topology for _, _, row in self.rows for topology in topologies_of(row))

    @cached_property
    def concurrencies(self) -> frozenset[int]:
        return frozenset(number for _, _, row in self.rows for number in row.concurrencies)

    @cached_property
    def runs(self) -> tuple[RunFacts, ...]:
        """Every point with what its recipe sets."""
        return tuple(
            run_facts(self.snapshot, entry, item, point) for entry, item, row in self.rows for point in points_of(row)
        )

    @cached_property
    def complete(self) -> bool:
        """Whether the recipe of every point could be read."""
        return bool(self.runs) and all(run.known for run in self.runs)

    @cached_property
    def settings(self) -> dict[str, list[Shipped]]:
        """Every setting by its last name: arguments in canonical spelling, variables as they are."""
        found: dict[str, list[Shipped]] = {}
        for run in self.runs:
            for name, shipped in run.settings:
                found.setdefault(name, []).append(shipped)
        for entry, item, row in self.rows:
            place = self.snapshot.place(entry.key, ("scenarios", item.scenario, item.index, "search-space"))
            for setting in row.settings:
                name, equals, value = setting.partition("=")
                if equals:
                    found.setdefault(name, []).append(Shipped(value, place))
        return found

    @cached_property
    def fields(self) -> dict[str, list[Shipped]]:
        """What rows state by name, defaults filled in."""
        found: dict[str, list[Shipped]] = {}
        for entry, item, row in self.rows:
            place = self.snapshot.place(entry.key, ("scenarios", item.scenario, item.index, "search-space"))
            stated = {"kv-offloading": row.kv_offloading, "spec-decoding": row.spec_decoding}
            if row.backend:
                stated["kv-offload-backend"] = row.backend
            for name, value in stated.items():
                found.setdefault(name, []).append(Shipped(value, place))
        return found

    @cached_property
    def images(self) -> list[Shipped]:
        """The entries' own images."""
        return [
            Shipped(entry.image, self.snapshot.place(entry.key, ("image",))) for entry in self.entries if entry.image
        ]

    @cached_property
    def other_images(self) -> list[Shipped]:
        """Whatever else is an image in recipes and additional settings: containers, routers."""
        found = [shipped for name in _IMAGE_NAMES for shipped in self.settings.get(name, ())]
        listed = (shipped for values in self.settings.values() for shipped in values)
        found += [shipped for shipped in listed if _looks_like_image(shipped.value)]
        return found


class ArmFacts(KeyFacts):
    """The same keys, but only those of their rows that `fits` takes; images and items stay those of the whole."""

    def __init__(self, whole: KeyFacts, fits: Callable[[Row], bool]) -> None:
        super().__init__(whole.snapshot, whole.keys)
        self._whole, self._fits = whole, fits

    @cached_property
    def rows(self) -> tuple[tuple[Entry, Item, Row], ...]:
        return tuple((entry, item, row) for entry, item, row in self._whole.rows if self._fits(row))

    @cached_property
    def runs(self) -> tuple[RunFacts, ...]:
        return tuple(run for run in self._whole.runs if self._fits(run.point.row))


def _looks_like_image(value: Any) -> bool:
    image = image_or_none(value)
    return image is not None and bool(image.tag or image.digest) and "/" in image.name


def topologies_of(row: Row) -> Iterator[Topology]:
    """The topology of a row, or of each of its worker blocks that has workers."""
    if not row.multinode:
        yield row.topology
    for block in row.blocks.values():
        yield block.topology


def run_facts(snapshot: Snapshot, entry: Entry, item: Item, point: Point) -> RunFacts:
    """What the recipe of one point sets, from YAML or bash."""
    try:
        known = variant_of(snapshot, entry, point)
        if known is not None:
            return RunFacts(entry, item, point, True, variant_states(*known))
        if point.row.recipe_references or point.row.multinode or not snapshot.layout.bash_recipes:
            return RunFacts(entry, item, point, False)
        path = find_script(snapshot, entry, item, point.row)
        if isinstance(path, Missing):
            return RunFacts(entry, item, point, False)
        return _from_script(snapshot, path, entry, item, point)
    except BenchscribeError:
        return RunFacts(entry, item, point, False)


def _from_script(snapshot: Snapshot, path: str, entry: Entry, item: Item, point: Point) -> RunFacts:
    script = script_at(snapshot, path)
    handed = handed_over(entry, item, point.row)
    facts = script.per_concurrency(point.concurrency, environment=handed)
    fixed = _script_tiers(facts, path)
    budget = _budget(snapshot, entry, item, point.row)
    tiers = fixed
    if budget is not None:
        facts = script.per_concurrency(point.concurrency, environment={**handed, BUDGET_VARIABLE: str(budget)})
        tiers = _script_tiers(facts, path)
    line = facts.server.line if facts.server is not None else 1
    stated = Stated(
        tuple(_script_settings(facts, path)),
        _arguments(facts),
        {name: fact.value for name, fact in facts.exports.items()},
        tiers,
        Place(path, line),
    )
    return RunFacts(entry, item, point, not script.problems, stated, from_budget=tiers != fixed)


def _script_settings(facts: ScriptFacts, path: str) -> Iterator[tuple[str, Shipped]]:
    for name, flag in _flags(facts).items():
        place = Place(path, flag.line)
        yield name, Shipped(flag.value, place)
        for inner, value in leaves({name: flag.value}) if flag.value else ():
            if len(inner) > 1 and isinstance(inner[-1], str):
                yield setting_name(inner[-1]), Shipped(value, place)
    for variable in facts.variables.values():
        yield setting_name(variable.name), Shipped(variable.value, Place(path, variable.line))


def _arguments(facts: ScriptFacts) -> dict[str, Any]:
    return {name: flag.value for name, flag in _flags(facts).items()}


def _script_tiers(facts: ScriptFacts, path: str) -> tuple[Tier, ...]:
    """The tiers that server flags, side servers' flags and exports reserve, where the script decides them."""
    flags = {name: flag for command in facts.commands for name, flag in command.flags.items()}
    arguments = {name: flag.value for name, flag in flags.items() if flag.value is not None}
    exports = {name: fact for name, fact in facts.exports.items() if fact.value is not None}
    environment = {name: fact.value for name, fact in exports.items()}
    lines = [found.line for name, found in {**flags, **exports}.items() if canonical(name) in _TIER_NAMES]
    return read_tiers(arguments, environment, source=str(Place(path, lines[-1] if lines else 1)))


_TIER_NAMES = {canonical(knob.name) for knob in TIER_KNOBS}


def _budget(snapshot: Snapshot, entry: Entry, item: Item, row: Row) -> int | None:
    if row.kv_offloading != "dram" or item.dram_utilization is None:
        return None
    return CheckoutFigures(snapshot).budget(entry, row, item.dram_utilization)


def _flags(facts: ScriptFacts) -> dict[str, Any]:
    if facts.server is not None:
        return dict(facts.server.flags)
    return {name: flag for command in facts.commands for name, flag in command.flags.items()}


@lru_cache(maxsize=32)
def _read_script(data: bytes, path: str) -> Script:
    from ..checkout.bash_recipe import read_script

    return read_script(data, path)


def script_at(snapshot: Snapshot, path: str) -> Script:
    """A bash recipe, read once however many points and rules ask for it."""
    return _read_script(snapshot.read(path) or b"", path)


def handed_over(entry: Entry, item: Item, row: Row) -> dict[str, str]:
    """What the harness hands a script for one row, as far as it follows from the config."""
    topology = row.topology
    handed = {
        "TP": topology.tp,
        "EP_SIZE": topology.ep,
        "DCP_SIZE": topology.dcp,
        "PP_SIZE": topology.pp,
        "DP_ATTENTION": str(topology.dp_attn).lower(),
        "KV_OFFLOADING": row.kv_offloading,
        "SPEC_DECODING": row.spec_decoding,
        "PRECISION": entry.precision,
        "FRAMEWORK": entry.framework,
    }
    if row.backend:
        handed["KV_OFFLOAD_BACKEND"] = row.backend
    if item.lengths is not None:
        handed["ISL"], handed["OSL"] = item.lengths
    return {name: str(value) for name, value in handed.items()}


@lru_cache(maxsize=64)
def facts_for(snapshot: Snapshot, keys: tuple[str, ...]) -> KeyFacts:
    """The facts of some keys in one state, worked out once however many rules ask."""
    return KeyFacts(snapshot, keys)
