"""All lines of a change: per key, most important first; what several keys share is told once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...schema.engines import engine_of
from ...schema.master import Entry
from ...schema.results import Line
from ..change import Change, KeyChange
from ..wording import Phrase, concurrencies, lengths, listed, sentence
from .rows import Figures, Told, arms_of, changed, full_name, row_lines, slug, utilization_lines
from .settings import settings_lines

FIELD_WORDS = {
    "model": ("the model", "模型"),
    "runner": ("the runner", "runner"),
    "framework": ("the framework", "框架"),
    "precision": ("the precision", "精度"),
    "router": ("the router", "路由"),
    "kv-p2p-transfer": ("the KV transfer engine", "KV 传输引擎"),
}
SPECULATION = {"mtp": ("MTP", "MTP"), "draft_model": ("a draft model", "draft model")}


def derived_lines(change: Change, figures: Figures, keys: Sequence[str] | None = None) -> tuple[Line, ...]:
    """The derived changelog lines for the given keys (None: all that changed)."""
    changes = [one for one in change.keys if keys is None or one.key in keys]
    told = {one.key: list(_key_lines(one, figures)) for one in changes}
    return tuple(_merged(told))


def _merged(told: dict[str, list[Told]]) -> Iterator[Line]:
    """Lines in the order of the first key that has them; a fact of some keys only names those keys."""
    several = len(told) > 1
    where: dict[str, list[str]] = {}
    for key, facts in told.items():
        for fact in facts:
            where.setdefault(fact.words.en, []).append(key)
    done: set[str] = set()
    for facts in told.values():
        for fact in facts:
            if fact.words.en in done:
                continue
            done.add(fact.words.en)
            keys = where[fact.words.en]
            names_itself = fact.id.startswith(("key-added", "key-removed"))
            if not several or names_itself or len(keys) == len(told):
                full = sentence(fact.words)
                yield Line(fact.id, full.en, full.zh)
            else:
                full = sentence(fact.words)
                named = listed([Phrase.same(key) for key in keys])
                yield Line(f"{fact.id}@{keys[0]}", f"{named.en}: {full.en}", f"{named.zh}：{full.zh}")


def _key_lines(change: KeyChange, figures: Figures) -> Iterator[Told]:
    if change.after is None:
        yield Told(f"key-removed:{change.key}", Phrase(f"remove {change.key}", f"移除 {change.key}"))
        return
    if change.before is None:
        yield from _new_key(change, figures)
        return
    arms = arms_of(change)
    yield from _field_lines(change)
    yield from row_lines(change, arms)
    yield from utilization_lines(change, arms, figures)
    yield from settings_lines(change, arms, figures)


def _field_lines(change: KeyChange) -> Iterator[Told]:
    for difference in change.fields:
        if difference.name == "image":
            yield Told("image", _image(difference.before, difference.after))
        elif difference.name != "model-prefix":
            en, zh = FIELD_WORDS.get(difference.name, (difference.name, difference.name))
            yield Told(slug(difference.name), changed(en, difference.before, difference.after, zh=zh))


def _image(before: object, after: object) -> Phrase:
    return Phrase(f"update the image from {before} to {after}", f"将镜像从 {before} 更新到 {after}")


def _new_key(change: KeyChange, figures: Figures) -> Iterator[Told]:
    entry = change.entry
    arms = arms_of(change)
    yield Told(f"key-added:{change.key}", _introduction(entry))
    yield Told(f"search-space:{change.key}", _search_space(change))
    yield from utilization_lines(change, arms, figures)
    yield from settings_lines(change, arms, figures)


def _introduction(entry: Entry) -> Phrase:
    engine = engine_of(entry.framework)
    title = engine.title if engine is not None and entry.framework == engine.name else entry.framework
    speculation = [SPECULATION[mode] for mode in _speculation(entry) if mode in SPECULATION]
    with_en = f" and {speculation[0][0]} speculative decoding" if speculation else ""
    with_zh = f"，采用 {speculation[0][1]} 投机解码" if speculation else ""
    mode = "disaggregated multi-node " if entry.disaggregated else "multi-node " if entry.multinode else ""
    mode_zh = "分离式多节点 " if entry.disaggregated else "多节点 " if entry.multinode else ""
    scenarios = listed([Phrase.same(name) for name in entry.scenarios])
    en = (
        f"add {entry.key}: {mode}{scenarios.en} of {entry.model} in {entry.precision} on {entry.runner} "
        f"with {title}{with_en}, image {entry.image}"
    )
    zh = (
        f"新增 {entry.key}：{entry.model}（{entry.precision}）在 {entry.runner} 上的 {mode_zh}{scenarios.zh} 基准测试，"
        f"框架 {title}{with_zh}，镜像 {entry.image}"
    )
    return Phrase(en, zh)


def _speculation(entry: Entry) -> list[str]:
    return list(dict.fromkeys(row.spec_decoding for _, row in entry.rows() if row.spec_decoding != "none"))


def _search_space(change: KeyChange) -> Phrase:
    """Every arm of a new key with its points."""
    arms = arms_of(change)
    parts = []
    for item, row in change.entry.rows():
        name = full_name(item, row, arms)
        at = concurrencies(row.concurrencies)
        parts.append(Phrase(f"{name.en} at {at.en}", f"{name.zh}：{at.zh}"))
    items = list(change.entry.items())
    size = lengths(items[0]) if len(items) == 1 else ""
    head = Phrase(f"search space{f' at {size}' if size else ''}: ", f"搜索空间{f'（{size}）' if size else ''}：")
    return head + Phrase("; ".join(part.en for part in parts), "；".join(part.zh for part in parts))
