"""Where the branch stands, in short lines: base, changelog tail, uncommitted files."""

from __future__ import annotations

from dataclasses import dataclass

from ..checkout.checkout import Checkout
from ..plan.changelog import read_bytes
from ..schema.errors import BenchscribeError


@dataclass(frozen=True, slots=True)
class Fact:
    """One line: `sign` is ✓, ⚠ or ✗ (or a blank), `detail` a second line, empty mostly."""

    name: str
    text: str
    sign: str = " "
    detail: str = ""


def standing(checkout: Checkout) -> list[Fact]:
    """Every fact Home shows; asks git, so it belongs in a worker."""
    state = checkout.git.state()
    return [
        Fact("checkout", str(checkout.git_root)),
        Fact("layout", _layout(checkout)),
        Fact(
            "branch",
            state.branch or "detached HEAD",
            " " if state.branch else "⚠",
            state.operation and f"a {state.operation} is under way",
        ),
        _base(checkout),
        *_changelog(checkout),
        _uncommitted(checkout),
    ]


def _layout(checkout: Checkout) -> str:
    folder = f", in {checkout.layout.project_root}/" if checkout.layout.project_root else ""
    return f"{checkout.layout.name}{folder}; {len(checkout.after.keys)} config keys"


def _base(checkout: Checkout) -> Fact:
    try:
        base = checkout.base
    except BenchscribeError as error:
        return Fact("base", error.what, "✗", error.hint)
    count = checkout.git.try_run("rev-list", "--count", f"{base.commit}..HEAD")
    ahead = int(count.stdout or b"0") if count.returncode == 0 else 0
    commits = "no commit of its own yet" if not ahead else f"{ahead} commit{'s' if ahead > 1 else ''} ahead"
    return Fact("base", f"{base}, {commits}", "✓", base.reason)


def _changelog(checkout: Checkout) -> list[Fact]:
    try:
        both = read_bytes(checkout)
    except BenchscribeError as error:
        where = f"{error.where}: " if error.where else ""
        return [Fact("changelog", f"{where}{error.what}", "✗", error.hint)]
    history = Fact("changelog", "history intact: it starts with the base's bytes", "✓")
    if not both.own:
        return [history, Fact("own entry", "none yet")]
    entries = "one entry" if len(both.own) == 1 else f"{len(both.own)} entries"
    number = f"pull request {both.own_number}" if both.own_number else "no pull-request number yet"
    return [history, Fact("own entry", f"{entries} at the tail, {number}", "✓")]


def _uncommitted(checkout: Checkout) -> Fact:
    output = checkout.git.run("status", "--porcelain", "-z", "--no-renames").decode("utf-8", "surrogateescape")
    names = [line[3:] for line in output.split("\0") if line]
    if not names:
        return Fact("uncommitted", "nothing", "✓")
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return Fact("uncommitted", f"{len(names)} file{'s' if len(names) > 1 else ''}", "⚠", shown)
