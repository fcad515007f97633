"""The words around a claim: the clause it stands in, what softens it, and which side it speaks of.

English and Chinese alike. Whatever makes a clause speak of something else than what ships (history, other keys,
measurements, wishes) makes it soft: a soft claim can be supported, never contradicted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VERBS = _words("""
    add adds added align apply bump bumps capture clean convert cover disable drop drops enable expand export
    extend fix increase introduce keep keeps lower move pass pin pins raise reduce refresh remove removes rename
    replace retain retire retune revert run runs set sets switch sweep sync tune update upgrade use uses
""")
_BOUNDARY = re.compile(
    r"[;；。！？，]\s*|[.!?]\s+|\s(?:--|—|–)\s|—|,?\s(?:but|while|whereas|because|since|so)\s"
    r"|(?:,\s(?:and |then |but )?|\sand\s)(?=(?P<verb>[A-Za-z]+))",
    re.IGNORECASE,
)
_OPENING, _CLOSING = "(（", ")）"

_SOFT_WORDS = _words("""
    was were previous previously prior former formerly old older legacy earlier before not never without no
    cannot nor tried attempt attempts attempted sibling siblings same like unlike vs versus parity default
    defaults upstream mean average bring-up showed shows would could should might may can if when until unless
    except other others another peak faster slower oom ooms experiment variant copied derived hypothetical
    planned future todo follow-up historical originally initially already merged greedy limit limits ceiling
    window capable worth threshold above below beyond past against equivalent outside unrelated
    once follows eval evals evaluation accuracy leave leaves
""")
_SOFT_STEMS = _words("""
    drop remov delet retir revert match mirror compar characteriz characteris measur observ record validat
    profil crash fail hang regress inherit supersed replac clone support reproduc
    prun trim exclud omit avoid skip
