"""Porting: another branch's change onto this one, file by file in three ways, its entry re-derived for the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import filter as filter_names
from fnmatch import fnmatchcase

from ..checkout.changes import changed_files
from ..checkout.checkout import Checkout
from ..checkout.git import Git
from ..checkout.layout import Layout, map_path
from ..checkout.snapshot import Snapshot
from ..checks.registry import judge_plan
from ..derive.change import Change
from ..derive.compare import compare
from ..derive.figures import CheckoutFigures
from ..derive.prose import derived_lines
from ..schema.changelog import Entry, parse_entry
from ..schema.errors import BenchscribeError, StateError
from ..schema.results import Edit, Finding, Severity
from ..schema.spec import ChangelogChange, Note
from ..writers import git_index
from ..writers.changelog_reseat import reseat
from ..writers.file_modes import make_executable
from ..writers.git_index import ANCESTOR, OURS, THEIRS, Stage
from .applying import apply_edits
from .changelog import Changelog, plan_changelog, read_bytes
from .merged_texts import MergedText, TextConflict, TextMerger
from .three_way import Side

REGULAR, EXECUTABLE = "100644", "100755"
YAML_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class FileConflict:
    """One thing that conflicts: the file, the key and field (or places), and both values."""

    path: str
    what: TextConflict

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


@dataclass(frozen=True, slots=True)
class Contradicted:
    """A line of the other branch's entry that the result contradicts, and why; it is not carried."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Porting:
    """What porting will do. `files` are the paths carried, `left` those that cannot be, with why."""

    checkout: Checkout
    ref: str
    edits: tuple[Edit, ...]
    files: tuple[str, ...]
    left: tuple[str, ...]
    conflicts: tuple[FileConflict, ...]
    changelog: Changelog
    contradicted: tuple[Contradicted, ...]
    findings: tuple[Finding, ...]
    executable: tuple[str, ...] = ()
    unmerged: tuple[tuple[str, dict[int, Stage]], ...] = ()

    @property
    def nothing_to_do(self) -> bool:
        return not self.edits and not self.conflicts


@dataclass(frozen=True, slots=True)
class _Changed:
    """A file the other branch changed: modes and blobs before and after, `000000` where it is not there."""

    path: str
    old_mode: str
    mode: str

    @property
    def carried(self) -> bool:
        return {self.old_mode, self.mode} <= {REGULAR, EXECUTABLE, "000000"}


@dataclass(slots=True)
class _Work:
    """A port in the making. `settled` are the files' bytes with one side's value in every conflict."""

    checkout: Checkout
    before: Snapshot
    theirs: Snapshot
    merger: TextMerger
    edits: list[Edit] = field(default_factory=list)
    settled: dict[str, bytes | None] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    conflicts: list[FileConflict] = field(default_factory=list)
    executable: list[str] = field(default_factory=list)
    unmerged: list[tuple[str, dict[int, Stage]]] = field(default_factory=list)


def plan_port(checkout: Checkout, ref: str, *, number: int | None = None, prefer: Side | None = None) -> Porting:
    """Carry what `ref` changed since it left the base onto the work tree; nothing is written.

    `prefer` settles conflicts for one side. Raises StateError for an unknown ref, one without a common history
    with the base, one that changed nothing, or files that are unmerged already.
    """
    git = checkout.git
    if conflicts := git_index.unmerged(git):
        names = ", ".join(list(conflicts)[:5])
        raise StateError(f"there are unmerged files: {names}", hint="settle them first")
    commit = git.resolve(ref)
    ancestor = _fork_point(checkout, commit, ref)
    merger = TextMerger(git, ("this branch", "where it left main", ref), prefer)
    work = _Work(checkout, checkout.at_commit(ancestor), checkout.at_commit(commit), merger)
    changed = list(_changed(git, ancestor, commit))
    if not changed:
        raise StateError(f"{ref} changes nothing since it left {checkout.base.name}", hint="name the branch to carry")
    for file in changed:
        if file.path != work.theirs.layout.changelog and file.path != work.before.layout.changelog:
            _carry(work, file)
    changelog, contradicted, findings = _entry(work, {file.path for file in changed}, number)
    edits = [*work.edits, *([changelog.edit] if changelog.edit is not None else [])]
    return Porting(
        checkout=checkout,
        ref=ref,
        edits=tuple(edits),
        files=tuple(work.files),
        left=tuple(work.left),
        conflicts=tuple(work.conflicts),
        changelog=changelog,
        contradicted=contradicted,
        findings=findings,
        executable=tuple(work.executable),
        unmerged=tuple(work.unmerged),
    )


