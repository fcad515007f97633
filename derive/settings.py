"""A recipe's settings as a flat table, so that two sides, many points and both recipe schemas compare alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..schema.arguments import canonical, opened
from ..schema.recipe import BASE, Recipe, Variant
from ..schema.yaml_text import plain

ARGS, ENV, BENCH_ENV, RECIPE, VARIABLE = "args", "env", "bench-env", "recipe", "variable"
ROLE_WORDS = {"agg": "", "aggregated": "", "prefill": "prefill", "decode": "decode"}
# What follows from the point itself, and names that only tell files apart: never news of their own.
POINT_ENV = ("CONC", "KV_OFFLOADING")
PLUMBING = ("name", "schema", "identity.name")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: engine argument, engine or benchmark environment, a script's variable, or anything else in a recipe.

    `name` is as the file spells it; spellings with `-` and `_` are one argument (source: FACTS §6).
    """

    scope: str
    role: str
    canonical_name: str
    name: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.role} {self.name}" if self.role else self.name


def setting(scope: str, name: str, role: str = "") -> Setting:
    """A setting under the spelling `name`."""
    return Setting(scope, role, canonical(name) if scope == ARGS else name, name)


Settings = Mapping[Setting, Any]


@lru_cache(maxsize=1024)
def variant_settings(variant: Variant) -> Settings:
    """Every setting of one variant, its base merged in; of a flat recipe, of the file."""
    return settings_of(variant.data)


@lru_cache(maxsize=128)
def base_settings(recipe: Recipe) -> Settings:
    """Every setting that a recipe's base gives to all of its variants; none of a flat recipe."""
    return settings_of(recipe.data[BASE]) if recipe.layered else {}


def settings_of(data: Mapping[str, Any]) -> dict[Setting, Any]:
    """Every setting of one effective recipe (schema 2: a variant merged with its base; flat: the file)."""
    found: dict[Setting, Any] = {}
    for scope, role, name, value in _settings(data):
        if scope == BENCH_ENV and name in POINT_ENV:
            continue
        if scope == RECIPE and name in PLUMBING:
            continue
        found[setting(scope, name, role)] = plain(value)
    return found


def _settings(data: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    for key, value in data.items():
        name = str(key)
        if name == "roles" and isinstance(value, Mapping):
            yield from _roles(value)
        elif name == "backend" and isinstance(value, Mapping):
            yield from _backend(value)
        elif name == "benchmark" and isinstance(value, Mapping):
            yield from _benchmark(value)
        else:
            yield from ((RECIPE, "", path, leaf) for path, leaf in flattened(value, name))


def _roles(roles: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    for name, block in roles.items():
        role = ROLE_WORDS.get(str(name), str(name))
        if not isinstance(block, Mapping):
            continue
        for key, value in block.items():
            if key in (ARGS, ENV):
                yield from ((str(key), role, path, leaf) for path, leaf in flattened(value))
            elif key != "gpus":
                yield from ((RECIPE, role, path, leaf) for path, leaf in flattened(value, f"roles.{name}.{key}"))


def _backend(backend: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    for key, value in backend.items():
        name = str(key)
        if name.endswith("_environment"):
            role = ROLE_WORDS.get(name.removesuffix("_environment"), name)
            yield from ((ENV, role, path, leaf) for path, leaf in flattened(value))
        elif name.endswith("_config") and isinstance(value, Mapping) and set(value) & set(ROLE_WORDS):
            for part, block in value.items():
                role = ROLE_WORDS.get(str(part), str(part))
                yield from ((ARGS, role, path, leaf) for path, leaf in flattened(block))
        else:
            yield from ((RECIPE, "", path, leaf) for path, leaf in flattened(value, f"backend.{name}"))


def _benchmark(benchmark: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    for key, value in benchmark.items():
        if key == ENV:
            yield from ((BENCH_ENV, "", path, leaf) for path, leaf in flattened(value))
        else:
            yield from ((RECIPE, "", path, leaf) for path, leaf in flattened(value, f"benchmark.{key}"))


def flattened(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted paths and leaves; a JSON object inside a string is opened, a list stays one value."""
    inner = opened(value) if isinstance(value, str) else value
    if isinstance(inner, Mapping) and inner:
        for key, below in inner.items():
            yield from flattened(below, f"{name}.{key}" if name else str(key))
    elif name:
        yield name, value
