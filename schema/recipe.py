"""Recipes in YAML: `base` with `override_…` blocks (schema 2), or flat, and the references that name them.

Source: FACTS §1 and §6. Everything is read tolerantly; what a recipe does not state is None or empty.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from .arguments import argument, spelled_as, whole
from .engines import Engine, engine_of
from .errors import Place, StateError
from .yaml_size import require_finite
from .yaml_text import Node, Path, YamlMap, compose, find, place_of, value_of

BASE = "base"
OVERRIDE = "override_"
ZIP_OVERRIDE = "zip_override_"
_REFERENCE = re.compile(r"(?P<path>.+\.ya?ml)(?::(?P<variant>.*))?")
_INDEXED = re.compile(r"(?P<block>.+)\[(?P<index>\d+)\]")
# Flat recipes and schema 2 name the role of a server that does both prefill and decode differently.
_ROLES = {"aggregated": "agg", "agg": "agg", "prefill": "prefill", "decode": "decode"}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Reference:
    """A recipe as a row names it: a path as written and a variant, empty without one."""

    path: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.variant}" if self.variant else self.path


def parse_reference(text: str) -> Reference:
    """Read `path.yaml`, `path.yaml:override_x` or `…:zip_override_x[2]`, with or without `CONFIG_FILE=`."""
    text = text.strip().removeprefix("CONFIG_FILE=").strip("'\"")
    match = _REFERENCE.fullmatch(text)
    return Reference(match["path"], match["variant"] or "") if match else Reference(text)


@dataclass(frozen=True, slots=True)
class Role:
    """What one kind of server (`agg`, `prefill`, `decode`) runs with; `gpus` are those of one replica.

    `args` are engine arguments, `env` the servers' environment, at `args_path` and `env_path` of the data.
    """

    name: str
    args: Mapping[str, Any]
    env: Mapping[str, Any]
    gpus: int | None
    nodes: int | None
    workers: int | None
    args_path: Path
    env_path: Path

    def argument(self, name: str) -> Any:
        """An engine argument, `-` and `_` being the same."""
        return argument(self.args, name)


@dataclass(frozen=True, eq=False)
class Variant:
    """One runnable form of a recipe: `data` is its content, base merged in. It is read only, and equal to itself alone.

    `name` is what a reference says behind the colon, empty for a flat recipe.
    """

    name: str
    data: Mapping[str, Any]
    block_name: str = ""
    zip_index: int | None = None

    @property
    def engine_name(self) -> str:
        """The engine as the recipe writes it."""
        return _text(self.data.get("engine") or _mapping(self.data.get("backend")).get("type"))

    @cached_property
    def engine(self) -> Engine | None:
        """The engine, None where it is not one we know."""
        return engine_of(self.engine_name)

    @cached_property
    def roles(self) -> dict[str, Role]:
        """The recipe's servers by role: `agg`, or `prefill` and `decode`."""
        roles = self.data.get("roles")
        if isinstance(roles, Mapping):
            return {_ROLES.get(str(name), str(name)): _role(str(name), _mapping(data)) for name, data in roles.items()}
        return self._flat_roles()

    def _flat_roles(self) -> dict[str, Role]:
        backend = _mapping(self.data.get("backend"))
        heading = spelled_as(f"{self.engine_name}_config", backend)
        found = {}
        for name, args in _mapping(backend.get(heading)).items():
            if name in _ROLES:
                role = _flat_role(name, _mapping(args), backend, _mapping(self.data.get("resources")), heading)
                found[role.name] = role
        return found

    @property
    def role(self) -> Role | None:
        """The one server role of an aggregated recipe, None of a disaggregated one."""
        roles = self.roles
        return roles.get("agg") or (next(iter(roles.values())) if len(roles) == 1 else None)

    @property
    def gpus(self) -> int | None:
        """GPUs of the aggregated replica."""
        return self.role.gpus if self.role else None

    @property
    def args(self) -> Mapping[str, Any]:
        """The aggregated server's engine arguments."""
        return self.role.args if self.role else {}

    @property
    def env(self) -> Mapping[str, Any]:
        """The aggregated server's environment."""
        return self.role.env if self.role else {}

    @property
    def bench_env(self) -> Mapping[str, Any]:
        """The environment of the benchmark client."""
        return _mapping(_mapping(self.data.get("benchmark")).get("env"))

    @cached_property
    def concurrency(self) -> int | None:
        """The one concurrency it runs (`benchmark.env.CONC`), None where it does not say."""
        return whole(self.bench_env.get("CONC"))

    @property
    def concurrencies(self) -> tuple[int, ...]:
        """The concurrencies that `benchmark.concurrencies` (`64x128x256`) names, else CONC's, else none."""
        stated = _mapping(self.data.get("benchmark")).get("concurrencies")
        if stated is None:
            return () if self.concurrency is None else (self.concurrency,)
        parts = stated if isinstance(stated, list) else re.split(r"[x,\s]+", _text(stated).strip())
        numbers = [whole(part) for part in parts]
        return tuple(number for number in numbers if number is not None) if None not in numbers else ()

    @property
    def kv_offloading(self) -> str:
        """`benchmark.env.KV_OFFLOADING`, none when absent."""
        return _text(self.bench_env.get("KV_OFFLOADING")) or "none"

    @property
    def container(self) -> str:
        """`model.container`: an image reference or a launcher's alias."""
        return _text(_mapping(self.data.get("model")).get("container"))

    @property
    def identity_image(self) -> str:
        """`identity.container.image` of a flat recipe."""
        return _text(_mapping(_mapping(self.data.get("identity")).get("container")).get("image"))

    @property
    def router_image(self) -> str:
        """`frontend.container_image`, which may differ from the engine's."""
        return _text(_mapping(self.data.get("frontend")).get("container_image"))


