"""What the recipes' settings changed to, gathered over points: the raw material of the settings lines."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...schema.engines import Engine
from ...schema.master import Point
from ..change import KeyChange, PointChange
from ..settings import ARGS, Setting
from ..wording import Phrase, Where
from ..wording import value as shown_value


@dataclass(slots=True)
class Group:
    """Points at which one setting now reads alike. `before` maps how it read there before to those points."""

    after: str
    points: list[Where] = field(default_factory=list)
    before: dict[str, list[Where]] = field(default_factory=dict)
    new: list[Where] = field(default_factory=list)
    note: Phrase = field(default_factory=lambda: Phrase("", ""))

    @property
    def one_before(self) -> str:
        """How it read before at every point, empty where that differs or some points are new."""
        return next(iter(self.before)) if len(self.before) == 1 and not self.new else ""


@dataclass(slots=True)
class Fact:
    """One setting and the groups of points it changed at."""

    setting: Setting
    groups: list[Group]

    @property
    def signature(self) -> Hashable:
        """Facts with one signature changed at the same points and can share a sentence."""
        return tuple(tuple(_where(points) for points in (group.points, group.new)) for group in self.groups)


def _where(points: Sequence[Where]) -> Hashable:
    return tuple((item.scenario, item.lengths, point.row.identity, point.concurrency) for item, point in points)


def universe(change: KeyChange) -> list[Where]:
    """Every point of the key as it now is, whose recipe is known."""
    return [(one.item, one.point) for one in change.points if one.after is not None]


def gather(
    change: KeyChange, skip: Callable[[Setting, Any, Any], bool], always: Callable[[Setting], bool]
) -> list[Fact]:
    """The changed settings of one key, in the order the recipes state them.

    `skip` leaves out what another line says; a setting that is `always` news is told for every new point.
    """
    differing: dict[Setting, list[tuple[PointChange, Any, Any]]] = {}
    for point in change.points:
        for name, before, after in _news(point, always):
            if not skip(name, before, after):
                differing.setdefault(name, []).append((point, before, after))
    for name, found in differing.items():
        if any(not point.new for point, _, _ in found):
            _complete(change, name, found)
    admission = _admission(change)
    return [Fact(name, _groups(found, name, admission)) for name, found in differing.items()]


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
        label = _label(point.point, after, relative)
        group = groups.setdefault(label, Group(label))
        where = (point.item, point.point)
        group.points.append(where)
        if point.new:
            group.new.append(where)
        else:
            group.before.setdefault(_label(point.point, before, relative), []).append(where)
    return list(groups.values())


def _relative(found: Sequence[tuple[PointChange, Any, Any]]) -> bool:
    """Whether the values follow the concurrency: whole multiples of it at every point, and not one value for all."""
    values = [(point.point.concurrency, after) for point, _, after in found]
    multiples = all(
        isinstance(after, int) and after > 0 and after % at == 0 and after // at <= 4 for at, after in values
    )
    return multiples and len({after for _, after in values}) > 1


def _label(point: Point, data: Any, relative: bool) -> str:
    if relative and isinstance(data, int) and data % point.concurrency == 0:
        return f"{data // point.concurrency}×"
    return "" if data is None else shown_value(data)


def _admission(change: KeyChange) -> Setting | None:
    from ...schema.engines import engine_of

    engine: Engine | None = engine_of(change.entry.framework)
    return Setting(ARGS, "", engine.admission.name.replace("_", "-"), engine.admission.name) if engine else None
