"""Rule `stale-comment`: no comment still cites a value that the branch changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..derive.change import KeyChange, RecipeChange
from ..derive.settings import Setting, variant_settings
from ..schema.arguments import canonical
from ..schema.errors import BenchscribeError, Place
from ..schema.image import image_or_none
from ..schema.recipe import Recipe
from ..schema.results import Finding, Severity
from .model import Rule, Subject

_COMMENT = re.compile(r"(?:^|\s)#(?!!)\s?(.*)$")
_HISTORY = re.compile(
    r"(?<![\w-])(?:was|were|from|old|previous(?:ly)?|before|instead of|used to|formerly|not|than)(?![\w-])|->|→",
    re.IGNORECASE,
)
_SPOKEN = {
    "num-speculative-tokens": "draft",
    "speculative-num-steps": "draft",
    "max-num-seqs": "admission",
    "max-running-requests": "admission",
    "LMCACHE_MAX_LOCAL_CPU_SIZE": "lmcache",
}
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that is gone: what it is of, how it was written, what it is now.

    `distinct` says that the value speaks for itself wherever it stands.
    """

    name: str
    old: str
    new: str
    distinct: bool = False


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per comment line that names an old value beside its name, or an old tag."""
    for key in subject.change.keys:
        if key.before is not None and key.after is not None:
            yield from _cited(subject, key.file, _key_lines(subject, key), list(_of_key(key)))
    for recipe in subject.change.recipes:
        if recipe.before is not None and recipe.after is not None:
            lines = list(enumerate(subject.lines(recipe.path), 1))
            yield from _cited(subject, recipe.path, lines, list(_of_recipe(recipe)))


def _key_lines(subject: Subject, key: KeyChange) -> list[tuple[int, str]]:
    """The lines of a key's block, with the comments directly above it."""
    place = subject.after.keys[key.key]
    lines = subject.lines(place.file)
    count = len(subject.after.key_texts[key.key].splitlines())
    start = place.block.line
    while start > 1 and lines[start - 2].lstrip().startswith("#"):
        start -= 1
    end = min(place.block.line + count, len(lines) + 1)
    return [(number, lines[number - 1]) for number in range(start, end)]


def _of_key(key: KeyChange) -> Iterator[Changed]:
    assert key.before is not None and key.after is not None
    was, now = image_or_none(key.before.image), image_or_none(key.after.image)
    if was is not None and now is not None:
        if was.tag and was.tag != now.tag and len(was.tag) > 4:
            # A tag that is the model's own name, as `kimi-k3`, stands in comments about the model too.
            speaks_for_itself = was.tag.lower() not in f"{key.before.model} {key.key}".lower()
            yield Changed("image", was.tag, now.version, distinct=speaks_for_itself)
        if was.digest and was.digest != now.digest:
            yield Changed("image", was.digest, now.version, distinct=True)
    kept = {str(_spelled(item.dram_utilization)) for item in key.after.items()}
    for change in key.items:
        for difference in change.differences:
            if difference.name == "dram-utilization" and difference.before is not None and difference.after is not None:
                old = str(_spelled(difference.before))
                if old not in kept:
                    yield Changed("dram-utilization", old, str(_spelled(difference.after)), distinct=len(old) > 4)


def _spelled(value: Any) -> Any:
    return getattr(value, "spelling", value)


def _of_recipe(change: RecipeChange) -> Iterator[Changed]:
    """Settings whose old value no variant has any longer."""
    assert change.before is not None and change.after is not None
    try:
        was, now = _values(change.before), _values(change.after)
    except BenchscribeError:
        return
    for setting, values in was.items():
        left = now.get(setting)
        if not left:
            continue
        for value in values - left:
            if len(value) <= 60 and value.lower() not in ("true", "false", "none", ""):
                yield Changed(setting.name, value, " or ".join(sorted(left)[:3]))


def _values(recipe: Recipe) -> dict[Setting, set[str]]:
    found: dict[Setting, set[str]] = {}
    for variant in recipe.variants:
        for setting, value in variant_settings(variant).items():
            found.setdefault(setting, set()).add(str(value))
    return found


def _cited(subject: Subject, path: str, lines: list[tuple[int, str]], changes: list[Changed]) -> Iterator[Finding]:
    for number, line in lines if changes else ():
        match = _COMMENT.search(line)
        comment = match[1] if match else ""
        if not comment or _HISTORY.search(comment):
            continue
        for change in changes:
            if _cites(comment, line, change):
                message = f"the comment still cites {change.name} {change.old}, which is {change.new} now"
                yield RULE.finding(Place(path, number), message, "correct the comment, or drop it", text=change.old)
                break


def _cites(comment: str, line: str, change: Changed) -> bool:
    """Whether a comment names the old value, not the new one, and what the value is of (or stands on its line)."""
    if not _names(comment, change.old) or (change.new and _names(comment, change.new)):
        return False
    if change.distinct:
        return True
    own_line = re.search(rf"(?<![\w-]){re.escape(change.name)}[\"']?\s*:", line.partition("#")[0]) is not None
    return own_line or _speaks_of(comment, change.name)


def _names(comment: str, value: str) -> bool:
    words = [re.escape(value)]
    if value.isdigit() and int(value) < len(_NUMBERS):
        words.append(_NUMBERS[int(value)])
    return re.search(rf"(?<![\w.])(?:{'|'.join(words)})(?![\w]|\.\d)", comment, re.IGNORECASE) is not None


def _speaks_of(comment: str, name: str) -> bool:
    low = canonical(comment.lower())
    bare = name.rpartition(".")[2]
    spoken = _SPOKEN.get(canonical(bare), _SPOKEN.get(bare, ""))
    if canonical(bare.lower()) in low or (spoken and spoken in low):
        return True
    words = [word for word in re.split(r"[-_.]", bare.lower()) if len(word) > 2]
    return len(words) > 1 and all(re.search(rf"(?<![a-z]){re.escape(word)}", low) for word in words)


RULE = Rule(
    id="stale-comment",
    severity=Severity.WARNING,
    title="no comment still cites a value that the branch changed",
    explanation=(
        "A comment that names the old image tag, utilization or setting beside the new one misleads the next "
        "reader; one "
        "in history called 256 GB per server a size per rank. It is judged for the changed keys and recipes, where the "
        "comment names the value and what it is of, and where no point has that value any longer."
    ),
    example_before="# five draft tokens at every point\n…\nnum-speculative-tokens: 4",
    example_after="num-speculative-tokens: 4",
    judge=judge,
)
