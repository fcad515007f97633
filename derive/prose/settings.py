"""Lines about recipe settings: draft depth, admission, arguments and environment, per group of points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...schema.arguments import canonical
from ...schema.engines import Engine, engine_of
from ...schema.image import image_or_none
from ..change import KeyChange
from ..settings import ARGS, BENCH_ENV, ENV, RECIPE, Setting
from ..wording import Arms, Phrase, Where, listed
from .facts import Fact, Group, gather, universe
from .rows import Figures, Told, changed, slug

ROUTER_IMAGE = "frontend.container_image"
# Stated by the topology of a new arm already.
TOPOLOGY_ARGUMENTS = (
    "tensor-parallel-size", "tp-size", "tp", "pipeline-parallel-size", "data-parallel-size", "dp-size",
    "expert-parallel-size", "ep-size", "moe-expert-parallel-size", "enable-expert-parallel",
    "enable-dp-attention", "enable-attention-dp", "decode-context-parallel-size",
)  # fmt: skip
SETTINGS_PER_SENTENCE = 8


def settings_lines(change: KeyChange, arms: Arms, figures: Figures) -> Iterator[Told]:
    """What the key's recipes now set, told once for all points that share it."""
    telling = _Telling(change, arms, figures)
    rest: list[Fact] = []
    for fact in gather(change, telling.told_elsewhere, telling.is_draft):
        if fact.setting.name == ROUTER_IMAGE:
            yield Told("router-image", telling.statement(fact, "the router image", "路由镜像"))
        elif telling.is_draft(fact.setting):
            yield Told(f"draft-tokens{_of_role(fact.setting)}", telling.drafts(fact))
        else:
            rest.append(fact)
    yield from telling.admission(rest)
    yield from telling.clustered(rest)


