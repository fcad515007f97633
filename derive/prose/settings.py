"""Lines about recipe settings: draft depth, admission, arguments and environment, per group of points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...schema.arguments import canonical
from ...schema.engines import Engine, engine_of
from ...schema.image import image_or_none
from ..change import KeyChange, PointChange
from ..settings import ARGS, BENCH_ENV, ENV, RECIPE, VARIABLE, Setting
from ..wording import Arms, Phrase, Where, listed
from .facts import FLAG, Fact, Group, gather, universe
from .told import Figures, Told, changed, slug

ROUTER_IMAGE = "frontend.container_image"
# Stated by the topology of a new arm already.
TOPOLOGY_ARGUMENTS = (
    "tensor-parallel-size", "tp-size", "tp", "pipeline-parallel-size", "data-parallel-size", "dp-size",
    "expert-parallel-size", "ep-size", "moe-expert-parallel-size", "enable-expert-parallel",
    "enable-dp-attention", "enable-attention-dp", "decode-context-parallel-size",
)  # fmt: skip
# Stated by a new arm, its workers and its points already.
ARM_SETTINGS = ("resources.", "benchmark.concurrencies", "benchmark.isl", "benchmark.osl")
# Beside the draft tokens, what a reader wants to know of a new point's speculation.
SPECULATION = (
    "speculative-config.method",
    "speculative-config.model",
    "speculative-algorithm",
    "speculative-draft-model-path",
)
CHAT_TEMPLATE = "benchmark.use_chat_template"
SETTINGS_PER_SENTENCE = 6


def settings_lines(change: KeyChange, arms: Arms, figures: Figures) -> Iterator[Told]:
    """What the key's recipes now set, told once for all points that share it."""
    telling = _Telling(change, arms, figures)
    rest: list[Fact] = []
    for fact in gather(change, telling.told_elsewhere, telling.is_always_news):
        if fact.setting.name == ROUTER_IMAGE:
            yield Told("router-image", telling.router_image(fact))
        elif telling.is_draft(fact.setting):
            yield Told(f"draft-tokens{_of_role(fact)}", telling.drafts(fact))
        else:
            rest.append(fact)
    yield from telling.admission(rest)
    yield from telling.clustered(rest)


