"""Master config entries as a checkout holds them: tolerant views that read everything and keep what they do not know.

What a *new* entry must obey stands in `master_rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .points import doubling

SCENARIOS = ("fixed-seq-len", "agentic-coding")
WORKER_BLOCKS = ("prefill", "decode", "worker")
TOPOLOGY_FIELDS = ("tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn")


def _whole(value: object, default: int) -> int:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else default


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True, order=True)
class Topology:
    """How one replica is spread over GPUs, defaults filled in (source: FACTS §3)."""

    tp: int = 1
    pp: int = 1
    dcp: int = 1
    pcp: int = 1
    ep: int = 1
    dp_attn: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Topology:
        """The topology that a row's or worker block's fields state."""
        return cls(
            tp=_whole(data.get("tp"), 1),
            pp=_whole(data.get("pp"), 1),
            dcp=_whole(data.get("dcp-size"), 1),
            pcp=_whole(data.get("pcp-size"), 1),
            ep=_whole(data.get("ep"), 1),
            dp_attn=data.get("dp-attn") is True,
        )

    @property
    def gpus(self) -> int:
        """GPUs of one replica: `tp × pp × pcp-size`; DCP reuses TP's (source: FACTS §3)."""
        return self.tp * self.pp * self.pcp

    def __str__(self) -> str:
        """As people write it: `TP4`, `TP4+DCP4`, `TP8/EP8`, `DEP8` for DP attention over all experts."""
        if self.dp_attn and self.ep == self.tp and self.tp > 1:
            head = f"DEP{self.tp}"
        else:
            head = f"TP{self.tp}" + (f"/EP{self.ep}" if self.ep > 1 else "")
            head += " with DP attention" if self.dp_attn else ""
        more = [("PP", self.pp), ("DCP", self.dcp), ("PCP", self.pcp)]
        return head + "".join(f"+{name}{size}" for name, size in more if size > 1)


@dataclass(frozen=True, slots=True)
class WorkerBlock:
    """A `prefill`, `decode` or `worker` block of a multi-node row."""

    data: Mapping[str, Any]

    @property
    def workers(self) -> int:
        return _whole(self.data.get("num-worker"), 0)

    @property
    def topology(self) -> Topology:
        return Topology.of(self.data)

    @property
    def hardware(self) -> str:
        return _text(self.data.get("hardware"))

    @property
    def settings(self) -> tuple[str, ...]:
        """`additional-settings` as written, each mostly `NAME=value`."""
        return tuple(_text(item) for item in _list(self.data.get("additional-settings")))

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.workers, self.topology, self.hardware


