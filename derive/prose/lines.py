"""All lines of a change: per key, most important first; what several keys share is told once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from posixpath import commonpath

from ...schema.engines import engine_of
from ...schema.master import Entry
from ...schema.results import Line
from ..change import Change, KeyChange, one_side
from ..wording import Arms, Phrase, concurrencies, lengths, listed, sentence
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


def derived_lines(
    change: Change,
    figures: Figures,
    keys: Sequence[str] | None = None,
    flags: Sequence[tuple[str, bool | int]] = (),
) -> tuple[Line, ...]:
    """The derived changelog lines for the given keys (None: all that changed), under the entry's flags."""
    changes = [one for one in change.keys if keys is None or one.key in keys]
    told = {one.key: [*_key_lines(one, figures), *_recipe_lines(change, one)] for one in changes}
    return tuple(_numbered([*_merged(told), *_scope_lines(flags if changes else ())]))


def _numbered(lines: Sequence[Line]) -> Iterator[Line]:
    """No two lines of one entry have one id: later ones get a number."""
    seen: Counter[str] = Counter()
    for line in lines:
        seen[line.id] += 1
        yield line if seen[line.id] == 1 else Line(f"{line.id}:{seen[line.id]}", line.en, line.zh)


SCOPES = {
    "append-only": ("points are only added; every existing point stays as it was", "仅新增点，已有的点保持不变"),
    "evals-only": ("these keys run for their accuracy evals only", "这些 config 仅运行精度评估"),
    "no-evals": ("no accuracy eval runs for this change", "此变更不运行精度评估"),
    "all-evals": ("every point gets an accuracy eval", "每个点都运行精度评估"),
}


def _scope_lines(flags: Sequence[tuple[str, bool | int]]) -> Iterator[Line]:
    """What the entry's flags promise."""
    for name, value in flags:
        if name in SCOPES and value is True:
            full = sentence(Phrase(*SCOPES[name]))
            yield Line(f"scope:{name}", full.en, full.zh)


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
            full = sentence(fact.words)
            if not several or len(keys) == len(told):
                yield Line(fact.id, full.en, full.zh)
            elif fact.id in ("key-added", "key-removed"):
                yield Line(f"{fact.id}@{keys[0]}", full.en, full.zh)
            else:
                named = listed([Phrase.same(key) for key in keys])
                yield Line(f"{fact.id}@{keys[0]}", f"{named.en}: {full.en}", f"{named.zh}：{full.zh}")


def _key_lines(change: KeyChange, figures: Figures) -> Iterator[Told]:
    if change.after is None:
        yield Told("key-removed", Phrase(f"remove {change.key}", f"移除 {change.key}"))
        return
    if change.before is None:
        yield from _new_key(change, figures)
        return
    arms = arms_of(change)
    yield from _field_lines(change)
    yield from row_lines(change, arms)
    yield from utilization_lines(change, arms, figures)
    yield from settings_lines(change, arms, figures)
    yield from _unchanged(change, arms)


def _unchanged(change: KeyChange, arms: Arms) -> Iterator[Told]:
    """Arms that stay as they were, where others of the key did not and nothing changed for all of them."""
    if change.fields or any(item.differences or item.before is None or item.after is None for item in change.items):
        return
    touched = {(point.item.index, point.point.row.identity) for point in change.points if point.differences}
    kept, moved = [], False
    for item in change.items:
        for row in item.rows:
            if row.changed or one_side(row) or (item.item.index, row.row.identity) in touched:
                moved = True
            else:
                kept.append(arms.name(item.item, row.row))
    if kept and moved:
        names = listed(list({name.en: name for name in kept}.values()))
        verb = "is" if len({name.en for name in kept}) == 1 else "are"
        yield Told("unchanged", names + Phrase(f" {verb} unchanged", "保持不变"))


def _recipe_lines(change: Change, key: KeyChange) -> Iterator[Told]:
    """Recipe files that come and go with the key."""
    new = [recipe.path for recipe in change.recipes if recipe.before is None and key.key in recipe.keys]
    new += [script.path for script in change.scripts if script.new and key.key in script.keys]
    gone = [recipe.path for recipe in change.recipes if recipe.after is None and key.key in recipe.keys]
    gone += [script.path for script in change.scripts if script.gone and key.key in script.keys]
    for paths, stem, verb, zh in ((new, "recipes-added", "add", "新增"), (gone, "recipes-removed", "remove", "移除")):
        if paths:
            folder = commonpath(paths) if len(paths) > 1 else paths[0]
            count = f"{len(paths)} recipes under" if len(paths) > 1 else "the recipe"
            count_zh = f"{len(paths)} 个 recipe，位于" if len(paths) > 1 else "recipe"
            yield Told(stem, Phrase(f"{verb} {count} {folder}", f"{zh} {count_zh} {folder}"))


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
    yield Told("key-added", _introduction(entry))
    yield Told("search-space", _search_space(change))
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
    parts = _parts(entry)
    en = (
        f"add {entry.key}: {mode}{scenarios.en} of {entry.model} in {entry.precision.upper()} on {entry.runner} "
        f"with {title}{with_en}, image {entry.image}{''.join(f', {part.en}' for part in parts)}"
    )
    zh = (
        f"新增 {entry.key}：{entry.model}（{entry.precision.upper()}）在 {entry.runner} 上的 "
        f"{mode_zh}{scenarios.zh} 基准测试，"
        f"框架 {title}{with_zh}，镜像 {entry.image}{''.join(f'，{part.zh}' for part in parts)}"
    )
    return Phrase(en, zh)


def _parts(entry: Entry) -> list[Phrase]:
    """Router and KV transfer engine, where the entry names them for all of its rows."""
    router, transfer = entry.data.get("router"), entry.text("kv-p2p-transfer")
    parts = []
    if isinstance(router, Mapping):
        name = f"{router.get('name')} {router.get('version')}"
        parts.append(Phrase(f"router {name}", f"路由 {name}"))
    if transfer:
        parts.append(Phrase(f"KV transfer over {transfer}", f"KV 传输 {transfer}"))
    return parts


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
