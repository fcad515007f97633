"""Sizes of memory with their units. Decimal and binary units never mix silently."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

BYTES_PER = {
    "B": 1,
    "bytes": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_SIZE = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")


@dataclass(frozen=True, slots=True)
class Size:
    """An amount of memory as somebody wrote it: `amount` of `unit`, exactly `bytes` bytes."""

    amount: Fraction
    unit: str

    @property
    def bytes(self) -> int:
        """The size in bytes, rounded up to a whole byte."""
        return -int(-(self.amount * BYTES_PER[self.unit]) // 1)

    @property
    def gigabytes(self) -> Fraction:
        """The size in decimal GB (10^9 bytes)."""
        return Fraction(self.bytes, 10**9)

    def times(self, factor: int) -> Size:
        """The size of `factor` such parts, in the same unit."""
        return Size(self.amount * factor, self.unit)

    def in_unit(self, unit: str) -> Fraction:
        """The same size as a number of `unit`."""
        return Fraction(self.bytes, BYTES_PER[unit])

    def __str__(self) -> str:
        return f"{number(self.amount)} {self.unit}"


def parse_size(text: str) -> Size:
    """Read `256 GiB`, `1000GB`, `1.5 TB`, `512 bytes`. A size without a unit is refused: it would be a guess.

    Raises ValueError that says what is allowed.
    """
    match = _SIZE.fullmatch(text)
    units = {name.lower(): name for name in BYTES_PER}
    if match is None:
        raise ValueError(f"{text!r} is not a size; write a number and a unit, as 256 GiB or 1000 GB")
    unit = match[2] if match[2] in BYTES_PER else units.get(match[2].lower(), "")
    if not unit:
        raise ValueError(f"unit {match[2]!r} is not known; use one of {', '.join(list(BYTES_PER)[2:])} or bytes")
    amount = Fraction(match[1].replace("_", ""))
    if amount <= 0:
        raise ValueError(f"{text!r} is not a size: it must be more than nothing")
    return Size(amount, unit)


def number(value: Fraction | float, places: int = 3) -> str:
    """A number as people write it: no trailing zeros, at most `places` decimals."""
    text = f"{float(value):.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
