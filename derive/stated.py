"""What the recipe of one point states: settings with their places, arguments, environment, tiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

from ..schema.arguments import canonical, leaves, whole
from ..schema.engines import Engine, known_engine
from ..schema.errors import Place
from ..schema.recipe import Recipe, Role, Variant
from .acceptance import Acceptance, draft_tokens_of, stated_acceptance
from .tiers import Tier, read_tiers


@dataclass(frozen=True, slots=True)
class Shipped:
    """One value as a file states it; None where a script does not decide it. Its place is looked up when asked."""

    value: Any
    found: Place | Callable[[], Place] = field(repr=False, compare=False)

    @property
    def place(self) -> Place:
        return self.found if isinstance(self.found, Place) else self.found()


@dataclass(frozen=True, eq=False)
class Stated:
    """What a variant, or a script with one row's environment, states. It is equal to itself alone, and read only.

    `settings` are all of them by their last name, `arguments` and `environment` those of the server that decodes.
    """

    settings: tuple[tuple[str, Shipped], ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    tiers: tuple[Tier, ...] = ()
    place: Place | None = None

    @cached_property
    def last_names(self) -> tuple[tuple[str, Any], ...]:
        """Every leaf of arguments and environment by the last name on its path."""
        found = []
        for block in (self.arguments, self.environment):
            for path, value in leaves(dict(block)):
                name = next((part for part in reversed(path) if isinstance(part, str)), "")
                found.append((setting_name(name), value))
        return tuple(found)

    def draft_tokens(self, engine: Engine) -> int | None:
        """The draft tokens that the arguments state, None where they state none."""
        return _draft_tokens(self, engine.name)

    def acceptances(self, engine: Engine) -> tuple[Acceptance, ...]:
        """Every acceptance figure that arguments and environment force."""
        return _acceptances(self, engine.name)

    def stated_drafts(self, engine: Engine) -> frozenset[int]:
        """Every count that any of the recipe's roles states, as the engine's own knobs count it."""
        names = {canonical(draft.knob.name): draft.plus for draft in (*engine.drafts, *engine.alternatives)}
        numbers = ((whole(shipped.value), names[name]) for name, shipped in self.settings if name in names)
        return frozenset(number - plus for number, plus in numbers if number is not None)


NOTHING_STATED = Stated()


# What a recipe states does not change, so it is worked out once however many points, rules and plans ask.


@lru_cache(maxsize=1024)
def _draft_tokens(stated: Stated, engine: str) -> int | None:
    return draft_tokens_of(known_engine(engine), stated.arguments)


@lru_cache(maxsize=1024)
def _acceptances(stated: Stated, engine: str) -> tuple[Acceptance, ...]:
    return stated_acceptance(known_engine(engine), stated.arguments, stated.environment)


@lru_cache(maxsize=1024)
def variant_states(recipe: Recipe, variant: Variant) -> Stated:
    """What a variant of a YAML recipe states, whichever point runs it."""
    found = []
    for path, value in leaves(variant.data):
        names = [part for part in path if isinstance(part, str)]
        if names and not isinstance(value, dict):
            found.append((setting_name(names[-1]), Shipped(value, partial(recipe.place, path, variant))))
    role = variant.roles.get("decode") or variant.role
    arguments: Mapping[str, Any] = role.args if role is not None else {}
    environment: Mapping[str, Any] = role.env if role is not None else {}
    place = recipe.place(role.args_path if role is not None else (), variant)
    return Stated(tuple(found), arguments, environment, variant_tiers(recipe, variant), place)


@lru_cache(maxsize=1024)
def variant_tiers(recipe: Recipe, variant: Variant) -> tuple[Tier, ...]:
    """The tiers that a variant of a YAML recipe reserves: a prefill server's, else the aggregated one's."""
    role: Role | None = variant.roles.get("prefill") or variant.role
    blocks = [role.args, role.env] if role is not None else []
    source = recipe.place(role.env_path, variant) if role is not None else recipe.path
    return read_tiers(*blocks, variant.bench_env, source=str(source))


def setting_name(name: str) -> str:
    """Under which name a setting is looked up: variables as they are, arguments in canonical spelling."""
    return name if any(sign.isupper() for sign in name) else canonical(name.lstrip("-"))
