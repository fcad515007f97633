"""Git checkouts of the real upstream data, and the command line run on them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IDENTITY = ("-c", "user.name=author", "-c", "user.email=author@example.invalid")


def git(directory: Path, *arguments: str) -> str:
    """Run git and return what it prints."""
    done = subprocess.run(["git", *IDENTITY, *arguments], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout


def upstream(shared: Path, layout: str, directory: Path) -> Path:
    """A checkout of upstream/<layout>, committed on main, standing on the branch `work`."""
    subprocess.run([str(shared / "mkcheckout"), layout, str(directory)], check=True, capture_output=True)
    return directory


@dataclass(frozen=True)
class Outcome:
    """What one run of the command line gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.out)
        return data


def benchscribe(directory: Path, *arguments: str | Path, stdin: str = "") -> Outcome:
    """Run the command line in a process of its own, inside `directory`."""
    done = subprocess.run(
        [sys.executable, "-m", "benchscribe", *(str(argument) for argument in arguments)],
        cwd=directory,
        input=stdin,
        capture_output=True,
        text=True,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def contents(directory: Path) -> dict[str, bytes]:
    """Every file of the work tree with its bytes."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(directory).parts
    }


def changed_lines(before: bytes, after: bytes) -> tuple[list[str], list[str]]:
    """Lines removed and added, by `diff`'s own idea of it (independent of the product)."""
    from difflib import ndiff

    old, new = before.decode().splitlines(), after.decode().splitlines()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    delta = list(ndiff(old[start : len(old) - end], new[start : len(new) - end]))
    return [line[2:] for line in delta if line[:2] == "- "], [line[2:] for line in delta if line[:2] == "+ "]
