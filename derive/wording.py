"""Small words of the prose, in English and Chinese: lists, numbers, arms and points as people write them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..schema.master import Item, Point, Row

_IDEOGRAPHS = "\u4e00-\u9fff"
_PUNCTUATION = "，。；：（）、"
BACKENDS = {"lmcache": "LMCache", "hicache": "HiCache", "mooncake": "Mooncake", "vllm-simple": "SimpleCPU"}
SPEC_DECODING = {"mtp": ("MTP", "MTP"), "draft_model": ("draft model", "draft model")}
Where: TypeAlias = tuple[Item, Point]


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
    return Phrase(phrase.en[:1].upper() + phrase.en[1:] + ".", spaced(phrase.zh) + "。")


def spaced(text: str) -> str:
    """Chinese with one blank between words and names, none between words nor beside full-width punctuation."""
    text = re.sub(rf"(?<=[{_IDEOGRAPHS}]) (?=[{_IDEOGRAPHS}])", "", text)
    text = re.sub(rf" *([{_PUNCTUATION}]) *", r"\1", text)
    text = re.sub(rf"(?<=[{_IDEOGRAPHS}])(?=[A-Za-z0-9])", " ", text)
    return re.sub(rf"(?<=[A-Za-z0-9%])(?=[{_IDEOGRAPHS}])", " ", text)


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
    """`TP4+DCP4`; of a multi-node row `1P2D (DEP4 prefill, TP8 decode)`, or `aggregated TP8`."""
    blocks = row.blocks
    if not blocks:
        return str(row.topology)
    decode = blocks.get("decode")
    if "worker" in blocks or (decode is not None and decode.workers == 0):
        block = blocks.get("worker") or blocks["prefill"]
        times = f"{block.workers}×" if block.workers > 1 else ""
        return f"{times}aggregated {block.topology}"
    prefill = blocks.get("prefill")
    if prefill is None or decode is None:
        return str(row)
    head = f"{prefill.workers}P{decode.workers}D"
    if prefill.topology == decode.topology:
        return f"{head} {prefill.topology}"
    return f"{head} ({prefill.topology} prefill, {decode.topology} decode)"


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

    def name(self, item: Item, row: Row, *, bare: bool = False) -> Phrase:
        """The arm's name; `bare` leaves out what tells it apart by offload, for where that is said anyway."""
        key = (item.scenario, item.lengths, row.identity)
        name = self._names.get(key) or Phrase.same(topology(row))
        if not bare:
            return name
        told = _offload_word(row)
        return Phrase(name.en.replace(told.en, ""), name.zh.replace(told.zh, ""))

    def points(self, points: Sequence[Where], universe: Sequence[Where] = ()) -> Phrase:
        """`TP4 C1 and C2`, `TP4 C1 and TP8 C4`; `the TP8 arm` where all of its points in `universe` are meant."""
        every = self._by_arm(universe)
        parts = []
        for key, (name, values) in self._by_arm(points).items():
            if key in every and len(values) > 1 and every[key][1] == values:
                parts.append(Phrase(f"the {name.en} arm", f"{name.zh} 组"))
            else:
                parts.append(name + Phrase.same(" ") + concurrencies(values))
        return _series(parts)

    def whole(self, points: Sequence[Where], universe: Sequence[Where]) -> bool:
        """Whether the points are whole arms, and nothing but whole arms, of `universe`."""
        every = self._by_arm(universe)
        groups = self._by_arm(points)
        return all(len(values) > 1 and every[key][1] == values for key, (_, values) in groups.items() if key in every)

    def _by_arm(self, points: Sequence[Where]) -> dict[str, tuple[Phrase, list[int]]]:
        groups: dict[str, tuple[Phrase, list[int]]] = {}
        for item, point in points:
            name = self.name(item, point.row)
            groups.setdefault(name.en, (name, []))[1].append(point.concurrency)
        return {key: (name, sorted(set(values))) for key, (name, values) in groups.items()}


def _series(parts: Sequence[Phrase]) -> Phrase:
    """Parts that hold an "and" of their own are set apart by commas before the last one too."""
    if len(parts) < 2 or not any(" and " in part.en for part in parts):
        return listed(parts)
    en = f"{', '.join(part.en for part in parts[:-1])}, and {parts[-1].en}"
    zh = f"{'、'.join(part.zh for part in parts[:-1])}以及 {parts[-1].zh}"
    return Phrase(en, zh)


def _told_apart(row: Row, twins: Sequence[Row]) -> Phrase:
    extra = Phrase("", "")
    if len({(twin.kv_offloading, twin.backend) for twin in twins}) > 1:
        extra += _offload_word(row)
    if len({twin.spec_decoding for twin in twins}) > 1:
        en, zh = SPEC_DECODING.get(row.spec_decoding, ("no speculation", "无投机解码"))
        extra += Phrase(f" ({en})", f"（{zh}）")
    return extra


def _offload_word(row: Row) -> Phrase:
    if row.kv_offloading != "dram":
        return Phrase(" (no KV offload)", "（无 KV 卸载）")
    name = BACKENDS.get(row.backend, row.backend)
    return Phrase(f" ({name} offload)", f"（{name} 卸载）")


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