def _role(name: str, data: Mapping[str, Any]) -> Role:
    return Role(
        name=_ROLES.get(name, name),
        args=_mapping(data.get("args")),
        env=_mapping(data.get("env")),
        gpus=whole(data.get("gpus")),
        nodes=whole(data.get("nodes")),
        workers=whole(data.get("workers")),
        args_path=("roles", name, "args"),
        env_path=("roles", name, "env"),
    )


def _flat_role(
    name: str, args: Mapping[str, Any], backend: Mapping[str, Any], resources: Mapping[str, Any], heading: str
) -> Role:
    short = _ROLES[name]
    environment = f"{name}_environment"
    nodes, workers = whole(resources.get(f"{short}_nodes")), whole(resources.get(f"{short}_workers"))
    return Role(
        name=short,
        args=args,
        env=_mapping(backend.get(environment)),
        gpus=whole(resources.get(f"gpus_per_{short}")) or _shared_gpus(resources, nodes, workers),
        nodes=nodes,
        workers=workers,
        args_path=("backend", heading, name),
        env_path=("backend", environment),
    )


def _shared_gpus(resources: Mapping[str, Any], nodes: int | None, workers: int | None) -> int | None:
    """GPUs of one replica where only nodes and workers are stated: the nodes' GPUs shared out evenly."""
    per_node = whole(resources.get("gpus_per_node"))
    if not (per_node and nodes and workers) or (nodes * per_node) % workers:
        return None
    return nodes * per_node // workers


