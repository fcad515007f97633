"""Which points get an accuracy eval, in both layouts, and how many points there are (source: FACTS §7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..schema.master import SCENARIOS, Entry, Item, Point, points_of

E2E = "e2e"
AGENTIC = "agentic-coding"
EVAL_LENGTHS = (8192, 1024)
MINIMUM_CONCURRENCY = 16

Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedPoint:
    """A point that gets an accuracy eval, and why."""

    entry: Entry
    item: Item
    point: Point
    reason: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One point in the order a sweep generates it."""

    entry: Entry
    item: Item
    point: Point

    @property
    def concurrency(self) -> int:
        return self.point.concurrency

    def evaluated(self, reason: str) -> EvaluatedPoint:
        return EvaluatedPoint(self.entry, self.item, self.point, reason)


def all_points(entries: Iterable[Entry], scenarios: Collection[str] = SCENARIOS) -> Iterator[tuple[Entry, Item, Point]]:
    """Every point of some entries, in the order of the file."""
    for entry in entries:
        for item, row in entry.rows():
            if item.scenario in scenarios:
                yield from ((entry, item, point) for point in points_of(row))


def count_points(entries: Iterable[Entry], scenarios: Collection[str] = SCENARIOS) -> int:
    """How many points some entries have."""
    return sum(1 for _ in all_points(entries, scenarios))


def evaluated_points(
    entries: Sequence[Entry],
    layout: str,
    flags: Mapping[str, Any] | None = None,
    scenarios: Collection[str] = SCENARIOS,
) -> list[EvaluatedPoint]:
    """The points that get an eval when these entries stand in one changelog entry, in the order of the file.

    Groups are formed over all of them together, whatever their key. `flags` are the changelog entry's:
    `no-evals` leaves none, `all-evals` takes every point, `eval-min-prefill-ep: N` leaves only those
    multi-node points whose prefill spreads experts over at least N GPUs. `layout` is `root` or `e2e`.
    """
    flags = flags or {}
    if flags.get("no-evals") is True:
        return []
    candidates = [_Candidate(*found) for found in all_points(entries, scenarios)]
    if flags.get("all-evals") is True:
        return [candidate.evaluated("all-evals: every point") for candidate in candidates]
    minimum = flags.get("eval-min-prefill-ep")
    if isinstance(minimum, int) and not isinstance(minimum, bool):
        candidates = [candidate for candidate in candidates if _prefill_ep(candidate) >= minimum]
    reasons: dict[int, str] = {}
    for chosen, reason in _chosen(candidates, layout):
        reasons.setdefault(id(chosen), reason)
    return [candidate.evaluated(reasons[id(candidate)]) for candidate in candidates if id(candidate) in reasons]


def _prefill_ep(candidate: _Candidate) -> float:
    """A multi-node point's prefill expert parallelism; a single-node point is never left out by it."""
    blocks = candidate.point.row.blocks
    if not blocks:
        return float("inf")
    return blocks["prefill"].topology.ep if "prefill" in blocks else candidate.point.row.topology.ep


def _chosen(candidates: Sequence[_Candidate], layout: str) -> Iterator[tuple[_Candidate, str]]:
    single = [candidate for candidate in candidates if not candidate.entry.multinode]
    multi = [candidate for candidate in candidates if candidate.entry.multinode]
    for group in _grouped(single, AGENTIC, layout):
        yield _first_at_highest(group), "the first at the highest concurrency of its group"
    for group in _grouped(single, "fixed-seq-len", layout):
        yield from _highest_and_median(group)
    for group in _deployments(multi):
        yield from _highest_of_deployment(group, layout)


def _grouped(candidates: Sequence[_Candidate], scenario: str, layout: str) -> list[list[_Candidate]]:
    groups: dict[Group, list[_Candidate]] = {}
    for candidate in candidates:
        if candidate.item.scenario == scenario:
            groups.setdefault(_group(candidate, layout), []).append(candidate)
    return list(groups.values())


def _group(candidate: _Candidate, layout: str) -> Group:
    entry, item, row = candidate.entry, candidate.item, candidate.point.row
    group: Group = (entry.model, entry.runner, entry.framework, entry.precision)
    method: Group = (row.spec_decoding, row.topology.dp_attn)
    if item.scenario != AGENTIC:
        return (*group, item.lengths, *method)
    return (*group, *method, entry.image) if layout == E2E else group


def _first_at_highest(group: Sequence[_Candidate]) -> _Candidate:
    return max(group, key=lambda candidate: candidate.concurrency)


def _highest_and_median(group: Sequence[_Candidate]) -> Iterator[tuple[_Candidate, str]]:
    """Of a fixed-sequence group at 8k1k: highest and upper-median concurrency, every topology there."""
    eligible = [candidate for candidate in group if _eligible(candidate)]
    concurrencies = sorted({candidate.concurrency for candidate in eligible})
    if not concurrencies:
        return
    highest, median = concurrencies[-1], concurrencies[len(concurrencies) // 2]
    for candidate in eligible:
        if candidate.concurrency == highest:
            yield candidate, f"the highest concurrency of its group, of {_listed(concurrencies)}"
        elif candidate.concurrency == median:
            yield candidate, f"the upper-median concurrency of its group, of {_listed(concurrencies)}"


def _eligible(candidate: _Candidate) -> bool:
    return candidate.item.lengths == EVAL_LENGTHS and candidate.concurrency >= MINIMUM_CONCURRENCY


def _listed(concurrencies: Sequence[int]) -> str:
    return ", ".join(f"C{concurrency}" for concurrency in concurrencies)


def _deployments(candidates: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """Multi-node points by parallelism; the same workers with another method are another deployment."""
    groups: dict[Group, list[_Candidate]] = {}
    for candidate in candidates:
        entry, item = candidate.entry, candidate.item
        if item.scenario == AGENTIC or item.lengths == EVAL_LENGTHS:
            own, blocks, nodes, *_ = candidate.point.row.identity
            group: Group = (entry.model, entry.runner, entry.framework, entry.precision, item.scenario)
            method = candidate.point.row.spec_decoding
            groups.setdefault((*group, method, own, blocks, nodes), []).append(candidate)
    return list(groups.values())


def _highest_of_deployment(group: Sequence[_Candidate], layout: str) -> Iterator[tuple[_Candidate, str]]:
    eligible = [candidate for candidate in group if candidate.concurrency >= MINIMUM_CONCURRENCY]
    if eligible:
        reason = f"the highest concurrency of its parallelism, at least C{MINIMUM_CONCURRENCY}"
        yield _first_at_highest(eligible), reason
    elif layout == E2E and group[0].item.scenario == AGENTIC:
        yield (
            _first_at_highest(group),
            f"the deployment's highest concurrency, none reaches C{MINIMUM_CONCURRENCY}",
        )
