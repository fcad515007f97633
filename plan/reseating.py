"""Reseating as a plan: which bytes are main's, which entries are the branch's own, what will be written.

Main's bytes are those of the base's tip; while a merge or a rebase is under way, those of what is being merged
or built on. The branch's own entries come from the work tree; of a conflict, from its sides as git keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..checkout.base import Base
from ..checkout.changelog_own import Unattributed
from ..checkout.changelog_text import link_of, split
from ..checkout.checkout import Checkout
from ..checkout.git import Git, State
from ..checkout.layout import CHANGELOG, E2E_FOLDER
from ..schema.changelog import entry_problems, is_accepted_link, pull_request_link
from ..schema.errors import Place, StateError
from ..schema.results import Edit, Finding, Severity
from ..writers import git_index, transaction
from ..writers.changelog import append
from ..writers.changelog_reseat import Reseated, reseat
from ..writers.git_index import ANCESTOR, OURS, THEIRS
from ..writers.merge_file import merge_files
from .own_entries import Entries, fields_of, merge_own, updated, version_in


@dataclass(frozen=True, slots=True)
class Reseating:
    """What reseating will do. `edits` are the files to write, `resolved` unmerged paths that it settles.

    `main` names where the history comes from; `moved` are the own entries as they will stand, `on_main` those
    of the branch that main holds as well, `left_out` what was not attributed and is named.
    """

    checkout: Checkout
    path: str
    main: str
    edits: tuple[Edit, ...]
    resolved: tuple[str, ...]
    moved: Entries
    on_main: Entries
    left_out: tuple[Unattributed, ...]
    findings: tuple[Finding, ...]

    @property
    def nothing_to_do(self) -> bool:
        return not self.edits and not self.resolved


@dataclass(frozen=True, slots=True)
class _Main:
    """The commit whose history is taken, and how people call it."""

    commit: str
    name: str


@dataclass(frozen=True, slots=True)
class _Own:
    """Entries found to be the branch's own, and what else its texts held."""

    entries: Entries
    on_main: Entries = ()
    left_out: tuple[Unattributed, ...] = ()


def plan_reseat(checkout: Checkout, *, base_ref: str = "", number: int | None = None) -> Reseating:
    """What reseating does here; nothing is written.

    `base_ref` is what was asked for with `--base`, `number` the pull request's, for the entries' link. Raises
    StateError where no base is found, or where a text holds no entry that could be told apart.
    """
    git, state = checkout.git, checkout.git.state()
    main = _main(git, checkout.base, state, base_ref)
    reader = _Reader(checkout, main)
    conflict = git_index.unmerged(git)
    resolved = tuple(path for path in reader.paths if path in conflict)
    own = _of_conflict(reader, conflict[resolved[0]], resolved, state) if resolved else _of_work_tree(reader)
    link = None if number is None else pull_request_link(number)
    seated = _seat(reader, own.entries, link)
    edits = _edits(reader, seated.data)
    return Reseating(
        checkout=checkout,
        path=reader.path,
        main=main.name,
        edits=edits,
        resolved=resolved,
        moved=seated.moved,
        on_main=tuple(dict.fromkeys((*own.on_main, *seated.on_main))),
        left_out=tuple(dict.fromkeys((*own.left_out, *seated.unattributed))),
        findings=tuple(_findings(reader, seated, state)),
    )


def apply_reseat(plan: Reseating) -> list[str]:
    """Write the files and settle the conflict in the index; the paths written. Raises as `transaction.apply`."""
    git = plan.checkout.git
    if plan.resolved:
        git_index.wait_for_index(git)
    written = transaction.apply(plan.edits, root=git.root, state_dir=git.own_folder)
    git_index.stage(git, plan.resolved)
    return written


# --- which commit is main


def _main(git: Git, base: Base, state: State, base_ref: str) -> _Main:
    """The base's tip, or what a merge or rebase under way takes for main."""
    tip = _Main(base.tip, base.name)
    incoming = "" if base_ref else _incoming(git, state)
    if not incoming:
        return tip
    names = {base.name, base.name.partition("/")[2]} - {""}
    if _is_named(git, incoming, names) or _is_ancestor(git, incoming, base.tip):
        return _Main(incoming, f"{base.name} as it is being merged" if state.operation == "merge" else base.name)
    if state.operation == "merge" and state.branch in names:
        return _Main(git.head, state.branch)
    return tip


def _incoming(git: Git, state: State) -> str:
    """The commit a merge takes in or a rebase builds on, empty without either."""
    names = {"merge": ("MERGE_HEAD",), "rebase": ("rebase-merge/onto", "rebase-apply/onto")}
    for name in names.get(state.operation, ()):
        file = git.git_path(name)
        lines = file.read_text().split() if file.is_file() else []
        if len(lines) > 1:
            raise StateError(
                f"an octopus merge of {len(lines)} branches is under way",
                hint="say whose history to take: benchscribe reseat --base REF",
            )
        if lines:
            return git.resolve(lines[0])
    return ""


