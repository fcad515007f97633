"""Rule `changelog-tail`: own entries stand behind every entry of the base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..checkout.changelog_damage import entry_start, in_plain_bytes
from ..checkout.changelog_history import short_name
from ..checkout.changelog_text import Block, split
from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .model import RESEAT, Rule, Subject

SHOWN = 6
HINT = "move it to the end, every other byte as on the base: `benchscribe check --fix` or `benchscribe reseat` does"


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per own entry that stands before an old one, naming those it stands before."""
    if all(own.at_tail for own in subject.own):
        return
    text = in_plain_bytes(subject.changelog)
    lines = {own.line for own in subject.own}
    old = [block for block in split(text, entry_start=entry_start(text)).blocks if block.line not in lines]
    for own in subject.own:
        behind = [block for block in old if block.line > own.line]
        if behind:
            what = "at the very top" if len(behind) == len(old) else "in the middle"
            message = f"this branch's entry stands {what}, before {_named(behind)}; entries are appended at the end"
            yield RULE.finding(Place(subject.changelog_path, own.line), message, HINT, fix=Fix(RESEAT))


def _named(blocks: Sequence[Block]) -> str:
    names = [short_name(block) for block in blocks]
    if len(names) == 1:
        return f"the entry of {names[0]}"
    shown = ", ".join(names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"the entries of {shown}{more}"


RULE = Rule(
    id="changelog-tail",
    severity=Severity.ERROR,
    title="new entries stand at the end of the changelog",
    explanation=(
        "A new entry is appended behind the last entry of the base. Most misplaced ones stand within ten "
        "entries of the tail: the tail moved while the branch was open, and a merge or a replayed diff left "
        "the entry where the tail used to be."
    ),
    example_before="(the branch's entry, then the entries of #2672 and #2642 that main has gained)",
    example_after="(the entries of #2672 and #2642, then the branch's entry)",
    judge=judge,
)