""")
_SOFT_ENDINGS = frozenset(
    (
        "",
        "s",
        "d",
        "e",
        "es",
        "ed",
        "ing",
        "ped",
        "ping",
        "med",
        "ming",
        "ted",
        "ting",
        "al",
        "ure",
        "ion",
        "ison",
        "ation",
    )
)
_WORD = re.compile(r"(?<![\w-])[A-Za-z][A-Za-z-]*(?![\w-])")
_SOFT_CHINESE = (
    "之前|以前|原先|原来|原为|旧|此前|曾|先前|不再|没有|未|不|无需|移除|删除|去掉|去除|取消|退役|回退|而非|而不是|相比|对比|"
    "一致|对齐|参照|参考|沿用|同级|默认|上游|实测|测得|观测|若|如果|当|除非|其他|其它|峰值|失败|崩溃|替换|取代|历史|计划"
)
_SOFT_SIGNS = re.compile(
    rf"{_SOFT_CHINESE}|instead of|rather than|no longer|only the|checkpoint ships|#\d|\bPR\b|\bGSM8K\b|\bGPQA\b"
    r"|\bruns? \d|\btok/s|\.sh['’]s|[~≈≥≤]|(?<![-=])[<>]|n['’]t\b|%",
    re.IGNORECASE,
)


def is_soft(text: str) -> bool:
    """Whether something in the text makes it speak of more, or of something else, than what ships."""
    return _SOFT_SIGNS.search(text) is not None or any(_is_soft_word(word.lower()) for word in _WORD.findall(text))


def _is_soft_word(word: str) -> bool:
    if word in _SOFT_WORDS:
        return True
    return any(word.startswith(stem) and word[len(stem) :] in _SOFT_ENDINGS for stem in _SOFT_STEMS)


_FROM = re.compile(
    r"(?:(?<![\w-])(?:from|was|were|replac(?:es|ing|e)|instead of|rather than|previously|formerly|old|prior)|从|由|原为"
    r"|取代|替换|而非)"
    r"\s*[:：]?\s*(?:the\s+)?[\"'`“‘]*$",
    re.IGNORECASE,
)
_FROM_OPEN = re.compile(r"(?<![\w-])from\b(?:(?!\bto\b|->|→).)*$|从[^到至为]*$", re.IGNORECASE)
_TO_LATER = re.compile(r"\bto\b|->|→|到|至|为", re.IGNORECASE)
_ARROW = r"(?:->|→|=>|➜)"
_ARROW_BEFORE = re.compile(rf"{_ARROW}\s*[\"'`“‘]*$")
_ARROW_BEHIND = re.compile(rf"^[\"'`”’]*\s*{_ARROW}")
_TO_BEHIND = re.compile(
    rf"^[\"'`”’]*\s*(?:\([^)]*\)\s*)?(?:{_ARROW}|to\b|改为|升级到|升级至|更新为|更新到|更新至|换成|换为|调整为|提高到|降到|到|至)",
    re.IGNORECASE,
)
_TO_BEFORE = re.compile(
    rf"(?:{_ARROW}|(?<![\w-])(?:to|with|by)|改为|升级到|升级至|更新为|更新到|更新至|换成|换为|调整为|到|至|为)\s*(?:the\s+)?[\"'`“‘]*$",
    re.IGNORECASE,
)


class Side(StrEnum):
    """Of which state a claim speaks."""

    AFTER = "after"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Clause:
    """The words around a claim: those of its clause before and behind it, and the sentence a bracket stands in."""

    before: str
    behind: str
    around: str

    @property
    def text(self) -> str:
        """All of it; the claim itself is left out."""
        return f"{self.around} {self.before} {self.behind}"

    @property
    def soft(self) -> bool:
        """Whether something in it makes it speak of more, or of something else, than what ships."""
        return is_soft(self.text)

    @property
    def soft_before(self) -> bool:
        """Whether something in front of the claim does."""
        return is_soft(f"{self.around} {self.before}")

    @property
    def side(self) -> Side:
        """BEFORE for what a from/to pair or a `was` names as the old value."""
        if _FROM.search(self.before) or _ARROW_BEHIND.search(self.behind):
            return Side.BEFORE
        return Side.AFTER

    @property
    def opened_by_from(self) -> bool:
        """Whether a `from` in front still waits for its `to` behind: `from X / Y to Z` at X and at Y."""
        return _FROM_OPEN.search(self.before) is not None and _TO_LATER.search(self.behind) is not None

    @property
    def paired(self) -> bool:
        """Whether it is the old value of a from/to pair, both written out."""
        return _ARROW_BEHIND.search(self.behind) is not None or (
            _FROM.search(self.before) is not None and _TO_BEHIND.search(self.behind) is not None
        )

    @property
    def target(self) -> bool:
        """Whether it is directly named as what something becomes: `to X`, `-> X`."""
        return _TO_BEFORE.search(self.before) is not None


def clause_at(line: str, start: int, end: int) -> Clause:
    """The clause that holds `line[start:end]`; deeper brackets are left out of it."""
    left, right = _bracket(line, start, end)
    masked = _without_brackets(line, left, right, start, end)
    begin, finish = left, right
    for match in _BOUNDARY.finditer(masked, left, right):
        if match["verb"] and match["verb"].lower() not in _VERBS:
            continue
        if match.end() <= start:
            begin = match.end()
        elif match.start() >= end:
            finish = match.start()
            break
    around = ""
    if left > 0:
        outer = clause_at(line, left - 1, min(right + 1, len(line)))
        around = f"{outer.around} {outer.before} {outer.behind}"
    return Clause(masked[begin:start], masked[end:finish], around)


def _bracket(line: str, start: int, end: int) -> tuple[int, int]:
    """The inside of the innermost bracket around a span; the whole line without one."""
    depth, left = 0, -1
    for index in range(start - 1, -1, -1):
        if line[index] in _CLOSING:
            depth += 1
        elif line[index] in _OPENING:
            if depth == 0:
                left = index
                break
            depth -= 1
    if left < 0:
        return 0, len(line)
    depth = 0
    for index in range(end, len(line)):
        if line[index] in _OPENING:
            depth += 1
        elif line[index] in _CLOSING:
            if depth == 0:
                return left + 1, index
            depth -= 1
    return left + 1, len(line)


def _without_brackets(line: str, left: int, right: int, start: int, end: int) -> str:
    """The line with what stands in brackets inside `left:right` blanked, but for the span itself."""
    letters, depth = list(line), 0
    for index in range(left, right):
        if start <= index < end:
            continue
        if line[index] in _OPENING:
            depth += 1
        inside = depth > 0
        if line[index] in _CLOSING and depth:
            depth -= 1
        if inside:
            letters[index] = " "
    return "".join(letters)
