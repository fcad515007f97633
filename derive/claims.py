"""Prose against facts: each claim of a description line is supported, contradicted or unknown.

In doubt a claim is unknown. Contradicted means: the words speak of what ships, every fact that could bear
them out is known, and none does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from ..schema.errors import Place
from ..schema.master import Topology
from .claim_arms import Arm
from .claim_facts import ArmFacts, KeyFacts, topologies_of
from .claim_images import judge_image
from .claim_patterns import Claim, Kind, claims_in
from .claim_sizes import judge_memory, judge_utilization
from .claim_speculation import judge_acceptance, judge_drafts
from .claim_values import judge_phrase, judge_setting
from .claim_verdict import Judgement, Verdict, contradicted, supported, unknown
from .claim_words import Side

__all__ = ["Claim", "Judgement", "Kind", "Verdict", "judge_line"]

_KEY = re.compile(r"(?<![\w/.-])[a-z0-9][\w.]*(?:-[\w.]+){2,}")
_HARDWARE = re.compile(r"(?<![\w-])(?:MI\d{3}X|GB\d{3}|[BH]\d{3})(?!\w)", re.IGNORECASE)
_ADDING = re.compile(
    r"(?<![\w-])(?:adds?|added|new|uses?|runs?|sweeps?|keeps?|retains?|covers?|extends?)(?![\w-])|新增|增加|使用|扫描",
    re.I,
)
_NO_POINT = re.compile(r"(?<![\w-])(?:max(?:imum)?|twice|2x|per|each|client|server|request)[\s-]*$", re.IGNORECASE)


def judge_line(
    line: str, before: KeyFacts, after: KeyFacts, kinds: Collection[Kind] = tuple(Kind)
) -> tuple[Judgement, ...]:
    """The verdict on every claim of the given kinds, for the keys that the facts are of.

    A line that names another config key speaks of that one too, so nothing in it is contradicted.
    """
    claims = [claim for claim in claims_in(line) if claim.kind in kinds]
    if not claims or not after.entries:
        return tuple(unknown(claim) for claim in claims)
    foreign = _names_other_key(line, before, after)
    found = [_judge(claim, before, after) for claim in claims]
    return tuple(
        unknown(one.claim)
        if one.verdict is Verdict.CONTRADICTED and (foreign or _names_other_hardware(one.claim, after))
        else one
        for one in found
    )


def _judge(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    """The verdict on one claim; one about a single arm is held against that arm's rows alone."""
    judge = _JUDGES[claim.kind]
    now = _at(after, claim.topology)
    if now is None or claim.kind is Kind.CONCURRENCY:
        return judge(claim, before, after)
    one = judge(claim, _at(before, claim.topology) or before, now)
    if one.verdict is not Verdict.CONTRADICTED:
        return one
    return replace(one, shipped=f"at {_arm_name(claim.topology)} {one.shipped}")


def _at(facts: KeyFacts, words: Arm) -> KeyFacts | None:
    """The facts of the rows that the topology words name; None where they name none."""
    if not words:
        return None
    found = ArmFacts(facts, lambda row: all(any(_fits(one, *word) for one in topologies_of(row)) for word in words))
    return found if found.rows else None


def _arm_name(words: Arm) -> str:
    order = {name: place for place, name in enumerate(("TP", "PP", "DCP", "PCP"))}
    return "+".join(f"{name}{size}" for name, size in sorted(words, key=lambda word: order.get(word[0], len(order))))


def _names_other_hardware(claim: Claim, after: KeyFacts) -> bool:
    """Whether the clause speaks of hardware that no key of the entry runs on, as in `B200 has TP4 at conc 64`."""
    own = " ".join(f"{entry.key} {entry.runner}" for entry in after.entries).lower()
    return any(name.lower() not in own for name in _HARDWARE.findall(claim.clause.text))


def _names_other_key(line: str, before: KeyFacts, after: KeyFacts) -> bool:
    own = {*before.keys, *after.keys}
    named = {match[0].rstrip(".") for match in _KEY.finditer(line)}
    return any(name not in own and (name in after.snapshot.keys or name in before.snapshot.keys) for name in named)


