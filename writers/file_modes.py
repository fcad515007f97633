"""The one file mode git knows: whether a file may be executed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .durable import blaming


def make_executable(root: Path, paths: Iterable[str]) -> None:
    """Let everybody execute these files who may read them, as git checks them out."""
    for path in paths:
        file = root / path
        if file.is_file() and not file.is_symlink():
            mode = file.stat().st_mode
            with blaming(path, "make executable"):
                file.chmod(mode | (mode & 0o444) >> 2)
