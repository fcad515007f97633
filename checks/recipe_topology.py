"""Rule `recipe-topology`: a multi-node row and its recipe agree on DP attention, EP and DCP."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.snapshot import Snapshot
from ..schema.errors import Place
from ..schema.master import Row, Topology
from ..schema.recipe import Recipe, Variant
from ..schema.results import Finding, Severity
from ..schema.serving import serving_of
from .judged import JudgedKey, judged_keys, row_place
from .model import Rule, Subject

_ROLES = {"prefill": "prefill", "decode": "decode", "worker": "agg"}


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per worker block that its recipe contradicts. What an engine does not say is not judged."""
    for key in judged_keys(subject):
        for item, index, row in key.rows():
            for block, why, where in _disagreements(subject.after, row):
                if subject.everything or not _was_so(subject, key, row, block, why):
                    place = row_place(subject, key.key, item, index, block)
                    hint = f"correct the row's {block} block, or the recipe at {where}"
                    yield RULE.finding(place, f"{block} of the row: {why} ({where})", hint, text=block)


def _disagreements(snapshot: Snapshot, row: Row) -> Iterator[tuple[str, str, Place]]:
    known = _recipe(snapshot, row)
    if known is None:
        return
    recipe, variant = known
    roles = variant.roles
    for name, block in row.blocks.items():
        role = "agg" if "agg" in roles and name == "prefill" else _ROLES[name]
        if role not in roles or not block.workers:
            continue
        where = recipe.place(roles[role].args_path, variant)
        for why in _reasons(variant, role, block.topology):
            yield name, why, where


def _recipe(snapshot: Snapshot, row: Row) -> tuple[Recipe, Variant] | None:
    for reference in row.recipe_references if row.multinode else ():
        if named := snapshot.named_variant(reference):
            return named[0].recipe, named[1]
    return None


def _reasons(variant: Variant, role: str, topology: Topology) -> Iterator[str]:
    serving = serving_of(variant, role)
    if serving.dcp != topology.dcp:
        yield f"dcp-size is {topology.dcp}, the recipe's decode context parallel size {serving.dcp}"
    if serving.ep is not None and serving.ep != topology.ep:
        yield f"ep is {topology.ep}, the recipe spreads experts over {serving.ep} GPUs"
    if serving.dp_attn is not None and serving.dp_attn != topology.dp_attn:
        stated = "true" if topology.dp_attn else "false"
        yield f"dp-attn is {stated}, the recipe does{'' if serving.dp_attn else ' not'} use DP attention"


def _was_so(subject: Subject, key: JudgedKey, row: Row, block: str, why: str) -> bool:
    if key.before is None:
        return False
    for _, other in key.before.rows():
        if other.recipe_references == row.recipe_references and other.identity == row.identity:
            return any((name, words) == (block, why) for name, words, _ in _disagreements(subject.before, other))
    return False


RULE = Rule(
    id="recipe-topology",
    severity=Severity.ERROR,
    title="a multi-node row and its recipe agree on DP attention, EP and DCP",
    explanation=(
        "Each worker block of a multi-node row says how the replica is spread over GPUs; the recipe's engine arguments "
        "say how it really is. dp-attn, ep and dcp-size must agree, or results are filed under a topology that did not "
        "run. Single-node rows are matched by recipe-variant."
    ),
    example_before="decode: { num-worker: 1, tp: 8, ep: 8, dp-attn: true }   # the recipe has no data-parallel-size",
    example_after="decode: { num-worker: 1, tp: 8, ep: 1, dp-attn: false }",
    judge=judge,
)