def _is_named(git: Git, commit: str, names: set[str]) -> bool:
    """Whether a branch of that name, here or on a remote, stands at the commit."""
    listed = git.text("for-each-ref", "--format=%(refname)", f"--points-at={commit}", "refs/heads", "refs/remotes")
    for ref in listed.split("\n"):
        kind, _, name = ref.removeprefix("refs/").partition("/")
        if name in names or (kind == "remotes" and name.partition("/")[2] in names):
            return True
    return False


def _is_ancestor(git: Git, commit: str, other: str) -> bool:
    return git.try_run("merge-base", "--is-ancestor", commit, other).returncode == 0


# --- texts and their histories


class _Reader:
    """The changelog's texts, whatever layout they stand in, and the own entries of each."""

    def __init__(self, checkout: Checkout, main: _Main) -> None:
        self.git = checkout.git
        self.checkout = checkout
        self.commit = main.commit
        self.name = main.name
        there, here = checkout.at_commit(main.commit).layout.changelog, checkout.layout.changelog
        # Once main's layout has arrived in the work tree, a changelog at the old place is left over.
        self.path = there if there != here and checkout.read(there) is not None else here
        self.stale = here if self.path == there != here else self._left_over(there)
        self.main = self.at(main.commit)

    def _left_over(self, there: str) -> str:
        """A changelog that stands where another layout has it, and main has none."""
        for other in dict.fromkeys((self.checkout.base_layout.changelog, CHANGELOG, f"{E2E_FOLDER}/{CHANGELOG}")):
            if other not in (self.path, there) and self.checkout.read(other) is not None:
                return "" if self.git.show(self.commit, other) is not None else other
        return ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Where a changelog stands in the work tree: the right place, then one that is left over."""
        return (self.path, self.stale) if self.stale else (self.path,)

    def at(self, commit: str) -> bytes:
        """The changelog of a commit, in that commit's own layout."""
        snapshot = self.checkout.at_commit(commit)
        data = snapshot.read(snapshot.layout.changelog)
        if data is None:
            raise StateError(f"the changelog is not there at {commit[:10]}", where=Place(snapshot.layout.changelog))
        return data

    def now(self, path: str) -> bytes:
        """The work tree's bytes, empty where the file is not there."""
        return self.checkout.read(path) or b""

    def own(self, text: bytes, history: bytes) -> _Own:
        """The own entries of a text whose history began at `history`."""
        if not text.strip():
            return _Own(())
        seated = reseat(history, text, self.main, path=self.path)
        return _Own(seated.moved, seated.on_main, seated.unattributed)

    def history_of(self, commit: str) -> bytes:
        """The changelog where a commit's line of work left main."""
        if not commit:
            return self.main
        answer = self.git.try_run("merge-base", commit, self.commit)
        if answer.returncode:
            raise _no_history(self.git, self.name, commit)
        return self.at(answer.stdout.decode("ascii").strip())


def _no_history(git: Git, main: str, commit: str) -> StateError:
    if git.shallow:
        return StateError(
            f"this clone is shallow and does not reach back to where {commit[:10]} left {main}",
            hint="deepen it: git fetch --deepen=500, or git fetch --unshallow for all of it",
        )
    return StateError(f"{commit[:10]} and {main} share no history", hint="name another base with --base REF")


# --- the branch's own entries


def _of_work_tree(reader: _Reader) -> _Own:
    """Own entries of the file as it lies there, and of one left over from the other layout."""
    history = reader.history_of(reader.git.head)
    own = reader.own(reader.now(reader.path), history)
    if not reader.stale:
        return own
    older = reader.own(reader.now(reader.stale), history)
    return _Own(merge_own((), own.entries, older.entries), own.on_main + older.on_main, own.left_out + older.left_out)


def _of_conflict(reader: _Reader, sides: dict[int, git_index.Stage], unmerged: tuple[str, ...], state: State) -> _Own:
    """Own entries of a conflict's sides, merged as entries; then what was edited by hand since git gave up."""
    git = reader.git
    ours_history = reader.history_of(git.head)
    theirs_history = reader.history_of(_replayed(git, state))
    text = {number: git_index.blob(git, stage.blob) for number, stage in sides.items()}
    ancestor = reader.own(text.get(ANCESTOR, b""), theirs_history)
    ours = reader.own(text.get(OURS, b""), ours_history)
    theirs = reader.own(text.get(THEIRS, b""), theirs_history)
    entries = merge_own(ancestor.entries, ours.entries, theirs.entries)
    elsewhere = [reader.own(reader.now(path), ours_history) for path in reader.paths if path not in unmerged]
    for other in elsewhere:
        entries = merge_own((), entries, other.entries)
    by_hand, untouched = _edited_by_hand(reader, text, ours_history, (ancestor, ours, theirs))
    kept, lossy = _without_losses([block for block in entries if block not in untouched], by_hand)
    if not state.operation:
        # A stash or a patch says not where it began: what main gained since is no entry it took away.
        theirs = replace(theirs, left_out=tuple(item for item in theirs.left_out if item.line))
    found = (ours, theirs, *elsewhere)
    return _Own(
        updated(entries, kept, untouched),
        on_main=tuple(block for one in found for block in one.on_main),
        left_out=(*(item for one in found for item in one.left_out), *lossy),
    )


