"""Bytes that reach the disk: new files with given permissions, and syncs of files and directories."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..schema.errors import Place, SystemFailure


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a replaced file passes on to its successor: permission bits and owner.

    Hard links and extended attributes are not passed on, as with git's own checkout: the other names of a
    hard-linked file keep the old bytes.
    """

    mode: int
    uid: int
    gid: int

    @classmethod
    def of(cls, status: os.stat_result) -> Permissions:
        return cls(stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid)


def write_new(path: Path, data: bytes, permissions: Permissions | None = None) -> None:
    """Write a file that must not exist yet (FileExistsError); the default mode is the umask's. Not synced."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if permissions is None else 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if permissions is not None:
            _give(descriptor, permissions)
    finally:
        os.close(descriptor)


def _give(descriptor: int, permissions: Permissions) -> None:
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (permissions.uid, permissions.gid):
        # Only root may give files away. It matters for root in a container, over a checkout of its user.
        with suppress(OSError):
            os.fchown(descriptor, permissions.uid, permissions.gid)
    os.fchmod(descriptor, permissions.mode)


def sync(path: Path) -> None:
    """Wait until the disk has the bytes of a file, or the names in a directory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network and FUSE file systems have no fsync of directories, and need none.
        if not (error.errno in (errno.EINVAL, errno.ENOTSUP) and path.is_dir()):
            raise
    finally:
        os.close(descriptor)


@contextmanager
def blaming(path: str | Path, doing: str = "write", hint: str = "nothing was written") -> Iterator[None]:
    """Turn an OSError inside into a SystemFailure which says what could not be done to `path`, and why."""
    try:
        yield
    except OSError as error:
        raise SystemFailure(f"cannot {doing}: {error.strerror or error}", where=Place(str(path)), hint=hint) from error


@contextmanager
def noting(failures: list[OSError]) -> Iterator[None]:
    """Append an OSError inside to `failures` and go on: what follows must be tried all the same."""
    try:
        yield
    except OSError as error:
        failures.append(error)
