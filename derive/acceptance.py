"""Golden acceptance length (AL): from curves to an engine's own figure and back (source: FACTS §5).

Which curves a recipe is held to is `checkout.curves.candidates`' to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..checkout.curves import THINKING, Curve
from ..schema.arguments import canonical, leaves, spelled_number, whole
from ..schema.engines import Engine, Knob, Relation
from ..schema.results import Derived, Input

RATE_TOLERANCE = Fraction(1, 10**6)
_RATE_PLACES = Decimal("1e-10")


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An acceptance figure as an engine states it: which figure, the number as spelled, the knob."""

    relation: Relation
    value: Decimal
    knob: str = ""

    def length(self, draft_tokens: int) -> Fraction:
        """The acceptance length this figure stands for."""
        value = Fraction(self.value)
        if self.relation is Relation.LENGTH:
            return value
        return value + 1 if self.relation is Relation.ACCEPTED else value * draft_tokens + 1


def golden_lengths(
    curves: Sequence[Curve], draft_tokens: int, *, model: str = "", thinking: str = THINKING
) -> Derived[tuple[Decimal, ...]]:
    """The golden AL for some draft tokens, one value per candidate curve that tells them apart.

    Any candidate's value is right; none at all means that nothing can be judged, and the reason says why.
    `model` is how the model is named in the reason, the curve's own name without it.
    """
    mode = thinking.replace("_", " ")
    name = f"golden AL at {_tokens(draft_tokens)}"
    fitting = [curve for curve in curves if curve.thinking == thinking]
    found = [(curve, _spelled(curve.values[draft_tokens])) for curve in fitting if draft_tokens in curve.values]
    if not found:
        return Derived(name, (), f"not known: {_why_none(fitting, draft_tokens, model, mode)}")
    title = model or found[0][0].model
    figures = " or ".join(f"{_shown(length)} ({curve.file})" for curve, length in found)
    reason = f"{title}, {mode}, {_tokens(draft_tokens)}: {figures}"
    inputs = tuple(
        Input(f"{curve.model}, {mode}", _shown(length), str(curve.place(draft_tokens))) for curve, length in found
    )
    return Derived(name, tuple(dict.fromkeys(length for _, length in found)), reason, inputs)


def _why_none(fitting: Sequence[Curve], draft_tokens: int, model: str, mode: str) -> str:
    if not fitting:
        return f"no curve for {model or 'this model'} with {mode}"
    lengths = "; ".join(f"{curve.file} has {_listed(draft_lengths([curve]))}" for curve in fitting)
    return f"no curve has {_tokens(draft_tokens)}: {lengths}"


def _listed(lengths: Sequence[int]) -> str:
    return ", ".join(str(length) for length in lengths) or "none"


def _tokens(draft_tokens: int) -> str:
    return f"{draft_tokens} draft token{'' if draft_tokens == 1 else 's'}"


def _spelled(value: float) -> Decimal:
    """A curve's value as it is spelled there: 2.50 stays 2.50; a bare number gets its two decimals."""
    number = Decimal(str(getattr(value, "spelling", value)).replace("_", ""))
    places = number.as_tuple().exponent
    return number.quantize(Decimal("0.01")) if isinstance(places, int) and places > -2 else number


def _shown(value: Decimal) -> str:
    return format(value, "f")


def draft_lengths(curves: Iterable[Curve], thinking: str = THINKING) -> tuple[int, ...]:
    """The draft lengths that any of the curves has a value for, ascending."""
    return tuple(sorted({tokens for curve in curves if curve.thinking == thinking for tokens in curve.values}))


def figure_for(relation: Relation, length: Decimal, draft_tokens: int) -> Decimal:
    """An acceptance length as the engine's own figure, a rate to ten decimals; for 1 or more draft tokens."""
    if relation is Relation.LENGTH:
        return length
    if relation is Relation.ACCEPTED:
        return length - 1
    return ((length - 1) / draft_tokens).quantize(_RATE_PLACES)


def equal_under_relation(one: Acceptance, other: Acceptance, draft_tokens: int) -> bool:
    """Whether two figures state one acceptance length at these draft tokens.

    Lengths and accepted tokens must be equal; where a rate takes part, the rates must agree to 1e-6.
    """
    apart = abs(one.length(draft_tokens) - other.length(draft_tokens))
    if Relation.RATE in (one.relation, other.relation):
        return draft_tokens > 0 and apart / draft_tokens <= RATE_TOLERANCE
    return apart == 0


def acceptable(stated: Acceptance, golden: Iterable[Decimal], draft_tokens: int) -> bool:
    """Whether a stated figure is the golden AL of any candidate curve."""
    lengths = [Acceptance(Relation.LENGTH, length) for length in golden]
    return any(equal_under_relation(stated, length, draft_tokens) for length in lengths)


def draft_tokens_of(engine: Engine, arguments: Mapping[str, Any]) -> int | None:
    """The draft tokens that an engine's arguments state, None where they state none (or not a number)."""
    for draft in (*engine.drafts, *engine.alternatives):
        value = whole(_read(arguments, draft.knob))
        if value is not None:
            return value - draft.plus
    return None


@dataclass(frozen=True, slots=True)
class Speculation:
    """How an engine's arguments say it drafts, in the engine's own words; empty where they do not say."""

    method: str = ""
    draft_model: str = ""
    sampling: Mapping[str, str] = field(default_factory=dict)


_METHOD = {"atom": "method", "sglang": "speculative-algorithm", "vllm": "method", "trtllm": "decoding_type"}
_DRAFT_MODEL = {"sglang": "speculative-draft-model-path", "vllm": "model", "trtllm": "speculative_model_dir"}
_SAMPLING = ("draft_sample_method", "rejection_sample_method")


def speculation_of(engine: Engine, arguments: Mapping[str, Any]) -> Speculation:
    """Method, draft model and sampling options: what tells the curves of one model apart."""
    parent = engine.drafts[0].knob.parent

    def text(name: str) -> str:
        value = _read(arguments, Knob(name, parent=parent)) if name else None
        return str(value) if isinstance(value, str) else ""

    sampling = {name: value for name in _SAMPLING if (value := text(name))}
    return Speculation(text(_METHOD[engine.name]), text(_DRAFT_MODEL.get(engine.name, "")), sampling)


def stated_acceptance(
    engine: Engine, arguments: Mapping[str, Any], environment: Mapping[str, Any]
) -> tuple[Acceptance, ...]:
    """Every acceptance figure that arguments and environment force; none: the engine measures its own."""
    found = []
    for entry in engine.acceptance:
        settings = environment if entry.knob.where == "env" else arguments
        value = spelled_number(_read(settings, entry.knob))
        if value is not None:
            found.append(Acceptance(entry.relation, value, str(entry.knob)))
    return tuple(found)


def _read(settings: Mapping[str, Any], knob: Knob) -> Any:
    """A knob's value wherever it is nested, in either spelling; below its parent where it has one."""
    name, parent = canonical(knob.name), canonical(knob.parent)
    for path, value in leaves(settings):
        words = [canonical(part) for part in path if isinstance(part, str)]
        if words and words[-1] == name and (not parent or parent in words[:-1]):
            return value
    return None
