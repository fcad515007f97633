"""Rule `changelog-coverage`: every changed key that still exists stands in an entry of the branch."""

from __future__ import annotations

from collections.abc import Iterator

from ..derive.change import KeyChange, ScriptChange
from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .coverage import code_changed, names
from .model import ENTRY, SPEC_PATCH, Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per changed key that no own entry names, and per changed script none of whose keys is named.

    Nothing while an own entry cannot be read: it may name them.
    """
    if any(own.entry is None for own in subject.own):
        return
    for change in subject.change.remaining:
        if not any(names(own, change.key) for own in subject.own):
            yield _finding(subject, change)
    for script in subject.change.scripts:
        yield from _script_finding(subject, script)


def _finding(subject: Subject, change: KeyChange) -> Finding:
    has = "no entry of this branch names it" if subject.own else "this branch has no changelog entry"
    severity = RULE.severity
    if _only_loses_points(change):
        message = f"{change.key} loses points ({_what_changed(change)}) and {has}, though nothing new would run"
        severity = Severity.WARNING
    else:
        what = "is new" if change.before is None else f"changes ({_what_changed(change)})"
        message = f"{change.key} {what}, but {has}"
    fix = _fix(subject, change.key, wanted=severity is Severity.ERROR)
    hint = _hint(fix)
    place = subject.place(change.key)
    return RULE.finding(place, message, hint, fix=fix, text=change.key, severity=severity)


def _only_loses_points(change: KeyChange) -> bool:
    """Whether rows or points go and all that stays is as it was: then a sweep would repeat the old one."""
    if change.before is None or change.fields or any(point.differences for point in change.points if not point.new):
        return False
    for item in change.items:
        if item.after is None:
            continue
        is_same = item.before is not None and not item.differences
        if not is_same or any(row.before is None or row.added or row.differences for row in item.rows):
            return False
    return True


def _what_changed(change: KeyChange) -> str:
    parts = [difference.name for difference in change.fields]
    parts += [item.scenario for item in change.items if item.changed and item.scenario not in parts]
    return ", ".join(parts) or "its recipe"


def _takes_another_entry(subject: Subject) -> bool:
    """An entry of its own is right where there is none yet, and in `root` beside others."""
    return not subject.own or not subject.after.layout.e2e


def _hint(fix: Fix) -> str:
    if fix.action == ENTRY:
        return (
            "`benchscribe check --fix` or `benchscribe describe --write` appends the derived entry; "
            "`benchscribe describe` shows it"
        )
    return (
        "add it to the config-keys of this branch's entry, and say what changed; "
        "`benchscribe describe --write` derives the whole entry anew"
    )


def _fix(subject: Subject, key: str, *, wanted: bool) -> Fix:
    """The derived entry where it is wanted and may stand; else the keys as the present entry could name them."""
    if not subject.own or (wanted and _takes_another_entry(subject)):
        return Fix(ENTRY, {"key": key})
    keys = [name for own in subject.own[:1] for name in own.keys]
    return Fix(SPEC_PATCH, {"patch": {"changelog": {"keys": [*keys, key]}}})


def _script_finding(subject: Subject, script: ScriptChange) -> Iterator[Finding]:
    """A bash recipe whose code changed in a way no setting shows, while no key that runs it is named."""
    keys = [key for key in script.keys if key in subject.after.keys]
    if not keys or any(subject.change.key(key) is not None for key in keys) or not code_changed(subject, script):
        return
    if not any(names(own, key) for own in subject.own for key in keys):
        line = min(subject.added_lines(script.path), default=1)
        message = f"this script changes, but no entry of this branch names a key that runs it ({', '.join(keys[:4])})"
        place = Place(script.path, line)
        yield RULE.finding(place, message, "name the keys whose runs change, and say what changed")


RULE = Rule(
    id="changelog-coverage",
    severity=Severity.ERROR,
    title="every changed config key is named by an entry",
    explanation=(
        "A change that matters for a benchmark (a master entry's data, a recipe variant one of its points "
        "runs, its bash recipe) needs an entry that names the key: from the changelog the sweep is "
        "generated and the curve explained. Removed keys and comments need none."
    ),
    example_before="(image: of a key changed, changelog untouched)",
    example_after='- config-keys:\n    - <the key>\n  description:\n    - "Image: … to …"',
    judge=judge,
)
