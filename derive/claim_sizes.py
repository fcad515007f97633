"""Claims about host memory: GB and GiB per rank, per server and of a budget, and `dram-utilization` (FACTS §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ..schema.arguments import exact
from ..schema.engines import Scope
from ..schema.errors import BenchscribeError, Place
from ..schema.units import BYTES_PER, number
from .claim_facts import KeyFacts, RunFacts
from .claim_patterns import Claim
from .claim_values import shown_values
from .claim_verdict import Judgement, contradicted, supported, unknown
from .claim_words import Side
from .dram import dram_gpus
from .figures import CheckoutFigures
from .stated import Shipped
from .tiers import Exactness

_OFFLOAD = re.compile(r"offload|lmcache|hicache|mooncake|tier|dram|host|cpu|l1|卸载|内存", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Amount:
    """One figure of one point: so many bytes per rank, per server, or of its budget, and how to say it."""

    scope: str
    bytes: Fraction
    words: str


def judge_utilization(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    """`dram-utilization` against every item's; of two values the first is the base's."""
    now, was = _utilizations(after), _utilizations(before)
    if len(claim.values) == 2:
        old, new = claim.values
        if not _among(new, now):
            return _wrong(claim, now)
        return supported(claim) if _among(old, was) else unknown(claim)
    stated = claim.values[0]
    if _among(stated, now):
        return supported(claim)
    if claim.clause.side is Side.BEFORE or not claim.firm:
        return supported(claim) if _among(stated, was) else unknown(claim)
    return _wrong(claim, now)


def _wrong(claim: Claim, now: list[Shipped]) -> Judgement:
    if not now or not claim.firm:
        return unknown(claim)
    return contradicted(claim, f"dram-utilization is {shown_values(now)}", now[0].place)


def _among(stated: str, known: list[Shipped]) -> bool:
    return any(exact(stated) == exact(shipped.value) for shipped in known)


def _utilizations(facts: KeyFacts) -> list[Shipped]:
    found = []
    for entry in facts.entries:
        for item in entry.items():
            if item.dram_utilization is not None:
                path = ("scenarios", item.scenario, item.index, "dram-utilization")
                shown = getattr(item.dram_utilization, "spelling", item.dram_utilization)
                found.append(Shipped(shown, facts.snapshot.place(entry.key, path)))
    return found


def judge_memory(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    """A size per rank, per server or of a budget, in its own unit: 256 GB is not 256 GiB."""
    amount, unit = claim.values
    stated = Fraction(amount) * BYTES_PER[unit]
    places = len(amount.partition(".")[2])
    slack = max(Fraction(BYTES_PER[unit], 2 * 10**places), stated / 200)
    amounts = [one for run in after.runs for one in _amounts(after, run) if one.scope == claim.name]
    if any(abs(one.bytes - stated) <= slack for one in amounts):
        return supported(claim)
    if not claim.firm or claim.clause.side is Side.BEFORE or not amounts or not _certain(after, claim.name):
        return unknown(claim)
    if claim.name != "budget" and not _OFFLOAD.search(f"{claim.text} {claim.clause.text}"):
        return unknown(claim)
    figures = list(dict.fromkeys(one.words for one in amounts))
    return contradicted(claim, f"{claim.name} it is {' or '.join(figures[:4])}", _place(after))


def _place(facts: KeyFacts) -> Place:
    utilizations = _utilizations(facts)
    return utilizations[0].place if utilizations else facts.snapshot.place(facts.entries[0].key)


def _certain(facts: KeyFacts, scope: str) -> bool:
    """Whether every offloading point's tier is known exactly; a budget needs no tier."""
    runs = [run for run in facts.runs if run.point.row.kv_offloading == "dram"]
    if scope == "budget":
        return bool(runs)
    sized = (tier for run in runs for tier in run.tiers)
    exactly = all(tier.exactness is Exactness.EXACT and tier.size is not None for tier in sized)
    return bool(runs) and exactly and all(run.known and run.tiers for run in runs)


def _amounts(facts: KeyFacts, run: RunFacts) -> Iterator[_Amount]:
    row = run.point.row
    if row.kv_offloading != "dram":
        return
    try:
        ranks = dram_gpus(row, facts.snapshot.runners.hardware(run.entry.runner).gpus_per_node)
    except BenchscribeError:
        return
    for tier in run.tiers:
        if tier.size is None:
            continue
        total = tier.size.times(tier.count(ranks))
        yield _Amount("per server", Fraction(total.bytes), f"{number(total.gigabytes, 1)} GB")
        if tier.scope is Scope.RANK:
            yield _Amount("per rank", Fraction(tier.size.bytes), str(tier.size))
    budget = CheckoutFigures(facts.snapshot).budget(run.entry, row, run.item.dram_utilization or 1)
    if budget is not None and run.item.dram_utilization is not None:
        whole = Fraction(budget * 10**9)
        yield _Amount("budget", whole, f"{budget} GB")
        if not run.tiers or any(tier.exactness is not Exactness.EXACT for tier in run.tiers):
            yield _Amount("per server", whole, f"{budget} GB (the budget)")
            yield _Amount("per rank", whole / ranks, f"{number(whole / ranks / 10**9, 1)} GB (its share of the budget)")
