"""What a master config entry must obey (source: FACTS §3): field shapes as strict models, cross rules as functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from .image import parse_image
from .master import SCENARIOS, Entry, Item, Row
from .strict import CheckoutPath, Mistake, OneLine, Spelled, Strict, mistakes_of, near
from .yaml_text import Path

Positive = Annotated[int, Field(gt=0)]
SpecDecoding = Literal["mtp", "draft_model", "none"]
E2E_ROW_FIELDS = ("srt-recipe", "eval-srt-recipe", "worker", "num-nodes")
OPTIONAL_FIELDS = ("disagg", "router", "kv-p2p-transfer")
REQUIRED_FIELDS = (
    "image",
    "model",
    "model-prefix",
    "runner",
    "precision",
    "framework",
    "multinode",
    "scenarios",
)


def _image(text: str) -> str:
    parse_image(text)
    return text


def _version(text: str) -> str:
    if text.startswith("image:"):
        raise ValueError("a component version does not start with 'image:'; give the version alone")
    return text


Image = Annotated[str, AfterValidator(_image)]


class Router(Strict):
    """A router in front of the workers."""

    name: OneLine
    version: Annotated[OneLine, AfterValidator(_version)]


class OffloadBackend(Strict):
    """What moves KV blocks to host memory."""

    name: OneLine
    version: Annotated[OneLine, AfterValidator(_version)] | None = None


class WorkerFields(Strict):
    """A `prefill`, `decode` or `worker` block."""

    num_worker: Annotated[int, Field(ge=0)]
    tp: Positive
    ep: Positive
    dp_attn: bool
    pp: Positive = 1
    dcp_size: Positive = 1
    pcp_size: Positive = 1
    hardware: OneLine | None = None
    additional_settings: list[OneLine] | None = None
    srt_recipe: CheckoutPath | None = None


class RowFields(Strict):
    """A search-space row of any kind; which fields go together is for the cross rules."""

    tp: Positive | None = None
    pp: Positive = 1
    dcp_size: Positive = 1
    pcp_size: Positive = 1
    ep: Positive = 1
    dp_attn: bool = False
    router: Router | None = None
    kv_p2p_transfer: OneLine | None = None
    spec_decoding: SpecDecoding = "none"
    conc_list: Annotated[list[Positive], Field(min_length=1)] | None = None
    conc_start: Positive | None = None
    conc_end: Positive | None = None
    kv_offloading: Literal["none", "dram"] | None = None
    kv_offload_backend: OffloadBackend | None = None
    srt_recipe: CheckoutPath | None = None
    eval_srt_recipe: CheckoutPath | None = None
    prefill: WorkerFields | None = None
    decode: WorkerFields | None = None
    worker: WorkerFields | None = None
    num_nodes: Positive | None = None


Utilization = Annotated[float, Field(gt=0, le=1, strict=False)]


class ItemFields(Strict):
    """One item of a scenario's list."""

    isl: Positive | None = None
    osl: Positive | None = None
    require_power: bool | None = None
    dram_utilization: Annotated[Utilization, Spelled] | None = None
    search_space: Annotated[list[RowFields], Field(min_length=1)]


class EntryFields(Strict):
    """A whole master config entry."""

    image: Image
    model: OneLine
    model_prefix: OneLine
    runner: OneLine
    precision: OneLine
    framework: OneLine
    multinode: bool
    disagg: bool | None = None
    router: Router | None = None
    kv_p2p_transfer: OneLine | None = None
    scenarios: dict[Literal["fixed-seq-len", "agentic-coding"], Annotated[list[ItemFields], Field(min_length=1)]]


def row_mistakes(data: Any, path: Path = (), *, shapes: bool = True) -> list[Mistake]:
    """Everything wrong with one row by itself, whatever item it stands in."""
    found = mistakes_of(RowFields, data, path)[1] if shapes else []
    if isinstance(data, Mapping):
        found += _row_cross_rules(data, path)
    return found


