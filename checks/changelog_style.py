"""Rule `changelog-style`: a new entry is written as the newest two hundred are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..schema.changelog import LISTS
from ..schema.errors import BenchscribeError, Place
from ..schema.results import Finding, Severity
from ..schema.yaml_text import MappingNode, SequenceNode, compose
from .model import OwnEntry, Rule, Subject

KEY_COLUMN, ITEM_COLUMN = 2, 6


def judge(subject: Subject) -> Iterator[Finding]:
    """Indentation of keys and items, descriptions on one line in double quotes; once per field."""
    for own in subject.own:
        root = _mapping(own)
        for key, value in root.value if root is not None else ():
            found = _wrong(str(key.value), key, value)
            if found:
                node, message, hint = found
                line = own.line + node.start_mark.line
                yield RULE.finding(Place(subject.changelog_path, line), message, hint)


def _mapping(own: OwnEntry) -> MappingNode | None:
    try:
        root = compose(own.data.decode("utf-8", "replace"))
    except BenchscribeError:
        return None
    first = root.value[0] if isinstance(root, SequenceNode) and len(root.value) == 1 else None
    return first if isinstance(first, MappingNode) else None


def _wrong(name: str, key: Any, value: Any) -> tuple[Any, str, str] | None:
    if key.start_mark.column != KEY_COLUMN:
        return key, f"`{name}` is indented by {key.start_mark.column}", "keys of an entry are indented by two"
    if name not in LISTS or not isinstance(value, SequenceNode):
        return None
    for item in value.value:
        if value.flow_style or item.start_mark.column != ITEM_COLUMN:
            return (
                item,
                f"the items of `{name}` are not indented by four",
                "write them as `    - …`, one a line",
            )
        if name == "description" and item.end_mark.line > item.start_mark.line:
            return (
                item,
                "a description goes over several lines",
                "one line each, however long, in double quotes",
            )
        if name == "description" and getattr(item, "style", None) != '"':
            return item, "a description is not in double quotes", "put it in double quotes, on one line"
    return None


RULE = Rule(
    id="changelog-style",
    severity=Severity.WARNING,
    title="a new entry is indented and quoted as the newest ones are",
    explanation=(
        "List items are indented by four blanks, keys by two, and each description stands in double quotes "
        "on one line, however long. Unquoted prose is a trap: a colon followed by a blank turns it into a "
        "mapping, a `#` cuts it off."
    ),
    example_before="    - Image: rocm/atom:v2 # new",
    example_after='    - "Image: rocm/atom:v2 # new"',
    judge=judge,
)
