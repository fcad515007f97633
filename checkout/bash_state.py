"""What is known at one moment of a bash script's run, and what is still known where two runs of it meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

from .bash_facts import Command, Fact, Heredoc, Word

if TYPE_CHECKING:
    from tree_sitter import Node

T = TypeVar("T")


@dataclass(slots=True)
class State:
    """What is known at one moment of a run. `certain` is False in a branch that is taken only perhaps."""

    scalars: dict[str, Fact] = field(default_factory=dict)
    arrays: dict[str, tuple[Word, ...] | None] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    commands: list[Command] = field(default_factory=list)
    heredocs: list[Heredoc] = field(default_factory=list)
    functions: dict[str, Node] = field(default_factory=dict)
    certain: bool = True
    ended: bool = False

    def copy(self) -> State:
        return State(
            dict(self.scalars),
            dict(self.arrays),
            set(self.exported),
            list(self.commands),
            list(self.heredocs),
            dict(self.functions),
            self.certain,
            self.ended,
        )

    def forget(self, name: str, line: int) -> None:
        """From here on nothing is known of a variable."""
        self.arrays.pop(name, None)
        self.scalars[name] = Fact(name, None, line)

    def value(self, name: str) -> str | None:
        fact = self.scalars.get(name)
        return fact.value if fact else None

    def take_over(self, other: State) -> None:
        """Go on with what `other` knows."""
        for name in self.__slots__:
            if name != "certain":
                setattr(self, name, getattr(other, name))


def merge(states: list[State]) -> State:
    """What is known after one of several runs, no matter which: those that ended are left out."""
    going = [state for state in states if not state.ended]
    if not going:
        ended = states[0].copy()
        ended.commands = _joined([state.commands for state in states])
        ended.heredocs = _joined([state.heredocs for state in states])
        return ended
    merged = going[0].copy()
    for other in going[1:]:
        merged = _merge_two(merged, other)
    merged.commands = _joined([state.commands for state in states])
    merged.heredocs = _joined([state.heredocs for state in states])
    return merged


def _merge_two(one: State, other: State) -> State:
    scalars = {}
    for name in {**one.scalars, **other.scalars}:
        first, second = one.scalars.get(name), other.scalars.get(name)
        known = first or second
        assert known is not None
        same = first is not None and second is not None and first.value == second.value
        scalars[name] = known if same else Fact(name, None, max(fact.line for fact in (first, second) if fact))
    merged = one.copy()
    merged.scalars = scalars
    merged.arrays = {name: _merge_arrays(one, other, name) for name in {**one.arrays, **other.arrays}}
    merged.exported = one.exported | other.exported
    merged.functions = {**other.functions, **one.functions}
    return merged


def _merge_arrays(one: State, other: State, name: str) -> tuple[Word, ...] | None:
    """The words both have in common, then those that only one has, as perhaps there."""
    first, second = one.arrays.get(name, ()), other.arrays.get(name, ())
    if first is None or second is None:
        return None
    common = _common(first, second)
    rest = [*first[len(common) :], *second[len(common) :]]
    return (*common, *(replace(word, certain=False) for word in rest))


def _joined(lists: Iterable[list[T]]) -> list[T]:
    """Everything that ran in any of the runs: what they share once, then what each has of its own."""
    joined: list[T] = []
    for items in lists:
        joined = [*joined, *items[len(_common(joined, items)) :]]
    return joined


def _common(first: Iterable[T], second: Iterable[T]) -> list[T]:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return [pair[0] for pair in pairs]
