"""Rule `changelog-append-only`: an entry marked `append-only: true` keeps its promise (source: FACTS §2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..derive.change import NOT_IDENTITY, ItemChange, KeyChange
from ..schema.errors import Place
from ..schema.master import Entry, Item, Row
from ..schema.results import Finding, Severity
from ..schema.yaml_text import plain
from .coverage import named_keys, names
from .model import OwnEntry, Rule, Subject

FLAG = "append-only"
HINT = "drop append-only, so that the whole curve is run again"
KEEP = "repeat the rows to keep them: a search-space is the whole list, and append-only keeps every old point in it"


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per broken promise, on the flag's line."""
    promising = [own for own in subject.own if own.entry is not None and own.flags.get(FLAG) is True]
    if not promising or subject.trouble is not None:
        return
    for own in promising:
        for message, hint in (*_mixed(subject, own), *_others(subject, promising), *_keys(subject, own)):
            place = Place(subject.changelog_path, own.line_at(FLAG))
            yield RULE.finding(place, message, hint, text=FLAG)


def _mixed(subject: Subject, own: OwnEntry) -> Iterator[tuple[str, str]]:
    for other in subject.own:
        if other is not own and not other.flags.get(FLAG):
            message = f"append-only cannot be mixed with other entries; the one in line {other.line} is not append-only"
            yield message, "put the other change into a pull request of its own"


def _others(subject: Subject, promising: list[OwnEntry]) -> Iterator[tuple[str, str]]:
    for change in subject.change.keys:
        if change.data_changed and not any(names(own, change.key) for own in promising):
            what = "is removed" if change.after is None else "changes too"
            yield f"append-only: no other key may change, but {change.key} {what}", HINT


def _keys(subject: Subject, own: OwnEntry) -> Iterator[tuple[str, str]]:
    assert own.entry is not None
    added = 0
    for key in named_keys(own, subject.after.keys):
        entry, before = subject.after.entry(key), subject.checkout.entry_at_base(key)
        if entry is None:
            continue
        if before is None:
            yield f"append-only: {key} does not exist at the base", HINT
            continue
        wanted = own.entry.scenario_type or tuple(entry.scenarios)
        for scenario in wanted:
            if scenario in entry.scenarios and scenario not in before.scenarios:
                yield f"append-only: {key} has no {scenario} at the base", HINT
        change = subject.change.key(key)
        if change is not None:
            yield from _kept(change)
            yield from _curves(change)
            added += len(_points(entry) - _points(before))
    if not added:
        yield (
            "append-only: no point is new",
            "append-only is for adding points to a curve that stays; drop it",
        )


def _kept(change: KeyChange) -> Iterator[tuple[str, str]]:
    """Every generated point of the base stays exactly as it was, under one unchanged image."""
    for difference in change.fields:
        what = f"{_spelled(difference.before)} became {_spelled(difference.after)}"
        yield f"append-only: {difference.name} of {change.key} changes: {what}", HINT
    for item in change.items:
        if item.before is None or item.after is None:
            if item.after is None:
                yield f"append-only: an item of {change.key}'s {item.scenario} is gone", KEEP
            continue
        for difference in item.differences:
            what = f"{_spelled(difference.before)} became {_spelled(difference.after)}"
            why = ", which moves the budget of points that must stay" if "dram" in difference.name else ""
            yield f"append-only: {difference.name} of {change.key} changes: {what}{why}", HINT
        yield from _kept_points(change, item)
    changed = [point for point in change.points if not point.new and point.differences]
    for point in changed[:1]:
        setting, old, new = point.differences[0]
        more = f"; {len(changed) - 1} more points change" if len(changed) > 1 else ""
        yield (
            f"append-only: {point.point} of {change.key} runs another recipe: {setting} was {old}, now {new}{more}",
            HINT,
        )


def _kept_points(change: KeyChange, item: ItemChange) -> Iterator[tuple[str, str]]:
    assert item.before is not None and item.after is not None
    now = {point for row in item.after.rows for point in _row_points(row)}
    for row in item.before.rows:
        gone = [conc for identity, conc in sorted(_row_points(row)) if (identity, conc) not in now]
        if gone:
            points = ", ".join(f"C{conc}" for conc in gone)
            is_gone = _concurrencies_gone(row, item.after, gone)
            what = "is gone" if is_gone else "does not stay as it was"
            yield f"append-only: {row} {points} of {change.key} {what}", KEEP if is_gone else HINT


def _concurrencies_gone(row: Row, after: Item, concurrencies: list[int]) -> bool:
    """Whether no row of the same identity runs any of these points now: they were dropped, not changed."""
    kept = {conc for other in after.rows if other.identity == row.identity for conc in other.concurrencies}
    return not kept & set(concurrencies)


def _curves(change: KeyChange) -> Iterator[tuple[str, str]]:
    """New points join a curve there is: the same offloading, in the same scenario and lengths."""
    for item in change.items:
        if item.before is None:
            lengths = f" {item.item.lengths[0]}/{item.item.lengths[1]}" if item.item.lengths else ""
            yield f"append-only: {change.key} has no curve for {item.scenario}{lengths} at the base", HINT
            continue
        known = {row.kv_offloading for row in item.before.rows}
        for row in item.rows:
            if row.added and row.row.kv_offloading not in known:
                points = ", ".join(f"C{point.concurrency}" for point in row.added)
                what = f"{row.row} {points} with kv-offloading {row.row.kv_offloading}"
                yield f"append-only: {what} joins no curve {change.key} has at the base", HINT


def _spelled(value: Any) -> str:
    return "nothing" if value is None else str(getattr(value, "spelling", value))


def _points(entry: Entry) -> set[tuple[str, str, int]]:
    return {(_item_name(item), identity, conc) for item, row in entry.rows() for identity, conc in _row_points(row)}


def _item_name(item: Item) -> str:
    return f"{item.scenario} {item.lengths}"


def _row_points(row: Row) -> set[tuple[str, int]]:
    """The row's points: all that is generated from it, defaults filled in, and the concurrency."""
    contents = {name: plain(row.data.get(name)) for name in NOT_IDENTITY}
    text = json.dumps([repr(row.identity), contents, row.settings], sort_keys=True, default=str)
    return {(text, concurrency) for concurrency in row.concurrencies}


RULE = Rule(
    id="changelog-append-only",
    severity=Severity.ERROR,
    title="append-only is true to its promise",
    explanation=(
        "append-only: true promises that key and scenario exist at the base, that no other key changes, "
        "that every point of the base stays exactly as it was (a changed dram-utilization moves the budget "
        "and breaks this), that at least one point is new, and that new points join an existing curve under "
        "one unchanged image. It is not mixed with other entries in one pull request."
    ),
    example_before="  append-only: true   (dram-utilization: 0.60 became 0.74)",
    example_after="(no append-only: the curve is run again)",
    judge=judge,
)
