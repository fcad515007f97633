"""Rule `retired-model`: a branch adds no model or scenario that the checkout's own list has retired."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..checkout.recipes import sku_of
from ..schema.errors import Place
from ..schema.results import Finding, Severity
from .judged import JudgedKey, judged_keys
from .model import Rule, Subject

_RETIRED = re.compile(
    r"(?<![\w-])(?:retired|deprecated|removed|archived|sunset|discontinued|no longer)(?![\w-])", re.IGNORECASE
)
_LIVE = re.compile(r"(?<![\w-])(?:live|active|supported|current)(?![\w-])", re.IGNORECASE)
_EXCEPT = re.compile(
    r"(?<![\w-])(?:but for|except(?:ion)?s?(?: for)?|unless|other than|still live|stays on|only on)(?![\w-])",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,6}\s+(.*)")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*[A-Za-z0-9]|[A-Za-z0-9]")
_LENGTHS = {(1024, 1024): ("1k1k", "1k/1k"), (1024, 8192): ("1k8k", "1k/8k"), (8192, 1024): ("8k1k", "8k/1k")}


@dataclass(frozen=True, slots=True)
class RetiredLine:
    """A line of the list that retires something: its words, and those that name an exception."""

    words: frozenset[str]
    exceptions: frozenset[str]
    place: Place


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per new key, or new fixed-sequence item, that is retired. Without the list nothing is judged."""
    path = subject.after.layout.models_page
    data = subject.after.read(path)
    if data is None:
        return
    lines = retired_lines(data.decode("utf-8", "replace"), path)
    for key in judged_keys(subject):
        yield from _model(subject, key, lines)
        yield from _scenarios(subject, key, lines)


def retired_lines(text: str, path: str) -> list[RetiredLine]:
    """The table rows and list items that say retired, or that stand below a heading that does."""
    found = []
    below_retired = False
    for index, line in enumerate(text.splitlines(), 1):
        if heading := _HEADING.match(line):
            below_retired = _RETIRED.search(heading[1]) is not None
            continue
        body = line.strip()
        if not body.startswith(("|", "-", "*")) or set(body) <= set("|-: "):
            continue
        if not (_RETIRED.search(body) or (below_retired and not _LIVE.search(body))):
            continue
        named, _, exceptions = (
            (body, "", "") if not (match := _EXCEPT.search(body)) else (body[: match.start()], "", body[match.end() :])
        )
        found.append(RetiredLine(_words(named), _words(exceptions), Place(path, index)))
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _model(subject: Subject, key: JudgedKey, lines: Sequence[RetiredLine]) -> Iterator[Finding]:
    if key.before is not None and not subject.everything:
        return
    entry = key.after
    names = {entry.model_prefix.lower(), entry.model.lower(), entry.model.rpartition("/")[2].lower()} - {""}
    for line in lines:
        if names & line.words and not _excepted(entry.runner, key.key, line):
            message = f"model {entry.model_prefix or entry.model} is retired ({line.place})"
            place = subject.place(key.key, ("model-prefix",))
            yield RULE.finding(
                place,
                message,
                "take a live model, or say in the pull request why it returns",
                text=entry.model_prefix,
            )
            return


def _scenarios(subject: Subject, key: JudgedKey, lines: Sequence[RetiredLine]) -> Iterator[Finding]:
    old = {item.lengths for item in key.before.items()} if key.before is not None and not subject.everything else set()
    for item in key.after.items():
        names = set(_LENGTHS.get(item.lengths or (0, 0), ()))
        if not names or item.lengths in old:
            continue
        for line in lines:
            if names & line.words and not _excepted(key.after.runner, key.key, line):
                place = subject.place(key.key, ("scenarios", item.scenario, item.index))
                name = sorted(names)[0]
                hint = "drop the item, or say in the pull request which exception it is"
                yield RULE.finding(place, f"scenario {name} is retired ({line.place})", hint, text=name)
                break


def _excepted(runner: str, key: str, line: RetiredLine) -> bool:
    """Whether the line spares this SKU or key."""
    return bool({sku_of(runner).lower(), runner.lower(), key.lower()} & line.exceptions)


RULE = Rule(
    id="retired-model",
    severity=Severity.WARNING,
    title="a branch adds no model or scenario that the checkout has retired",
    explanation=(
        "MODELS.md (docs/MODELS.md in e2e) lists what is retired: models, and scenarios such as 1k1k and 1k8k. Live "
        "exceptions exist, so only new keys and new items are judged, the exceptions that a line names are spared, and "
        "without the list nothing is judged."
    ),
    example_before="fixed-seq-len:\n- { isl: 1024, osl: 1024, … }",
    example_after="fixed-seq-len:\n- { isl: 8192, osl: 1024, … }",
    judge=judge,
)
