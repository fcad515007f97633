"""Lines about the search space: arms and points that came and went, backends, settings, utilization."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ...schema.master import Entry, Item, Point, Row
from ..change import ItemChange, KeyChange, RowChange
from ..wording import BACKENDS, Arms, Phrase, concurrencies, lengths, listed, offload, topology, value

# So many added or dropped arms have a line each.
MOST_ARMS = 2


class Figures(Protocol):
    """The numbers that prose quotes, worked out elsewhere from the checkout's own facts."""

    def budget(self, entry: Entry, row: Row, utilization: Any) -> int | None:
        """GB of host DRAM the row may take at that utilization; None where the hardware is not known."""

    def tier(self, entry: Entry, row: Row) -> str:
        """The row's tier as `4 × 256 GiB = 1099.5 GB`, empty where its size is not known."""

    def acceptance(self, entry: Entry, draft_tokens: int) -> tuple[str, ...]:
        """The golden acceptance lengths of every curve that may be meant, as the curves spell them."""


@dataclass(frozen=True, slots=True)
class Told:
    """One fact told: the stem of its line's id and the words."""

    id: str
    words: Phrase


def arms_of(change: KeyChange) -> Arms:
    """Names for every row of the key, before and after."""
    rows: list[tuple[Item, Row]] = []
    for entry in (change.after, change.before):
        rows += list(entry.rows()) if entry is not None else []
    return Arms(rows)


def slug(name: str) -> str:
    """A name as part of an id: `TP4+DCP4` is `tp4-dcp4`."""
    words = "".join(sign if sign.isalnum() else " " for sign in name.lower()).split()
    return "-".join(words)


def row_lines(change: KeyChange, arms: Arms) -> Iterator[Told]:
    """What became of the key's rows and points."""
    for item in change.items:
        if item.before is None or item.after is None:
            yield _item_line(item, arms)
            continue
        replaced = _replacements(item)
        told = [one for row in item.rows if id(row) not in replaced for one in _row_line(item, row, arms)]
        yield from _gathered(told)
        for was, now in dict.fromkeys(replaced.values()):
            yield _replacement(item, item.rows[was], item.rows[now], arms)
    yield from _contents_lines(change, arms)


def _gathered(told: list[Told]) -> Iterator[Told]:
    """Several arms of one kind in one line, so that a retuned search space does not take a page."""
    for stem, verb, zh in (("arm-added", "add", "新增"), ("arm-dropped", "drop", "移除")):
        alike = [one for one in told if one.id.startswith(stem)]
        if len(alike) > MOST_ARMS:
            en = "; ".join(one.words.en.removeprefix(f"{verb} ") for one in alike)
            words = Phrase(f"{verb} {en}", f"{zh} {'；'.join(one.words.zh.removeprefix(f'{zh} ') for one in alike)}")
            place = told.index(alike[0])
            told = [one for one in told if one not in alike]
            told.insert(place, Told(alike[0].id, words))
    yield from told


def _item_line(item: ItemChange, arms: Arms) -> Told:
    """A whole search space that came or went, with its arms."""
    where = f"{lengths(item.item)} {item.item.scenario}".strip()
    parts = []
    for row in item.item.rows:
        name = full_name(item.item, row, arms)
        at = concurrencies(row.concurrencies)
        parts.append(Phrase(f"{name.en} at {at.en}", f"{name.zh}：{at.zh}"))
    en, zh = "; ".join(part.en for part in parts), "；".join(part.zh for part in parts)
    if item.after is None:
        return Told(
            f"item-dropped:{slug(where)}",
            Phrase(f"drop the {where} search space: {en}", f"移除 {where} 搜索空间：{zh}"),
        )
    return Told(
        f"item-added:{slug(where)}", Phrase(f"add a {where} search space: {en}", f"新增 {where} 搜索空间：{zh}")
    )


def _replacements(item: ItemChange) -> dict[int, tuple[int, int]]:
    """Rows that only moved to another topology or backend: one gone and one new with the same points."""
    gone = [index for index, row in enumerate(item.rows) if row.after is None]
    new = [index for index, row in enumerate(item.rows) if row.before is None]
    found: dict[int, tuple[int, int]] = {}
    taken: set[int] = set()
    for was in gone:
        old = item.rows[was].row
        for now in new:
            if now not in taken and item.rows[now].row.concurrencies == old.concurrencies:
                found[id(item.rows[was])] = found[id(item.rows[now])] = (was, now)
                taken.add(now)
                break
    return found