@dataclass(frozen=True, eq=False)
class Recipe:
    """One recipe file. `path` is relative to the git root; `root` is its node tree, for places."""

    path: str
    data: Mapping[str, Any]
    root: Node | None = field(repr=False, compare=False)

    @property
    def roots(self) -> Collection[tuple[Node, int]]:
        """Every node tree the file was read into, with how many lines of the file stand above it."""
        return [] if self.root is None else [(self.root, 0)]

    @property
    def layered(self) -> bool:
        """Whether it is made of `base` and override blocks; otherwise it is flat."""
        return isinstance(self.data.get(BASE), Mapping)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Every runnable form, in the file's order. Raises StateError where lists of a zip block differ."""
        if not self.layered:
            return (Variant("", self.data),)
        found = [variant for name in self.data for variant in self._of_block(str(name))]
        return tuple(found) or (Variant(BASE, self.data[BASE], BASE),)

    def variant(self, name: str) -> Variant | None:
        """The variant a reference names; without a name the flat recipe, or the only variant there is."""
        variants = self.variants
        if not name:
            return variants[0] if len(variants) == 1 else None
        return next((variant for variant in variants if variant.name == name), None)

    def _of_block(self, name: str) -> Iterator[Variant]:
        base, block = self.data[BASE], self.data[name]
        if name.startswith(ZIP_OVERRIDE):
            for index in range(self._zip_length(name, block)):
                yield Variant(f"{name}[{index}]", deep_merge(base, _unzip(block, index)), name, index)
        elif name.startswith(OVERRIDE):
            yield Variant(name, deep_merge(base, _mapping(block)), name)

    def _zip_length(self, name: str, block: Any) -> int:
        lengths = {len(values): path for path, values in _lists(block, (name,))}
        several = {length: path for length, path in lengths.items() if length != 1}
        if len(several) > 1:
            (first, here), (second, there) = list(several.items())[:2]
            raise StateError(
                f"{_dotted(here)} holds {first} values but {_dotted(there)} holds {second}",
                where=self.place(there),
                hint="all lists in a zip block are of one length",
            )
        return next(iter(several), 1)

    def place(self, path: Path, variant: Variant | None = None) -> Place:
        """Where `path` stands: in the variant's own block, else in base, else as deep as it goes."""
        if variant is not None and variant.block_name:
            own: Path = (variant.block_name, *path)
            inherited: Path = (BASE, *path)
            return self._place(own if self._has(own) or not self._has(inherited) else inherited)
        return self._place(path)

    def _has(self, path: Path) -> bool:
        return find(self._tree(path)[0], path)[0] is not None

    def _place(self, path: Path) -> Place:
        root, above = self._tree(path)
        return place_of(root, path, self.path).lowered(above)

    def _tree(self, path: Path) -> tuple[Node | None, int]:
        """The node tree that holds `path`, and how many lines of the file stand above it."""
        return self.root, 0


@lru_cache(maxsize=64)
def read_recipe(text: str, path: str) -> Recipe:
    """Read a recipe; the same text is read once, so what it holds is not to be changed.

    Raises YamlTextError for what is no YAML, StateError for what is no mapping.
    """
    root = compose(text, path)
    require_finite(root, path)
    data = None if root is None else value_of(root)
    if not isinstance(data, Mapping):
        raise StateError("is not a recipe: its top level is not a mapping", where=Place(path, 1))
    return Recipe(path, data, root)


def deep_merge(base: Any, patch: Any) -> Any:
    """`patch` laid over `base`: mappings merge, null deletes a key, anything else replaces (FACTS §6)."""
    if not isinstance(patch, Mapping):
        return patch
    merged = YamlMap(base) if isinstance(base, Mapping) else YamlMap()
    merged.flow = getattr(patch if not isinstance(base, Mapping) else base, "flow", False)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = deep_merge(merged.get(key), value)
    return merged


def _lists(value: Any, path: Path) -> Iterator[tuple[Path, list[Any]]]:
    if isinstance(value, list):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _lists(item, (*path, key))


def _unzip(value: Any, index: int) -> Any:
    """One variant's share of a zip block: of every list its value, of a list of one that one."""
    if isinstance(value, list):
        return value[index if len(value) > 1 else 0] if value else None
    if isinstance(value, Mapping):
        return {key: _unzip(item, index) for key, item in value.items()}
    return value


def _dotted(path: Path) -> str:
    return ".".join(str(step) for step in path)


def block_of(variant_name: str) -> str:
    """The block that a variant's name stands for: `zip_override_x` of `zip_override_x[2]`."""
    match = _INDEXED.fullmatch(variant_name)
    return match["block"] if match else variant_name
