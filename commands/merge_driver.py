"""`benchscribe merge-driver install|uninstall|run`: git merges the changelog without conflicts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..checkout.changelog_text import FILE_NAME
from ..checkout.git import Git
from ..schema.errors import StateError
from ..writers import merge_attributes, merge_driver
from ..writers.merge_attributes import DRIVER, Registration
from .output import Printer, say


def install(repo: Path, *, everywhere: bool) -> int:
    """Register the driver, for this repository or (`everywhere`) for the user; twice is once."""
    git = _git(repo, everywhere)
    registration = Registration.find(git, everywhere=everywhere)
    changed = merge_attributes.install(git, registration)
    where = "your git configuration" if everywhere else "this repository's configuration, for all of its work trees"
    printer = Printer()
    printer.line((f"{'Registered' if changed else 'Nothing to do: registered already'} in {where}.", "head"))
    printer.line(f"  merges {FILE_NAME}, named in {registration.attributes}")
    _warn_of_others(git)
    say("GitHub's server runs no merge drivers: before a push, merge or rebase main here, or run `benchscribe reseat`")
    return 0


def uninstall(repo: Path, *, everywhere: bool) -> int:
    """Take back what `install` wrote, and nothing else."""
    git = _git(repo, everywhere)
    changed = merge_attributes.uninstall(git, Registration.find(git, everywhere=everywhere))
    Printer().line(("Unregistered." if changed else "Nothing to do: it is not registered here.", "head"))
    return 0


def run(arguments: Sequence[str]) -> int:
    """The driver itself, as git calls it: `%O %A %B %L %P`. What `install` registers starts faster than this."""
    return merge_driver.main(list(arguments), os.environ)


def _git(repo: Path, everywhere: bool) -> Git:
    try:
        return Git.open(repo)
    except StateError:
        if not everywhere:
            raise
        return Git(repo.resolve(), repo, repo, "", False)


def _warn_of_others(git: Git) -> None:
    """Another attribute may win: a repository's own `.gitattributes` over the user's file."""
    if git.head:
        found = merge_attributes.effective(git, FILE_NAME)
        if found != DRIVER:
            say(f"⚠ git still merges {FILE_NAME} with {found!r} here: a .gitattributes of the repository says so")
