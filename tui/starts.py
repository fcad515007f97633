"""The specs that jobs start from: as little as is needed to know which keys they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checkout.checkout import Checkout
from ..derive.naming import derived_key, read_key
from ..plan.changelog import read_bytes, read_own
from ..schema.master import Entry


def start_change(keys: Sequence[str]) -> dict[str, Any]:
    """A spec about some keys that wants nothing of them yet."""
    return {"benchscribe": 1, "changes": [{"config-key": key} for key in keys]}


def start_bump(keys: Sequence[str]) -> dict[str, Any]:
    """As a change; the Edit step offers one image for all keys."""
    return start_change(keys)


def start_extension(keys: Sequence[str]) -> dict[str, Any]:
    """A change whose entry promises that nothing but new points comes."""
    return {**start_change(keys), "changelog": {"append-only": True}}


def start_retirement(keys: Sequence[str]) -> dict[str, Any]:
    """The keys go."""
    return {"benchscribe": 1, "changes": [{"config-key": key, "remove": True} for key in keys]}


def start_new(typed: str, like: str, checkout: Checkout) -> dict[str, Any]:
    """A new key like another: under the name typed, or the one its fields give; fields the name states are set.

    Raises BenchscribeError where the sibling cannot be read.
    """
    sibling = checkout.entry(like)
    start = sibling if sibling is not None else Entry(like, {})
    wanted, old = read_key(typed), read_key(like)
    fields: dict[str, Any] = {}
    if wanted is not None and old is not None and typed not in checkout.after.keys:
        for name, now, was in (
            ("model-prefix", wanted.model_prefix, old.model_prefix),
            ("precision", wanted.precision, old.precision),
            ("framework", wanted.framework, old.framework),
        ):
            if now != was and now != start.text(name):
                fields[name] = now
        key = typed
    else:
        key = _free(derived_key(Entry(like, {**start.data}), like).value, checkout)
    change = {"config-key": key, "like": like, **({"set": fields} if fields else {})}
    return {"benchscribe": 1, "changes": [change]}


def with_own_words(data: dict[str, Any], checkout: Checkout) -> dict[str, Any]:
    """The spec with what a person already said in the branch's entry, which it will replace: own lines, and the order.

    Raises BenchscribeError where the changelog cannot be read.
    """
    own = read_own(checkout, read_bytes(checkout).own[:1])
    if not own:
        return data
    entry = dict(data.get("changelog") or {})
    if own[0].words:
        entry["notes"] = list(own[0].words)
    if own[0].order:
        entry["order"] = list(own[0].order)
    return {**data, "changelog": entry} if entry else data


def _free(name: str, checkout: Checkout) -> str:
    """The name, with a number behind it where another key has it."""
    number = 2
    candidate = name
    while candidate in checkout.after.keys:
        candidate = f"{name}-{number}"
        number += 1
    return candidate
