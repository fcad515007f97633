"""The verdict on one claim."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..schema.errors import Place
from .claim_patterns import Claim


class Verdict(StrEnum):
    """What facts say of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim with its verdict; of a contradicted one, `shipped` says what is true instead, `place` where.

    `right` is what the claim's own words would have to be, empty where that is not one thing.
    """

    claim: Claim
    verdict: Verdict
    shipped: str = ""
    place: Place | None = None
    right: str = ""


def supported(claim: Claim) -> Judgement:
    return Judgement(claim, Verdict.SUPPORTED)


def unknown(claim: Claim) -> Judgement:
    return Judgement(claim, Verdict.UNKNOWN)


def contradicted(claim: Claim, shipped: str, place: Place | None, right: str = "") -> Judgement:
    return Judgement(claim, Verdict.CONTRADICTED, shipped, place, right)
