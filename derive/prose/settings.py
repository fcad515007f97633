"""Lines about recipe settings: draft depth, admission, arguments and environment, per group of points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...schema.engines import Engine, engine_of
from ...schema.image import image_or_none
from ...schema.master import Entry
from ..change import KeyChange
from ..settings import ARGS, BENCH_ENV, ENV, RECIPE, Setting
from ..wording import Arms, Phrase, listed, value
from .facts import Fact, Group, Where, gather, universe
from .rows import Figures, Told, changed, slug

ROUTER_IMAGE = "frontend.container_image"
# Stated by the topology of a new arm already.
TOPOLOGY_ARGUMENTS = (
    "tensor-parallel-size", "tp-size", "tp", "pipeline-parallel-size", "data-parallel-size", "dp-size",
    "expert-parallel-size", "ep-size", "moe-expert-parallel-size", "enable-expert-parallel",
    "enable-dp-attention", "enable-attention-dp", "decode-context-parallel-size",
)  # fmt: skip
PARAMETERS_PER_SENTENCE = 8


def settings_lines(change: KeyChange, arms: Arms, figures: Figures) -> Iterator[Told]:
    """What the key's recipes now set, told once for all points that share it."""
    facts = gather(change, lambda name, before, after: _told_elsewhere(change, name, before, after))
    points = universe(change)
    engine = engine_of(change.entry.framework)
    rest: list[Fact] = []
    for fact in facts:
        if fact.setting.name == ROUTER_IMAGE:
            yield Told("router-image", _statement("the router image", "路由镜像", fact, points, arms))
        elif _is_draft(fact.setting, engine):
            yield from _draft_line(change.entry, fact, points, arms, figures)
        else:
            rest.append(fact)
    yield from _admission_line(rest, points, arms, engine)
    yield from _clustered(rest, points, arms)


def _told_elsewhere(change: KeyChange, name: Setting, before: Any, after: Any) -> bool:
    """Whether another line says it: the container is the image, a topology's arguments are its arm."""
    if name.scope == ARGS and name.canonical_name in TOPOLOGY_ARGUMENTS and before is None:
        return True
    if name.scope == RECIPE and name.name in ("model.container", "identity.container.image"):
        return _same_image(after, change.entry.image)
    return name.scope == RECIPE and name.name == "model.path" and after == change.entry.model


def _same_image(one: Any, other: str) -> bool:
    left, right = image_or_none(one), image_or_none(other)
    return left is not None and right is not None and left.same_image(right)


def _is_draft(name: Setting, engine: Engine | None) -> bool:
    if engine is None or name.scope != ARGS:
        return False
    drafts = [draft for draft in (*engine.drafts, *engine.alternatives) if draft.plus == 0]
    names = {str(draft.knob).replace("_", "-") for draft in drafts}
    return name.canonical_name in names


def _draft_line(entry: Entry, fact: Fact, points: Sequence[Where], arms: Arms, figures: Figures) -> Iterator[Told]:
    for group in fact.groups:
        if group.after.isdecimal():
            golden = figures.acceptance(entry, int(group.after))
            if golden:
                group.after += f" (golden AL {' or '.join(golden)})"
    yield Told("draft-tokens", _statement("draft tokens", "draft token 数", fact, points, arms))


def _admission_line(rest: list[Fact], points: Sequence[Where], arms: Arms, engine: Engine | None) -> Iterator[Told]:
    """Admission and the graphs that follow from it, in one line where they changed at the same points."""
    if engine is None:
        return
    admission = next(
        (fact for fact in rest if fact.setting.canonical_name == str(engine.admission).replace("_", "-")),
        None,
    )
    graphs = next(
        (
            fact
            for fact in rest
            if engine.graphs and fact.setting.canonical_name == engine.graphs.name.replace("_", "-")
        ),
        None,
    )
    if admission is None:
        return
    rest.remove(admission)
    words = _statement(str(admission.setting), str(admission.setting), admission, points, arms)
    if graphs is not None and _follows(graphs, admission):
        rest.remove(graphs)
        words += Phrase(f", with {graphs.setting} up to it", f"，{graphs.setting} 覆盖至该值")
    yield Told("admission", _explained(words))


def _explained(words: Phrase) -> Phrase:
    """`2×` stands for a multiple of the concurrency; said once, at its first use."""
    if "×" not in words.en:
        return words
    return Phrase(words.en.replace("×", "× the concurrency", 1), words.zh.replace("×", "× 并发", 1))


def _follows(graphs: Fact, admission: Fact) -> bool:
    """Whether every capture list ends in the admission of its point, so that saying one says the other."""
    limits: dict[Any, str] = {}
    for group in admission.groups:
        for item, point in group.points:
            limits[item.scenario, item.lengths, point.row.identity, point.concurrency] = group.after
    for group in graphs.groups:
        last = group.after.strip("[]'").split(",")[-1].strip()
        for item, point in group.points:
            limit = limits.get((item.scenario, item.lengths, point.row.identity, point.concurrency), "")
            if limit.endswith("×"):
                limit = str(int(limit[:-1]) * point.concurrency)
            if last != limit:
                return False
    return True


def _clustered(facts: Sequence[Fact], points: Sequence[Where], arms: Arms) -> Iterator[Told]:
    """Settings that changed at the same points share a sentence; one that varies has its own."""
    clusters: dict[Any, list[Fact]] = {}
    for fact in facts:
        scope = fact.setting.scope if fact.setting.scope != BENCH_ENV else ENV
        key = (fact.signature, scope) if len(fact.groups) == 1 else (id(fact), scope)
        clusters.setdefault(key, []).append(fact)
    for cluster in clusters.values():
        for start in range(0, len(cluster), PARAMETERS_PER_SENTENCE):
            part = cluster[start : start + PARAMETERS_PER_SENTENCE]
            stem = f"setting:{slug(str(part[0].setting))}"
            if len(part) == 1:
                yield Told(stem, _one(part[0], points, arms))
            else:
                yield Told(stem, _together(part, points, arms))