# Topologies

_SIZES = {
    "TP": ("tensor-parallel-size", "tp-size", "tp"),
    "DCP": ("decode-context-parallel-size", "dcp-size"),
    "PCP": ("prefill-context-parallel-size", "pcp-size"),
    "PP": ("pipeline-parallel-size", "pp-size"),
    "EP": ("expert-parallel-size", "ep-size", "moe-expert-parallel-size", "data-parallel-size", "dp-size"),
    "DP": ("data-parallel-size", "dp-size"),
}


def _fits(topology: Topology, name: str, size: int) -> bool:
    """Whether a topology may be called so; where usage varies (EP, DEP, DP) every reading counts."""
    if name == "TP":
        return size in (topology.tp, topology.gpus)
    own = {"DCP": topology.dcp, "PP": topology.pp, "PCP": topology.pcp}
    if name in own:
        return size == own[name]
    if name == "EP":
        return size == topology.ep or (topology.dp_attn and size == topology.tp)
    return size in (topology.tp, topology.ep, topology.gpus)


def _judge_topology(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    name, size = claim.name, int(claim.values[0])
    if any(_fits(topology, name, size) for topology in after.topologies):
        return supported(claim)
    here_before = any(_fits(topology, name, size) for topology in before.topologies)
    if not _firm_after(claim):
        return supported(claim) if here_before else unknown(claim)
    if here_before and not _ADDING.search(claim.clause.before):
        return unknown(claim)
    if not after.complete and any(row.multinode for _, _, row in after.rows):
        # A multi-node recipe may name its parallelism otherwise than the row does.
        return unknown(claim)
    stated = [
        shipped.value for setting in _SIZES.get(name, _SIZES["EP"]) for shipped in after.settings.get(setting, ())
    ]
    if str(size) in {str(value) for value in stated}:
        return supported(claim)
    names = dict.fromkeys(str(topology) for topology in after.topologies)
    return contradicted(claim, f"the rows have {_listed(names)}", _rows_place(after))


def _firm_after(claim: Claim) -> bool:
    return claim.firm and claim.clause.side is Side.AFTER


def _rows_place(facts: KeyFacts) -> Place:
    entry = facts.entries[0]
    return facts.snapshot.place(entry.key, ("scenarios",))


def _listed(words: Iterable[str], most: int = 8) -> str:
    listed = list(words)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


# Concurrencies


def _judge_concurrency(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    wanted = [int(value) for value in claim.values]
    at, at_before = _at(after, claim.topology), _at(before, claim.topology)
    now = (at or after).concurrencies
    was = at_before.concurrencies if at_before is not None else None if at is not None else before.concurrencies
    if set(wanted) <= now:
        return supported(claim)
    soft = not claim.firm or claim.clause.paired or _NO_POINT.search(claim.clause.before)
    if soft or (claim.clause.side is Side.BEFORE and "from" not in claim.clause.before.lower()):
        return supported(claim) if set(wanted) <= now | (was or frozenset()) else unknown(claim)
    missing = [number for number in wanted if number not in now]
    if set(missing) <= (was or frozenset()) and not _ADDING.search(claim.clause.before):
        return unknown(claim)
    # Where no row fits the topology words, they are a claim of their own, and this is about all rows.
    where = _arm_name(claim.topology) if at is not None else ""
    points = ", ".join(str(number) for number in sorted(now))
    return contradicted(
        claim, f"the {f'{where} rows' if where else 'rows'} have concurrency {points}", _rows_place(after)
    )


_JUDGES: dict[Kind, Callable[[Claim, KeyFacts, KeyFacts], Judgement]] = {
    Kind.IMAGE: judge_image,
    Kind.TOPOLOGY: _judge_topology,
    Kind.CONCURRENCY: _judge_concurrency,
    Kind.DRAFT_TOKENS: judge_drafts,
    Kind.ACCEPTANCE: judge_acceptance,
    Kind.SETTING: judge_setting,
    Kind.PHRASE: judge_phrase,
    Kind.MEMORY: judge_memory,
    Kind.UTILIZATION: judge_utilization,
}
