"""The state of a checkout as a commit in a repository of its own, made for a moment and thrown away.

The checkout's index, refs, work tree and even its object store stay as they are: what is new is written into the
temporary repository, which borrows the rest.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..schema.errors import SystemFailure
from .changes import read_if_readable
from .checkout import Checkout

_SETTINGS = (
    "-c",
    "core.autocrlf=false",
    "-c",
    "core.safecrlf=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "advice.detachedHead=false",
)
_AUTHOR = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "benchscribe"), ("EMAIL", "benchscribe@example.invalid"))
}


@dataclass(frozen=True, slots=True)
class Throwaway:
    """A temporary repository with the state checked out. `base` and `head` are full object names."""

    root: Path
    base: str
    head: str


@contextmanager
def throwaway(checkout: Checkout, changed: Iterable[str]) -> Iterator[Throwaway]:
    """The judged state as one commit on top of HEAD, checked out; `origin/main` there is the base.

    `changed` are the paths that may differ from the base. Raises SystemFailure where git or the disk refuses.
    """
    with tempfile.TemporaryDirectory(prefix="benchscribe-") as folder:
        root = Path(folder).resolve() / "checkout"
        _git(Path(folder), "init", "-q", "-b", "work", str(root))
        objects = checkout.git_root / checkout.git.text("rev-parse", "--git-path", "objects")
        (root / ".git/objects/info/alternates").write_text(f"{objects}\n", encoding="utf-8")
        head = _commit(checkout, root, sorted(changed))
        _git(root, "update-ref", "refs/remotes/origin/main", checkout.base.commit)
        _git(root, "checkout", "-q", "--force", "--detach", head)
        yield Throwaway(root, checkout.base.commit, head)


def _commit(checkout: Checkout, root: Path, changed: list[str]) -> str:
    """HEAD with the state's bytes of the changed paths, as a commit object."""
    head = checkout.git.head
    _git(root, "read-tree", head)
    for path in changed:
        data, is_readable = read_if_readable(partial(_content, checkout), path)
        if not is_readable:
            continue
        if data is None:
            _git(root, "update-index", "--force-remove", "--", path)
            continue
        blob = _git(root, "hash-object", "-w", "--no-filters", "--stdin", data=data)
        _git(root, "update-index", "--add", "--cacheinfo", f"{_mode(checkout, root, path)},{blob},{path}")
    tree = _git(root, "write-tree")
    return _git(root, "commit-tree", tree, "-p", head, "-m", "state judged by benchscribe")


def _content(checkout: Checkout, path: str) -> bytes | None:
    """What git keeps of a path: of a link where it leads, not what stands there."""
    place = checkout.git_root / path
    if not checkout.committed and place.is_symlink():
        return os.fsencode(place.readlink())
    return checkout.after.read(path)


def _mode(checkout: Checkout, root: Path, path: str) -> str:
    """The file's mode as git has it, for a new file as it lies there."""
    if not checkout.committed and (checkout.git_root / path).is_symlink():
        return "120000"
    known = _git(root, "ls-files", "--stage", "--", path)
    if known:
        return known.split(" ", 1)[0]
    return "100755" if os.access(checkout.git_root / path, os.X_OK) else "100644"


def _git(directory: Path, *arguments: str, data: bytes = b"") -> str:
    """One git command in the temporary repository; whatever the caller's environment says of another one."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= _AUTHOR | {"GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}
    try:
        answer = subprocess.run(
            ["git", *_SETTINGS, *arguments],
            cwd=directory,
            env=environment,
            input=data,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise SystemFailure(f"git cannot be run: {error.strerror or error}") from None
    if answer.returncode:
        words = answer.stderr.decode("utf-8", "replace").strip()
        raise SystemFailure(f"git {arguments[0]} failed in a temporary repository: {words}")
    return answer.stdout.decode("utf-8", "surrogateescape").strip()
