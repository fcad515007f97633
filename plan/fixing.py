"""Findings' fixes as edits: what `check --fix` applies, all of it in the changelog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..checkout.changelog_text import link_of, number_of, own_blocks, split
from ..checks.model import ENTRY, FINAL_NEWLINE, LINK, RESEAT, SAFE_ACTIONS, SEPARATORS, Subject
from ..schema.errors import UsageError
from ..schema.results import Edit, Finding
from ..schema.spec import ChangelogChange
from ..writers.changelog import append, with_link
from ..writers.changelog_reseat import reseat
from .changelog import plan_changelog


@dataclass(frozen=True, slots=True)
class Fixing:
    """What fixing does: the edit of the changelog (none where nothing can be fixed), and what it leaves out.

    `remarks` say what was not attributed to the branch while its entries were moved, or why nothing was done.
    """

    edits: tuple[Edit, ...]
    remarks: tuple[str, ...] = ()


def plan_fixes(subject: Subject, findings: Sequence[Finding]) -> Fixing:
    """The edit that applies every safe fix of the findings; nothing is written.

    A changelog with conflict markers is left alone. Raises UsageError where only HEAD is judged.
    """
    if subject.has_conflict:
        what = "the changelog has conflict markers: nothing was fixed; `benchscribe reseat` settles the conflict"
        return Fixing((), (what,))
    wanted = [finding for finding in findings if finding.fix is not None and finding.fix.action in SAFE_ACTIONS]
    if not wanted:
        return Fixing(())
    if subject.checkout.committed:
        raise UsageError("--fix writes into the work tree, but --committed judges HEAD", hint="drop one of the two")
    actions = {finding.fix.action for finding in wanted if finding.fix is not None}
    data, remarks = subject.changelog, tuple[str, ...]()
    if RESEAT in actions:
        data, remarks = _reseated(subject, data)
    if FINAL_NEWLINE in actions and not data.endswith(b"\n"):
        data += b"\n"
    if SEPARATORS in actions:
        data = _separated(subject, data)
    if LINK in actions:
        data = _linked(subject, data, wanted)
    if ENTRY in actions:
        data = _with_entry(subject, data, wanted)
    edit = Edit(subject.changelog_path, subject.changelog, data)
    return Fixing((edit,) if edit.before != edit.after else (), remarks)


def _reseated(subject: Subject, data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The base's bytes with the own entries behind them."""
    base = subject.base_changelog
    seated = reseat(base, data, base, path=subject.changelog_path)
    return seated.data, tuple(f"left out: {item}" for item in seated.unattributed)


def _separated(subject: Subject, data: bytes) -> bytes:
    """The own entries with the separators of FACTS §2 around them, unless a comment stands in between."""
    base = subject.base_changelog
    if not data.startswith(base):
        return data
    cut = split(data, len(base))
    if cut.rest or any(block.lead for block in cut.blocks):
        return data
    return append(base, [block.data for block in cut.blocks], subject.changelog_path)


def _linked(subject: Subject, data: bytes, findings: Sequence[Finding]) -> bytes:
    """The own entries' wrong links, each replaced by what its finding asks for."""
    numbers = {
        finding.text: finding.fix.arguments.get("number")
        for finding in findings
        if finding.fix is not None and finding.fix.action == LINK
    }
    base = subject.base_changelog
    blocks = own_blocks(base, data, subject.changelog_path) if data.startswith(base) else ()
    result = data
    for block in blocks:
        if link_of(block.data) in numbers:
            begin = result.index(block.data, len(base))
            linked = with_link(block.data, numbers[link_of(block.data)])
            result = result[:begin] + linked + result[begin + len(block.data) :]
    return result


def _with_entry(subject: Subject, data: bytes, findings: Sequence[Finding]) -> bytes:
    """The derived entry for the changed keys that no entry names, at the tail."""
    keys = [
        finding.fix.arguments["key"] for finding in findings if finding.fix is not None and finding.fix.action == ENTRY
    ]
    checkout = subject.checkout.with_overlay({subject.changelog_path: data})
    numbers = [number_of(own.data) for own in subject.own]
    number = subject.pull_request or next((known for known in numbers if known is not None), None)
    asked = ChangelogChange.model_validate({"keys": keys})
    planned = plan_changelog(checkout, checkout, subject.change, [asked], number)
    if planned.edit is None:
        return data
    return append(data, [planned.text.encode()], subject.changelog_path)