@dataclass(frozen=True, slots=True)
class Row:
    """One search-space row. `data` is what the file says; properties fill in the defaults of FACTS §3."""

    data: Mapping[str, Any]

    @property
    def topology(self) -> Topology:
        """The row's own topology; of a multi-node row the prefill's (or worker's) replica."""
        blocks = self.blocks
        if "prefill" in blocks or "worker" in blocks:
            return (blocks.get("prefill") or blocks["worker"]).topology
        return Topology.of(self.data)

    @property
    def multinode(self) -> bool:
        return any(name in self.data for name in WORKER_BLOCKS)

    @property
    def blocks(self) -> dict[str, WorkerBlock]:
        """The worker blocks of a multi-node row, empty for a single-node one."""
        return {name: WorkerBlock(_mapping(self.data[name])) for name in WORKER_BLOCKS if name in self.data}

    @property
    def spec_decoding(self) -> str:
        return _text(self.data.get("spec-decoding")) or "none"

    @property
    def kv_offloading(self) -> str:
        return _text(self.data.get("kv-offloading")) or "none"

    @property
    def backend(self) -> str:
        """The KV offload backend's name, empty without one."""
        value = self.data.get("kv-offload-backend")
        return _text(_mapping(value).get("name")) if isinstance(value, Mapping) else _text(value)

    @property
    def backend_version(self) -> str:
        return _text(_mapping(self.data.get("kv-offload-backend")).get("version"))

    @property
    def concurrencies(self) -> tuple[int, ...]:
        """The row's points, ranges expanded."""
        listed = self.data.get("conc-list")
        if isinstance(listed, list):
            return tuple(_whole(item, 0) for item in listed)
        start, end = _whole(self.data.get("conc-start"), 0), _whole(self.data.get("conc-end"), 0)
        return doubling(start, end) if 0 < start <= end else ()

    @property
    def settings(self) -> tuple[str, ...]:
        """The `additional-settings` of all worker blocks."""
        return tuple(setting for block in self.blocks.values() for setting in block.settings)

    @property
    def recipe_references(self) -> tuple[str, ...]:
        """Where the row's recipe is named: `srt-recipe`, `eval-srt-recipe`, `CONFIG_FILE=` (source: FACTS §1)."""
        named = [_text(self.data[field]) for field in ("srt-recipe", "eval-srt-recipe") if field in self.data]
        for block in self.blocks.values():
            if "srt-recipe" in block.data:
                named.append(_text(block.data["srt-recipe"]))
        prefix = "CONFIG_FILE="
        named += [setting.removeprefix(prefix) for setting in self.settings if setting.startswith(prefix)]
        return tuple(dict.fromkeys(named))

    @property
    def identity(self) -> tuple[Any, ...]:
        """What makes a row the same row before and after (source: FACTS §3, "Row identity")."""
        blocks = tuple((name, block.identity) for name, block in self.blocks.items())
        own = Topology() if blocks else Topology.of(self.data)
        nodes = _whole(self.data.get("num-nodes"), 0)
        return own, blocks, nodes, self.kv_offloading, self.backend, self.spec_decoding

    def __str__(self) -> str:
        """`TP4`, or `1×TP4 prefill, 2×TP8/EP8 decode` for a multi-node row."""
        if not self.multinode:
            return str(self.topology)
        parts = [(name, block) for name, block in self.blocks.items() if block.workers or name != "decode"]
        return ", ".join(f"{block.workers}×{block.topology} {name}" for name, block in parts)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a scenario's list: its rows and what they share."""

    scenario: str
    index: int
    data: Mapping[str, Any]

    @property
    def lengths(self) -> tuple[int, int] | None:
        """Input and output length in tokens of a fixed-sequence item, None of an agentic one."""
        if "isl" not in self.data and "osl" not in self.data:
            return None
        return _whole(self.data.get("isl"), 0), _whole(self.data.get("osl"), 0)

    @property
    def dram_utilization(self) -> float | None:
        value = self.data.get("dram-utilization")
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(Row(_mapping(row)) for row in _list(self.data.get("search-space")))

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.scenario, self.lengths


@dataclass(frozen=True, slots=True)
class Entry:
    """One master config entry: its key and what the file says of it."""

    key: str
    data: Mapping[str, Any]

    def text(self, field: str) -> str:
        """A top-level field as text, empty where it is absent."""
        return _text(self.data.get(field))

    @property
    def image(self) -> str:
        return self.text("image")

    @property
    def model(self) -> str:
        return self.text("model")

    @property
    def model_prefix(self) -> str:
        return self.text("model-prefix")

    @property
    def runner(self) -> str:
        return self.text("runner")

    @property
    def precision(self) -> str:
        return self.text("precision")

    @property
    def framework(self) -> str:
        return self.text("framework")

    @property
    def multinode(self) -> bool:
        return self.data.get("multinode") is True

    @property
    def disaggregated(self) -> bool:
        return self.data.get("disagg") is True

    @property
    def scenarios(self) -> dict[str, tuple[Item, ...]]:
        """The scenarios the entry runs, each with its items, in the file's order."""
        found = {}
        for name, items in _mapping(self.data.get("scenarios")).items():
            found[str(name)] = tuple(Item(str(name), index, _mapping(item)) for index, item in enumerate(_list(items)))
        return found

    def items(self) -> Iterator[Item]:
        """Every item of every scenario."""
        for items in self.scenarios.values():
            yield from items

    def rows(self) -> Iterator[tuple[Item, Row]]:
        """Every row with the item it stands in."""
        for item in self.items():
            for row in item.rows:
                yield item, row


@dataclass(frozen=True, slots=True)
class Point:
    """One benchmark run of a row: the row at one concurrency."""

    row: Row
    concurrency: int

    def __str__(self) -> str:
        return f"{self.row} C{self.concurrency}"


def points_of(row: Row) -> tuple[Point, ...]:
    """The points of one row, in its order."""
    return tuple(Point(row, concurrency) for concurrency in row.concurrencies)
