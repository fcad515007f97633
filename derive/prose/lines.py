"""All lines of a change: per key, most important first; what several keys share is told once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from posixpath import commonpath

from ...checkout.recipes import sku_of
from ...schema.engines import engine_of
from ...schema.master import Entry, Item, Row
from ...schema.results import Line
from ..change import Change, ItemChange, KeyChange, RowChange, one_side
from ..wording import Arms, Phrase, lengths, listed, sentence
from .contents import component, contents_lines
from .rows import arms_of, arms_with_points, row_lines, search_space_name
from .settings import settings_lines
from .tables import table_lines
from .told import FIELD_WORDS, Figures, Told, changed, slug
from .utilization import utilization_lines

# Kinds in the order of their weight; a new key's lines stand together.
ORDER = (
    "image", "router-image", "model", "precision", "framework", "runner", "key-added", "key-removed", "item-added",
    "item-dropped", "arm-replaced", "offload", "points", "arm-added", "arm-dropped", "backend", "utilization",
    "draft-tokens", "admission",
)  # fmt: skip
LAST = ("recipes-added", "recipes-removed", "unchanged")


def derived_lines(
    change: Change,
    figures: Figures,
    keys: Sequence[str] | None = None,
    flags: Sequence[tuple[str, bool | int]] = (),
) -> tuple[Line, ...]:
    """The derived changelog lines for the given keys (None: all that changed), under the entry's flags."""
    changes = [one for one in change.keys if keys is None or one.key in keys]
    told = {one.key: [*_key_lines(change, one, figures), *_recipe_lines(change, one)] for one in changes}
    new = {one.key for one in changes if one.before is None}
    lines = list(_merged(told, new))
    last = next((index for index, line in enumerate(lines) if _weight(line.id) > len(ORDER)), len(lines))
    if any(one.entry.multinode and one.after is not None for one in changes):
        # No row names the launchers' tables, so they are told once for the entry.
        lines[last:last] = [_line(fact, (), several=False, every=0) for fact in table_lines(change.tables)]
    return tuple(_numbered([*lines, *_scope_lines(flags if changes else ())]))


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
        elif name == "eval-min-prefill-ep":
            full = sentence(Phrase(f"set {name} to {value} for the accuracy evals", f"精度评估的 {name} 为 {value}"))
            yield Line(f"scope:{name}", full.en, full.zh)


def _merged(told: dict[str, list[Told]], new: Collection[str]) -> Iterator[Line]:
    """Lines by weight, then in the order of the first key that has them; a fact of some keys only names those keys."""
    where: dict[str, list[str]] = {}
    for key, facts in told.items():
        for fact in facts:
            where.setdefault(fact.words.en, []).append(key)
    weighed: list[tuple[int, Line]] = []
    done: set[str] = set()
    for key, facts in told.items():
        for fact in facts:
            if fact.words.en not in done:
                done.add(fact.words.en)
                weight = ORDER.index("key-added") if key in new else _weight(fact.id)
                weighed.append((weight, _line(fact, where[fact.words.en], several=len(told) > 1, every=len(told))))
    return (line for _, line in sorted(weighed, key=lambda pair: pair[0]))


def _weight(name: str) -> int:
    stem = name.partition("@")[0].partition(":")[0]
    if stem in LAST:
        return len(ORDER) + 1 + LAST.index(stem)
    return ORDER.index(stem) if stem in ORDER else len(ORDER)


def _line(fact: Told, keys: Sequence[str], *, several: bool, every: int) -> Line:
    if not several or len(keys) == every:
        full = sentence(fact.words)
        return Line(fact.id, full.en, full.zh)
    named = listed([Phrase.same(key) for key in keys])
    full = sentence(fact.words, None if fact.id in ("key-added", "key-removed") else named)
    return Line(f"{fact.id}@{keys[0]}", full.en, full.zh)


def _key_lines(whole: Change, change: KeyChange, figures: Figures) -> Iterator[Told]:
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
    if not _may_run_otherwise(whole, change):
        yield from _unchanged(change, arms)


def _may_run_otherwise(whole: Change, change: KeyChange) -> bool:
    """Whether what its points run changed in a file of which not everything is known: then no arm is unchanged."""
    scripted = any(change.key in script.keys for script in whole.scripts)
    return scripted or (change.entry.multinode and bool(whole.tables))


