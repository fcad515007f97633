"""What Home offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .app import BenchscribeApp


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do: its key on Home, its name, and how it starts."""

    key: str
    name: str
    title: str
    about: str
    start: Callable[[BenchscribeApp], None]


def _pick(kind: str) -> Callable[[BenchscribeApp], None]:
    def start(app: BenchscribeApp) -> None:
        from .screens.pick import PickScreen

        app.push_screen(PickScreen(kind))

    return start


def _check(app: BenchscribeApp) -> None:
    from .screens.proposal import CheckScreen

    app.push_screen(CheckScreen())


def _reseat(app: BenchscribeApp) -> None:
    from .screens.proposal import ReseatScreen

    app.push_screen(ReseatScreen())


def _commit(app: BenchscribeApp) -> None:
    from .screens.commit import CommitScreen

    app.push_screen(CommitScreen())


def _describe(app: BenchscribeApp) -> None:
    from .describing import describe_branch

    describe_branch(app)


JOBS = (
    Job("c", "change", "Change a key", "fields, search space, recipe, comments", _pick("change")),
    Job("a", "new", "Add a key", "from a sibling, its name derived", _pick("new")),
    Job("b", "bump", "Bump an image", "one image for one or several keys", _pick("bump")),
    Job("e", "extend", "Extend a curve", "new points only, append-only", _pick("extend")),
    Job("r", "retire", "Retire a key", "its entry goes, or moves to the archive", _pick("retire")),
    Job("d", "describe", "Describe the branch", "what it changed, as a spec and its entry", _describe),
    Job("k", "check", "Check the branch", "every rule; safe fixes one key away", _check),
    Job("s", "reseat", "Reseat the entry", "to the true tail, history restored", _reseat),
    Job("m", "commit", "Commit", "exactly our files, both languages", _commit),
)
