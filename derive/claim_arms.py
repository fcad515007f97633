"""Which arm a claim is about: `Golden AL 3.33 at TP8` speaks of the TP8 rows, whatever the others run.

Only where it is plain: one arm in the whole sentence, in the same clause as the claim, with joining words in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Arm = tuple[tuple[str, int], ...]

PARALLEL = re.compile(
    r"(?:(?<![A-Za-z])(TP|DCP|PCP|EP|DEP|TEP|PP|DP)[ -]?(\d{1,3})(?![\w.]*\d|[A-Za-z])"
    r"|(?<![\w/.-])(tp|dcp|pcp|ep|dep|tep|pp|dp)(?:[:=] ?)?(\d{1,3})(?![\w/]|[.-]\w))"
)
_SENTENCE = re.compile(r"[.!?]\s+|[。！？]")
_WITHIN_ARM = re.compile(r"\s*[/+x×]\s*|\s+(?:with\s+)?")
# What may stand between an arm and what is said of it; any other word may open another thought.
_JOINING_TEXT = """
    at on in for with to up from of now through each per rank ranks arm arms row rows point points run runs use uses
    using keep keeps take takes get gets reserve reserves sweep sweeps cover covers reach reaches extend extends conc
    concurrency set sets lmcache hicache mooncake offload offloading dram host tier tiers : @ =
"""
_JOINING = frozenset(_JOINING_TEXT.split())
_ARTICLES = frozenset(("the", "a", "an", "new"))
_JOINING_CHINESE = re.compile(r"使用|扩展|运行|[在的上为到至用跑]")
_TOKEN = re.compile(r"[A-Za-z]+|[^\sA-Za-z]")
_LISTED = re.compile(r"(?<![\w-])[Cc]\d{1,4}\s*(?:,|/|、|，|and|和)\s*(?:and\s+)?")


def word_of(match: re.Match[str]) -> tuple[str, int]:
    """`("TP", 8)` for a match of `PARALLEL`."""
    return (match[1] or match[3]).upper(), int(match[2] or match[4])


def arm_of(line: str, start: int, end: int, clause: str) -> Arm:
    """The one arm that `line[start:end]` is about, empty where that is not plain; `clause` is the text around it."""
    first, last = _sentence(line, start, end)
    groups = list(_groups(line, first, last))
    if not groups or len({frozenset(words) for words, _, _ in groups}) != 1:
        return ()
    words = groups[0][0]
    if {word_of(match) for match in PARALLEL.finditer(clause)} != set(words):
        return ()
    for _, begin, finish in groups:
        if finish <= start and _joins(_LISTED.sub("", line[finish:start])):
            return words
        if end <= begin and _joins(line[end:begin], _ARTICLES):
            return words
    return ()


def _joins(between: str, more: frozenset[str] = frozenset()) -> bool:
    return all(
        word.lower() in _JOINING or word.lower() in more for word in _TOKEN.findall(_JOINING_CHINESE.sub(" ", between))
    )


def _sentence(line: str, start: int, end: int) -> tuple[int, int]:
    first, last = 0, len(line)
    for match in _SENTENCE.finditer(line):
        if match.end() <= start:
            first = match.end()
        elif match.start() >= end:
            last = match.start()
            break
    return first, last


def _groups(line: str, first: int, last: int) -> Iterator[tuple[Arm, int, int]]:
    """The topology words of a sentence as they stand together: `TP4+DCP4` is one arm, `TP4/TP8` are two."""
    words: list[tuple[str, int]] = []
    begin = finish = first
    for match in PARALLEL.finditer(line, first, last):
        word = word_of(match)
        joined = words and _WITHIN_ARM.fullmatch(line, finish, match.start())
        if joined and word[0] not in {name for name, _ in words}:
            words.append(word)
        else:
            if words:
                yield tuple(words), begin, finish
            words, begin = [word], match.start()
        finish = match.end()
    if words:
        yield tuple(words), begin, finish
