"""Kills writes: a program for the tests of the transaction, run by itself because it forks.

`sweep FOLDER STEP` kills `apply` at every STEP-th of its system calls (in the middle of it, if it writes) and
lets a new process recover. `twice FOLDER STEP` also kills each of these recoveries, at each of its calls, and
recovers again. Both print JSON.
`once FOLDER CALL N` makes a tree in FOLDER and kills `apply` at the N-th CALL.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchscribe.schema.results import Edit
from benchscribe.writers.transaction import apply, pending, recover

CALLS = (
    "open",
    "write",
    "fsync",
    "close",
    "replace",
    "unlink",
    "mkdir",
    "rmdir",
    "fchmod",
    "pwrite",
    "ftruncate",
)

CONFIG = b"a: 1\r\nname: caf\xe9\r\n"
LOG = b"- keys: [a]\n"
OLD = b"retired: true"

EDITS = [
    Edit("configs/a.yaml", CONFIG, CONFIG + b"b: 2\r\n"),
    Edit("recipes/new/deep/r.yaml", None, b"base: {}\n"),
    Edit("old.yaml", OLD, None),
    Edit("log.yaml", LOG, LOG + b"\n- keys: [b]\n"),
]


def make_tree(root: Path) -> None:
    """A checkout whose `log.yaml` is a symbolic link, and one of whose files is executable."""
    (root / ".git").mkdir(parents=True)
    (root / "configs").mkdir()
    (root / "configs/a.yaml").write_bytes(CONFIG)
    (root / "configs/a.yaml").chmod(0o755)
    (root / "real-log.yaml").write_bytes(LOG)
    (root / "log.yaml").symlink_to("real-log.yaml")
    (root / "old.yaml").write_bytes(OLD)


def snapshot(root: Path) -> dict[str, str]:
    """Every name below `root` except `.git`, with what it is: folder, link, or mode and bytes."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.split("/")[0] == ".git":
            continue
        if path.is_symlink():
            found[name] = f"link {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = f"{path.stat().st_mode & 0o7777:o} {path.read_bytes()!r}"
    return found


def in_child(action: Callable[[], None]) -> int:
    """Run `action` in a process of its own; returns 0, or minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_at(number: int, calls: Sequence[str] = CALLS) -> None:
    """From now on, this process is killed at the `number`-th of `calls`, halfway through a write."""
    count = 0

    def dying(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == number:
                if name == "write":
                    call(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return wrapped

    for name in calls:
        setattr(os, name, dying(name, getattr(os, name)))


def killed_apply(root: Path, number: int, calls: Sequence[str] = CALLS) -> bool:
    """Apply in a child that dies at the `number`-th of `calls`; returns whether it made so many."""

    def action() -> None:
        die_at(number, calls)
        apply(EDITS, root=root, state_dir=root / ".git/benchscribe")

    return in_child(action) == -signal.SIGKILL


def recovery(root: Path, number: int = 0) -> tuple[bool, str | None]:
    """Recover in a child that dies at call `number` (0: lives); returns whether it died, and the outcome."""
    told = root / ".git/outcome"
    told.unlink(missing_ok=True)

    def action() -> None:
        die_at(number)
        found = recover(root=root, state_dir=root / ".git/benchscribe")
        told.write_text(found.outcome if found else "")

    status = in_child(action)
    if status not in (0, -signal.SIGKILL):
        raise SystemExit(f"recover failed with {status}")
    return status != 0, told.read_text() or None if told.exists() else None


def verdict(root: Path, before: dict[str, str], after: dict[str, str]) -> str:
    found = snapshot(root)
    state = "before" if found == before else "after" if found == after else f"mixed: {found}"
    state_dir = root / ".git/benchscribe"
    untidy = pending(state_dir) or {path.name for path in state_dir.glob("*")} - {"lock"}
    return f"{state}, untidy" if untidy else state


def reference(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    root = folder / "reference"
    make_tree(root)
    before = snapshot(root)
    apply(EDITS, root=root, state_dir=root / ".git/benchscribe")
    return before, snapshot(root)


def sweep(folder: Path, twice: bool, step: int) -> list[dict[str, Any]]:
    """One trial per call of `apply`, and with `twice` one per call of `apply` and call of its recovery."""
    before, after = reference(folder)
    trials: list[dict[str, Any]] = []
    number, killed = 1 - step, True
    while killed:
        number += step
        second, interrupted = 0, True
        while interrupted:
            second += twice
            root = folder / "killed"
            make_tree(root)
            killed = killed_apply(root, number)
            interrupted, outcome = recovery(root, second)
            if interrupted:
                outcome = recovery(root)[1]
            state = verdict(root, before, after)
            trials.append({"number": number, "second": second, "killed": killed, "outcome": outcome, "state": state})
            shutil.rmtree(root)
    return trials


if __name__ == "__main__":
    mode, folder = sys.argv[1], Path(sys.argv[2])
    if mode == "once":
        make_tree(folder)
        sys.exit(not killed_apply(folder, int(sys.argv[4]), (sys.argv[3],)))
    json.dump(sweep(folder, mode == "twice", int(sys.argv[3])), sys.stdout)
