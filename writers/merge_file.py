"""`git merge-file` over bytes: git's own three-way merge of one file."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..checkout.git import Git
from ..schema.errors import SystemFailure

LABELS = ("ours", "ancestor", "theirs")


@dataclass(frozen=True, slots=True)
class MergedFile:
    """The merged bytes, with markers around each of the `conflicts`."""

    data: bytes
    conflicts: int


def merge_files(
    git: Git, ours: bytes, ancestor: bytes, theirs: bytes, *, labels: tuple[str, str, str] = LABELS
) -> MergedFile | None:
    """The three texts merged as git would; None where git cannot, as with binary files.

    `labels` stand behind the conflict markers: ours, ancestor, theirs. The repository's `merge.conflictStyle`
    decides whether the ancestor's lines are shown.
    """
    with tempfile.TemporaryDirectory(prefix="benchscribe-") as folder:
        paths = [Path(folder) / name for name in LABELS]
        for path, data in zip(paths, (ours, ancestor, theirs), strict=True):
            path.write_bytes(data)
        named = [part for label in labels for part in ("-L", label)]
        answer = git.try_run("merge-file", "-p", "--quiet", *named, "--", *map(str, paths))
    if answer.returncode == 255 or answer.returncode < 0:
        return None
    if answer.returncode > 127:
        raise SystemFailure(f"git merge-file failed: {answer.stderr.decode('utf-8', 'replace').strip()}")
    return MergedFile(answer.stdout, answer.returncode)
