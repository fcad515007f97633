"""The golden acceptance lengths that a plan shows beside the draft depths it ships."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..derive.change import Change, KeyChange
from ..derive.figures import CheckoutFigures
from ..derive.settings import ARGS
from ..schema.engines import engine_of
from ..schema.results import Derived


def golden_values(change: Change, figures: CheckoutFigures) -> tuple[Derived[Any], ...]:
    """One value per key and draft depth that its points run with."""
    found: dict[tuple[str, int], Derived[Any]] = {}
    for key in change.remaining:
        for tokens in _depths(key):
            if tokens > 0:
                derived = figures.golden(key.entry, tokens)
                found[derived.reason, tokens] = derived
    return tuple(derived for _, derived in sorted(found.items(), key=lambda pair: pair[0][1]))


def _depths(change: KeyChange) -> Iterator[int]:
    engine = engine_of(change.entry.framework)
    if engine is None or not change.points:
        return
    from ..derive.acceptance import draft_tokens_of

    for point in change.points:
        arguments = {
            name.name: value
            for name, value in (point.after or {}).items()
            if name.scope == ARGS and name.role != "prefill"
        }
        tokens = draft_tokens_of(engine, _nested(arguments))
        if tokens is not None:
            yield tokens


def _nested(arguments: dict[str, Any]) -> dict[str, Any]:
    """Dotted names back into the mappings they came from."""
    result: dict[str, Any] = {}
    for name, value in arguments.items():
        *parents, last = name.split(".")
        below = result
        for parent in parents:
            below = below.setdefault(parent, {})
            if not isinstance(below, dict):
                break
        else:
            below[last] = value
    return result