def _replacement(item: ItemChange, was: RowChange, now: RowChange, arms: Arms) -> Told:
    old, new = full_name(item.item, was.row, arms, now.row), full_name(item.item, now.row, arms, was.row)
    at = concurrencies(now.row.concurrencies)
    en = f"replace {old.en} with {new.en} at {at.en}"
    return Told(
        f"arm-replaced:{slug(arms.name(item.item, now.row).en)}",
        Phrase(en, f"在 {at.zh} 上以 {new.zh} 取代 {old.zh}"),
    )


def full_name(item: Item, row: Row, arms: Arms, other: Row | None = None) -> Phrase:
    """An arm's name with its offload and version where that is news: for DRAM, and where it tells two rows apart."""
    differs = other is not None and other.kv_offloading != row.kv_offloading
    if row.kv_offloading != "dram" and not differs:
        return arms.name(item, row)
    return arms.name(item, row, bare=True) + Phrase.same(" ") + offload(row)


def _row_line(item: ItemChange, row: RowChange, arms: Arms) -> Iterator[Told]:
    name = arms.name(item.item, row.row)
    key = slug(name.en)
    full = full_name(item.item, row.row, arms)
    if row.before is None:
        at = concurrencies(row.row.concurrencies)
        yield Told(f"arm-added:{key}", Phrase(f"add {full.en} at {at.en}", f"新增 {full.zh}：{at.zh}"))
    elif row.after is None:
        at = concurrencies(row.row.concurrencies)
        yield Told(f"arm-dropped:{key}", Phrase(f"drop {full.en} at {at.en}", f"移除 {full.zh}：{at.zh}"))
    elif row.added or row.dropped:
        yield Told(f"points:{key}", _points(name, row.added, row.dropped))


def _points(name: Phrase, added: tuple[Point, ...], dropped: tuple[Point, ...]) -> Phrase:
    plus = concurrencies(point.concurrency for point in added)
    minus = concurrencies(point.concurrency for point in dropped)
    if added and dropped:
        return Phrase(f"replace {name.en} {minus.en} with {plus.en}", f"{name.zh}：以 {plus.zh} 取代 {minus.zh}")
    if added:
        return Phrase(f"add {name.en} {plus.en}", f"新增 {name.zh} {plus.zh}")
    return Phrase(f"drop {name.en} {minus.en}", f"移除 {name.zh} {minus.zh}")


def _contents_lines(change: KeyChange, arms: Arms) -> Iterator[Told]:
    """Changes in the contents of rows that stay, told once for all rows that share them."""
    found: dict[str, tuple[Phrase, str, list[Phrase]]] = {}
    for item in change.items:
        for row in item.rows:
            for difference in row.differences:
                for stem, words in _content(difference.name, difference.before, difference.after):
                    names = found.setdefault(words.en, (words, stem, []))[2]
                    names.append(arms.name(item.item, row.row))
    total = sum(1 for item in change.items for row in item.rows if row.after is not None)
    for words, stem, names in found.values():
        distinct = list({name.en: name for name in names}.values())
        if len(names) == total and total > 1:
            yield Told(stem, words + Phrase(" on every arm", "（所有组）"))
        else:
            at = listed(distinct)
            yield Told(stem, words + Phrase(f" on {at.en}", f"（{at.zh}）"))


def _content(name: str, before: Any, after: Any) -> Iterator[tuple[str, Phrase]]:
    if name == "kv-offload-backend":
        yield "backend", _backend(before, after)
    elif name.endswith("additional-settings"):
        yield from _settings(name.split()[0], before, after)
    else:
        yield slug(name), changed(name, before, after)


def _backend(before: Any, after: Any) -> Phrase:
    old, new = _version(before), _version(after)
    row = Row({"kv-offload-backend": after or before})
    title = BACKENDS.get(row.backend, row.backend)
    if old and new:
        return Phrase(f"move {title} from {old} to {new}", f"将 {title} 从 {old} 改为 {new}")
    return changed(f"the {title} version", old or None, new or None, zh=f"{title} 版本")