def _row_cross_rules(data: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    row = Row(data)
    listed, ranged = "conc-list" in data, "conc-start" in data or "conc-end" in data
    if listed and ranged:
        yield Mistake(path, "conc-list and conc-start/conc-end exclude each other", "keep one of them")
    if not listed and not ("conc-start" in data and "conc-end" in data):
        yield Mistake(path, "has no concurrencies", "give conc-list, or conc-start with conc-end")
    yield from _repeated(data, path)
    if ranged and not listed and _is_more(data.get("conc-start"), data.get("conc-end")):
        yield Mistake((*path, "conc-start"), "conc-start is more than conc-end")
    if not row.multinode and "tp" not in data:
        yield Mistake(path, "field 'tp' is required")
    yield from _dcp_rule(data, path)
    for name in row.blocks:
        if isinstance(data[name], Mapping):
            yield from _dcp_rule(data[name], (*path, name))
    if row.kv_offloading == "dram" and not row.backend:
        hint = "add kv-offload-backend, as { name: lmcache, version: … }"
        yield Mistake((*path, "kv-offloading"), "dram needs kv-offload-backend", hint)
    if row.kv_offloading != "dram" and "kv-offload-backend" in data:
        yield Mistake(
            (*path, "kv-offload-backend"),
            "a backend needs kv-offloading: dram",
            "set it, or drop the backend",
        )
    if row.multinode:
        yield from _multinode_rules(data, path)


def _repeated(data: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    listed = data.get("conc-list")
    points = listed if isinstance(listed, list) else []
    for point in dict.fromkeys(point for point in points if isinstance(point, int) and points.count(point) > 1):
        yield Mistake((*path, "conc-list"), f"{point} stands twice", "a point runs once; keep one of them")


def _is_more(start: Any, end: Any) -> bool:
    return isinstance(start, int) and isinstance(end, int) and start > end


def _dcp_rule(data: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    tp, dcp = data.get("tp"), data.get("dcp-size")
    if isinstance(tp, int) and isinstance(dcp, int) and tp > 0 and dcp > 0 and tp % dcp:
        allowed = ", ".join(str(size) for size in range(1, tp + 1) if tp % size == 0)
        yield Mistake((*path, "dcp-size"), f"dcp-size {dcp} does not divide tp {tp}", f"allowed: {allowed}")


def _multinode_rules(data: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    if "worker" in data:
        if "prefill" in data or "decode" in data:
            yield Mistake(path, "worker excludes prefill and decode", "keep one form")
        if "num-nodes" not in data:
            yield Mistake(path, "worker needs num-nodes")
    elif not ("prefill" in data and "decode" in data):
        yield Mistake(path, "a multi-node row needs both prefill and decode")
    for name in ("pp", "dcp-size", "pcp-size", "tp", "ep", "dp-attn"):
        if name in data:
            yield Mistake((*path, name), f"{name} stands in the worker blocks of a multi-node row, not in the row")
    stated = ["hardware" in data[name] for name in ("prefill", "decode") if isinstance(data.get(name), Mapping)]
    if len(set(stated)) > 1:
        yield Mistake(path, "hardware stands on both workers or on neither")


def entry_mistakes(entry: Entry, layout: str, path: Path = ()) -> list[Mistake]:
    """Everything wrong with a whole entry, its rows included."""
    found = mistakes_of(EntryFields, entry.data, path)[1]
    found += _entry_cross_rules(entry, path)
    for name, items in entry.scenarios.items():
        for item in items:
            found += _item_rules(entry, item, layout, (*path, "scenarios", name, item.index))
    return found


def _entry_cross_rules(entry: Entry, path: Path) -> Iterator[Mistake]:
    data = entry.data
    if isinstance(data.get("scenarios"), Mapping) and not data["scenarios"]:
        yield Mistake((*path, "scenarios"), "is empty", f"at least one of {', '.join(SCENARIOS)} is needed")
    if "agentic-coding" in entry.scenarios and not entry.runner.startswith("cluster:"):
        yield Mistake((*path, "runner"), f"agentic runs need a runner 'cluster:<id>', not {entry.runner!r}")
    rows = [row for _, row in entry.rows()]
    if entry.disaggregated and not entry.multinode:
        yield Mistake((*path, "disagg"), "disagg: true needs multinode: true")
    if entry.disaggregated and "kv-p2p-transfer" not in data and not all("kv-p2p-transfer" in row.data for row in rows):
        yield Mistake(path, "disagg: true needs kv-p2p-transfer, at the top or in every row")
    for name in ("router", "kv-p2p-transfer"):
        if name in data and any(name in row.data for row in rows):
            yield Mistake((*path, name), f"{name} stands at the top or in rows, not both")


def _item_rules(entry: Entry, item: Item, layout: str, path: Path) -> Iterator[Mistake]:
    agentic = item.scenario == "agentic-coding"
    if not agentic and item.lengths is None:
        yield Mistake(path, "a fixed-sequence item needs isl and osl")
    if agentic and item.lengths is not None:
        yield Mistake(path, "an agentic item has no isl or osl")
    if not agentic and "dram-utilization" in item.data:
        yield Mistake((*path, "dram-utilization"), "only agentic items have dram-utilization")
    if "require-power" in item.data and (agentic or layout != "e2e"):
        yield Mistake((*path, "require-power"), "only fixed-sequence items of the e2e layout have require-power")
    if any(row.kv_offloading == "dram" for row in item.rows) and "dram-utilization" not in item.data:
        yield Mistake(path, "rows with kv-offloading: dram need dram-utilization", "give a number or auto")
    for index, row in enumerate(item.rows):
        here = (*path, "search-space", index)
        yield from row_mistakes(row.data, here, shapes=False)
        yield from _row_in_item(entry, agentic, row, layout, here)


def _row_in_item(entry: Entry, agentic: bool, row: Row, layout: str, path: Path) -> Iterator[Mistake]:
    if entry.multinode != row.multinode:
        kind = "prefill and decode (or worker)" if entry.multinode else "tp"
        yield Mistake(path, f"the entry says multinode: {str(entry.multinode).lower()}, so its rows have {kind}")
    for name in ("kv-offloading", "kv-offload-backend"):
        if not agentic and name in row.data:
            yield Mistake((*path, name), f"fixed-sequence rows have no {name}")
    if agentic and not row.multinode and "kv-offloading" not in row.data:
        yield Mistake(path, "field 'kv-offloading' is required", "allowed: none, dram")
    if layout != "e2e":
        for name in E2E_ROW_FIELDS:
            if name in row.data:
                yield Mistake((*path, name), f"{name} is of the e2e layout; here rows name no recipe file")


def field_hint(name: str) -> str:
    """The near miss of a top-level field's name, or all that are allowed."""
    return near(name, (*REQUIRED_FIELDS, *OPTIONAL_FIELDS))
