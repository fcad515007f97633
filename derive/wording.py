"""Small words of the prose, in English and Chinese: lists, numbers, arms and points as people write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..schema.master import Item, Point, Row

BACKENDS = {"lmcache": "LMCache", "hicache": "HiCache", "mooncake": "Mooncake", "vllm-simple": "SimpleCPU"}
SPEC_DECODING = {"mtp": ("with MTP", "使用 MTP"), "draft_model": ("with a draft model", "使用 draft model")}


@dataclass(frozen=True, slots=True)
class Phrase:
    """The same words in both languages."""

    en: str
    zh: str

    @classmethod
    def same(cls, text: str) -> Phrase:
        """A name, flag or number: untranslated."""
        return cls(text, text)

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.en + other.en, self.zh + other.zh)


def listed(phrases: Sequence[Phrase]) -> Phrase:
    """`a, b and c` / `a、b 和 c`."""
    if not phrases:
        return Phrase("", "")
    en, zh = [phrase.en for phrase in phrases], [phrase.zh for phrase in phrases]
    if len(phrases) == 1:
        return phrases[0]
    return Phrase(f"{', '.join(en[:-1])} and {en[-1]}", f"{'、'.join(zh[:-1])} 和 {zh[-1]}")


def sentence(phrase: Phrase) -> Phrase:
    """One sentence: capital letter and full stop, a full-width one in Chinese."""
    return Phrase(phrase.en[:1].upper() + phrase.en[1:] + ".", phrase.zh + "。")


def count(number: int) -> str:
    """A token count as people write it: 16384 is 16K, 1048576 is 1M; other numbers as they are."""
    for unit, size in (("M", 1 << 20), ("K", 1 << 10)):
        if number >= size and number % size == 0:
            return f"{number // size}{unit}"
    return f"{number:,}" if number >= 10_000 else str(number)


def lengths(item: Item) -> str:
    """`8k1k` for 8192 input and 1024 output tokens; empty for an agentic item."""
    if item.lengths is None:
        return ""
    return "".join(_thousands(value) for value in item.lengths)


def _thousands(value: int) -> str:
    return f"{value // 1024}k" if value and value % 1024 == 0 else str(value)


def concurrencies(points: Iterable[int]) -> Phrase:
    """`C1, C2 and C4`, each by name."""
    return listed([Phrase.same(f"C{point}") for point in points])


def topology(row: Row) -> str:
    """`TP4+DCP4`; of a multi-node row `1P2D DEP4 prefill, TP8 decode`, or `TP8 aggregated`."""
    blocks = row.blocks
    if not blocks:
        return str(row.topology)
    decode = blocks.get("decode")
    if "worker" in blocks or (decode is not None and decode.workers == 0):
        block = blocks.get("worker") or blocks["prefill"]
        times = f"{block.workers}×" if block.workers > 1 else ""
        return f"{times}{block.topology} aggregated"
    prefill = blocks.get("prefill")
    if prefill is None or decode is None:
        return str(row)
    head = f"{prefill.workers}P{decode.workers}D"
    if prefill.topology == decode.topology:
        return f"{head} {prefill.topology}"
    return f"{head} {prefill.topology} prefill, {decode.topology} decode"


def offload(row: Row, *, version: bool = True) -> Phrase:
    """`with LMCache 0.5.1 DRAM offload`, or `without KV offload`."""
    if row.kv_offloading != "dram":
        return Phrase("without KV offload", "无 KV 卸载")
    name = BACKENDS.get(row.backend, row.backend)
    if version and row.backend_version:
        name = f"{name} {row.backend_version}"
    return Phrase(f"with {name} DRAM offload", f"带 {name} DRAM 卸载")


class Arms:
    """Names for the rows of one key, as short as tells them apart: topology, then offload, speculation, lengths."""

    def __init__(self, rows: Sequence[tuple[Item, Row]]) -> None:
        self._names: dict[Hashable, Phrase] = {}
        distinct = {(item.scenario, item.lengths, row.identity): (item, row) for item, row in rows}
        several_items = len({lengths(item) for item, _ in distinct.values()}) > 1
        by_topology = Counter((item.scenario, item.lengths, topology(row)) for item, row in distinct.values())
        for key, (item, row) in distinct.items():
            name = Phrase.same(topology(row))
            if by_topology[item.scenario, item.lengths, topology(row)] > 1:
                twins = [
                    other
                    for one, other in distinct.values()
                    if (one.scenario, one.lengths, topology(other)) == (item.scenario, item.lengths, topology(row))
                ]
                name += _told_apart(row, twins)
            if several_items:
                name = Phrase(f"{lengths(item)} {name.en}", f"{lengths(item)} {name.zh}")
            self._names[key] = name

    def name(self, item: Item, row: Row) -> Phrase:
        """The arm's name."""
        key = (item.scenario, item.lengths, row.identity)
        return self._names.get(key) or Phrase.same(topology(row))

    def points(self, points: Sequence[tuple[Item, Point]]) -> Phrase:
        """`TP4 C1 and C2, and TP8 C4`: points grouped by arm, each named."""
        groups: dict[str, list[int]] = {}
        names: dict[str, Phrase] = {}
        for item, point in points:
            name = self.name(item, point.row)
            names[name.en] = name
            groups.setdefault(name.en, []).append(point.concurrency)
        parts = []
        for key, values in groups.items():
            named = concurrencies(sorted(dict.fromkeys(values)))
            gap = " at " if any(sign in key for sign in "+, ") else " "
            parts.append(Phrase(f"{names[key].en}{gap}{named.en}", f"{names[key].zh} {named.zh}"))
        if len(parts) < 2:
            return listed(parts)
        en = "; ".join(part.en for part in parts[:-1]) + f" and {parts[-1].en}"
        zh = "；".join(part.zh for part in parts[:-1]) + f" 和 {parts[-1].zh}"
        return Phrase(en, zh)


def _told_apart(row: Row, twins: Sequence[Row]) -> Phrase:
    extra = Phrase("", "")
    if len({(twin.kv_offloading, twin.backend) for twin in twins}) > 1:
        words = offload(row, version=False)
        extra += Phrase(f" {words.en}", f" {words.zh}")
    if len({twin.spec_decoding for twin in twins}) > 1:
        words = Phrase(*SPEC_DECODING.get(row.spec_decoding, ("without speculation", "无投机解码")))
        extra += Phrase(f" {words.en}", f" {words.zh}")
    return extra


def value(data: Any) -> str:
    """A setting's value as it stands in a file, long ones cut in the middle."""
    if data is None:
        return "unset"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{key}: {value(item)}" for key, item in data.items()) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(value(item) for item in data) + "]"
    return str(getattr(data, "spelling", data)) if isinstance(data, float) else str(data)
