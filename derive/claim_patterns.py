"""Taking the claims out of a description line: images, topologies, concurrencies, drafts, settings, memory.

A pattern only finds what is written; whether it is true is `claims`' to say. Numbers, flags and tags read the
same in English and Chinese lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from .claim_arms import PARALLEL, Arm, arm_of, word_of
from .claim_words import Clause, clause_at


class Kind(StrEnum):
    """What a claim is about."""

    IMAGE = "image"
    TOPOLOGY = "topology"
    CONCURRENCY = "concurrency"
    DRAFT_TOKENS = "draft tokens"
    ACCEPTANCE = "acceptance"
    SETTING = "setting"
    PHRASE = "phrase"
    MEMORY = "memory"
    UTILIZATION = "utilization"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: the words as written, where they stand in the line, and what they state.

    `name` is what the value is of: a setting's name, `TP`, `tag`, `AL` or `rate`, `per rank`. `values` are as
    written. `topology` are the `TPn` words of the arm it is about, right before a list of concurrencies or
    elsewhere in its clause. `firm` is False where the words around it speak of more than what ships.
    """

    kind: Kind
    text: str
    start: int
    name: str
    values: tuple[str, ...]
    clause: Clause
    firm: bool = True
    topology: Arm = ()


_OF_ONE_ARM = (Kind.CONCURRENCY, Kind.DRAFT_TOKENS, Kind.ACCEPTANCE, Kind.SETTING, Kind.MEMORY)

_NUMBER = r"\d+(?:\.\d+)?"
_END = r"(?![A-Za-z0-9_%]|[.\-/][A-Za-z0-9_])"
_BECOMES = r"(?:->|→|=>|to|(?:提高|降低|调整|升|降|改|增加|减少)?(?:到|至|为))"


@lru_cache(maxsize=512)
def claims_in(line: str) -> tuple[Claim, ...]:
    """Every claim of a line, in its order."""
    found = [claim for read in _READERS for claim in read(line)]
    return tuple(sorted(found, key=lambda claim: claim.start))


def _claim(line: str, kind: Kind, span: tuple[int, int], name: str, *values: str) -> Claim:
    clause = clause_at(line, *span)
    arm = arm_of(line, *span, clause.text) if kind in _OF_ONE_ARM else ()
    return Claim(kind, line[slice(*span)], span[0], name, values, clause, not clause.soft, arm)


# Images

_REFERENCE = re.compile(
    r"(?<![\w/@:#.-])(?:[a-z0-9.-]+\.[a-z]{2,}(?::\d+)?[/#])?[a-z0-9][a-z0-9._-]*(?:/[A-Za-z0-9][\w.-]*)+"
    r"(?::[\w][\w.+-]*(?:@sha256:[0-9a-f]{6,64})?|@sha256:[0-9a-f]{6,64})"
)
_TAG = re.compile(
    r"(?<![\w/@:#.-])(?:nightly[-_][\w.-]*\d[\w.-]*|v?\d+\.\d+[\w.]*-[\w.-]*(?:rocm|cu|mi)\d[\w.-]*"
    r"|rocm\d[\w.]*_[\w.-]+)"
)
_DIGEST = re.compile(r"(?<![\w@])sha256:[0-9a-f]{6,64}")
_IMAGE_VERSION = re.compile(
    r"(?<![\w-])(?:image|镜像)s?\b(?:\s*[:：]|[^.;；()（）,，]{0,40}?(?:\s(?:to|at|is|=)|升级到|升级至|改为|为|到|至))\s*"
    r"(v\d+\.\d+[\w.]*)" + _END,
    re.IGNORECASE,
)


def _images(line: str) -> Iterator[Claim]:
    for pattern, name in ((_REFERENCE, "reference"), (_TAG, "tag"), (_DIGEST, "digest")):
        for match in pattern.finditer(line):
            text = match[0].rstrip(".-_:")
            yield _image(line, name, match.start(), text)
    for match in _IMAGE_VERSION.finditer(line):
        yield _image(line, "version", match.start(1), match[1].rstrip("."))


