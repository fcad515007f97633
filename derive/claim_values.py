"""Claims about settings: `NAME=value`, `--flag value`, a flag's words with a number, `32K state checkpoints`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..schema.arguments import canonical, exact
from .claim_facts import KeyFacts
from .claim_patterns import Claim
from .claim_verdict import Judgement, contradicted, supported, unknown
from .claim_words import Side
from .stated import Shipped, setting_name

_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")
_STOP = frozenset(
    [
        "and",
        "with",
        "for",
        "at",
        "on",
        "of",
        "in",
        "to",
        "per",
        "when",
        "by",
        "as",
        "or",
        "the",
        "a",
        "an",
        "from",
        "is",
        "are",
        "up",
        "out",
        "each",
        "both",
        "every",
        "than",
    ]
)


def same_value(stated: str, shipped: object) -> bool:
    """Whether a value as prose writes it is the one a file holds: numbers by value, `32K` binary or decimal."""
    text = str(shipped).strip("\"' ") if not isinstance(shipped, bool) else str(shipped).lower()
    stated = stated.strip("\"'` ")
    kilo = re.fullmatch(r"(\d+)[Kk]", stated)
    if kilo:
        return exact(text) in (int(kilo[1]) * 1024, int(kilo[1]) * 1000)
    one, other = exact(stated), exact(text)
    if one is not None and other is not None:
        return one == other
    for words in (_TRUE, _FALSE):
        if stated.lower() in words and text.lower() in words:
            return True
    return stated.casefold() in (text.casefold(), *(part.strip().casefold() for part in text.split(",")))


def judge_setting(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    """A named setting against every value it has at any point; one that no file sets is unknown."""
    return _judge(claim, setting_name(claim.name), before, after)


def _judge(claim: Claim, name: str, before: KeyFacts, after: KeyFacts) -> Judgement:
    now = _values(after, name)
    if len(claim.values) == 2:
        return _judge_pair(claim, name, before, after)
    stated = claim.values[0]
    if claim.clause.side is Side.BEFORE or not claim.firm:
        known = [*now, *_values(before, name)]
        return supported(claim) if _holds(stated, known) else unknown(claim)
    if _holds(stated, now):
        return supported(claim)
    if not now or not _decided(after, name, now) or claim.clause.paired:
        return unknown(claim)
    return contradicted(claim, f"{_shown_name(claim, name)} is {shown_values(now)}", now[0].place)


def _judge_pair(claim: Claim, name: str, before: KeyFacts, after: KeyFacts) -> Judgement:
    """`NAME from X to Y`: X at the base, Y now."""
    old, new = claim.values
    was, now = _values(before, name), _values(after, name)
    if _holds(old, was) and _holds(new, now):
        return supported(claim)
    if not claim.firm or not now or not _decided(after, name, now):
        return unknown(claim)
    if not _holds(new, now):
        return contradicted(claim, f"{_shown_name(claim, name)} is {shown_values(now)}", now[0].place)
    if was and _decided(before, name, was) and not _holds(old, was):
        return contradicted(claim, f"{_shown_name(claim, name)} was {shown_values(was)} at the base", was[0].place)
    return unknown(claim)


def _values(facts: KeyFacts, name: str) -> list[Shipped]:
    return facts.fields.get(name) or facts.settings.get(name, [])


def _holds(stated: str, known: Iterable[Shipped]) -> bool:
    return any(shipped.value is not None and same_value(stated, shipped.value) for shipped in known)


def _decided(facts: KeyFacts, name: str, known: list[Shipped]) -> bool:
    """Whether every value it may have is known: all recipes read, no script left it open."""
    return name in facts.fields or (facts.complete and all(shipped.value is not None for shipped in known))


def _shown_name(claim: Claim, name: str) -> str:
    return f"--{name}" if claim.text.startswith("--") else name


def shown_values(known: Iterable[Shipped]) -> str:
    """Up to four different values: `2, 4 or 8`."""
    texts = list(dict.fromkeys(str(shipped.value) for shipped in known))
    head = [text[:60] for text in texts[:4]] + ([f"{len(texts) - 4} more"] if len(texts) > 4 else [])
    return head[0] if len(head) == 1 else f"{', '.join(head[:-1])} or {head[-1]}"


def judge_phrase(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    """Words beside a number. They mean a flag where they spell it out, or are most of its own words."""
    words = _words(claim)
    name = _spelled_out(words, after) or _spelled_out(words, before)
    if name:
        return _judge(claim, name, before, after)
    kilo = claim.values[0].endswith("K")
    content = words[:3] if _number_first(claim) else words[-3:]
    if len(content) < (2 if kilo else 3):
        return unknown(claim)
    flags = [flag for flag in after.settings if _worded(content, flag)]
    if not flags and len(content) == 3:
        content = content[:2] if _number_first(claim) else content[-2:]
        flags = [flag for flag in after.settings if kilo and _worded(content, flag)]
    if not flags:
        return unknown(claim)
    known = [shipped for flag in flags for shipped in after.settings[flag]]
    if _holds(claim.values[0], known):
        return supported(claim)
    numeric = all(shipped.value is not None and exact(shipped.value) is not None for shipped in known)
    if not claim.firm or claim.clause.side is Side.BEFORE or not after.complete or not numeric:
        return unknown(claim)
    return contradicted(claim, f"--{flags[0]} is {shown_values(after.settings[flags[0]])}", known[0].place)


def _number_first(claim: Claim) -> bool:
    return claim.text[:1].isdigit()


def _words(claim: Claim) -> list[str]:
    """The words next to the number: those behind it up to a stop word, or those before it."""
    text = claim.name if not _number_first(claim) else re.split(r"\s/|/", claim.name)[0]
    words = [word for word in re.split(r"[\s_-]+", text) if word]
    if not _number_first(claim):
        while words and words[-1].lower() in _STOP:
            words.pop()
        return words
    for index, word in enumerate(words):
        if word.lower() in _STOP:
            return words[:index]
    return words if "/" not in claim.name else []


def _spelled_out(words: list[str], facts: KeyFacts) -> str:
    """The setting whose whole name the words right before a number spell out, of two words or more."""
    for start in range(len(words) - 1):
        tail = words[start:]
        for name in (canonical("-".join(tail)).lower(), "_".join(tail)):
            if name in facts.fields or name in facts.settings:
                return name
    return ""


def _worded(content: Sequence[str], flag: str) -> bool:
    """Whether all words stand in a flag's name: `state checkpoints` in `state-checkpoint-interval-tokens`."""
    parts = _stems(flag)
    return len(parts) > 1 and all(_stem(word) in parts for word in content)


@lru_cache(maxsize=1024)
def _stems(flag: str) -> frozenset[str]:
    return frozenset(_stem(part) for part in re.split(r"[-_.]", flag) if part)


def _stem(word: str) -> str:
    word = word.lower()
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word
