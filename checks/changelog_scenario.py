"""Rule `changelog-scenario`: an entry's `scenario-type` fits what its keys run and what changed."""

from __future__ import annotations

from collections.abc import Iterator

from ..derive.change import KeyChange
from ..schema.changelog import SCENARIO_TYPES
from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .changelog_unchanged import EVAL_REQUESTS
from .coverage import may_change_unseen, named_keys, names
from .model import SPEC_PATCH, OwnEntry, Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """Scenarios that no named key has, changed ones left out, and unchanged ones taken along."""
    if subject.trouble is not None:
        return
    for own in subject.own:
        if own.entry is not None and own.entry.scenario_type:
            yield from _strangers(subject, own)
            yield from _left_out(subject, own)
            if not any(name in own.flags for name in EVAL_REQUESTS):
                yield from _taken_along(subject, own)


def _strangers(subject: Subject, own: OwnEntry) -> Iterator[Finding]:
    """Scenarios that none of the entry's keys runs."""
    assert own.entry is not None
    known: set[str] = set()
    for key in named_keys(own, subject.after.keys):
        entry = subject.after.entry(key)
        known.update(entry.scenarios if entry is not None else ())
    for index, name in enumerate(own.entry.scenario_type):
        if known and name in SCENARIO_TYPES and name not in known:
            message = f"no key of this entry runs {name}"
            yield _finding(subject, own, message, f"they run {', '.join(sorted(known))}", index)


def _left_out(subject: Subject, own: OwnEntry) -> Iterator[Finding]:
    """Changed scenarios the entry leaves out, unless another entry of the branch takes them."""
    assert own.entry is not None
    for change in _changes(subject, own):
        for name in change.scenarios:
            if not any(_takes(other, change.key, name) for other in subject.own):
                scope = ", ".join(own.entry.scenario_type)
                message = f"{change.key} changes in {name} too, but scenario-type says {scope} only"
                wanted = sorted({*own.entry.scenario_type, name}, key=_order)
                yield _finding(subject, own, message, f"scenario-type: {', '.join(wanted)}", None, wanted)


def _taken_along(subject: Subject, own: OwnEntry) -> Iterator[Finding]:
    """Scenarios in which nothing of the entry's keys changed."""
    assert own.entry is not None
    changes = _changes(subject, own)
    changed = {name for change in changes for name in change.scenarios}
    keys = named_keys(own, subject.after.keys)
    if not changes or any(may_change_unseen(subject, key) for key in keys):
        return
    for index, name in enumerate(own.entry.scenario_type):
        has_it = any(name in change.entry.scenarios for change in changes)
        if has_it and name not in changed:
            message = f"nothing of this entry's keys changes in {name}"
            wanted = [one for one in own.entry.scenario_type if one != name]
            yield _finding(subject, own, message, "drop it", index, wanted, severity=Severity.WARNING)


def _changes(subject: Subject, own: OwnEntry) -> list[KeyChange]:
    return [change for change in subject.change.remaining if names(own, change.key)]


def _takes(own: OwnEntry, key: str, scenario: str) -> bool:
    scope = own.entry.scenario_type if own.entry is not None else ()
    return names(own, key) and (not scope or scenario in scope)


def _order(name: str) -> int:
    return SCENARIO_TYPES.index(name) if name in SCENARIO_TYPES else len(SCENARIO_TYPES)


def _finding(
    subject: Subject,
    own: OwnEntry,
    message: str,
    hint: str,
    index: int | None,
    wanted: list[str] | None = None,
    severity: Severity | None = None,
) -> Finding:
    assert own.entry is not None
    line = own.line_at("scenario-type") if index is None else own.line_at("scenario-type", index)
    text = own.entry.scenario_type[index] if index is not None else ""
    fix = Fix(SPEC_PATCH, {"patch": {"changelog": {"scenario-type": wanted}}}) if wanted else None
    place = Place(subject.changelog_path, line)
    return RULE.finding(place, message, hint, text=text, fix=fix, severity=severity)


RULE = Rule(
    id="changelog-scenario",
    severity=Severity.ERROR,
    title="an entry's scenario-type fits its keys and what changed",
    explanation=(
        "scenario-type narrows the sweep to some of the keys' scenarios. It has to name scenarios the keys "
        "run, and every one in which they change: a changed image changes all of them. Left out, all are "
        "swept."
    ),
    example_before="  scenario-type:\n    - fixed-seq-len   (the agentic-coding rows changed)",
    example_after="  scenario-type:\n    - agentic-coding",
    judge=judge,
)
