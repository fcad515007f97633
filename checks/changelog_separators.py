"""Rule `changelog-separators`: what stands before, between and behind the branch's own entries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..checkout.changelog_text import Block, separator_after, split, starts_cleanly
from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .model import SEPARATORS, Rule, Subject

HINT = "`benchscribe check --fix` writes the separators"


def judge(subject: Subject) -> Iterator[Finding]:
    """Findings about the blanks around own entries, where the base's bytes stand."""
    base, now = subject.base_changelog, subject.changelog
    suffix = now[len(base) :]
    if not now.startswith(base) or not suffix.strip() or not starts_cleanly(suffix, base):
        return
    cut = split(now, len(base))
    yield from _before_first(subject, suffix, cut.blocks[:1])
    position = len(base)
    previous: Block | None = None
    for block in cut.blocks:
        begin = now.index(block.data, position)
        if previous is not None:
            yield from _between(subject, now[position:begin], block)
        previous, position = block, begin + len(block.data)
    yield from _behind_last(subject, now[position:])


def _before_first(subject: Subject, suffix: bytes, blocks: tuple[Block, ...]) -> Iterator[Finding]:
    wanted = separator_after(subject.base_changelog)
    if not blocks or suffix.startswith(wanted + b"- config-keys:"):
        return
    block = blocks[0]
    if block.lead:
        yield _comment(subject, block)
        return
    stands = suffix[: suffix.index(block.data)]
    if wanted:
        message = f"the first added entry stands behind {_blanks(stands)}; exactly one empty line belongs there"
    else:
        what = "the base ends in an empty line already, so nothing belongs before the first added entry"
        message = f"{what}; here stands {_blanks(stands)}"
    yield _finding(subject, block.line, message)


def _between(subject: Subject, gap: bytes, block: Block) -> Iterator[Finding]:
    if gap == b"\n":
        return
    if block.lead:
        yield _comment(subject, block)
        return
    message = f"added entries are separated by exactly one empty line; here stands {_blanks(gap)}"
    yield _finding(subject, block.line, message)


def _behind_last(subject: Subject, gap: bytes) -> Iterator[Finding]:
    if not gap:
        return
    line = subject.changelog.count(b"\n") - gap.count(b"\n") + 1
    if gap.strip():
        message = "a comment stands behind the last entry; the next entry would not start where it must"
        yield RULE.finding(Place(subject.changelog_path, line), message, "move it into the entry, or drop it")
        return
    message = f"the file ends in one line end; here follows {_blanks(gap)}"
    yield _finding(subject, line, message, severity=Severity.WARNING)


def _comment(subject: Subject, block: Block) -> Finding:
    line = block.line - 1
    message = "a comment stands before the added entry, which has to start with `- config-keys:`"
    return RULE.finding(Place(subject.changelog_path, line), message, "move it into the entry, or drop it")


def _finding(subject: Subject, line: int, message: str, severity: Severity | None = None) -> Finding:
    place = Place(subject.changelog_path, line)
    return RULE.finding(place, message, HINT, fix=Fix(SEPARATORS), severity=severity)


def _blanks(gap: bytes) -> str:
    lines = gap.split(b"\n")[:-1]
    if not lines:
        return "no empty line"
    if not any(lines):
        return "one empty line" if len(lines) == 1 else f"{len(lines)} empty lines"
    with_blanks = sum(1 for line in lines if re.fullmatch(rb"[ \t\r]+", line))
    return f"{len(lines)} line{'' if len(lines) == 1 else 's'}, {with_blanks} of them with blanks in"


RULE = Rule(
    id="changelog-separators",
    severity=Severity.ERROR,
    title="exactly one empty line before and between added entries",
    explanation=(
        "The added bytes start with `- config-keys:` when the base ends in an empty line, and with one "
        "empty line otherwise (a line of two spaces is not empty). Several added entries are separated by "
        "exactly one empty line, no comment stands before one, and the file ends in one line end."
    ),
    example_before="  pr-link: …/pull/1821\n- config-keys:",
    example_after="  pr-link: …/pull/1821\n\n- config-keys:",
    judge=judge,
)