def apply_port(plan: Porting) -> list[str]:
    """Write the files; those in conflict become unmerged, as git leaves them. Raises as `apply_edits` does."""
    git = plan.checkout.git
    if plan.unmerged:
        git_index.wait_for_index(git)
    written = apply_edits(git, plan.edits)
    make_executable(git.root, plan.executable)
    for path, sides in plan.unmerged:
        git_index.mark_unmerged(git, path, sides)
    return written


def _fork_point(checkout: Checkout, commit: str, ref: str) -> str:
    """Where the other branch left main."""
    base = checkout.base
    answer = checkout.git.try_run("merge-base", commit, base.tip)
    found = answer.stdout.decode("ascii", "replace").strip()
    if answer.returncode == 0 and found:
        return found
    if checkout.git.shallow:
        raise StateError(
            f"this clone is shallow and does not reach back to where {ref} left {base.name}",
            hint="deepen it: git fetch --deepen=500, or git fetch --unshallow for all of it",
        )
    raise StateError(f"{ref} and {base.name} share no history", hint="name another base with --base REF")


def _changed(git: Git, ancestor: str, commit: str) -> Iterator[_Changed]:
    records = git.run("diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "-z", ancestor, commit).split(b"\0")
    for head, name in zip(records[::2], records[1::2], strict=False):
        old_mode, mode, *_ = head.decode("ascii").removeprefix(":").split()
        yield _Changed(name.decode("utf-8", "surrogateescape"), old_mode, mode)


# --- files


def _carry(work: _Work, file: _Changed) -> None:
    path = map_path(file.path, work.theirs.layout, work.checkout.layout)
    if not file.carried:
        work.left.append(f"{path} (a link or a submodule: git checkout {work.merger.labels[2]} -- {file.path})")
        return
    was = work.before.read(map_path(file.path, work.theirs.layout, work.before.layout))
    now = work.theirs.read(file.path)
    mine = work.checkout.read(path)
    work.files.append(path)
    if file.mode == EXECUTABLE and file.old_mode != EXECUTABLE:
        work.executable.append(path)
    if now == mine:
        return
    if mine == was:
        _take(work, path, mine, now)
    elif now is None or mine is None:
        if mine is None and now == was:
            return
        gone = ("the file goes", "it changed") if mine is None else ("it changed", "the file goes")
        if work.merger.prefer is Side.THEIRS:
            _take(work, path, mine, now)
        elif work.merger.prefer is None:
            _conflict(work, path, file, (was, mine, now), (TextConflict("", "", *gone),))
    elif now != was:
        _merge(work, path, file, (was or b"", mine, now))


def _take(work: _Work, path: str, mine: bytes | None, now: bytes | None) -> None:
    work.edits.append(Edit(path, mine, now))
    work.settled[path] = now


def _merge(work: _Work, path: str, file: _Changed, sides: tuple[bytes, bytes, bytes]) -> None:
    ancestor, ours, theirs = (data.decode("utf-8", "surrogateescape") for data in sides)
    found = _merged(work, path, ancestor, ours, theirs)
    text, settled = (part.encode("utf-8", "surrogateescape") for part in (found.text, found.settled))
    if text != sides[1]:
        work.edits.append(Edit(path, sides[1], text))
    work.settled[path] = settled
    if found.conflicts:
        _conflict(work, path, file, sides, found.conflicts)


def _merged(work: _Work, path: str, ancestor: str, ours: str, theirs: str) -> MergedText:
    layout = work.checkout.layout
    if path in layout.masters or _is_archive(layout, path):
        return work.merger.master(ancestor, ours, theirs, path)
    if path.endswith(YAML_ENDINGS) and path.startswith(tuple(f"{root}/" for root in layout.recipe_roots)):
        return work.merger.document(ancestor, ours, theirs, path)
    return work.merger.plain(ancestor, ours, theirs)


def _is_archive(layout: Layout, path: str) -> bool:
    return bool(layout.archive) and path.startswith(f"{layout.archive}/") and path.endswith(YAML_ENDINGS)


def _conflict(
    work: _Work,
    path: str,
    file: _Changed,
    sides: tuple[bytes | None, bytes | None, bytes | None],
    conflicts: Sequence[TextConflict],
) -> None:
    work.conflicts += [FileConflict(path, one) for one in conflicts]
    mode = file.mode if file.mode != "000000" else file.old_mode
    stages = {
        number: Stage(mode, git_index.add_blob(work.checkout.git, data))
        for number, data in zip((ANCESTOR, OURS, THEIRS), sides, strict=True)
        if data is not None
    }
    work.unmerged.append((path, stages))


# --- the entry


def _entry(
    work: _Work, their_files: set[str], number: int | None
) -> tuple[Changelog, tuple[Contradicted, ...], tuple[Finding, ...]]:
    """The entry for the result, with both branches' notes but those that the result contradicts."""
    checkout = work.checkout
    wanted = checkout.with_overlay(work.settled) if work.settled else checkout
    change = compare(checkout.before, wanted.after, changed_files(checkout, work.settled))
    theirs = _their_entries(work)
    told = derived_lines(compare(work.before, work.theirs, their_files), CheckoutFigures(work.theirs))
    carried = _notes(theirs, {text for line in told for text in (line.en, line.zh)})
    notes = tuple(dict.fromkeys((*_own_notes(checkout), *carried)))
    contradicted: list[Contradicted] = []
    while True:
        kept = [note for note in notes if note not in {one.text for one in contradicted}]
        changelog = plan_changelog(checkout, wanted, change, _asked(wanted, change, theirs, kept), number)
        edits = [Edit(path, None, data) for path, data in work.settled.items()]
        edits += [changelog.edit] if changelog.edit is not None else []
        final = checkout.with_overlay({edit.path: edit.after for edit in edits})
        findings = judge_plan(final, change, edits, number=number)
        wrong = list(_contradictions(final, findings, kept))
        if not wrong:
            return changelog, tuple(contradicted), tuple(findings)
        contradicted += wrong


def _asked(wanted: Checkout, change: Change, theirs: Sequence[Entry], notes: Sequence[str]) -> list[ChangelogChange]:
    """The entries to derive: one for everything, or a fork's several with their own keys, scope and flags.

    Where no changed key can be told from the data (a script alone), the fork's keys stand.
    """
    if not theirs:
        return [_one_asked(notes, {})]
    if len(theirs) == 1 and change.remaining:
        return [_one_asked(notes, dict(theirs[0].flags))]
    covered = {key for entry in theirs for key in entry.config_keys}
    rest = [one.key for one in change.remaining if not any(fnmatchcase(one.key, key) for key in covered)]
    said = {text for entry in theirs[1:] for text in entry.description}
    asked = []
    for entry in theirs:
        first = entry is theirs[0]
        keys = [key for key in entry.config_keys if filter_names(wanted.after.keys, key)] + (rest if first else [])
        mine = [text for text in notes if (text not in said if first else text in entry.description)]
        scope = {"scenario-type": list(entry.scenario_type)} if entry.scenario_type else {}
        asked.append(_one_asked(mine, {"keys": keys, **scope, **dict(entry.flags)}))
    return asked


def _one_asked(notes: Sequence[str], fields: Mapping[str, object]) -> ChangelogChange:
    return ChangelogChange.model_validate({"notes": [Note(en=text) for text in notes], **fields})


def _their_entries(work: _Work) -> list[Entry]:
    """The other branch's own entries, wherever they stand in its changelog."""
    old, new, main = (
        snapshot.read(snapshot.layout.changelog) or b""
        for snapshot in (work.before, work.theirs, work.checkout.at_commit(work.checkout.base.tip))
    )
    found = []
    for block in reseat(old, new, main).moved:
        try:
            found.append(parse_entry(block))
        except BenchscribeError:
            continue
    return found


def _notes(entries: Sequence[Entry], derived: set[str]) -> list[str]:
    return [text for entry in entries for text in entry.description if text not in derived]


def _own_notes(checkout: Checkout) -> list[str]:
    """What this branch's own entry says already, beyond what its change tells by itself."""
    entries = []
    for block in read_bytes(checkout).own:
        try:
            entries.append(parse_entry(block))
        except BenchscribeError:
            continue
    if not entries:
        return []
    change = compare(checkout.before, checkout.after, changed_files(checkout))
    told = derived_lines(change, CheckoutFigures(checkout.after))
    return _notes(entries, {text for line in told for text in (line.en, line.zh)})


def _contradictions(final: Checkout, findings: Sequence[Finding], notes: Sequence[str]) -> Iterator[Contradicted]:
    """The notes on whose lines the check found prose that the result contradicts."""
    lines = (final.read(final.layout.changelog) or b"").decode("utf-8", "replace").split("\n")
    for text in notes:
        for finding in findings:
            is_prose = finding.rule.startswith("prose-") and finding.severity is Severity.ERROR
            if is_prose and 0 < finding.line <= len(lines) and _is_line_of(lines[finding.line - 1], text):
                yield Contradicted(text, finding.message)
                break


def _is_line_of(line: str, text: str) -> bool:
    from ..schema.changelog import quoted

    return line.strip().removeprefix("- ") == quoted(text)
