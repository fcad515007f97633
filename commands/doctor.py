"""`benchscribe doctor`: what it sees of the checkout, its base, python and git."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

from .. import __version__
from ..checkout.changelog_text import own_blocks, raw_problems, split
from ..checkout.checkout import Checkout
from ..plan import interrupted
from ..schema.errors import BenchscribeError
from .output import Printer


def run(repo: Path, base: str) -> int:
    """Print what is seen, a line each; the exit code is that of the first thing that is not as it must be."""
    printer = Printer()
    printer.line(("benchscribe", "head"), f"  {__version__}, python {platform.python_version()}, {_git_version()}")
    try:
        checkout = Checkout.open(repo, base=base)
    except BenchscribeError as error:
        printer.line(("checkout", "head"), "  ", (f"✗ {error.what}", "error"))
        if error.hint:
            printer.line("  ", (error.hint, "dim"))
        return error.exit_code
    layout = checkout.layout
    where = f", project root {layout.project_root}/" if layout.project_root else ""
    printer.line(("checkout", "head"), f"  {checkout.git_root}, layout {layout.name}{where}")
    codes = [_line(printer, name, look) for name, look in _questions(checkout)]
    return next((code for code in codes if code), 0)


def _questions(checkout: Checkout) -> list[tuple[str, Callable[[], str]]]:
    return [
        ("branch", lambda: _branch(checkout)),
        ("base", lambda: f"{checkout.base}, {checkout.base.reason}"),
        ("changelog", lambda: _changelog(checkout)),
        ("configs", lambda: f"{len(checkout.after.keys)} keys in {', '.join(checkout.layout.masters)}"),
        ("runners", lambda: f"{len(checkout.after.runners.known)} with hardware facts"),
        ("DRAM cap", lambda: f"{checkout.after.dram_cap.mib:,} MiB: {checkout.after.dram_cap.reason}"),
        (
            "curves",
            lambda: f"{len(checkout.after.files.names(checkout.layout.curves))} files in {checkout.layout.curves}",
        ),
        (
            "writes",
            lambda: "an earlier one was interrupted" if interrupted(checkout.git) else "none interrupted",
        ),
    ]


def _line(printer: Printer, name: str, look: Callable[[], str]) -> int:
    try:
        printer.line((name, "head"), f"  {look()}")
    except BenchscribeError as error:
        printer.line((name, "head"), "  ", (f"✗ {error}", "error"))
        return error.exit_code
    return 0


def _branch(checkout: Checkout) -> str:
    state = checkout.git.state()
    return state.branch or "detached HEAD"


def _changelog(checkout: Checkout) -> str:
    path = checkout.layout.changelog
    now, base = checkout.read(path) or b"", checkout.at_base(path) or b""
    problems = raw_problems(now)
    entries = len(split(now).blocks)
    own = len(own_blocks(base, now, path))
    trouble = f"; line {problems[0].line}: {problems[0].message}" if problems else ""
    return f"{path}, {entries} entries, {own} of this branch, history intact{trouble}"


def _git_version() -> str:
    import subprocess

    try:
        return subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "git is missing"