def _unchanged(change: KeyChange, arms: Arms) -> Iterator[Told]:
    """What stays as it was where other parts of the key did not, and nothing changed for all of them."""
    touched = {
        (point.item.scenario, point.item.index, point.point.row.identity)
        for point in change.points
        if point.differences
    }
    kept, moved = [], bool(change.fields)
    for item in change.items:
        whole = item.before is None or item.after is None or bool(item.differences)
        same = [] if whole else [row for row in item.rows if not _moved(item, row, touched)]
        if len(same) < len(item.rows) or whole:
            moved = True
        if len(same) == len(item.rows) and same and len(change.items) > 1:
            kept.append(
                Phrase(f"the {search_space_name(item.item)} search space", f"{search_space_name(item.item)} 搜索空间")
            )
        else:
            kept += [arms.name(item.item, row.row) for row in same]
    distinct = list(dict.fromkeys(kept))
    if distinct and moved and not change.fields:
        names = listed(distinct)
        verb = "is" if len(distinct) == 1 else "are"
        yield Told("unchanged", names + Phrase(f" {verb} unchanged", "保持不变"))


def _moved(item: ItemChange, row: RowChange, touched: Collection[Hashable]) -> bool:
    return row.changed or one_side(row) or (item.scenario, item.item.index, row.row.identity) in touched


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
            before, after = component(difference.before), component(difference.after)
            yield Told(slug(difference.name), changed(en, before, after, zh=zh))


def _image(before: object, after: object) -> Phrase:
    return Phrase(f"update the image from {before} to {after}", f"将镜像从 {before} 更新到 {after}")


def _new_key(change: KeyChange, figures: Figures) -> Iterator[Told]:
    arms = arms_of(change)
    yield Told("key-added", _introduction(change.entry))
    yield from _search_spaces(change.entry)
    yield from utilization_lines(change, arms, figures)
    yield from settings_lines(change, arms, figures)
    yield from contents_lines(change, arms)


def _introduction(entry: Entry) -> Phrase:
    engine = engine_of(entry.framework)
    title = engine.title if engine is not None and entry.framework == engine.name else entry.framework
    modes = _speculation(entry)
    # Rows say `mtp` for EAGLE3 and DSpark too (FACTS §5): quoted as it stands.
    with_en = f", speculative decoding ({', '.join(modes)})" if modes else ""
    with_zh = f"，启用投机解码（{'、'.join(modes)}）" if modes else ""
    mode = "disaggregated multi-node " if entry.disaggregated else "multi-node " if entry.multinode else ""
    mode_zh = "分离式多节点 " if entry.disaggregated else "多节点 " if entry.multinode else ""
    scenarios = listed([Phrase.same(name) for name in entry.scenarios])
    sku = _sku(entry.runner)
    parts = _parts(entry)
    en = (
        f"add {entry.key}: {mode}{scenarios.en} of {entry.model} in {entry.precision.upper()} on {sku.en} "
        f"with {title}{with_en}, image {entry.image}{''.join(f', {part.en}' for part in parts)}"
    )
    zh = (
        f"新增 {entry.key}：{entry.model}（{entry.precision.upper()}）在 {sku.zh} 上的 "
        f"{mode_zh}{scenarios.zh} 基准测试，"
        f"框架 {title}{with_zh}，镜像 {entry.image}{''.join(f'，{part.zh}' for part in parts)}"
    )
    return Phrase(en, zh)


def _sku(runner: str) -> Phrase:
    """`MI355X (cluster:mi355x-amds)`: the hardware, and the runner where that says more."""
    sku = sku_of(runner)
    name = sku.upper()
    return Phrase.same(name) if sku == runner else Phrase(f"{name} ({runner})", f"{name}（{runner}）")


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


def _search_spaces(entry: Entry) -> Iterator[Told]:
    """Every arm of a new key with its points, one line for each kind of search space."""
    spaces: dict[str, list[tuple[Item, Row]]] = {}
    for item, row in entry.rows():
        spaces.setdefault(search_space_name(item), []).append((item, row))
    for name, rows in spaces.items():
        item, _ = rows[0]
        # The line says for which lengths it is, so that its arms need not.
        told = arms_with_points(rows, Arms(rows))
        size = lengths(item) or (item.scenario if len(spaces) > 1 else "")
        head = Phrase(f"sweep {size}: " if size else "sweep ", f"扫描 {size}：" if size else "扫描 ")
        yield Told("search-space" + (f":{slug(name)}" if len(spaces) > 1 else ""), head + told)