def _version(backend: Any) -> str:
    return Row({"kv-offload-backend": backend}).backend_version


def _settings(block: str, before: list[str], after: list[str]) -> Iterator[tuple[str, Phrase]]:
    """`additional-settings` compared as the `NAME=value` they are."""
    old, new = _assigned(before), _assigned(after)
    for name in dict.fromkeys((*new, *old)):
        if old.get(name) != new.get(name):
            stem = f"setting:{slug(name)}"
            if name == "CONFIG_FILE" and name in old and name in new:
                yield (
                    stem,
                    Phrase(
                        f"run {block} from {new[name]} in place of {old[name]}",
                        f"{block} 改用 {new[name]}，取代 {old[name]}",
                    ),
                )
            else:
                yield stem, changed(f"{block} {name}", old.get(name), new.get(name))


def _assigned(settings: list[str]) -> dict[str, str]:
    return {name: rest if sign else name for name, sign, rest in (text.partition("=") for text in settings)}


def changed(name: str, before: Any, after: Any, *, zh: str = "") -> Phrase:
    """`change NAME from A to B`, `set NAME to B`, `drop NAME (was A)`."""
    named = zh or name
    if before is None:
        return Phrase(f"set {name} to {value(after)}", f"将 {named} 设为 {value(after)}")
    if after is None:
        return Phrase(f"drop {name} (was {value(before)})", f"移除 {named}（原为 {value(before)}）")
    return Phrase(
        f"change {name} from {value(before)} to {value(after)}",
        f"将 {named} 从 {value(before)} 改为 {value(after)}",
    )


def utilization_lines(change: KeyChange, arms: Arms, figures: Figures) -> Iterator[Told]:
    """`dram-utilization` old → new, with the budget it gives and the tier that needs it."""
    for item in change.items:
        for difference in item.differences:
            if difference.name == "dram-utilization":
                stem = "utilization" + (f":{item.item.index}" if len(change.items) > 1 else "")
                yield Told(stem, _utilization(change, item, difference.before, difference.after, arms, figures))
            elif item.before is not None and item.after is not None:
                yield Told(slug(difference.name), changed(difference.name, difference.before, difference.after))


def _utilization(change: KeyChange, item: ItemChange, before: Any, after: Any, arms: Arms, figures: Figures) -> Phrase:
    if after is None:
        return changed("dram-utilization", before, None)
    if before is None:
        words = Phrase(f"set dram-utilization to {value(after)}", f"将 dram-utilization 设为 {value(after)}")
    else:
        verb, zh = ("raise", "提高") if after > before else ("lower", "降低")
        words = Phrase(
            f"{verb} dram-utilization from {value(before)} to {value(after)}",
            f"将 dram-utilization 从 {value(before)} {zh}到 {value(after)}",
        )
    budgets = [_budget(change, item, row, before, after, arms, figures) for row in item.rows if row.after is not None]
    told = list({phrase.en: phrase for phrase in budgets if phrase is not None}.values())
    if not told:
        return words
    return words + Phrase(": ", "：") + listed(told)


def _budget(
    change: KeyChange, item: ItemChange, row: RowChange, before: Any, after: Any, arms: Arms, figures: Figures
) -> Phrase | None:
    entry, now = change.entry, row.row
    if now.kv_offloading != "dram":
        return None
    budget = figures.budget(entry, now, after)
    if budget is None:
        return None
    name = Phrase.same(topology(now))
    old = (
        figures.budget(change.before, row.before, before)
        if row.before and change.before and before is not None
        else None
    )
    en, zh = f"a budget of {budget} GB on {name.en}", f"{name.zh} 的预算为 {budget} GB"
    if old is not None and old != budget:
        en, zh = en + f" (was {old} GB)", zh + f"（原为 {old} GB）"
    if tier := figures.tier(entry, now):
        title = BACKENDS.get(now.backend, now.backend)
        en, zh = en + f" for the {title} tier of {tier}", zh + f"，对应 {title} 层 {tier}"
    return Phrase(en, zh)
