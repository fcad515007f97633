"""One writer at a time: a lock which the kernel drops when its holder ends, however it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..schema.errors import StateError, SystemFailure
from .durable import blaming

WAIT = 2.0
PAUSE = 0.05


@contextmanager
def locked(state_dir: Path) -> Iterator[None]:
    """Hold the checkout's write lock, `state_dir/lock`.

    Waits up to `WAIT` seconds, then raises StateError naming the process that holds it. The file stays
    behind on purpose: what locks is the kernel's record, so an old file means nothing, while removing it
    would let two writers lock two different files of the same name.
    """
    path = state_dir / "lock"
    with blaming(path, "lock"):
        state_dir.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with blaming(path, "lock"):
            if not _acquire(descriptor):
                raise _held(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        # A failure here is about the number in the file, and must not contradict a write that stands.
        with suppress(OSError):
            os.close(descriptor)


def _acquire(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        raise SystemFailure("writing needs the file locks of Linux or macOS; on Windows, use WSL") from None

    deadline = time.monotonic() + WAIT
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(PAUSE)
        else:
            return True


def _held(descriptor: int) -> StateError:
    holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    who = f"process {holder}" if holder.isdigit() else "another process"
    return StateError(
        f"{who} is writing in this checkout, and was not done after {WAIT:g} seconds",
        hint="nothing was written; run this again when the other one is done",
    )
