"""Claims about speculative decoding: draft tokens, acceptance lengths and rates (source: FACTS §5)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from ..checkout.curves import candidates
from ..checkout.snapshot import Snapshot
from ..schema.engines import SGLANG, Relation, engine_of
from ..schema.errors import BenchscribeError
from .acceptance import RATE_TOLERANCE, Acceptance, Speculation, golden_lengths, speculation_of
from .claim_facts import KeyFacts, RunFacts
from .claim_patterns import Claim
from .claim_verdict import Judgement, contradicted, supported, unknown
from .claim_words import Side


def judge_drafts(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    """Draft tokens against those of every speculative point."""
    stated = int(claim.values[0])
    runs = [run for run in after.runs if run.speculates]
    known = {run.draft_tokens for run in runs}
    if stated in known or any(stated in run.stated_drafts for run in runs):
        return supported(claim)
    if not claim.firm or claim.clause.side is Side.BEFORE:
        earlier = {run.draft_tokens for run in before.runs if run.speculates}
        return supported(claim) if stated in earlier else unknown(claim)
    if not known or None in known:
        return unknown(claim)
    if stated - 1 in known and any(engine_of(run.entry.framework) is SGLANG for run in runs):
        # SGLang's own speculative-num-draft-tokens counts one more.
        return unknown(claim)
    counts = " or ".join(str(count) for count in sorted(count for count in known if count is not None))
    place = runs[0].place or after.snapshot.place(runs[0].entry.key)
    return contradicted(claim, f"its points run with {counts} draft tokens", place)


def judge_acceptance(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    """An AL or a rate against what recipes force, under each engine's relation, and against the golden curves."""
    relation = Relation.RATE if claim.name == "rate" else Relation.LENGTH
    stated = Acceptance(relation, Decimal(claim.values[0]))
    runs = [run for run in after.runs if run.speculates]
    if any(_agree(stated, figure, run.draft_tokens) for run in runs for figure in run.acceptances):
        return supported(claim)
    golden = list(_golden(after, runs))
    if any(_agree(stated, Acceptance(Relation.LENGTH, length), count) for count, length in golden):
        return supported(claim)
    if not claim.firm or claim.clause.side is Side.BEFORE or not runs or any(run.draft_tokens is None for run in runs):
        return unknown(claim)
    place = runs[0].place or after.snapshot.place(runs[0].entry.key)
    if all(run.acceptances for run in runs):
        figures = dict.fromkeys(_told(figure, run.draft_tokens or 0) for run in runs for figure in run.acceptances)
        return contradicted(claim, f"the recipe states {' or '.join(figures)}", place)
    if after.snapshot.layout.e2e and golden and not any(run.acceptances for run in runs):
        lengths = dict.fromkeys(f"{length} at {count} draft tokens" for count, length in golden)
        return contradicted(claim, f"the golden AL is {' or '.join(lengths)}", place)
    return unknown(claim)


def _agree(stated: Acceptance, figure: Acceptance, draft_tokens: int | None) -> bool:
    """Whether both state one acceptance length, to the digits that the prose gives."""
    if not draft_tokens:
        return stated.relation is figure.relation and stated.value == figure.value
    length = figure.length(draft_tokens)
    shipped = (length - 1) / draft_tokens if stated.relation is Relation.RATE else length
    apart = abs(Fraction(stated.value) - shipped)
    exponent = stated.value.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 0
    return apart <= max(RATE_TOLERANCE, Fraction(1, 2 * 10**places) if places >= 2 else RATE_TOLERANCE)


def _told(figure: Acceptance, draft_tokens: int) -> str:
    if figure.relation is Relation.LENGTH:
        return f"{figure.value} ({figure.knob})"
    length = f"{float(figure.length(draft_tokens)):.4g} at {draft_tokens} draft tokens"
    return f"{figure.value} ({figure.knob}), an AL of {length}"


def golden_of(snapshot: Snapshot, run: RunFacts, draft_tokens: int) -> tuple[Decimal, ...]:
    """The golden AL of every curve that one point may be held to; none where there is no curve."""
    entry = run.entry
    engine = engine_of(entry.framework)
    said = speculation_of(engine, run.arguments) if engine is not None else Speculation()
    try:
        curves = candidates(
            snapshot.curves(entry.model_prefix),
            entry.model_prefix,
            entry.model,
            method=said.method,
            draft_model=said.draft_model,
            sampling=said.sampling,
        )
        return golden_lengths(curves, draft_tokens).value
    except BenchscribeError:
        return ()


def _golden(facts: KeyFacts, runs: list[RunFacts]) -> Iterator[tuple[int, Decimal]]:
    """The golden AL of every draft count in use; of any count where one is not known."""
    seen: set[tuple[str, int]] = set()
    for run in runs:
        counts = range(1, 17) if run.draft_tokens is None else (run.draft_tokens,)
        for count in counts:
            if count and (run.entry.key, count) not in seen:
                seen.add((run.entry.key, count))
                yield from ((count, length) for length in golden_of(facts.snapshot, run, count))