def _image(line: str, name: str, start: int, text: str) -> Claim:
    """An image named as what something becomes is firm whatever stands behind it: `image to X, as Y has it`."""
    clause = clause_at(line, start, start + len(text))
    introduced = clause.target or _INTRODUCED.search(clause.before) is not None
    soft = clause.soft_before if introduced else clause.soft
    return Claim(Kind.IMAGE, text, start, name, (text,), clause, not soft)


_INTRODUCED = re.compile(r"(?:(?<![\w-])(?:image|use|uses|pin|pins|镜像|使用)\s*[:：]?\s*)[\"'`]*$", re.IGNORECASE)


# Topologies and concurrencies

_VALUES = r"\d+(?!\w)(?:(?:\s*[,、/，]\s*(?:and |和 ?)?|\s+and\s+|\s*和\s*)\d+(?![\w.]*\w))*"
_RANGE = r"\d+\s*(?:-|–|—|~|\.\.|through|to|至|到)\s*\d+(?!\w)"
_CONCURRENCY = re.compile(
    rf"(?<![\w<>=≥≤-])(?:conc(?:urrenc(?:y|ies))?(?:-list)?|并发(?:数|度|量)?)"
    rf"(?:\s+(?:points?|levels?))?\s*(?:[=:：]|of|at|from|in|为|从|点)?\s*"
    rf"(?:\[\s*(?P<listed>{_VALUES})\s*\]|(?P<range>{_RANGE})|(?P<bare>{_VALUES}))",
    re.IGNORECASE,
)
_SHORT = re.compile(r"(?<![\w/.#:@=-])[Cc]\d{1,4}(?:\s*[-–—/]\s*[Cc]?\d{1,4})*(?![\w-]|\.\w)")
_COUNTED = re.compile(
    r"\s*(?:GPUs?|nodes?|GB|GiB|TB|ranks?|workers?|tokens?|seconds|s|ms|requests|prefills?|decodes?|draft|x|×|个)"
    r"(?![\w])",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[\s(（]*(?:at|with|@|on|的|在)?\s*")


def _topologies(line: str) -> Iterator[Claim]:
    for match in PARALLEL.finditer(line):
        name, number = word_of(match)
        yield _claim(line, Kind.TOPOLOGY, match.span(), name, str(number))


def _concurrencies(line: str) -> Iterator[Claim]:
    for match in _CONCURRENCY.finditer(line):
        values = re.findall(r"\d+", match["listed"] or match["range"] or match["bare"])
        counted = match["listed"] is None and _COUNTED.match(line, match.end()) is not None
        values = values[:-1] if counted else values
        if values:
            yield _concurrency(line, match.start(), match.end(), values)
    for match in _SHORT.finditer(line):
        yield _concurrency(line, match.start(), match.end(), re.findall(r"\d+", match[0]))


def _concurrency(line: str, start: int, end: int, values: list[str]) -> Claim:
    claim = _claim(line, Kind.CONCURRENCY, (start, end), "concurrency", *values)
    topology = tuple(_topology_before(line, start)) or claim.topology
    return Claim(claim.kind, claim.text, start, claim.name, claim.values, claim.clause, claim.firm, topology)


def _topology_before(line: str, start: int) -> Iterator[tuple[str, int]]:
    """The topology words that stand right before a list: `TP4+DCP4 C16`, `DEP8 at conc 64`."""
    end = start
    for match in reversed(list(PARALLEL.finditer(line, 0, start))):
        between = line[match.end() : end]
        joined = _JOINED.fullmatch(between) if end == start else re.fullmatch(r"\s*[/+x×]\s*", between)
        if not joined:
            return
        yield word_of(match)
        end = match.start()
    return


# Speculation

_WORDS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_COUNT = rf"(\d{{1,2}}|{'|'.join(_WORDS)})"
_DRAFTS = (
    re.compile(rf"(?<![\w.-]){_COUNT}[ -]?(?:个\s?)?(?:draft|speculative|spec)[ -]tokens?(?![\w-])", re.IGNORECASE),
    re.compile(rf"(?<![\w.-]){_COUNT}[- ]tokens?[- ](?:MTP|EAGLE3?|DSpark|drafts?)(?![\w-])", re.IGNORECASE),
    re.compile(
        r"(?<![\w.-])draft(?:ing)? (?:depth|length|tokens?)\s*(?:of|at|=|:|is|to|为|：)?\s*(\d{1,2})" + _END,
        re.I,
    ),
    re.compile(r"(?<![\w-])MTP-?(\d)(?![\w.-]|\s*(?:draft|head|layer|module))"),
)
_LENGTH = re.compile(
    r"(?<![\w-])(?:AL|acceptance[- ]lengths?|接受长度)\s*(?:of|at|=|:|：|is|to|为)?\s*(\d\.\d{1,6})(?!\w|\.\d|-\d|%)",
    re.IGNORECASE,
)
_LENGTH_BEHIND = re.compile(r"(?<![\w.])(\d\.\d{2})\s+(?:AL|acceptance length)(?![\w-])")
_RATE = re.compile(
    r"(?<![\w-])(?:acceptance[- ]rate|接受率)\s*(?:of|at|=|:|：|is|to|为)?\s*(0\.\d{2,12})(?!\w|\.\d|-\d|%)",
    re.IGNORECASE,
)


def _drafts(line: str) -> Iterator[Claim]:
    for pattern in _DRAFTS:
        for match in pattern.finditer(line):
            number = match[1].lower()
            yield _claim(line, Kind.DRAFT_TOKENS, match.span(), "draft tokens", str(_WORDS.get(number, number)))


def _acceptances(line: str) -> Iterator[Claim]:
    for pattern, name in ((_LENGTH, "AL"), (_LENGTH_BEHIND, "AL"), (_RATE, "rate")):
        for match in pattern.finditer(line):
            yield _claim(line, Kind.ACCEPTANCE, match.span(), name, match[1])


# Settings: NAME=value, --flag value, a flag's name or its words with a number

_VALUE = r"[\"'`]?(?P<value>[A-Za-z0-9_./:+-]+)[\"'`]?"
_ASSIGNED = re.compile(rf"(?<![\w$.-])(?P<name>[A-Za-z][\w-]*[_-][\w-]*|[A-Z][A-Z0-9]{{2,}})={_VALUE}")
_FLAG = re.compile(
    rf"(?<![\w-])--(?P<name>[A-Za-z][\w-]*)(?:=|\s+){_VALUE}(?P<end>\s*(?:[,;，；。)）]|\.\s|\.?$|and\b|→|->)?)"
)
_PAIR = re.compile(
    rf"(?<![\w$.-])(?:--)?(?P<name>[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+)\s*(?:from|从|由)?\s*"
    rf"(?P<old>{_NUMBER})\s*{_BECOMES}\s*(?P<new>{_NUMBER}){_END}"
)
_NAMED = re.compile(
    r"(?<![\w$-])(?P<words>(?:[A-Za-z][A-Za-z0-9]*[-_ ]){1,6}[A-Za-z][A-Za-z0-9]*)\s*(?:of|to|at|is|=|:|for|为|：)?\s*"
    rf"(?P<value>{_NUMBER})(?P<kilo>[Kk])?{_END}"
)
_KILO = re.compile(r"(?<![\w.$/-])(?P<value>\d{1,4})[Kk]\s+(?P<words>[A-Za-z][A-Za-z/ -]{2,60})")
# A word that English puts behind a flag is not its value.
_UNFINISHED = re.compile(r"\s*[*×{<$\[]|\(|…")
_ENGLISH = frozenset(
    [
        "is",
        "are",
        "was",
        "on",
        "off",
        "in",
        "for",
        "to",
        "at",
        "of",
        "and",
        "or",
        "with",
        "by",
        "from",
        "as",
        "so",
        "only",
        "now",
        "than",
        "that",
        "the",
        "a",
        "an",
        "it",
        "both",
        "when",
        "where",
        "which",
        "flag",
        "flags",
        "stays",
        "stay",
        "kept",
        "dropped",
        "removed",
        "added",
        "set",
        "sets",
        "pass",
        "passed",
        "unchanged",
        "arms",
        "arm",
        "points",
        "point",
        "recipes",
        "recipe",
        "path",
        "paths",
        "default",
    ]
)


def _settings(line: str) -> Iterator[Claim]:
    taken: list[tuple[int, int]] = []
    for match in _PAIR.finditer(line):
        taken.append(match.span())
        yield _claim(line, Kind.SETTING, match.span(), match["name"], match["old"], match["new"])
    for pattern in (_ASSIGNED, _FLAG):
        for match in pattern.finditer(line):
            if not _inside(match.start("name"), taken) and _is_value(match):
                taken.append(match.span())
                text = line[match.start() : match.end("value")].rstrip(".:-")
                span = (match.start(), match.start() + len(text))
                yield _claim(line, Kind.SETTING, span, match["name"], match["value"].rstrip(".:-/"))
    for match in _NAMED.finditer(line):
        if not _inside(match.end("words") - 1, taken) and not _inside(match.start("value"), taken):
            value = match["value"] + ("K" if match["kilo"] else "")
            yield _claim(line, Kind.PHRASE, match.span(), match["words"], value)
    for match in _KILO.finditer(line):
        span = (match.start(), match.end("words"))
        yield _claim(line, Kind.PHRASE, span, match["words"], match["value"] + "K")


def _is_value(match: re.Match[str]) -> bool:
    value = match["value"].rstrip(".:-/")
    if not value or value.lower() in _ENGLISH or value.startswith("-"):
        return False
    if _UNFINISHED.match(match.string, match.end("value")):
        return False
    if match.re is _ASSIGNED or any(sign.isdigit() for sign in value):
        return True
    return bool(match["end"].strip())


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


# Memory

_SIZE = r"(?P<amount>\d+(?:[.,]\d+)?)[ -]?(?P<unit>GB|GiB|TB|TiB)"
_PER = r"(?P<scope>rank|server|node|worker)"
_MEMORY = (
    re.compile(
        rf"(?<![\w.~])(?:{_SIZE})(?:\s+(?:of\s+)?[\w-]+){{0,2}}?(?:\s*[-/]\s*|\s+)(?:(?:per|for each|for every)[- ]"
        rf"|(?<=/)){_PER}(?!\w)"
    ),
    re.compile(
        rf"(?<![\w.~])(?:每个?\s*(?P<scope>rank|server|服务器|节点|node))\s*(?:分配|使用|为|占用)?\s*(?:{_SIZE})(?!\w)"
    ),
    re.compile(
        r"(?<![\w])(?P<scope>budget|total-cpu-dram-gb|预算)\s*(?:of|is|=|:|为)?\s*(?P<amount>\d+(?:\.\d+)?)[ -]?"
        r"(?P<unit>GB|GiB|TB|TiB)?(?![\w.%])"
    ),
    re.compile(rf"(?<![\w.~])(?:{_SIZE})\s+(?P<scope>budget)(?!\w)"),
)
_BUDGET_BEFORE = re.compile(r"(?:budget|预算)\s*(?:of|is|=|:|为)?\s*\Z")
_SCOPES = {
    "rank": "per rank",
    "server": "per server",
    "node": "per server",
    "服务器": "per server",
    "节点": "per server",
}
_UTILIZATION = re.compile(
    rf"(?<![\w-])(?:kv-)?(?:dram|DRAM)[- _]utili[sz]ation\s*(?:of|at|=|:|is|to|from|raised to|为|从|：)?\s*"
    rf"(?P<old>{_NUMBER})(?:\s*{_BECOMES}\s*(?P<new>{_NUMBER}))?{_END}"
)


def _memory(line: str) -> Iterator[Claim]:
    for pattern in _MEMORY:
        for match in pattern.finditer(line):
            scope = _SCOPES.get(match["scope"], "budget")
            is_budget = scope != "budget" and _BUDGET_BEFORE.search(line, 0, match.start("amount"))
            if match["scope"] == "worker" or is_budget:
                continue  # `a budget of 1109 GB per server` is no tier's size
            amount = match["amount"].replace(",", "")
            yield _claim(line, Kind.MEMORY, match.span(), scope, amount, match["unit"] or "GB")


def _utilizations(line: str) -> Iterator[Claim]:
    for match in _UTILIZATION.finditer(line):
        values = [value for value in (match["old"], match["new"]) if value]
        yield _claim(line, Kind.UTILIZATION, match.span(), "dram-utilization", *values)


_READERS = (_images, _topologies, _concurrencies, _drafts, _acceptances, _settings, _memory, _utilizations)
