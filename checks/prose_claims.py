"""What the rules about prose share: the contradicted claims of the branch's own entries, as findings."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..derive.claim_facts import facts_for
from ..derive.claims import Judgement, Kind, Verdict, judge_line
from ..schema.errors import Place
from ..schema.results import Finding, Fix
from .coverage import named_keys
from .model import SPEC_PATCH, OwnEntry, Rule, Subject

DERIVE = ", have the entry derived anew (`benchscribe describe --write`)"


def prose_findings(subject: Subject, rule: Rule, kinds: Collection[Kind]) -> Iterator[Finding]:
    """One finding per contradicted claim of these kinds. Supported and unknown claims are no findings."""
    for own in subject.own:
        keys = tuple(named_keys(own, {**subject.after.keys, **subject.before.keys}))
        before, after = facts_for(subject.before, keys), facts_for(subject.after, keys)
        for index, line in enumerate(own.description):
            for judgement in judge_line(line, before, after, kinds):
                if judgement.verdict is Verdict.CONTRADICTED:
                    yield _finding(subject, rule, own, index, judgement)


def _finding(subject: Subject, rule: Rule, own: OwnEntry, index: int, judgement: Judgement) -> Finding:
    claim = judgement.claim
    where = f" ({judgement.place})" if judgement.place is not None else ""
    message = f"the entry says {claim.text!r}, but {judgement.shipped}{where}"
    hint = f"correct the line{DERIVE}, or change what ships if the line is what was meant"
    fix = None
    if judgement.right:
        line = own.description[index]
        right = line[: claim.start] + judgement.right + line[claim.start + len(claim.text) :]
        hint = f"write {judgement.right}{DERIVE}, or change what ships if the line is what was meant"
        fix = Fix(SPEC_PATCH, {"patch": {"changelog": {"keys": list(own.keys), "notes": [right]}}})
    place = Place(subject.changelog_path, own.line_at("description", index))
    return rule.finding(place, message, hint, fix=fix, text=claim.text)