class _Telling:
    """Words for the facts of one key."""

    def __init__(self, change: KeyChange, arms: Arms, figures: Figures) -> None:
        self.entry = change.entry
        self.new = change.before is None
        self.arms = arms
        self.figures = figures
        self.points = universe(change)
        self.engine: Engine | None = engine_of(change.entry.framework)

    def told_elsewhere(self, point: PointChange, name: Setting, before: Any, after: Any) -> bool:
        """Whether another line says it: the container is the image, a topology's arguments are its arm."""
        if name.scope == ARGS and name.canonical_name in TOPOLOGY_ARGUMENTS and before is None:
            return True
        if point.new and name.scope == RECIPE and name.name.startswith(ARM_SETTINGS):
            return True
        if name.scope == RECIPE and name.name in ("model.container", "identity.container.image"):
            one, image = image_or_none(after), image_or_none(self.entry.image)
            return one is not None and image is not None and one.same_image(image)
        return name.scope == RECIPE and name.name == "model.path" and after == self.entry.model

    def is_always_news(self, name: Setting) -> bool:
        """Whether the setting is news of every new point: how it speculates, whether its inputs are chats."""
        speculation = self.is_draft(name) or (name.scope == ARGS and name.canonical_name in SPECULATION)
        return speculation or (name.scope == RECIPE and name.name == CHAT_TEMPLATE)

    def is_draft(self, name: Setting) -> bool:
        """Whether the setting is the engine's count of draft tokens."""
        if self.engine is None or name.scope != ARGS:
            return False
        drafts = [draft for draft in (*self.engine.drafts, *self.engine.alternatives) if draft.plus == 0]
        return name.canonical_name in {canonical(str(draft.knob)) for draft in drafts}

    def drafts(self, fact: Fact) -> Phrase:
        """Draft depth with the golden AL of each."""
        for group in fact.groups if fact.roles != ("prefill",) else ():
            # The decode server speculates; what prefill alone runs with is no depth that a curve measures.
            if group.after.isdecimal() and (golden := self.figures.acceptance(self.entry, int(group.after))):
                group.note = Phrase(f"golden AL {' or '.join(golden)}", f"golden AL {' 或 '.join(golden)}")
        return self.statement(fact, fact.of(Phrase("draft tokens", "draft token 数")))

    def router_image(self, fact: Fact) -> Phrase:
        """The router's image, told like the entry's own where it is one for all."""
        name, group = Phrase("the router image", "路由镜像"), fact.groups[0]
        if len(group.points) < len(self.points):
            return self.statement(fact, name)
        befores = [before for before in group.before if before]
        return changed(name.en, " or ".join(befores) or None, group.after or None, zh=name.zh)

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
            words += Phrase(f", with {graphs.name.en} up to it", f"，{graphs.name.zh} 覆盖至该值")
        elif graphs is not None:
            rest.append(graphs)
        yield Told("admission", _explained(words))

    def clustered(self, facts: Sequence[Fact]) -> Iterator[Told]:
        """Settings that changed at the same points share a sentence; one that varies has its own."""
        clusters: dict[Any, list[Fact]] = {}
        for fact in facts:
            key = (fact.signature, fact.roles) if self.plain(fact) else id(fact)
            clusters.setdefault(key, []).append(fact)
        for cluster in clusters.values():
            for start in range(0, len(cluster), SETTINGS_PER_SENTENCE):
                part = cluster[start : start + SETTINGS_PER_SENTENCE]
                words = self.statement(part[0]) if len(part) == 1 else self.together(part)
                yield Told(f"setting:{slug(part[0].name.en)}", words)

    def plain(self, fact: Fact) -> bool:
        """Whether it is one new value, and one old value or none."""
        return len(fact.groups) == 1 and (self.old(fact.groups[0]) != "" or not any(fact.groups[0].before))

    def old(self, group: Group) -> str:
        """The one old value, empty without one. New points run the new value like all others, so they may join."""
        everywhere = not group.new or len(group.points) == len(self.points)
        return next(iter(group.before)) if len(group.before) == 1 and everywhere else ""

    def together(self, facts: Sequence[Fact]) -> Phrase:
        """`set A=1 and b to 2; drop C on the TP8 arm`."""
        verbs: dict[str, list[Phrase]] = {}
        for fact in facts:
            verb, words = _clause(fact, self.old(fact.groups[0]), fact.groups[0].after)
            verbs.setdefault(verb, []).append(words)
        parts = [
            Phrase(f"{verb} {listed(words).en}", f"{VERBS[verb]} {listed(words).zh}") for verb, words in verbs.items()
        ]
        roles = facts[0].of(Phrase("", ""))
        joined = Phrase("; ".join(one.en for one in parts), "；".join(one.zh for one in parts))
        if roles.en:
            joined = Phrase(f"{roles.en.strip()}: {joined.en}", f"{roles.zh.strip()}：{joined.zh}")
        return _placed(joined, self.place(facts[0].groups[0].points))

    def statement(self, fact: Fact, name: Phrase | None = None) -> Phrase:
        """`change NAME from A to B at …`, or `set NAME to A at …; B at …`."""
        name = name or fact.name
        if len(fact.groups) == 1:
            return self._single(fact, name)
        parts = []
        for group, place in self._places(fact):
            was = self._was(group)
            en = f"{group.after or 'unset'}{_bracketed([group.note]).en}{place.en}{_bracketed(was).en}"
            value = f"为 {group.after}" if group.after else "不设"
            parts.append(Phrase(en, f"{place.zh}{value}{_bracketed([group.note, *was]).zh}"))
        joint = "=" if _is_assigned(fact.setting) else " to "
        told = "; ".join(part.en for part in parts)
        return Phrase(f"set {name.en}{joint}{told}", f"{name.zh}：{'；'.join(part.zh for part in parts)}")

    def _single(self, fact: Fact, name: Phrase) -> Phrase:
        group = fact.groups[0]
        place = self.place(group.points)
        note = _bracketed([group.note])
        if self.old(group) or group.after == "":
            words = _moved(fact, name, " or ".join(before for before in group.before if before), group.after)
            return _placed(words + note, place)
        was = self._was(group)
        verb, words = _set(fact, name, group.after)
        told = f"{VERBS[verb]} {words.zh}"
        if verb == "set" and not _is_assigned(fact.setting):
            told = f"将 {name.zh} 设为 {group.after}"
        named = _placed(Phrase(f"{verb} {words.en}{note.en}", told), place)
        return Phrase(f"{named.en}{_bracketed(was).en}", f"{named.zh}{_bracketed([group.note, *was]).zh}")

    def _places(self, fact: Fact) -> list[tuple[Group, Phrase]]:
        """The groups with their places, the largest last and as "every other point" where it is the rest."""
        groups = sorted(fact.groups, key=lambda group: len(group.points))
        result = [(group, self.place(group.points, every=False)) for group in groups]
        covered = sum(len(group.points) for group in groups)
        if covered == len(self.points) and len(groups[-1].points) > 2:
            result[-1] = (groups[-1], Phrase(" at every other point", "其余各点"))
        return result

    def place(self, where: Sequence[Where], *, every: bool = True) -> Phrase:
        """` at TP4 C1 and C2`, ` on the TP8 arm`, ` at every point` where a key has several."""
        if every and len(where) == len(self.points):
            # Whatever a new key runs with is of all its points unless another place is named.
            return EVERY_POINT if len(where) > 1 and not self.new else Phrase("", "")
        return self.arms.place(where, self.points, short=True)

    def _was(self, group: Group) -> list[Phrase]:
        """What it was, where that is not the same everywhere: `TP4 C2 was 5`."""
        known = {before: where for before, where in group.before.items() if before}
        if len(known) == len(group.before) == 1 and not group.new:
            (before,) = known
            return [Phrase(f"was {before}", f"原为 {before}")]
        parts = []
        for before, where in known.items():
            named = self.arms.points(where, self.points, short=True)
            verb = "was" if len(where) == 1 or named.en.endswith(" arm") else "were"
            parts.append(Phrase(f"{named.en} {verb} {before}", f"{named.zh} 原为 {before}"))
        return parts


