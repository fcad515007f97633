"""Rule `changelog-unchanged`: an entry names nothing that did not change."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..schema.errors import Place
from ..schema.results import Finding, Severity
from .coverage import may_change_unseen
from .model import OwnEntry, Rule, Subject

# Such an entry asks for an eval of a key as it is.
EVAL_REQUESTS = ("evals-only", "all-evals")


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per named key, or wildcard, without any change; quiet where a change may be out of sight."""
    if subject.trouble is not None or subject.has_conflict:
        return
    changed = {change.key for change in subject.change.keys}
    for own in subject.own:
        if any(name in own.flags for name in EVAL_REQUESTS):
            continue
        for index, name in enumerate(own.keys):
            if "*" in name:
                yield from _wildcard(subject, own, index, changed)
            elif name in subject.after.keys and name not in changed and not may_change_unseen(subject, name):
                message = f"{name} is named, but this branch does not change it: neither its entry nor its recipes"
                yield _finding(subject, own, index, message, "drop the key, or mark the entry evals-only")


def _wildcard(subject: Subject, own: OwnEntry, index: int, changed: set[str]) -> Iterator[Finding]:
    name = own.keys[index]
    matched = [key for key in subject.after.keys if fnmatchcase(key, name)]
    idle = [key for key in matched if key not in changed and not may_change_unseen(subject, key)]
    if idle:
        shown = ", ".join(idle[:3]) + (f" and {len(idle) - 3} more" if len(idle) > 3 else "")
        message = f"the wildcard {name!r} takes along keys that this branch does not change: {shown}"
        severity = Severity.ERROR if len(idle) == len(matched) else Severity.WARNING
        yield _finding(subject, own, index, message, "name the changed keys one by one", severity)


def _finding(
    subject: Subject, own: OwnEntry, index: int, message: str, hint: str, severity: Severity | None = None
) -> Finding:
    place = Place(subject.changelog_path, own.line_at("config-keys", index))
    return RULE.finding(place, message, hint, text=own.keys[index], severity=severity)


RULE = Rule(
    id="changelog-unchanged",
    severity=Severity.ERROR,
    title="an entry names no key that did not change",
    explanation=(
        "Every key an entry names is swept again. A key that the branch leaves as it is, in its master "
        "entry and in every recipe its points run, does not belong there; asking for an eval of it does "
        "(evals-only, all-evals). Where a script or code changed as well, or a recipe is not in the "
        "checkout, nothing is said."
    ),
    example_before="    - glm5.2-fp4-mi355x-atom-agentic\n    - glm5.2-fp8-mi355x-atom-agentic   (untouched)",
    example_after="    - glm5.2-fp4-mi355x-atom-agentic",
    judge=judge,
)
