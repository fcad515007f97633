"""Engine arguments as recipes hold them: names in `-` and `_`, values nested or as JSON inside a string."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .yaml_text import Path

MAXIMUM_JSON = 1_000_000


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """The name under which spellings compare equal: `max_num_seqs` is `max-num-seqs` (source: FACTS §6)."""
    return name.replace("_", "-")


def spelled_as(name: str, present: Iterable[str]) -> str:
    """The spelling of `name` that is already in use, else `name` itself."""
    wanted = canonical(name)
    return next((other for other in present if canonical(other) == wanted), name)


def argument(arguments: Mapping[str, Any], name: str) -> Any:
    """The value of one argument in either spelling, None where it is absent."""
    return arguments.get(spelled_as(name, (str(key) for key in arguments)))


def opened(value: Any) -> Any:
    """A string that holds a JSON object or list as that; any other value as it is. Numbers stay exact."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[") or len(value) > MAXIMUM_JSON:
        return value
    try:
        return json.loads(value, parse_float=Decimal)
    except (ValueError, RecursionError):
        return value


def leaves(data: Any) -> Iterator[tuple[Path, Any]]:
    """Every scalar with its path, in the order written; JSON in strings is opened, an alias met once."""
    # The containers are kept so that no id is reused while the walk lasts.
    seen: dict[int, Any] = {}
    stack: list[tuple[Path, Any]] = [((), data)]
    while stack:
        path, raw = stack.pop()
        value = opened(raw)
        if not isinstance(value, (dict, list)):
            yield path, value
        elif id(value) not in seen:
            seen[id(value)] = value
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            stack.extend(reversed([((*path, key), item) for key, item in inner]))


def spelled_number(value: Any) -> Decimal | None:
    """A number with the digits it was spelled with (`0.60`, `'256'`, `2_063_920`), None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        return None
    if isinstance(value, int):
        return Decimal(int(value))
    try:
        number = Decimal(str(getattr(value, "spelling", value)).strip("'\" ").replace("_", ""))
    except InvalidOperation:
        return None
    # A huge exponent is nobody's figure, and would cost all memory as an exact fraction.
    return number if number.is_finite() and abs(number.adjusted()) < 40 else None


def exact(value: Any) -> Fraction | None:
    """The same number as an exact fraction."""
    if isinstance(value, Fraction):
        return value
    number = spelled_number(value)
    return Fraction(number) if number is not None else None


def whole(value: Any) -> int | None:
    """A whole number however spelled, None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    number = exact(value)
    return int(number) if number is not None and number.denominator == 1 else None