class _Telling:
    """Words for the facts of one key."""

    def __init__(self, change: KeyChange, arms: Arms, figures: Figures) -> None:
        self.entry = change.entry
        self.arms = arms
        self.figures = figures
        self.points = universe(change)
        self.engine: Engine | None = engine_of(change.entry.framework)

    def told_elsewhere(self, name: Setting, before: Any, after: Any) -> bool:
        """Whether another line says it: the container is the image, a topology's arguments are its arm."""
        if name.scope == ARGS and name.canonical_name in TOPOLOGY_ARGUMENTS and before is None:
            return True
        if name.scope == RECIPE and name.name in ("model.container", "identity.container.image"):
            one, image = image_or_none(after), image_or_none(self.entry.image)
            return one is not None and image is not None and one.same_image(image)
        return name.scope == RECIPE and name.name == "model.path" and after == self.entry.model

    def is_draft(self, name: Setting) -> bool:
        """Whether the setting is the engine's count of draft tokens."""
        if self.engine is None or name.scope != ARGS:
            return False
        drafts = [draft for draft in (*self.engine.drafts, *self.engine.alternatives) if draft.plus == 0]
        return name.canonical_name in {canonical(str(draft.knob)) for draft in drafts}

    def drafts(self, fact: Fact) -> Phrase:
        """Draft depth with the golden AL of each."""
        role = f"{fact.setting.role} " if fact.setting.role else ""
        for group in fact.groups if fact.setting.role != "prefill" else ():
            # The decode server speculates; what prefill runs with is no depth that a curve measures.
            if group.after.isdecimal() and (golden := self.figures.acceptance(self.entry, int(group.after))):
                known = " or ".join(golden)
                group.note = Phrase(f" (golden AL {known})", f"（golden AL {known}）")
        return self.statement(fact, f"{role}draft tokens", f"{role}draft token 数")

    def admission(self, rest: list[Fact]) -> Iterator[Told]:
        """Admission, and the graphs that follow from it, in one line where they changed at the same points."""
        if self.engine is None:
            return
        admission = _take(rest, self.engine.admission.name)
        if admission is None:
            return
        words = self.statement(admission)
        graphs = _take(rest, self.engine.graphs.name) if self.engine.graphs is not None else None
        if graphs is not None and _follows(graphs, admission):
            words += Phrase(f", with {graphs.setting} up to it", f"，{graphs.setting} 覆盖至该值")
        elif graphs is not None:
            rest.append(graphs)
        yield Told("admission", _explained(words))

    def clustered(self, facts: Sequence[Fact]) -> Iterator[Told]:
        """Settings that changed at the same points share a sentence; one that varies has its own."""
        clusters: dict[Any, list[Fact]] = {}
        for fact in facts:
            clusters.setdefault(fact.signature if len(fact.groups) == 1 else id(fact), []).append(fact)
        for cluster in clusters.values():
            for start in range(0, len(cluster), SETTINGS_PER_SENTENCE):
                part = cluster[start : start + SETTINGS_PER_SENTENCE]
                words = self.statement(part[0]) if len(part) == 1 else self.together(part)
                yield Told(f"setting:{slug(str(part[0].setting))}", words)

    def together(self, facts: Sequence[Fact]) -> Phrase:
        """`set A=1 and b to 2; drop C on the TP8 arm`."""
        verbs: dict[str, list[Phrase]] = {}
        for fact in facts:
            verb, words = _clause(fact.setting, fact.groups[0])
            verbs.setdefault(verb, []).append(words)
        zh = {"set": "设置", "change": "更改", "drop": "移除"}
        parts = [
            Phrase(f"{verb} {listed(words).en}", f"{zh[verb]} {listed(words).zh}") for verb, words in verbs.items()
        ]
        place = self.place(facts[0].groups[0].points)
        return Phrase("; ".join(one.en for one in parts) + place.en, _front(place) + "；".join(one.zh for one in parts))

    def statement(self, fact: Fact, name: str = "", zh: str = "") -> Phrase:
        """`change NAME from A to B at …`, or `set NAME to A at …; B at …`."""
        name = name or str(fact.setting)
        zh = zh or name
        if len(fact.groups) == 1:
            return self._single(fact, name, zh)
        assigned = _is_environment(fact.setting)
        parts = []
        for group, place in self._places(fact):
            was = self._was(group)
            value = (f"{name}={group.after}" if assigned else group.after) if group.after else f"no {name}"
            value_zh = f"为 {group.after}" if group.after else "不设"
            zh_part = f"{place.zh}{value_zh}{group.note.zh}{was.zh}"
            parts.append(Phrase(f"{value}{group.note.en}{place.en}{was.en}", zh_part))
        en = "; ".join(part.en for part in parts)
        return Phrase(
            f"set {en}" if assigned else f"set {name} to {en}", f"{zh}：{'；'.join(part.zh for part in parts)}"
        )

    def _single(self, fact: Fact, name: str, zh: str) -> Phrase:
        group = fact.groups[0]
        place = self.place(group.points)
        befores = [before for before in group.before if before]
        # New points run the new value like all others; one old value everywhere is the whole story.
        if len(befores) == 1 and len(group.before) == 1 and (not group.new or len(group.points) == len(self.points)):
            words = changed(name, befores[0], group.after or None, zh=zh)
            return Phrase(words.en + group.note.en + place.en, _front(place) + words.zh + group.note.zh)
        if group.after == "":
            words = changed(name, " or ".join(befores), None, zh=zh)
            return Phrase(words.en + place.en, _front(place) + words.zh)
        was = self._was(group)
        if _is_environment(fact.setting):
            return Phrase(
                f"set {name}={group.after}{place.en}{was.en}", f"{_front(place)}设置 {name}={group.after}{was.zh}"
            )
        en = f"set {name} to {group.after}{group.note.en}{place.en}{was.en}"
        return Phrase(en, f"{_front(place)}将 {zh} 设为 {group.after}{group.note.zh}{was.zh}")

    def _places(self, fact: Fact) -> list[tuple[Group, Phrase]]:
        """The groups with their places, the largest last and as "every other point" where it is the rest."""
        groups = sorted(fact.groups, key=lambda group: len(group.points))
        result = [(group, self.place(group.points)) for group in groups]
        covered = sum(len(group.points) for group in groups)
        if covered == len(self.points) and len(groups[-1].points) > 2:
            result[-1] = (groups[-1], Phrase(" at every other point", "其余各点"))
        return result

    def place(self, where: Sequence[Where]) -> Phrase:
        """` at TP4 C1 and C2`, ` on the TP8 arm`, nothing where every point is meant."""
        if len(where) == len(self.points):
            return Phrase("", "")
        named = self.arms.points(where, self.points)
        preposition = "on" if self.arms.whole(where, self.points) else "at"
        return Phrase(f" {preposition} {named.en}", named.zh)

    def _was(self, group: Group) -> Phrase:
        """What it was, where that is not the same everywhere: `(TP4 C2 was 5)`."""
        known = {before: where for before, where in group.before.items() if before}
        if not known:
            return Phrase("", "")
        if len(known) == len(group.before) == 1 and not group.new:
            (before,) = known
            return Phrase(f" (was {before})", f"（原为 {before}）")
        parts = []
        for before, where in known.items():
            named = self.arms.points(where, self.points)
            verb = "was" if len(where) == 1 or self.arms.whole(where, self.points) else "were"
            parts.append(Phrase(f"{named.en} {verb} {before}", f"{named.zh} 原为 {before}"))
        return Phrase(f" ({'; '.join(part.en for part in parts)})", f"（{'；'.join(part.zh for part in parts)}）")


def _of_role(name: Setting) -> str:
    return f":{name.role}" if name.role == "prefill" else ""


def _is_environment(name: Setting) -> bool:
    return name.scope in (ENV, BENCH_ENV)


def _take(facts: list[Fact], name: str) -> Fact | None:
    """Take the fact about one argument out of the list, where there is exactly one."""
    found = [fact for fact in facts if fact.setting.scope == ARGS and fact.setting.canonical_name == canonical(name)]
    if len(found) != 1:
        return None
    facts.remove(found[0])
    return found[0]


def _explained(words: Phrase) -> Phrase:
    """`2×` stands for a multiple of the concurrency; said once, at its first use."""
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


def _front(place: Phrase) -> str:
    return f"{place.zh}：" if place.zh else ""


def _clause(name: Setting, group: Group) -> tuple[str, Phrase]:
    if group.after == "":
        was = group.one_before
        return "drop", Phrase(
            f"{name} (was {was})" if was else str(name), f"{name}（原为 {was}）" if was else str(name)
        )
    if group.one_before:
        before = group.one_before
        return "change", Phrase(f"{name} from {before} to {group.after}", f"{name} 从 {before} 改为 {group.after}")
    if _is_environment(name):
        return "set", Phrase.same(f"{name}={group.after}")
    return "set", Phrase(f"{name} to {group.after}", f"{name} 为 {group.after}")
