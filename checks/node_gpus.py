"""Rule `node-gpus`: a single-node row fits its node, and an offloading replica shares nodes evenly."""

from __future__ import annotations

from collections.abc import Iterator

from ..derive.dram import dram_gpus
from ..schema.errors import BenchscribeError, UsageError
from ..schema.master import Entry, Row
from ..schema.results import Finding, Severity
from ..schema.runners import Hardware
from .judged import JudgedKey, judged_keys, row_place
from .model import Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per row that does not fit. Runners without stated hardware are not judged."""
    for key in judged_keys(subject):
        hardware = _hardware(subject, key.after)
        if hardware is None:
            continue
        for item, index, row in key.rows():
            wrong = _wrong(row, hardware)
            if wrong and (subject.everything or not _was_so(key, row)):
                place = row_place(subject, key.key, item, index)
                node = f"{hardware.id} has {hardware.gpus_per_node} GPUs per node ({hardware.place})"
                hint = f"{node}; lower tp, pp or pcp-size"
                yield RULE.finding(place, wrong, hint, text=str(row))


def _hardware(subject: Subject, entry: Entry) -> Hardware | None:
    try:
        return subject.after.runners.hardware(entry.runner)
    except BenchscribeError:
        return None


def _wrong(row: Row, hardware: Hardware) -> str:
    if not row.multinode and row.topology.gpus > hardware.gpus_per_node:
        return f"row {row} takes {row.topology.gpus} GPUs, a node has {hardware.gpus_per_node}"
    if row.kv_offloading == "dram":
        try:
            dram_gpus(row, hardware.gpus_per_node)
        except UsageError as error:
            return error.what
    return ""


def _was_so(key: JudgedKey, row: Row) -> bool:
    if key.before is None or key.before.runner != key.after.runner:
        return False
    return any(other.identity == row.identity for _, other in key.before.rows())


RULE = Rule(
    id="node-gpus",
    severity=Severity.ERROR,
    title="a row's GPUs fit its node",
    explanation=(
        "A single-node point takes tp × pp × pcp-size GPUs (dcp-size reuses tp's) and must fit the node of its runner. "
        "Of a multi-node row with kv-offloading: dram the prefill or worker replica must divide a node or fill whole "
        "nodes, or its share of the node's memory means nothing."
    ),
    example_before="- { tp: 8, pp: 2, … }   # on a node of 8 GPUs",
    example_after="- { tp: 8, … }",
    judge=judge,
)
