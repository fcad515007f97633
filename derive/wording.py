"""Small words of the prose, in English and Chinese: lists, numbers, arms and points as people write them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..schema.master import Item, Point, Row, Topology

_IDEOGRAPHS = "\u4e00-\u9fff"
_PUNCTUATION = "，。；：（）、"
BACKENDS = {"lmcache": "LMCache", "hicache": "HiCache", "mooncake": "Mooncake", "vllm-simple": "SimpleCPU"}
SPEC_DECODING = {"none": ("no speculation", "无投机解码")}
LONGEST_VALUE = 240
ROLES = {"prefill": "预填充", "decode": "解码"}
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


def sentence(phrase: Phrase, about: Phrase | None = None) -> Phrase:
    """One sentence: capital letter and full stop, a full-width one in Chinese; `about` names the keys it is true of."""
    if about is None:
        return Phrase(phrase.en[:1].upper() + phrase.en[1:] + ".", spaced(phrase.zh) + "。")
    return Phrase(f"{about.en}: {phrase.en}.", spaced(f"{about.zh}：{phrase.zh}") + "。")


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
    return str(number)


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


def _shape(topology: Topology) -> tuple[str, bool]:
    """`TP4+DCP4`, and whether DP attention is to be told beside it: `DEP8` says it already."""
    told = topology.dp_attn and not (topology.ep == topology.tp and topology.tp > 1)
    return str(replace(topology, dp_attn=False) if told else topology), told


def _block(topology: Topology) -> Phrase:
    shape, told = _shape(topology)
    return Phrase(f"{shape} with DP attention", f"带 DP attention 的 {shape}") if told else Phrase.same(shape)


def topology(row: Row) -> Phrase:
    """`TP4+DCP4`; of a multi-node row `1P2D (prefill DEP4, decode TP8)`, or `aggregated TP8`."""
    blocks = row.blocks
    if not blocks:
        return _block(row.topology)
    decode = blocks.get("decode")
    if "worker" in blocks or (decode is not None and decode.workers == 0):
        block = blocks.get("worker") or blocks["prefill"]
        times = f"{block.workers}×" if block.workers > 1 else ""
        return Phrase(f"{times}aggregated ", f"{times}聚合式 ") + _block(block.topology)
    prefill = blocks.get("prefill")
    if prefill is None or decode is None:
        return Phrase.same(str(row))
    head = f"{prefill.workers}P{decode.workers}D"
    if prefill.topology == decode.topology:
        shape = _block(prefill.topology)
        return Phrase(f"{head} {shape.en}", f"{head} {shape.zh}")
    one, two = _block(prefill.topology), _block(decode.topology)
    return Phrase(
        f"{head} (prefill {one.en}, decode {two.en})",
        f"{head}（{ROLES['prefill']} {one.zh}，{ROLES['decode']} {two.zh}）",
    )


def backend_title(row: Row, *, version: bool = True) -> str:
    """`LMCache 0.5.1`: the offload backend as people write it."""
    name = BACKENDS.get(row.backend, row.backend)
    return f"{name} {row.backend_version}" if version and row.backend_version else name


def with_offload(name: Phrase, row: Row) -> Phrase:
    """`TP4 with LMCache 0.5.1 DRAM offload`; ` and ` where the name has a `with` of its own."""
    if row.kv_offloading != "dram":
        return Phrase(f"{name.en} without KV offload", _noted(name.zh, "无 KV 卸载"))
    title = backend_title(row)
    joint = "and" if name.en.endswith("with DP attention") else "with"
    return Phrase(f"{name.en} {joint} {title} DRAM offload", _noted(name.zh, f"{title} DRAM 卸载"))


def _noted(name: str, note: str) -> str:
    """A Chinese name with a note in brackets, inside those it already ends in."""
    return f"{name[:-1]}；{note}）" if name.endswith("）") else f"{name}（{note}）"


ArmKey: TypeAlias = Hashable


def _key(item: Item, row: Row) -> ArmKey:
    return item.scenario, item.lengths, row.identity


class Arms:
    """Names for the rows of one key, as short as tells them apart: topology, then offload, speculation, lengths."""

    def __init__(self, rows: Sequence[tuple[Item, Row]]) -> None:
        self._bare: dict[ArmKey, Phrase] = {}
        self._apart: dict[ArmKey, Phrase] = {}
        self._short: dict[ArmKey, Phrase] = {}
        distinct = {_key(item, row): (item, row) for item, row in rows}
        several_items = len({lengths(item) for item, _ in distinct.values()}) > 1
        alike: dict[tuple[str, Hashable, str], list[Row]] = {}
        heads: Counter[Hashable] = Counter()
        for item, row in distinct.values():
            alike.setdefault(_shape_key(item, row), []).append(row)
        for scenario, sizes, name in alike:
            heads[scenario, sizes, _head(name)] += 1
        for key, (item, row) in distinct.items():
            where = Phrase.same(f"{lengths(item)} " if several_items else "")
            shape = topology(row)
            twins = alike[_shape_key(item, row)]
            self._bare[key] = where + shape
            self._apart[key] = _told_apart(row, twins)
            head = _head(shape.en)
            unique = head != shape.en and heads[item.scenario, item.lengths, head] == 1
            self._short[key] = where + (Phrase.same(head) if unique else shape)

    def name(self, item: Item, row: Row, *, bare: bool = False, short: bool = False) -> Phrase:
        """The arm's name; `bare` leaves out what tells it apart by offload, for where that is said anyway.

        `short` is for where the arm is only referred to: `1P4D`, where no other arm has that head.
        """
        key = _key(item, row)
        names = self._short if short else self._bare
        name = names.get(key) or topology(row)
        if bare:
            return name + _speculation_apart(row, self._apart.get(key))
        return name + self._apart.get(key, Phrase("", ""))

    def points(self, points: Sequence[Where], universe: Sequence[Where] = (), *, short: bool = False) -> Phrase:
        """`TP4 C1 and C2`, `TP4 C1 and TP8 C4`; `the TP8 arm` where all of its points in `universe` are meant."""
        whole, parts = self._pieces(points, universe, short)
        return _series([*whole, *parts])

    def place(self, points: Sequence[Where], universe: Sequence[Where], *, short: bool = False) -> Phrase:
        """` at TP4 C1 and C2`, ` on the TP8 arm`, ` on the TP8 arm and at TP4 C1`."""
        whole, parts = self._pieces(points, universe, short)
        at = _series(parts)
        if not whole:
            return Phrase(f" at {at.en}", at.zh)
        on = whole[0] + Phrase(f" and at {at.en}", f"以及 {at.zh}") if parts else whole[0]
        return Phrase(f" on {on.en}", on.zh)

    def _pieces(
        self, points: Sequence[Where], universe: Sequence[Where], short: bool
    ) -> tuple[list[Phrase], list[Phrase]]:
        """Whole arms, in one phrase, and what is told point by point."""
        every = self._by_arm(universe, short)
        whole: list[Phrase] = []
        parts: list[Phrase] = []
        for key, (name, values) in self._by_arm(points, short).items():
            if key in every and len(values) > 1 and every[key][1] == values:
                whole.append(name)
            else:
                parts.append(name + Phrase.same(" ") + concurrencies(values))
        names = listed(whole)
        word = "arms" if len(whole) > 1 else "arm"
        return [Phrase(f"the {names.en} {word}", f"{names.zh} 组")] if whole else [], parts

    def _by_arm(self, points: Sequence[Where], short: bool = False) -> dict[str, tuple[Phrase, list[int]]]:
        groups: dict[str, tuple[Phrase, list[int]]] = {}
        for item, point in points:
            name = self.name(item, point.row, short=short)
            groups.setdefault(name.en, (name, []))[1].append(point.concurrency)
        return {key: (name, sorted(set(values))) for key, (name, values) in groups.items()}


def _shape_key(item: Item, row: Row) -> tuple[str, Hashable, str]:
    return item.scenario, item.lengths, topology(row).en


def _head(shape: str) -> str:
    """`1P4D` of `1P4D (prefill TP1, decode TP4)`; any other name is its own head."""
    return shape.partition(" (")[0]


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
    if len({_hardware(twin) for twin in twins}) > 1:
        extra += Phrase(f" (on {_hardware(row)})", f"（{_hardware(row)}）")
    if len({twin.spec_decoding for twin in twins}) > 1:
        en, zh = SPEC_DECODING.get(row.spec_decoding, (row.spec_decoding, row.spec_decoding))
        extra += Phrase(f" ({en})", f"（{zh}）")
    return extra


def _speculation_apart(row: Row, apart: Phrase | None) -> Phrase:
    """What tells the arm apart besides its offload."""
    word = _offload_word(row)
    if apart is None:
        return Phrase("", "")
    return Phrase(apart.en.replace(word.en, ""), apart.zh.replace(word.zh, ""))


def _hardware(row: Row) -> str:
    return " and ".join(dict.fromkeys(block.hardware for block in row.blocks.values() if block.hardware))


def _offload_word(row: Row) -> Phrase:
    if row.kv_offloading != "dram":
        return Phrase(" (no KV offload)", "（无 KV 卸载）")
    title = backend_title(row, version=False)
    return Phrase(f" ({title} offload)", f"（{title} 卸载）")


def value(data: Any) -> str:
    """A setting's value as it stands in a file, on one line; a very long one cut in the middle."""
    if data is None:
        return "unset"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{key}: {value(item)}" for key, item in data.items()) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(value(item) for item in data) + "]"
    if data == "":
        return "''"
    text = str(getattr(data, "spelling", data)) if isinstance(data, float) else str(data)
    # A description is one line; a whole command or prompt is not what it is for.
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE // 2]} … {text[-LONGEST_VALUE // 2 :]}"