VERBS = {"set": "设置", "change": "将", "drop": "移除", "add": "新增"}
EVERY_POINT = Phrase(" at every point", "（所有点）")


def _placed(words: Phrase, place: Phrase) -> Phrase:
    """The place behind the words in English, in front of them in Chinese."""
    if place == EVERY_POINT:
        return words + place
    return Phrase(words.en + place.en, f"{place.zh}：{words.zh}" if place.zh else words.zh)


def _of_role(fact: Fact) -> str:
    return ":prefill" if fact.roles == ("prefill",) else ""


def _is_assigned(name: Setting) -> bool:
    """Whether people write it as `NAME=value`."""
    return name.scope in (ENV, BENCH_ENV, VARIABLE)


def _is_switch(fact: Fact, value: str) -> bool:
    """Whether it is a script's flag without a value: `--enable-x`."""
    return fact.label.startswith(FLAG) and value == "true"


def _set(fact: Fact, name: Phrase, value: str) -> tuple[str, Phrase]:
    if _is_switch(fact, value):
        return "add", name
    if _is_assigned(fact.setting):
        return "set", name + Phrase.same(f"={value}")
    return "set", name + Phrase(f" to {value}", f" 为 {value}")


def _moved(fact: Fact, name: Phrase, before: str, after: str) -> Phrase:
    """From one old value to the new one, or dropped."""
    if _is_switch(fact, before) and not after:
        return Phrase(f"drop {name.en}", f"移除 {name.zh}")
    return changed(name.en, before or None, after or None, zh=name.zh)


def _bracketed(notes: Sequence[Phrase]) -> Phrase:
    """`(golden AL 2.99; TP4 C2 was 5)`, with a blank in front; nothing without notes."""
    told = [note for note in notes if note.en]
    if not told:
        return Phrase("", "")
    return Phrase(f" ({'; '.join(note.en for note in told)})", f"（{'；'.join(note.zh for note in told)}）")


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


def _clause(fact: Fact, before: str, after: str) -> tuple[str, Phrase]:
    """One setting's part of a sentence about several: its verb and words, without its roles."""
    named = Phrase.same(fact.label)
    if after == "":
        told = before and not _is_switch(fact, before)
        return "drop", named + (Phrase(f" (was {before})", f"（原为 {before}）") if told else Phrase("", ""))
    if before:
        return "change", named + Phrase(f" from {before} to {after}", f" 从 {before} 改为 {after}")
    return _set(fact, named, after)
