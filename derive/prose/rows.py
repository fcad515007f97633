"""Lines about the search space: arms and points that came and went, what took their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...schema.master import Item, Point, Row
from ..change import ItemChange, KeyChange, RowChange
from ..wording import Arms, Phrase, backend_title, concurrencies, lengths, topology, with_offload
from .contents import contents_lines
from .told import Told, slug

# So many added or dropped arms have a line each.
MOST_ARMS = 2


def arms_of(change: KeyChange) -> Arms:
    """Names for every row of the key, before and after."""
    rows: list[tuple[Item, Row]] = []
    for entry in (change.after, change.before):
        rows += list(entry.rows()) if entry is not None else []
    return Arms(rows)


def row_lines(change: KeyChange, arms: Arms) -> Iterator[Told]:
    """What became of the key's rows and points."""
    for item in change.items:
        if item.before is None or item.after is None:
            yield _item_line(item)
            continue
        replaced = _replacements(item)
        told = list(_row_lines(item, [row for row in item.rows if id(row) not in replaced], arms))
        yield from _gathered(told)
        for was, now in dict.fromkeys(replaced.values()):
            yield _replacement(item, item.rows[was], item.rows[now], arms)
    yield from contents_lines(change, arms)


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


def arms_with_points(rows: Sequence[tuple[Item, Row]], arms: Arms) -> Phrase:
    """`TP4 at C1 and C2; TP8 at C4`: rows of one name, whatever else tells them apart, are one arm."""
    parts = [
        Phrase(f"{name.en} at {at.en}", f"{name.zh}：{at.zh}")
        for name, values in _by_name(rows, arms)
        for at in (concurrencies(values),)
    ]
    return Phrase("; ".join(part.en for part in parts), "；".join(part.zh for part in parts))


def _by_name(rows: Sequence[tuple[Item, Row]], arms: Arms) -> list[tuple[Phrase, list[int]]]:
    found: dict[str, tuple[Phrase, list[int]]] = {}
    for item, row in rows:
        name = full_name(item, row, arms)
        values = found.setdefault(name.en, (name, []))[1]
        values += [value for value in row.concurrencies if value not in values]
    return [(name, sorted(values)) for name, values in found.values()]


def _item_line(item: ItemChange) -> Told:
    """A whole search space that came or went, with its arms; it says for which lengths, so that they need not."""
    where = search_space_name(item.item)
    own = [(item.item, row) for row in item.item.rows]
    rows = arms_with_points(own, Arms(own))
    gone = item.after is None
    stem, verb, zh = ("item-dropped", "drop the", "移除") if gone else ("item-added", "add the", "新增")
    words = Phrase(f"{verb} {where} search space: ", f"{zh} {where} 搜索空间：")
    return Told(f"{stem}:{slug(where)}", words + rows)


def search_space_name(item: Item) -> str:
    """`8k1k fixed-seq-len`, `agentic-coding`."""
    return f"{lengths(item)} {item.scenario}".strip()


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
    old, new = was.row, now.row
    at = concurrencies(new.concurrencies)
    key = slug(arms.name(item.item, new).en)
    if topology(old) == topology(new) and old.spec_decoding == new.spec_decoding:
        name = arms.name(item.item, new, bare=True)
        words = _offload_moved(old, new)
        told = Phrase(f"{words.en} on {name.en} at {at.en}", f"{name.zh} {at.zh}：{words.zh}")
        return Told(f"offload:{key}", told)
    one, two = full_name(item.item, old, arms, new), full_name(item.item, new, arms, old)
    return Told(
        f"arm-replaced:{key}",
        Phrase(f"replace {one.en} with {two.en} at {at.en}", f"以 {two.zh} 取代 {one.zh}：{at.zh}"),
    )


def _offload_moved(old: Row, new: Row) -> Phrase:
    """`turn on HiCache DRAM offload`, or one backend in place of another."""
    before, after = (f"{backend_title(row)} DRAM" for row in (old, new))
    if old.kv_offloading != "dram":
        return Phrase(f"turn on {after} offload", f"启用 {after} 卸载")
    if new.kv_offloading != "dram":
        return Phrase(f"turn off {before} offload", f"停用 {before} 卸载")
    return Phrase(f"replace {before} offload with {after} offload", f"以 {after} 卸载取代 {before} 卸载")


def full_name(item: Item, row: Row, arms: Arms, other: Row | None = None) -> Phrase:
    """An arm's name with its offload and version where that is news: for DRAM, and where it tells two rows apart."""
    differs = other is not None and other.kv_offloading != row.kv_offloading
    if row.kv_offloading != "dram" and not differs:
        return arms.name(item, row)
    return with_offload(arms.name(item, row, bare=True), row)


def _row_lines(item: ItemChange, rows: Sequence[RowChange], arms: Arms) -> Iterator[Told]:
    """Arms that came and went, points of those that stay; rows of one name are one arm."""
    for row in rows:
        if row.before is not None and row.after is not None and (row.added or row.dropped):
            name = arms.name(item.item, row.row)
            yield Told(f"points:{slug(name.en)}", _points(name, row.added, row.dropped))
    for stem, verb, zh, side in (
        ("arm-added", "add", "新增", [row.row for row in rows if row.before is None]),
        ("arm-dropped", "drop", "移除", [row.row for row in rows if row.after is None]),
    ):
        ids = {full_name(item.item, row, arms).en: slug(arms.name(item.item, row).en) for row in side}
        for name, values in _by_name([(item.item, row) for row in side], arms):
            at = concurrencies(values)
            words = Phrase(f"{verb} {name.en} at {at.en}", f"{zh} {name.zh}：{at.zh}")
            yield Told(f"{stem}:{ids[name.en]}", words)


def _points(name: Phrase, added: tuple[Point, ...], dropped: tuple[Point, ...]) -> Phrase:
    plus = concurrencies(point.concurrency for point in added)
    minus = concurrencies(point.concurrency for point in dropped)
    if added and dropped:
        return Phrase(f"replace {name.en} {minus.en} with {plus.en}", f"{name.zh}：以 {plus.zh} 取代 {minus.zh}")
    if added:
        return Phrase(f"add {name.en} {plus.en}", f"新增 {name.zh} {plus.zh}")
    return Phrase(f"drop {name.en} {minus.en}", f"移除 {name.zh} {minus.zh}")