def _without_losses(entries: Sequence[bytes], edited: Entries) -> tuple[Entries, tuple[Unattributed, ...]]:
    """The edits by hand that lose no field of the entry they are a version of, and what the others lost."""
    kept, lossy = [], []
    for block in edited:
        old = version_in(entries, block)
        lost = fields_of(old) - fields_of(block) if old is not None else frozenset()
        if lost:
            names = ", ".join(sorted(lost))
            lossy.append(Unattributed(0, f"the entry as edited in the conflict lost {names}; the side's own stands"))
        else:
            kept.append(block)
    return tuple(kept), tuple(lossy)


def _replayed(git: Git, state: State) -> str:
    """The commit whose change is being taken in; empty where git does not say (a stash, a patch)."""
    names = {
        "merge": "MERGE_HEAD", "rebase": "REBASE_HEAD", "cherry-pick": "CHERRY_PICK_HEAD", "revert": "REVERT_HEAD",
    }  # fmt: skip
    name = names.get(state.operation)
    answer = git.try_run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") if name else None
    return answer.stdout.decode("ascii").strip() if answer is not None and answer.returncode == 0 else git.head


def _edited_by_hand(
    reader: _Reader, text: dict[int, bytes], history: bytes, sides: Iterable[_Own]
) -> tuple[Entries, Entries]:
    """Entries of the unmerged file in the work tree that neither a side nor git's own merge of them has, and
    the others that stand there."""
    known = {block for side in sides for block in side.entries}
    try:
        now = reader.own(reader.now(reader.path), history).entries
        merged = merge_files(reader.git, text.get(OURS, b""), text.get(ANCESTOR, b""), text.get(THEIRS, b""))
        if merged is not None:
            known.update(reader.own(merged.data, history).entries)
    except StateError:
        return (), ()
    edited = tuple(block for block in now if block not in known)
    return edited, tuple(block for block in now if block in known)


# --- what comes of it


def _seat(reader: _Reader, entries: Entries, link: str | None) -> Reseated:
    """Main's bytes with the entries behind them, as the byte core does it."""
    return reseat(reader.main, append(reader.main, entries), reader.main, link=link, path=reader.path)


def _edits(reader: _Reader, data: bytes) -> tuple[Edit, ...]:
    before = reader.checkout.read(reader.path)
    edits = [Edit(reader.path, before, data)] if before != data else []
    if reader.stale:
        edits.append(Edit(reader.stale, reader.checkout.read(reader.stale), None))
    return tuple(edits)


def _findings(reader: _Reader, seated: Reseated, state: State) -> Iterator[Finding]:
    """What is to be said about the entries' contents, and about a branch that GitHub cannot merge yet."""
    flags = reader.checkout.layout.changelog_flags
    for block in split(seated.data, len(reader.main)).blocks:
        for problem in entry_problems(block.data, flags):
            line = block.line + problem.line - 1
            yield Finding("changelog-fields", Severity.WARNING, reader.path, line, problem.what, problem.hint)
        link = link_of(block.data)
        if not is_accepted_link(link):
            message = f"the merge helper does not accept the link {link!r}" if link else "the entry has no link"
            hint = "give the pull request's number: --pr N"
            yield Finding("changelog-link", Severity.WARNING, reader.path, block.line, message, hint)
    git = reader.git
    ahead = reader.checkout.base.ahead
    if ahead and reader.commit == reader.checkout.base.tip:
        message = f"{ahead} is further on than {reader.name}, whose history was taken"
        hint = f"take that one: benchscribe reseat --base {ahead} (always: git config benchscribe.base {ahead})"
        yield Finding("changelog-behind", Severity.WARNING, reader.path, 0, message, hint)
    if not state.operation and reader.history_of(git.head) != reader.main:
        message = f"this branch does not hold {reader.name}'s tip yet, so GitHub still sees a conflict in the changelog"
        hint = f"merge or rebase it: git merge {reader.name}"
        yield Finding("changelog-behind", Severity.INFO, reader.path, 0, message, hint)
