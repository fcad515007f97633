"""Rule `offload-connector`: a row that offloads with LMCache runs variants that connect the engine to it."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.recipes import find_script
from ..checkout.snapshot import Snapshot
from ..derive.compare import variant_of
from ..schema.errors import BenchscribeError
from ..schema.master import Entry, Item, Point, Row, points_of
from ..schema.results import Finding, Severity
from .judged import JudgedKey, judged_keys, row_place
from .model import Rule, Subject

BACKEND = "lmcache"


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per row with points whose recipe never mentions the backend. What cannot be read is not judged."""
    for key in judged_keys(subject):
        for item, index, row in key.rows():
            if _offloads(row):
                yield from _row_findings(subject, key, item, index, row)


def _offloads(row: Row) -> bool:
    return row.kv_offloading == "dram" and row.backend == BACKEND


def _row_findings(subject: Subject, key: JudgedKey, item: Item, index: int, row: Row) -> Iterator[Finding]:
    points = list(points_of(row))
    loose = [point for point in points if _is_loose(subject.after, key.after, item, point)]
    if not subject.everything:
        loose = [point for point in loose if not _was_so(subject, key, point)]
    if not loose:
        return
    first = str(row) if len(loose) == len(points) else str(loose[0])
    more = f" (and C{', C'.join(str(one.concurrency) for one in loose[1:])})" if loose[1:] and first != str(row) else ""
    what = "its variant" if len(loose) == 1 else "its variants"
    message = f"{first}{more} offloads with {BACKEND}, but nothing in {what} connects the engine to it"
    hint = (
        f"set the engine's connector and {BACKEND}'s size in args or env, in the variants or in base; "
        "or name the kv-offload-backend that the recipe does set up"
    )
    yield RULE.finding(row_place(subject, key.key, item, index, "kv-offload-backend"), message, hint, text=BACKEND)


def _is_loose(snapshot: Snapshot, entry: Entry, item: Item, point: Point) -> bool:
    """Whether the point's recipe was read and says nothing of the backend, nor do the row's own settings."""
    try:
        recipe = _recipe_text(snapshot, entry, item, point)
    except BenchscribeError:
        return False
    told = f"{recipe} {' '.join(point.row.settings)}"
    return recipe is not None and BACKEND not in told.lower()


def _recipe_text(snapshot: Snapshot, entry: Entry, item: Item, point: Point) -> str | None:
    """All that the point's variant, or its bash recipe, says; None where neither is known."""
    known = variant_of(snapshot, entry, point)
    if known is not None:
        return str(known[1].data)
    if point.row.recipe_references or point.row.multinode or not snapshot.layout.bash_recipes:
        return None
    path = find_script(snapshot, entry, item, point.row)
    data = snapshot.read(path) if isinstance(path, str) else None
    return None if data is None else data.decode("utf-8", "replace")


def _was_so(subject: Subject, key: JudgedKey, point: Point) -> bool:
    """Whether the base ran the same point as loosely."""
    if key.before is None:
        return False
    return any(
        row.identity == point.row.identity
        and point.concurrency in row.concurrencies
        and _is_loose(subject.before, key.before, item, Point(row, point.concurrency))
        for item, row in key.before.rows()
    )


RULE = Rule(
    id="offload-connector",
    severity=Severity.WARNING,
    title="an engine that offloads with LMCache is connected to it",
    explanation=(
        "A dram row whose kv-offload-backend is lmcache gets host memory for it, but the engine offloads only where "
        "its variant sets a connector or LMCache's own variables. A variant or script that never mentions LMCache, in "
        "args, env or anything else, most likely runs without offloading under an offloading label. Recipes that are "
        "not in the checkout are not judged."
    ),
    example_before="override_tp4_c16:\n  benchmark: { env: { CONC: '16', KV_OFFLOADING: dram } }",
    example_after=(
        "override_tp4_c16:\n  roles: { agg: { env: { LMCACHE_MAX_LOCAL_CPU_SIZE: '256' } } }\n"
        "  benchmark: { env: { CONC: '16', KV_OFFLOADING: dram } }"
    ),
    judge=judge,
)
