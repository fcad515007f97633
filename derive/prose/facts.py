"""What the recipes' settings changed to, gathered over points: the raw material of the settings lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...schema.engines import Engine
from ...schema.master import Point
from ..change import KeyChange, PointChange
from ..settings import ARGS, RECIPE, VARIABLE, Setting
from ..wording import ROLES, Phrase, Where, count, listed
from ..wording import value as shown_value

FLAG = "--"
# Arguments that count tokens, by the end of their canonical name.
_TOKENS = re.compile(
    r"(?:tokens?(?:-threshold)?|max-model-len|max-seq-len|context-len(?:gth)?|prefill-size|\.isl|\.osl)$"
)


@dataclass(slots=True)
class Group:
    """Points at which one setting now reads alike. `before` maps how it read there before to those points."""

    after: str
    points: list[Where] = field(default_factory=list)
    before: dict[str, list[Where]] = field(default_factory=dict)
    new: list[Where] = field(default_factory=list)
    note: Phrase = field(default_factory=lambda: Phrase("", ""))


@dataclass(slots=True)
class Fact:
    """One setting and the groups of points it changed at; `roles` are those it changed for alike.

    `label` is its name as the recipe writes it: a script's flag has its dashes.
    """

    setting: Setting
    groups: list[Group]
    roles: tuple[str, ...]
    label: str

    @property
    def signature(self) -> Hashable:
        """Facts with one signature changed at the same points and can share a sentence."""
        return tuple(tuple(_where(points) for points in (group.points, group.new)) for group in self.groups)

    @property
    def story(self) -> Hashable:
        """The same values at the same points: facts with one story tell one change."""
        return tuple(
            (group.after, _where(group.points), tuple((label, _where(at)) for label, at in group.before.items()))
            for group in self.groups
        )

    @property
    def name(self) -> Phrase:
        """`prefill and decode NAME`."""
        return self.of(Phrase.same(self.label))

    def of(self, name: Phrase) -> Phrase:
        """The name with the roles it is of."""
        roles = [Phrase(role, ROLES.get(role, role)) for role in self.roles if role]
        return listed(roles) + Phrase.same(" ") + name if roles else name


def _where(points: Sequence[Where]) -> Hashable:
    return tuple((item.scenario, item.lengths, point.row.identity, point.concurrency) for item, point in points)


def universe(change: KeyChange) -> list[Where]:
    """Every point of the key as it now is, whose recipe is known."""
    return [(one.item, one.point) for one in change.points if one.after is not None]


def gather(
    change: KeyChange, skip: Callable[[PointChange, Setting, Any, Any], bool], always: Callable[[Setting], bool]
) -> list[Fact]:
    """The changed settings of one key, in the order the recipes state them.

    `skip` leaves out what another line says; a setting that is `always` news is told for every new point.
    """
    differing: dict[Setting, list[tuple[PointChange, Any, Any]]] = {}
    for point in change.points:
        for name, before, after in _news(point, always):
            if not skip(point, name, before, after):
                differing.setdefault(name, []).append((point, before, after))
    for name, found in differing.items():
        if any(not point.new for point, _, _ in found):
            _complete(change, name, found)
    admission = _admission(change)
    dashes = FLAG if _runs_script(change) else ""
    return _joined(
        Fact(name, _groups(found, name, admission), (name.role,), (dashes if name.scope == ARGS else "") + name.name)
        for name, found in differing.items()
        if name.scope != VARIABLE or not _is_echo(name, found)
    )


def _runs_script(change: KeyChange) -> bool:
    """Whether the key's points run a bash recipe: single-node rows that name no other."""
    return not any(row.multinode or row.recipe_references for _, row in change.entry.rows())


def _is_echo(name: Setting, found: Sequence[tuple[PointChange, Any, Any]]) -> bool:
    """Whether a script's variable only carries what one flag or export says at each of its points.

    A variable that is new or gone must share a word with that name, or follow its value from point to point.
    """
    first = found[0][0]
    others = [other for other in {**(first.before or {}), **(first.after or {})} if other.scope != VARIABLE]
    varies = len({str(after if after is not None else before) for _, before, after in found}) > 1
    one_sided = any(before is None or after is None for _, before, after in found)
    return any(
        (not one_sided or varies or _words(name) & _words(other))
        and all(
            _carries(before, point.before, other) and _carries(after, point.after, other)
            for point, before, after in found
        )
        for other in others
    )


def _carries(data: Any, settings: Mapping[Setting, Any] | None, other: Setting) -> bool:
    return data is None or str((settings or {}).get(other)) == str(data)


def _words(name: Setting) -> set[str]:
    return set(re.split(r"[-_.]", name.canonical_name.lower())) - {""}


def _joined(facts: Iterable[Fact]) -> list[Fact]:
    """One fact where prefill and decode changed alike."""
    joined: dict[Hashable, Fact] = {}
    for fact in facts:
        key = (fact.setting.scope, fact.setting.canonical_name, fact.story)
        if key in joined:
            joined[key].roles += fact.roles
        else:
            joined[key] = fact
    return list(joined.values())


def _news(point: PointChange, always: Callable[[Setting], bool]) -> list[tuple[Setting, Any, Any]]:
    if point.after is None or (point.before is None and not point.new):
        return []
    if not point.new:
        return list(point.differences)
    return [
        (name, None, after)
        for name, after in point.after.items()
        if always(name) or (point.inherited and point.inherited.get(name) != after)
    ]


def _complete(change: KeyChange, name: Setting, found: list[tuple[PointChange, Any, Any]]) -> None:
    """A setting that changed for old points is told for the new ones too, else "every other point" would lie."""
    told = {id(point) for point, _, _ in found}
    for point in change.points:
        if point.new and point.after is not None and id(point) not in told and name in point.after:
            found.append((point, None, point.after[name]))


def _groups(found: Sequence[tuple[PointChange, Any, Any]], name: Setting, admission: Setting | None) -> list[Group]:
    groups: dict[str, Group] = {}
    relative = _relative(found) if name == admission else False
    for point, before, after in found:
        label = _label(name, point.point, after, relative)
        group = groups.setdefault(label, Group(label))
        where = (point.item, point.point)
        group.points.append(where)
        if point.new:
            group.new.append(where)
        else:
            group.before.setdefault(_label(name, point.point, before, relative), []).append(where)
    return list(groups.values())


def _relative(found: Sequence[tuple[PointChange, Any, Any]]) -> bool:
    """Whether the values follow the concurrency: whole multiples of it at every point, and not one value for all."""
    values = [(point.point.concurrency, _whole(after)) for point, _, after in found]
    multiples = all(after is not None and after % at == 0 and 0 < after // at <= 4 for at, after in values)
    return multiples and len({after for _, after in values}) > 1


def _whole(data: Any) -> int | None:
    """A whole number, however it is spelled: scripts know only texts."""
    text = str(data)
    return int(text) if not isinstance(data, bool) and text.isascii() and text.isdecimal() else None


def _label(name: Setting, point: Point, data: Any, relative: bool) -> str:
    if data is None:
        return ""
    whole = _whole(data)
    if relative and whole is not None and whole % point.concurrency == 0:
        return f"{whole // point.concurrency}×"
    if whole is not None and name.scope in (ARGS, RECIPE) and _TOKENS.search(name.canonical_name):
        return count(whole)
    return shown_value(data)


def _admission(change: KeyChange) -> Setting | None:
    from ...schema.engines import engine_of

    engine: Engine | None = engine_of(change.entry.framework)
    return Setting(ARGS, "", engine.admission.name.replace("_", "-"), engine.admission.name) if engine else None
