"""All files of a plan or none: compare, journal, write beside, rename, commit.

The order, and what a kill at any point of it leaves to the next run:

1. under the lock, every file is compared with the bytes that were planned from;
2. the bytes from before go into the journal, then its manifest;        kill: nothing was touched
3. the new bytes are written beside their files and synced;             kill: undone
4. each file is compared once more and replaced by a rename;            kill: undone
5. the folders are synced, and the manifest is renamed: commit;         kill after it: finished
6. the journal is removed.                                              kill: finished

A failure up to the commit is undone at once, the same way; after it nothing can fail the write any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..schema.errors import StateError, SystemFailure
from ..schema.results import Edit
from .durable import blaming, sync, write_new
from .journal import (
    Journal,
    Step,
    TornManifestError,
    discard,
    is_begun,
    is_committed,
    set_aside,
)
from .lock import locked
from .targets import Target, changed_underneath, difference, survey
from .undo import LeftAlone, undo


class Outcome(StrEnum):
    """What became of an interrupted write."""

    UNDONE = "undone"
    FINISHED = "finished"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Recovery:
    """An interrupted write and what became of it; as a string, the message for the user.

    `paths` are the edits' (none when the journal is unreadable), `left` those of them that were not
    touched because they no longer hold the write's bytes, `kept` the folder with the journal and its
    copies where they may still be wanted.
    """

    outcome: Outcome
    paths: tuple[str, ...] = ()
    left: tuple[LeftAlone, ...] = ()
    kept: Path | None = None

    def __str__(self) -> str:
        if self.outcome is Outcome.UNREADABLE:
            return (
                "the journal of an interrupted write is unreadable, so no file was touched: see `git diff`. "
                f"The journal and the bytes from before are kept in {self.kept}"
            )
        if self.outcome is Outcome.FINISHED:
            return f"an interrupted write was complete and is now finished: {', '.join(self.paths)}"
        alone = {left.path for left in self.left}
        back = [path for path in self.paths if path not in alone]
        text = f"an interrupted write was undone; as they were before it: {', '.join(back) or 'none'}"
        return "\n".join([text, *map(_describe, self.left)])


def apply(edits: Sequence[Edit], *, root: Path, state_dir: Path) -> list[str]:
    """Write all edits, or none of them; returns the paths that were written, in the edits' order.

    `root` is the git root, `state_dir` is `git rev-parse --git-path benchscribe`. An edit with `before` equal
    to `after` is compared like any other and not written: a plan can so insist on a file it only read.
    Raises, with nothing written: ValueError for two edits of one file; UsageError for a path outside the
    checkout or in `.git`; StateError when a file is not what was planned from, another writer is at work, or
    an interrupted write had to be undone first (plan again then: this plan may have read its files
    half written); SystemFailure when the system refuses (disk, permissions, a read-only file).
    """
    root = root.resolve()
    if all(edit.before == edit.after for edit in edits):
        survey(edits, root)
        return []
    with locked(state_dir):
        recovery = _recover(root, state_dir / "journal")
        if recovery is not None and recovery.outcome is not Outcome.FINISHED:
            raise StateError(
                str(recovery), hint="nothing else was written; run again to start from the files as they are"
            )
        targets = survey(edits, root)
        _write(targets, Journal.of(targets, root, state_dir / "journal"))
    return [target.edit.path for target in targets]


def recover(*, root: Path, state_dir: Path) -> Recovery | None:
    """Undo or finish a write that was killed; None when there is none. Every writing command calls it first.

    A file is put back only while it holds exactly what the write put there. Raises StateError when another
    writer is at work or the journal is of another version, SystemFailure when the system refuses; the
    journal stays then, and a later call tries again.
    """
    if not (state_dir / "journal").exists():
        return None
    with locked(state_dir):
        return _recover(root.resolve(), state_dir / "journal")


def pending(state_dir: Path) -> bool:
    """Whether `recover` has something to tell, or a writer is at work this moment. Writes nothing."""
    return is_begun(state_dir / "journal") or is_committed(state_dir / "journal")


def _write(targets: Sequence[Target], journal: Journal) -> None:
    begun: list[Step] = []
    try:
        with blaming(journal.directory, "write the journal"):
            journal.begin([target.edit.before for target in targets])
        _write_beside(targets, journal)
        for target, step in zip(targets, journal.steps, strict=True):
            _put_in_place(target, step, journal, begun)
        _sync_folders(journal)
        with blaming(journal.directory, "commit"):
            journal.commit()
    except BaseException as error:
        # An interrupt can arrive just after the commit; the write stands then.
        if not is_committed(journal.directory):
            _give_up(journal, begun, error)
        raise
    # Without this sync a power cut may bring the manifest back and have the whole write undone, never a
    # part of it. What is not removed here, the next run's recovery removes.
    with suppress(OSError):
        sync(journal.directory)
        discard(journal.directory)


def _write_beside(targets: Sequence[Target], journal: Journal) -> None:
    for folder in journal.made:
        with blaming(folder, "make the folder"):
            (journal.root / folder).mkdir()
    for target, step in zip(targets, journal.steps, strict=True):
        if target.edit.after is not None:
            with blaming(step.path):
                write_new(journal.temporary(step), target.edit.after, target.permissions)
                sync(journal.temporary(step))


def _put_in_place(target: Target, step: Step, journal: Journal, begun: list[Step]) -> None:
    # Compared again, because an editor may have saved while the new bytes were being written.
    if how := difference(target.edit, target.file):
        raise changed_underneath([f"{step.path}: {how}"])
    begun.append(step)
    if target.edit.after is None:
        with blaming(step.path, "remove"):
            target.file.unlink()
    else:
        with blaming(step.path):
            journal.temporary(step).replace(target.file)


def _sync_folders(journal: Journal) -> None:
    files = [*map(journal.file, journal.steps), *(journal.root / folder for folder in journal.made)]
    for folder in sorted({file.parent for file in files}):
        with blaming(folder):
            sync(folder)


def _give_up(journal: Journal, begun: Sequence[Step], error: BaseException) -> None:
    """Undo a write that failed with `error`; raises only when not all files are as they were."""
    try:
        left = undo(journal, begun)
        kept = set_aside(journal.directory) if left else None
    except OSError as failure:
        raise SystemFailure(
            f"{error}\nputting the files back failed as well: {failure.strerror or failure}",
            hint=f"every byte from before is in {journal.directory}; the next writing command tries again",
        ) from error
    if kept is None:
        # All files are as they were; a journal that cannot be removed either is undone once more, idly.
        with suppress(OSError):
            discard(journal.directory)
        return
    recovery = Recovery(Outcome.UNDONE, tuple(step.path for step in begun), _kept_copies(left, kept), kept)
    raise StateError(f"{error}\n{recovery}") from error


def _recover(root: Path, directory: Path) -> Recovery | None:
    with blaming(
        directory, "undo an interrupted write", hint="the journal stays, the next writing command tries again"
    ):
        if not (is_begun(directory) or is_committed(directory)):
            if directory.exists():
                discard(directory)
            return None
        try:
            journal = Journal.load(root, directory)
        except TornManifestError:
            return Recovery(Outcome.UNREADABLE, kept=set_aside(directory))
        paths = tuple(step.path for step in journal.steps)
        left = [] if is_committed(directory) else undo(journal, journal.steps)
        if not left:
            outcome = Outcome.FINISHED if is_committed(directory) else Outcome.UNDONE
            discard(directory)
            return Recovery(outcome, paths)
        kept = set_aside(directory)
        return Recovery(Outcome.UNDONE, paths, _kept_copies(left, kept), kept)


def _kept_copies(left: Sequence[LeftAlone], kept: Path) -> tuple[LeftAlone, ...]:
    return tuple(LeftAlone(item.path, item.why, item.copy and kept / item.copy.name) for item in left)


def _describe(left: LeftAlone) -> str:
    copy = f"; its bytes from before are kept in {left.copy}" if left.copy else ""
    return f"{left.path} is left alone, because {left.why}{copy}"
