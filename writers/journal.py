"""The journal of one write: what it was about to do, and every byte it was about to replace.

It lies in `state_dir/journal`: `N.before`, the bytes of the N-th file before the write, and `manifest.json`,
which is renamed to `committed.json` once all files are written: the commit point. A journal with neither was
killed while it was being made or removed, and means nothing: no write is half done then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from ..schema.errors import Place, StateError
from .durable import Permissions, sync, write_new
from .targets import Target

VERSION = 1
MANIFEST = "manifest.json"
COMMITTED = "committed.json"


class TornManifestError(Exception):
    """The manifest is not what `Journal.begin` wrote."""


@dataclass(frozen=True, slots=True)
class Step:
    """One file of the write. `path` is the edit's, `file` the real one, both relative to the git root.

    `before` and `after` are SHA-256 in hex, None where the file is absent.
    """

    number: int
    path: str
    file: str
    before: str | None
    after: str | None
    permissions: Permissions | None


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal in `directory` of a write below `root`; `made`: the folders it makes, outer ones first."""

    directory: Path
    root: Path
    token: str
    steps: tuple[Step, ...]
    made: tuple[str, ...]

    @classmethod
    def of(cls, targets: Sequence[Target], root: Path, directory: Path) -> Journal:
        """The journal for a write that has not begun. Writes nothing."""
        steps = tuple(
            Step(
                number,
                target.edit.path,
                target.file.relative_to(root).as_posix(),
                digest(target.edit.before),
                digest(target.edit.after),
                target.permissions,
            )
            for number, target in enumerate(targets)
        )
        made = sorted({parent for target in targets for parent in target.file.parents if not parent.exists()})
        names = tuple(folder.relative_to(root).as_posix() for folder in made)
        return cls(directory, root, os.urandom(4).hex(), steps, names)

    @classmethod
    def load(cls, root: Path, directory: Path) -> Journal:
        """The journal a killed process left. Raises TornManifestError; StateError for another version's."""
        found = directory / (COMMITTED if is_committed(directory) else MANIFEST)
        try:
            data = json.loads(found.read_bytes())
            if data["version"] != VERSION:
                raise _foreign(found)
            steps = tuple(_step(step) for step in data["steps"])
            return cls(directory, root, str(data["token"]), steps, tuple(map(str, data["made"])))
        except (ValueError, KeyError, TypeError) as error:
            raise TornManifestError(str(error)) from error

    def begin(self, before: Sequence[bytes | None]) -> None:
        """Write the journal, one item of `before` per step. The manifest comes last, whole or not at all."""
        self.directory.mkdir(mode=0o700)
        for step, data in zip(self.steps, before, strict=True):
            if data is not None:
                write_new(self.copy(step), data)
                sync(self.copy(step))
        manifest = {
            "version": VERSION,
            "token": self.token,
            "steps": [asdict(step) for step in self.steps],
            "made": self.made,
        }
        part = self.directory / "manifest.part"
        write_new(part, json.dumps(manifest, indent=1).encode("ascii"))
        sync(part)
        part.replace(self.directory / MANIFEST)
        sync(self.directory)
        sync(self.directory.parent)

    def commit(self) -> None:
        """The commit point: from here on the write counts as done."""
        (self.directory / MANIFEST).replace(self.directory / COMMITTED)

    def file(self, step: Step) -> Path:
        return self.root / step.file

    def temporary(self, step: Step) -> Path:
        """Where the new bytes wait, beside the file, so that one rename puts them in place."""
        return self.file(step).with_name(f".benchscribe-{self.token}-{step.number}.tmp")

    def copy(self, step: Step) -> Path:
        return self.directory / f"{step.number}.before"

    def before(self, step: Step) -> bytes | None:
        """The kept bytes of a step; None when the copy is lost or damaged, as its digest shows."""
        try:
            data = self.copy(step).read_bytes()
        except FileNotFoundError:
            return None
        return data if digest(data) == step.before else None


def digest(data: bytes | None) -> str | None:
    """The SHA-256 of a file's bytes in hex, None for an absent file."""
    return None if data is None else sha256(data).hexdigest()


def is_begun(directory: Path) -> bool:
    """Whether a write stands between its first and its last rename, so that only undoing is safe."""
    return (directory / MANIFEST).exists()


def is_committed(directory: Path) -> bool:
    """Whether a write has passed its commit point and only left things to tidy."""
    return (directory / COMMITTED).exists()


def discard(directory: Path) -> None:
    """Remove a journal that has served, in an order that no kill can make mean something else."""
    if not directory.exists():
        return
    with suppress(FileNotFoundError):
        (directory / MANIFEST).unlink()
        sync(directory)
    # The mark of a committed write goes last, so that a kill in here is still told as "finished".
    for file in sorted(directory.iterdir(), key=lambda file: file.name == COMMITTED):
        file.unlink()
    directory.rmdir()


def set_aside(directory: Path) -> Path:
    """Keep a journal out of the way of later writes, for the user to look into; returns where."""
    kept = directory.with_name(f"kept-{os.urandom(4).hex()}")
    directory.replace(kept)
    sync(kept.parent)
    return kept


def _step(data: dict[str, object]) -> Step:
    match data:
        case {
            "number": int(number),
            "path": str(path),
            "file": str(file),
            "before": str() | None as before,
            "after": str() | None as after,
            "permissions": permissions,
        } if ".." not in PurePosixPath(file).parts and not file.startswith("/"):
            return Step(number, path, file, before, after, _permissions(permissions))
    raise ValueError("not a step of a journal")


def _permissions(data: object) -> Permissions | None:
    match data:
        case None:
            return None
        case {"mode": int(mode), "uid": int(uid), "gid": int(gid)}:
            return Permissions(mode, uid, gid)
    raise ValueError("not the permissions of a file")


def _foreign(manifest: Path) -> StateError:
    return StateError(
        "an interrupted write of another version of benchscribe waits here",
        where=Place(str(manifest)),
        hint="run that version to have it undone, or move this folder away if all files are right",
    )
