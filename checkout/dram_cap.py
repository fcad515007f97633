"""The cap on a node's DRAM, read from the checkout's generator without running it (FACTS §1, §4)."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..schema.errors import Place

NAME = "MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB"
DEFAULT_MIB = 2_861_022
_LONGEST_STATEMENT = 20
_LARGEST = 2**100

Number = int | float
_OPERATIONS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class DramCap:
    """The cap in MiB, where it was read (None: nowhere, it is the known one) and why."""

    mib: int
    place: Place | None
    reason: str


class _Unknown(Exception):
    """The expression is not one whose value can be known without running it."""


def read_dram_cap(text: str | None, path: str) -> DramCap:
    """The cap that the generator at `path` states, the known one (2_861_022 MiB) where it states none."""
    if text is None:
        return DramCap(DEFAULT_MIB, None, f"the known cap; {path} is not here to read it from")
    if NAME not in text:
        return DramCap(DEFAULT_MIB, None, f"the known cap; {path} does not state {NAME}")
    lines = text.splitlines()
    try:
        value, line = _constant(lines, NAME, depth=0)
    except _Unknown as problem:
        return DramCap(DEFAULT_MIB, None, f"the known cap; {NAME} in {path} could not be read: {problem}")
    if not isinstance(value, int) or value <= 0:
        return DramCap(DEFAULT_MIB, None, f"the known cap; {NAME} in {path} is {value}, not a whole number of MiB")
    return DramCap(value, Place(path, line), f"{NAME} in {path}")


def _constant(lines: list[str], name: str, depth: int) -> tuple[Number, int]:
    """The value and line (from 1) of a constant assigned at the top level; the last assignment counts."""
    start = re.compile(rf"{re.escape(name)}\s*(?::[^=]*)?=(?!=)")
    places = [index for index, line in enumerate(lines) if start.match(line)]
    if not places or depth > 5:
        raise _Unknown(f"{name} is not assigned there")
    statement = _statement(lines, places[-1])
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        raise _Unknown(f"{name} is not assigned a value")
    return _value(statement.value, lines, depth + 1), places[-1] + 1


def _statement(lines: list[str], start: int) -> ast.stmt:
    """The statement that begins on a line; only these lines are parsed, a generator can be long."""
    for end in range(start + 1, min(start + _LONGEST_STATEMENT, len(lines)) + 1):
        try:
            body = ast.parse("\n".join(lines[start:end])).body
        except (SyntaxError, ValueError):
            continue
        return body[0]
    raise _Unknown("it is not valid Python")


def _value(node: ast.expr, lines: list[str], depth: int) -> Number:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, lines, depth)
    if isinstance(node, ast.Name):
        return _constant(lines, node.id, depth)[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1:
        return int(_value(node.args[0], lines, depth))
    if isinstance(node, ast.BinOp):
        return _binary(node, _value(node.left, lines, depth), _value(node.right, lines, depth))
    raise _Unknown(f"{ast.unparse(node)} is more than arithmetic of numbers")


def _binary(node: ast.BinOp, left: Number, right: Number) -> Number:
    try:
        if isinstance(node.op, ast.Pow) and abs(left) <= 2**20 and 0 <= right <= 64:
            value: Number = left**right
        elif isinstance(node.op, ast.LShift) and isinstance(left, int) and isinstance(right, int) and 0 <= right <= 64:
            value = left << right
        elif type(node.op) in _OPERATIONS:
            value = _OPERATIONS[type(node.op)](left, right)
        else:
            raise _Unknown(f"{ast.unparse(node)} is not computed here")
    except (ArithmeticError, ValueError) as error:
        raise _Unknown(f"{ast.unparse(node)}: {error}") from None
    if abs(value) > _LARGEST:
        raise _Unknown(f"{ast.unparse(node)} is too large")
    return value
