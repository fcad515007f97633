"""Bash recipes, read with tree-sitter and followed as far as their own text decides (FACTS §1, §5).

A run is followed for one concurrency with what else is known of the environment. Branches that hang on
something unknown are followed both ways, and what they leave different is unknown from there on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ..schema.errors import Place, StateError
from .bash_facts import Assignment, Fact, Facts, read_flags
from .bash_run import Run
from .bash_state import State
from .bash_values import expand, line_of, name_of, parse, scalar, text_of, walk, walk_for

if TYPE_CHECKING:
    from tree_sitter import Node

_REQUIRING = "check_env_vars"


class Script:
    """One bash recipe. `path` is relative to the git root, lines count from 1."""

    def __init__(self, root: Node, path: str) -> None:
        self._root = root
        self.path = path

    @cached_property
    def problems(self) -> tuple[int, ...]:
        """The lines that could not be read as bash; facts from there on may be missing."""
        return tuple(dict.fromkeys(line_of(node) for node in walk(self._root) if node.is_error or node.is_missing))

    @cached_property
    def assignments(self) -> tuple[Assignment, ...]:
        """Every assignment in the order written, those in branches and functions included."""
        return tuple(_assignment(node) for node in walk_for(self._root, "variable_assignment"))

    @cached_property
    def exports(self) -> frozenset[str]:
        """The names that are exported somewhere, with their assignment or later."""
        exported = {found.name for found in self.assignments if found.exported}
        for node in walk_for(self._root, "declaration_command"):
            if text_of(node.children[0]) == "export":
                exported |= {text_of(child) for child in node.children if child.type == "variable_name"}
        return frozenset(exported)

    @cached_property
    def flags(self) -> tuple[Fact, ...]:
        """Every flag as written, in commands and in arrays; its value where it is literal."""
        found: list[Fact] = []
        for node in walk(self._root):
            if node.type in ("command", "array"):
                words = [word for child in node.named_children for word in expand(child, State())]
                found += read_flags(words)
        return tuple(found)

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names of all variables the script reads."""
        return frozenset(_read_names(self._root))

    @cached_property
    def requires(self) -> frozenset[str]:
        """The names of the variables it checks to be set before it starts."""
        commands = walk_for(self._root, "command")
        checking = (node.named_children for node in commands if text_of(node.named_children[0]) == _REQUIRING)
        return frozenset(text_of(word) for words in checking for word in words[1:])

    def per_concurrency(
        self, concurrency: int, *, eval_only: bool = False, environment: Mapping[str, str] | None = None
    ) -> Facts:
        """What a run at one concurrency sets; `environment` states what else the harness hands over.

        Raises StateError for a script that is nested or repeats itself beyond reason.
        """
        given = {"CONC": str(concurrency), "EVAL_ONLY": str(eval_only).lower(), **(environment or {})}
        state = State(scalars={name: Fact(name, value, 0) for name, value in given.items()})
        run = Run(self.path)
        try:
            run.statements(self._root.children, state)
        except RecursionError:
            raise StateError("the script is nested too deeply to follow", where=Place(self.path)) from None
        own = {name: fact for name, fact in state.scalars.items() if fact.line}
        exports = {name: fact for name, fact in own.items() if name in state.exported}
        return Facts(own, exports, tuple(state.commands), tuple(state.heredocs))


def read_script(data: bytes, path: str) -> Script:
    """Read a bash script. What is no bash in it is listed under `problems`, the rest is read all the same."""
    return Script(parse(data), path)


def _assignment(node: Node) -> Assignment:
    parent = node.parent
    kind = "" if parent is None else parent.type
    if parent is not None and kind == "declaration_command":
        kind = text_of(parent.children[0])
    value = node.child_by_field_name("value")
    # `NAME=` alone is the empty text.
    literal = "" if value is None else scalar(value, State())
    appended = any(child.type == "+=" for child in node.children)
    # A variable in front of a command is handed to that command.
    return Assignment(name_of(node), None if appended else literal, line_of(node), kind in ("export", "command"))


def _read_names(root: Node) -> Iterator[str]:
    for node in walk(root):
        parent = node.parent
        if node.type != "variable_name" or parent is None:
            continue
        if parent.type == "subscript" and parent.parent is not None:
            parent = parent.parent
            written = parent.type == "variable_assignment"
        else:
            written = parent.type in ("declaration_command", "unset_command", "for_statement") or (
                parent.type == "variable_assignment" and parent.child_by_field_name("name") == node
            )
        if not written:
            yield text_of(node)
