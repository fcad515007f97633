"""The sample checkout as a git repository of its own, standing on a branch, ready to be changed.

It is the same on every machine, down to the commit's hash: the user's own git configuration has no say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..schema.errors import StateError, SystemFailure

_HERE = Path(__file__).parent
_SAMPLE = _HERE / "checkout"
_AUTHOR = "Sample Author"
_EMAIL = "author@example.invalid"
_DATE = "2026-10-05T12:00:00+00:00"


def prepared_spec() -> Path:
    """The spec that retunes one key of the sample."""
    return _HERE / "retune.yaml"


def create(directory: Path | None = None) -> Path:
    """Copy the sample to `directory`, commit it on `main`, and stand on the branch `retune`.

    Without a directory a temporary one is made, which the caller may remove. Returns the git root.
    Raises StateError where the directory holds something already, SystemFailure where the disk or git fails.
    """
    root = None
    try:
        root = _empty_directory(directory)
        _copy_sample(root)
        _commit(root)
    except BaseException as error:
        if root and directory is None:
            shutil.rmtree(root, ignore_errors=True)
        if isinstance(error, OSError):
            place = f"{error.filename}: " if error.filename else ""
            raise SystemFailure(f"the sample checkout cannot be made: {place}{error.strerror}") from error
        raise
    return root


def _empty_directory(directory: Path | None) -> Path:
    if directory is None:
        return Path(tempfile.mkdtemp(prefix="benchscribe-demo-")).resolve()
    if directory.is_dir() and any(directory.iterdir()):
        raise StateError(f"{directory} is not empty", hint="Name a directory that is empty or does not exist yet.")
    directory.mkdir(parents=True, exist_ok=True)
    return directory.resolve()


def _copy_sample(root: Path) -> None:
    # Contents only: an installed package may be read-only, and installers compile its Python.
    for source in sorted(_SAMPLE.rglob("*")):
        if source.is_file() and source.parent.name != "__pycache__":
            target = root / source.relative_to(_SAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())


def _commit(root: Path) -> None:
    _git(root, "init", "-q", "--template=")
    _git(root, "symbolic-ref", "HEAD", "refs/heads/main")
    # Kept in the repository: later commits work where git has not been told a name, and alike everywhere.
    settings = {
        "user.name": _AUTHOR,
        "user.email": _EMAIL,
        "commit.gpgSign": "false",
        "core.autocrlf": "false",
        "core.hooksPath": str(root / ".git" / "hooks"),
    }
    for name, value in settings.items():
        _git(root, "config", name, value)
    _git(root, "add", "--all")
    _git(root, "commit", "-q", "-m", "Sample checkout")
    _git(root, "checkout", "-q", "-b", "retune")


def _git(root: Path, *arguments: str) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = inherited | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": _DATE,
        "GIT_COMMITTER_DATE": _DATE,
        # A git older than 2.32 knows no GIT_CONFIG_GLOBAL and finds the user's configuration through these.
        "HOME": str(root),
        "XDG_CONFIG_HOME": str(root),
    }
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise SystemFailure(f"git does not run: {error.strerror}", hint="Install git and try again.") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise SystemFailure(f"git {arguments[0]} failed (exit {done.returncode}) in {root}: {said}")
