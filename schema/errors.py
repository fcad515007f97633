"""The errors a user can cause. Anything that is not one of these is a bug and shows a trace."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file: path as the user knows it, line and column counted from 1 (0: not known)."""

    path: str
    line: int = 0
    column: int = 0

    def lowered(self, lines: int) -> Place:
        """The place in a text that stands so many lines down in its file."""
        return Place(self.path, self.line + lines if self.line else 0, self.column)

    def __str__(self) -> str:
        parts = [self.path, *(str(number) for number in (self.line, self.column) if number)]
        return ":".join(parts)


class BenchscribeError(Exception):
    """Says what is wrong, where, and what to do; `exit_code` is the process's (DESIGN, "The command line")."""

    exit_code = 4

    def __init__(self, what: str, *, where: Place | None = None, hint: str = "") -> None:
        self.what = what
        self.where = where
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.what}{hint}"


class UsageError(BenchscribeError):
    """The call itself or the spec is wrong."""

    exit_code = 2


class StateError(BenchscribeError):
    """The repository is not in the state needed: changed underneath, in conflict, or not a checkout."""

    exit_code = 3


class SystemFailure(BenchscribeError):
    """The system failed us: disk, permissions, git."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a spec: where it stands, the field's path, what is wrong, what is allowed or meant."""

    place: Place
    field: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        name = f"{self.field}: " if self.field else ""
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{self.place}: {name}{self.what}{hint}"


class SpecError(UsageError):
    """Every mistake found in one spec, in the order of its lines."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.place.line, problem.place.column)))
        super().__init__("\n".join(str(problem) for problem in self.problems))
