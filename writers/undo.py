"""Putting back what a write replaced: for a write that failed, and for one that was killed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..schema.errors import StateError
from .durable import noting, sync, write_new
from .journal import Journal, Step, digest
from .targets import read


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A file the undo did not touch: why, and where its bytes from before are kept (None: it had none)."""

    path: str
    why: str
    copy: Path | None


def undo(journal: Journal, steps: Sequence[Step]) -> list[LeftAlone]:
    """Put back the files of `steps`, remove the write's temporary files and the folders it made.

    Only a file which holds exactly the write's own bytes is touched. One failure does not keep the other
    files from being put back; the first one is raised at the end, and undoing may be tried again.
    """
    failures: list[OSError] = []
    left: list[LeftAlone] = []
    for step in steps:
        with noting(failures):
            why = _undo_step(journal, step, failures)
            if why:
                left.append(LeftAlone(step.path, why, journal.copy(step) if step.before else None))
    for step in journal.steps:
        with noting(failures), suppress(FileNotFoundError, NotADirectoryError):
            journal.temporary(step).unlink()
    for folder in reversed(journal.made):
        # Not empty: somebody put something of theirs into it since.
        with suppress(OSError):
            (journal.root / folder).rmdir()
    if failures:
        raise failures[0]
    return left


def _undo_step(journal: Journal, step: Step, failures: list[OSError]) -> str | None:
    """Put one file back; returns why not, when it is left alone."""
    file = journal.file(step)
    if os.path.realpath(file) != str(file):
        return "a folder above it is a symbolic link by now"
    try:
        found = digest(read(file))
    except StateError as error:
        return f"it {error.what}"
    if found == step.before:
        return None
    if found != step.after:
        return "it was removed since" if found is None else "it was changed since"
    if step.before is None:
        file.unlink()
    elif (data := journal.before(step)) is not None:
        _restore(journal, step, data, failures)
    else:
        return "the journal's copy of it is damaged"
    with noting(failures):
        sync(file.parent)
    return None


def _restore(journal: Journal, step: Step, data: bytes, failures: list[OSError]) -> None:
    file, temporary = journal.file(step), journal.temporary(step)
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary.unlink(missing_ok=True)
    write_new(temporary, data, step.permissions)
    # A disk that cannot sync still shows the right bytes after the rename; the failure keeps the journal.
    with noting(failures):
        sync(temporary)
    temporary.replace(file)
