"""Rule `changelog-keys`: the keys an entry names exist after the change, and its wildcards match."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..schema.errors import Place
from ..schema.results import Finding, Severity
from .model import OwnEntry, Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per name that no config key has, and per name that stands twice in one entry."""
    for own in subject.own:
        seen: set[str] = set()
        for index, name in enumerate(own.keys):
            if found := _wrong(subject, name, seen):
                yield _finding(subject, own, index, *found)
            seen.add(name)


def _wrong(subject: Subject, name: str, seen: set[str]) -> tuple[str, str] | None:
    keys = subject.after.keys
    if name in seen:
        return f"{name!r} stands twice in this entry", "keep one"
    if "*" in name:
        if any(fnmatchcase(key, name) for key in keys):
            return None
        return f"the wildcard {name!r} matches no config key", "name the keys that changed"
    if name in keys:
        return None
    if name in subject.before.keys:
        hint = "drop it; a change that only removes keys has no entry"
        return f"{name!r} is removed by this branch, and a removed key cannot be listed", hint
    near = subject.after.near_keys(name)
    return (
        f"no config key is called {name!r}",
        f"did you mean {' or '.join(near)}?" if near else "name a key of a master config",
    )


def _finding(subject: Subject, own: OwnEntry, index: int, message: str, hint: str) -> Finding:
    place = Place(subject.changelog_path, own.line_at("config-keys", index))
    return RULE.finding(place, message, hint, text=own.keys[index])


RULE = Rule(
    id="changelog-keys",
    severity=Severity.ERROR,
    title="the keys an entry names exist, and its wildcards match",
    explanation=(
        "Each key of an entry must exist in a master config after the change, and a wildcard must match "
        "one; the sweep is generated from them. So a removed key cannot be listed, and a change that only "
        "removes keys has no entry."
    ),
    example_before="    - glm5.2-fp4-mi355x-atm-agentic",
    example_after="    - glm5.2-fp4-mi355x-atom-agentic",
    judge=judge,
)