def _one(fact: Fact, points: Sequence[Where], arms: Arms) -> Phrase:
    name = str(fact.setting)
    if fact.setting.scope in (ENV, BENCH_ENV):
        return _environment(fact, points, arms)
    return _statement(name, name, fact, points, arms)


def _together(facts: Sequence[Fact], points: Sequence[Where], arms: Arms) -> Phrase:
    at = _at(facts[0].groups[0].points, points, arms)
    verbs: dict[str, list[Phrase]] = {}
    for fact in facts:
        group = fact.groups[0]
        verb, words = _clause(fact.setting, group)
        verbs.setdefault(verb, []).append(words)
    zh = {"set": "设置", "change": "更改", "drop": "移除"}
    parts = [Phrase(f"{verb} {listed(words).en}", f"{zh[verb]} {listed(words).zh}") for verb, words in verbs.items()]
    en = "; ".join(part.en for part in parts)
    return Phrase(f"{en}{at.en}", f"{_front(at)}{'；'.join(part.zh for part in parts)}")


def _front(at: Phrase) -> str:
    return f"{at.zh}：" if at.zh else ""


def _clause(name: Setting, group: Group) -> tuple[str, Phrase]:
    before = group.one_before
    equals = "=" if name.scope in (ENV, BENCH_ENV) else " "
    if group.after == "":
        return "drop", Phrase.same(str(name))
    if before:
        return "change", Phrase(f"{name} from {before} to {group.after}", f"{name} 从 {before} 改为 {group.after}")
    return "set", Phrase.same(f"{name}{equals}{group.after}")


def _environment(fact: Fact, points: Sequence[Where], arms: Arms) -> Phrase:
    """`set NAME=1 at TP4 C1 and C2 and NAME=0 at every other point`."""
    group = fact.groups[0]
    if len(fact.groups) == 1 and (group.one_before or group.after == ""):
        return _statement(str(fact.setting), str(fact.setting), fact, points, arms)
    parts = []
    for group, at in _ordered(fact, points, arms):
        text = f"{fact.setting}={group.after}" if group.after else f"no {fact.setting}"
        zh = f"{fact.setting}={group.after}" if group.after else f"不设 {fact.setting}"
        was = _was(group, arms)
        parts.append(Phrase(f"{text}{at.en}{was.en}", f"{_front(at)}{zh}{was.zh}"))
    joined = listed(parts)
    return Phrase(f"set {joined.en}", "；".join(part.zh for part in parts) if len(parts) > 1 else f"设置 {joined.zh}")


def _statement(name: str, zh: str, fact: Fact, points: Sequence[Where], arms: Arms) -> Phrase:
    """`change NAME from A to B at …`, or `set NAME to A at … and to B at …`."""
    if len(fact.groups) == 1:
        group = fact.groups[0]
        at = _at(group.points, points, arms)
        if group.one_before or group.after == "":
            words = changed(name, group.one_before or _befores(group), group.after or None, zh=zh)
        else:
            was = _was(group, arms)
            return Phrase(
                f"set {name} to {group.after}{at.en}{was.en}",
                f"{_front(at)}将 {zh} 设为 {group.after}{was.zh}",
            )
        return Phrase(f"{words.en}{at.en}", f"{_front(at)}{words.zh}")
    parts = []
    for group, at in _ordered(fact, points, arms):
        was = _was(group, arms)
        en = f"to {group.after}{at.en}{was.en}" if group.after else f"to nothing{at.en}{was.en}"
        parts.append(Phrase(en, f"{_front(at)}{group.after or '不设'}{was.zh}"))
    joined = listed(parts)
    return Phrase(f"set {name} {joined.en}", f"{zh}：{'；'.join(part.zh for part in parts)}")


def _befores(group: Group) -> str:
    return " or ".join(before for before in group.before if before)


def _ordered(fact: Fact, points: Sequence[Where], arms: Arms) -> list[tuple[Group, Phrase]]:
    """The groups with their places, the largest last and as "every other point" where it is the rest."""
    groups = sorted(fact.groups, key=lambda group: len(group.points))
    covered = sum(len(group.points) for group in groups)
    result = [(group, _at(group.points, points, arms)) for group in groups]
    if covered == len(points) and len(groups) > 1 and len(groups[-1].points) > 2:
        result[-1] = (groups[-1], Phrase(" at every other point", "其余各点"))
    return result


def _at(where: Sequence[Where], points: Sequence[Where], arms: Arms) -> Phrase:
    if len(where) == len(points):
        return Phrase("", "") if len(points) == 1 else Phrase(" at every point", "所有点")
    named = arms.points(where)
    return Phrase(f" at {named.en}", named.zh)


def _was(group: Group, arms: Arms) -> Phrase:
    """What it was, where that is not the same everywhere: `(C2 was 5)`."""
    known = {before: where for before, where in group.before.items() if before}
    if not known:
        return Phrase("", "")
    if len(known) == 1 and len(group.before) == 1 and not group.new:
        (before,) = known
        return Phrase(f" (was {before})", f"（原为 {before}）")
    parts = []
    for before, where in known.items():
        named = arms.points(where)
        parts.append(Phrase(f"{named.en} {'was' if len(where) == 1 else 'were'} {before}", f"{named.zh} 原为 {before}"))
    joined = listed(parts)
    return Phrase(f" ({joined.en})", f"（{joined.zh}）")


def shown(data: Any) -> str:
    """A setting's value in a line."""
    return value(data)
