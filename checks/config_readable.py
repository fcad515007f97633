"""Rule `config-readable`: the master configs and the YAML recipes a branch changes can be read, no field twice."""

from __future__ import annotations

from collections.abc import Iterator

from ..schema.errors import BenchscribeError, Place
from ..schema.results import Finding, Severity
from ..schema.yaml_text import Node, duplicate_keys
from .model import Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """The error that kept configs from being compared, one per changed recipe that does not parse, doubled fields."""
    if subject.trouble is not None:
        yield _finding(subject.trouble, subject.after.layout.masters[0])
    for change in subject.change.remaining:
        if change.data_changed:
            yield from _doubled_in_entry(subject, change.key)
    for recipe in subject.change.recipes:
        try:
            found = subject.after.recipe_file(recipe.path)
        except BenchscribeError as error:
            yield _finding(error, recipe.path)
        else:
            for root, above in found.roots if found is not None else ():
                yield from _doubled(subject, recipe.path, root, above)


def _finding(error: BenchscribeError, path: str) -> Finding:
    return RULE.finding(error.where or Place(path), error.what, error.hint)


def _doubled_in_entry(subject: Subject, key: str) -> Iterator[Finding]:
    read, above = subject.after.entry_text(key)
    for root, within in read.trees:
        yield from _doubled(subject, subject.after.keys[key].file, root, above + within)


def _doubled(subject: Subject, file: str, root: Node | None, above: int) -> Iterator[Finding]:
    """Fields that stand twice in one mapping: YAML readers keep the last one, and nobody is told."""
    for path, node in duplicate_keys(root):
        line = above + node.start_mark.line + 1
        if subject.judges(file, line):
            message = f"{str(path[-1])!r} stands twice in one mapping; readers take the last"
            yield RULE.finding(Place(file, line), message, "keep one of them", text=str(path[-1]))


RULE = Rule(
    id="config-readable",
    severity=Severity.ERROR,
    title="master configs and changed recipes can be read, and no field stands twice",
    explanation=(
        "A config with conflict markers, tabs, a key that stands twice or text that is no YAML cannot be compared with "
        "the base, so no other rule can judge its keys. A field that stands twice in one mapping is read as the last "
        "one, whatever the first says."
    ),
    example_before="  image: rocm/atom:v1\n  image: rocm/atom:v2",
    example_after="  image: rocm/atom:v2",
    judge=judge,
)
