"""Reading a branch, or a plan, as the rules see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..checkout.blocks import split_blocks
from ..checkout.changelog_text import Block, own_blocks, split
from ..checkout.changes import changed_files
from ..checkout.checkout import Checkout
from ..checkout.layout import map_path
from ..derive.change import Change
from ..derive.compare import compare
from ..derive.figures import CheckoutFigures
from ..schema.changelog import parse_entry
from ..schema.errors import BenchscribeError, StateError
from ..schema.results import Edit
from .model import OwnEntry, Subject


def read_subject(checkout: Checkout, *, number: int | None = None, everything: bool = False) -> Subject:
    """The branch as it stands, base → now (work tree, or HEAD where only committed state is judged).

    A master config or a changelog that cannot be read is no error here: a rule tells of it.
    """
    files = changed_files(checkout)
    try:
        change = compare(checkout.before, checkout.after, files)
        trouble = None
    except StateError as error:
        change, trouble = Change(checkout.layout.name, ()), error
    return _subject(checkout, change, files, number=number, everything=everything, trouble=trouble)


def plan_subject(wanted: Checkout, change: Change, edits: Sequence[Edit], *, number: int | None = None) -> Subject:
    """A plan: `wanted` is the checkout with the edits laid over it, `change` is base → wanted."""
    planned = frozenset(edit.path for edit in edits)
    files = changed_files(wanted, planned)
    lines = {edit.path: _entry_lines(edit) for edit in edits if edit.path in wanted.layout.masters}
    return _subject(wanted, change, files, number=number, planned=planned, planned_lines=lines)


def _entry_lines(edit: Edit) -> tuple[range, ...]:
    """The lines of the master entries that an edit writes, the comments above them included."""
    before, after = _text(edit.before), _text(edit.after)
    old = {block.name: before[block.comment_start : block.end] for block in split_blocks(before, edit.path)}
    found = []
    for block in split_blocks(after, edit.path):
        text = after[block.comment_start : block.end]
        if old.get(block.name) != text:
            start = block.line - after.count("\n", block.comment_start, block.start)
            found.append(range(start, start + text.count("\n") + 1))
    return tuple(found)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _subject(
    checkout: Checkout,
    change: Change,
    files: frozenset[str],
    *,
    number: int | None,
    everything: bool = False,
    planned: frozenset[str] | None = None,
    planned_lines: Mapping[str, tuple[range, ...]] | None = None,
    trouble: BenchscribeError | None = None,
) -> Subject:
    changelog = checkout.read(checkout.layout.changelog) or b""
    base = base_changelog(checkout, changelog)
    return Subject(
        checkout=checkout,
        before=checkout.before,
        after=checkout.after,
        change=change,
        figures=CheckoutFigures(checkout.after),
        files=files,
        base_changelog=base,
        changelog=changelog,
        own=own_entries(base, changelog, checkout.layout.changelog),
        pull_request=number,
        everything=everything,
        planned=planned,
        planned_lines=planned_lines or {},
        trouble=trouble,
    )


def base_changelog(checkout: Checkout, changelog: bytes) -> bytes:
    """The bytes the changelog has to start with: the base's, or those of the base's tip where it was reseated."""
    path = checkout.layout.changelog
    base = checkout.base
    if base.tip != base.commit:
        tip = checkout.at_commit(base.tip)
        data = tip.read(map_path(path, checkout.layout, tip.layout))
        if data and changelog.startswith(data):
            return data
    return checkout.at_base(path) or b""


def own_entries(base: bytes, changelog: bytes, path: str) -> tuple[OwnEntry, ...]:
    """The branch's own entries, in the order of the file; also found where history was damaged."""
    try:
        return tuple(_own_entry(block, at_tail=True) for block in own_blocks(base, changelog, path))
    except StateError:
        pass
    try:
        from ..checkout.changelog_own import attribute

        own = attribute(base, changelog, base, path).own
    except StateError:
        return ()
    lines = {block.line for block in own}
    last_old = max((block.line for block in split(changelog).blocks if block.line not in lines), default=0)
    ordered = sorted(own, key=lambda block: block.line)
    return tuple(_own_entry(block, at_tail=block.line > last_old) for block in ordered)


def _own_entry(block: Block, *, at_tail: bool) -> OwnEntry:
    try:
        entry = parse_entry(block.data)
    except BenchscribeError:
        entry = None
    return OwnEntry(entry, block.data, block.line, at_tail)
