"""A real git checkout with a base and a branch, for the tests of rules: small files in, findings out."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchscribe.checkout.checkout import Checkout
from benchscribe.checks.registry import judge
from benchscribe.checks.subject import read_subject
from benchscribe.schema.results import Finding


def git(directory: Path, *arguments: str) -> str:
    """One git command's output."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "core.autocrlf=false"]
    run = subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)
    return run.stdout.decode().strip()


def write(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Write files; None removes one."""
    for path, content in files.items():
        place = root / path
        if content is None:
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())


def make_branch(
    root: Path, base: Mapping[str, str | bytes], branch: Mapping[str, str | bytes | None] | None = None
) -> Path:
    """A checkout with `base` committed on main and `branch` laid over it, uncommitted, on branch work."""
    write(root, base)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "base")
    git(root, "checkout", "-qb", "work")
    write(root, branch or {})
    return root


def findings(root: Path, rule: str = "", **options: object) -> list[Finding]:
    """The findings about the branch, of one rule or (empty) of all."""
    subject = read_subject(Checkout.open(root), **options)  # type: ignore[arg-type]
    return [finding for finding in judge(subject) if rule in ("", finding.rule)]
