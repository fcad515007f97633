"""Search-space rows and what is typed about them: concurrencies, tiers, and the arm a rule is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..schema.errors import BenchscribeError
from ..schema.master import Row
from ..schema.points import doubling, parse_concurrencies
from ..schema.yaml_text import YamlMap, load, plain

ROW_ORDER = (
    "tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn", "kv-offloading", "kv-offload-backend", "router",
    "conc-list", "conc-start", "conc-end", "spec-decoding",
)  # fmt: skip


def tier_text(offload: Any) -> str:
    """A rule's `offload` as one types it."""
    if not isinstance(offload, Mapping):
        return shown(offload)
    words = {"per-rank": "per rank", "per-server": "per server"}
    return ", ".join(f"{size} {words.get(str(name), name)}" for name, size in offload.items())


def tier_brief(offload: Any) -> str:
    """The same as short as a table has room for: `256 GiB/rank`."""
    return tier_text(offload).replace(" per ", "/")


def read_tier(text: str) -> Any:
    """`256 GiB per rank` or `1000 GB per server` as a rule's `offload`; a bare size is per rank."""
    size, scope = text.strip(), "per-rank"
    for words, name in (
        ("per rank", "per-rank"),
        ("per server", "per-server"),
        ("/rank", "per-rank"),
        ("/server", "per-server"),
    ):
        if size.endswith(words):
            size, scope = size.removesuffix(words).strip(), name
    return YamlMap({scope: size}) if size else None


def scalar(text: str) -> Any:
    """A typed word as YAML reads it, its spelling kept; text that is no YAML scalar stays text."""
    try:
        value = load(text)
    except BenchscribeError:
        return text
    return value if isinstance(value, (int, float, str, bool)) else text


def ordered(row: Mapping[str, Any]) -> YamlMap:
    """A row with its fields in the customary order; fields nobody knows stand last."""
    known = [name for name in ROW_ORDER if name in row]
    result = YamlMap({name: row[name] for name in [*known, *(name for name in row if name not in ROW_ORDER)]})
    result.flow = True
    return result


def concurrency_text(row: Mapping[str, Any]) -> str:
    """A row's concurrencies as one types them: `1 2 4`, or `4..64` for a range."""
    if "conc-start" in row or "conc-end" in row:
        return f"{row.get('conc-start', '')}..{row.get('conc-end', '')}"
    listed = row.get("conc-list")
    return " ".join(str(one) for one in listed) if isinstance(listed, list) else shown(listed)


def with_concurrencies(row: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The row at other concurrencies; a range stays a range where the text is one.

    Raises ValueError naming the word that could not be read.
    """
    points = parse_concurrencies(text)
    changed = {name: value for name, value in row.items() if name not in ("conc-list", "conc-start", "conc-end")}
    first, sign, last = text.strip().partition("..")
    if (
        "conc-start" in row
        and sign
        and first.isdecimal()
        and last.isdecimal()
        and points == doubling(int(first), int(last))
    ):
        return {**changed, "conc-start": int(first), "conc-end": int(last)}
    return {**changed, "conc-list": list(points)}


def arm_match(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The fewest fields that tell a row's arm from the other rows': what a rule's `match` says of it."""
    defaults: Mapping[str, Any] = {
        "pp": 1, "dcp-size": 1, "pcp-size": 1, "ep": 1, "dp-attn": False, "spec-decoding": "none", "kv-offloading": "none",
    }  # fmt: skip

    def value(of: Mapping[str, Any], name: str) -> Any:
        if name == "kv-offload-backend":
            return Row(of).backend
        return plain(of.get(name, defaults.get(name)))

    match: dict[str, Any] = {"tp": value(row, "tp")} if "tp" in row else {}
    others = [one for one in rows if one is not row and all(value(one, name) == value(row, name) for name in match)]
    for name in ("dcp-size", "ep", "dp-attn", "pp", "pcp-size", "kv-offloading", "kv-offload-backend", "spec-decoding"):
        if any(value(one, name) != value(row, name) for one in others):
            match[name] = value(row, name)
            others = [one for one in others if value(one, name) == value(row, name)]
    return match


def shown(value: Any) -> str:
    """A value of the spec or the checkout as one would type it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return " ".join(shown(part) for part in value.values())
    return str(getattr(value, "spelling", value)) if isinstance(value, (int, float)) else str(value)
