"""Expanding bash words as far as a script alone decides them: quotes, variables, arrays, arithmetic, tests.

Unknown is None throughout: an unknown part makes a word unknown, an unknown operand a test undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from .bash_facts import Word
from .bash_state import State

if TYPE_CHECKING:
    from tree_sitter import Node

_LARGEST = 2**63
_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_QUOTED_ESCAPE = re.compile(r'\\([$`"\\\n])')
_EXPANSIONS = ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion")
_NAMED_VALUE = re.compile(r"(-{1,2}[A-Za-z][\w.-]*)=")
_EXTENDED_GLOB = re.compile(r"[?*+@!]\(")
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
    "<<": lambda a, b: a << b if 0 <= b < 64 else 0,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else 0,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
}
_NUMERIC_TESTS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}


def parse(data: bytes) -> Node:
    """The root of a bash source's syntax tree."""
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language())).parse(data).root_node


def line_of(node: Node) -> int:
    return int(node.start_point[0]) + 1


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, in the order written."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def walk_for(node: Node, kind: str) -> Iterator[Node]:
    """The nodes of one kind, in the order written."""
    return (found for found in walk(node) if found.type == kind)


def name_of(assignment: Node) -> str:
    """The variable that an assignment sets."""
    name = assignment.child_by_field_name("name")
    return text_of(name).partition("[")[0] if name else ""


def expand(node: Node, state: State) -> list[Word]:
    """The words that one word of the source becomes; an unquoted value falls apart at its blanks."""
    line = line_of(node)
    array = _whole_array(node)
    if array is not None:
        words = state.arrays.get(array)
        return [Word(None, line, loose=True)] if words is None else list(words)
    value = scalar(node, state)
    if value is None:
        flag = _NAMED_VALUE.match(text_of(node))
        return [Word(None, line, flag=flag[1] if flag else "", loose=node.type in _EXPANSIONS)]
    if node.type in _EXPANSIONS:
        return [Word(part, line) for part in value.split()]
    return [Word(value, line)]


def _whole_array(node: Node) -> str | None:
    """The array's name where a word is nothing but `"${NAME[@]}"` or `"$@"`, quoted or not."""
    named = list(node.named_children)
    if node.type == "string" and len(named) == 1 and len(text_of(node)) == len(text_of(named[0])) + 2:
        return _whole_array(named[0])
    match = re.fullmatch(r"\$\{(\w+)\[[@*]\]\}", text_of(node)) if node.type == "expansion" else None
    if match:
        return match[1]
    return "@" if node.type == "simple_expansion" and text_of(node) in ("$@", "$*") else None


def scalar(node: Node, state: State) -> str | None:
    """The text of one word or quoted string; None where a part of it is unknown."""
    match node.type:
        case "word" | "number" | "variable_name" | "extglob_pattern" | "regex" if not node.named_children:
            return _ESCAPE.sub(lambda match: "" if match[1] == "\n" else match[1], text_of(node))
        case "raw_string":
            return text_of(node)[1:-1]
        case "string" | "translated_string":
            start = 2 if node.type == "translated_string" else 1
            return parts(node, state, start, quoted=True)
        case "concatenation" | "command_name":
            found = [scalar(child, state) for child in node.children]
            return None if None in found else "".join(text or "" for text in found)
        case "simple_expansion":
            return state.value(text_of(node)[1:])
        case "expansion":
            return _expansion(node, state)
        case "command_substitution" if text_of(node).startswith("$((") and text_of(node).endswith("))"):
            # In heredocs the grammar takes arithmetic for a subshell.
            found_again = next(walk_for(parse(b"x=" + (node.text or b"")), "arithmetic_expansion"), None)
            return None if found_again is None else scalar(found_again, state)
        case "arithmetic_expansion":
            number = arithmetic(node, state)
            return None if number is None else str(number)
        case "ansi_c_string":
            body = text_of(node)[2:-1]
            return None if "\\" in body else body
        case _:
            return None


def parts(node: Node, state: State, skip: int, *, quoted: bool) -> str | None:
    """The text of a string or heredoc: what stands between its expansions, and their values."""
    source = node.text or b""
    begin, position, found = node.start_byte, skip, ""
    for child in node.named_children:
        if child.type in _EXPANSIONS:
            value = scalar(child, state)
            if value is None:
                return None
            found += _unescape(source[position : child.start_byte - begin]) + value
            position = child.end_byte - begin
    return found + _unescape(source[position : len(source) - (1 if quoted else 0)])


def _unescape(source: bytes) -> str:
    text = source.decode("utf-8", "replace")
    return _QUOTED_ESCAPE.sub(lambda match: "" if match[1] == "\n" else match[1], text)


def _expansion(node: Node, state: State) -> str | None:
    """`${NAME}` and the forms with a default, where the variable's value is known; others are unknown."""
    match = re.fullmatch(r"\$\{(\w+)(?:(:?[-+=?])(.*))?\}", text_of(node), re.DOTALL)
    if match is None or match[1] not in state.scalars:
        return None
    value = state.value(match[1])
    operator = match[2] or ""
    if value is None or not operator:
        return value
    replaced = not value if operator.startswith(":") else False
    if operator.endswith("+"):
        replaced = bool(value) or not operator.startswith(":")
        return _operand(node, state) if replaced else ""
    return _operand(node, state) if replaced and not operator.endswith("?") else value


def _operand(node: Node, state: State) -> str | None:
    named = [child for child in node.named_children if child.type not in ("variable_name", "subscript")]
    return scalar(named[-1], state) if named else ""


def arithmetic(node: Node, state: State) -> int | None:
    """The value of an arithmetic expression over known numbers."""
    named = [child for child in node.named_children if child.type != "comment"]
    match node.type:
        case "number" | "word" | "string" | "simple_expansion" | "expansion" | "raw_string":
            return whole_number(scalar(node, state))
        case "variable_name":
            return whole_number(state.value(text_of(node)))
        case "arithmetic_expansion" | "parenthesized_expression" | "compound_statement":
            return arithmetic(named[0], state) if len(named) == 1 else None
        case "binary_expression" if len(named) == 2:
            operator = node.child_by_field_name("operator")
            return _binary(
                text_of(operator) if operator else "",
                arithmetic(named[0], state),
                arithmetic(named[1], state),
            )
        case "ternary_expression" if len(named) == 3:
            condition = arithmetic(named[0], state)
            return None if condition is None else arithmetic(named[1 if condition else 2], state)
        case "unary_expression" if named:
            return _unary(text_of(node)[:1], arithmetic(named[-1], state))
        case _:
            return None


def _binary(operator: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None or operator not in _ARITHMETIC or (operator in "/%" and right == 0):
        return None
    value = _ARITHMETIC[operator](left, right)
    return value if abs(value) < _LARGEST else None


def _unary(operator: str, value: int | None) -> int | None:
    if value is None:
        return None
    return {"-": -value, "+": value, "!": int(not value)}.get(operator)


def whole_number(text: str | None) -> int | None:
    """A bash integer: decimal, or with 0x hexadecimal; a leading 0 would be octal, so that is refused too."""
    if text is None or not re.fullmatch(r"-?(?:0x[0-9a-fA-F]{1,15}|0|[1-9][0-9]{0,17})", text.strip()):
        return None
    return int(text, 0)


def decide(node: Node, state: State) -> bool | None:
    """Whether a condition holds; None where that is not known."""
    named = list(node.named_children)
    match node.type:
        case "test_command" | "parenthesized_expression" if len(named) == 1:
            return decide(named[0], state)
        case "compound_statement" if text_of(node).startswith("((") and len(named) == 1:
            number = arithmetic(named[0], state)
            return None if number is None else bool(number)
        case "negated_command" if named:
            return _not(decide(named[-1], state))
        case "list" if len(named) == 2:
            operator = "&&" if any(child.type == "&&" for child in node.children) else "||"
            return _combine(operator, decide(named[0], state), decide(named[1], state))
        case "binary_expression" if len(named) >= 2:
            return _test(node, state)
        case "unary_expression":
            return _unary_test(node, state)
        case "command" if text_of(node) in ("true", ":"):
            return True
        case "variable_assignment" | "variable_assignments" if "$(" not in text_of(node):
            return True
        case "command" if text_of(node) == "false":
            return False
        case "string" | "raw_string" | "word" | "simple_expansion" | "expansion":
            value = scalar(node, state)
            return None if value is None else bool(value)
        case _:
            return None


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _combine(operator: str, left: bool | None, right: bool | None) -> bool | None:
    decisive = operator == "||"
    if decisive in (left, right):
        return decisive
    return None if None in (left, right) else not decisive


def _test(node: Node, state: State) -> bool | None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if left is None or right is None or sign is None:
        return None
    operator = text_of(sign)
    if operator in ("&&", "||", "-a", "-o"):
        return _combine({"-a": "&&", "-o": "||"}.get(operator, operator), decide(left, state), decide(right, state))
    if operator in _NUMERIC_TESTS:
        first, second = whole_number(scalar(left, state)), whole_number(scalar(right, state))
        return None if first is None or second is None else _NUMERIC_TESTS[operator](first, second)
    if operator in ("=", "==", "!="):
        value = scalar(left, state)
        same = None if value is None else fits(value, right, state)
        return _not(same) if operator == "!=" else same
    return None


def _unary_test(node: Node, state: State) -> bool | None:
    text = text_of(node)
    operand = node.named_children[-1]
    if text.startswith("!"):
        return _not(decide(operand, state))
    if text[:2] in ("-z", "-n"):
        value = scalar(operand, state)
        return None if value is None else bool(value) == (text[:2] == "-n")
    return None


def fits(value: str, pattern: Node, state: State) -> bool | None:
    """Whether a value fits a pattern of `case` or `[[ … == … ]]`; quoted parts mean themselves."""
    glob = _glob(pattern, state)
    if glob is None:
        return None
    return fnmatchcase(value, glob)


def _glob(pattern: Node, state: State) -> str | None:
    if pattern.type == "concatenation":
        found = [_glob(child, state) for child in pattern.children]
        return None if None in found else "".join(part or "" for part in found)
    if pattern.type in ("word", "extglob_pattern", "regex", "number"):
        text = text_of(pattern)
        return None if _EXTENDED_GLOB.search(text) or "\\" in text or "$" in text else text.replace("[^", "[!")
    value = scalar(pattern, state)
    return None if value is None else re.sub(r"([*?[])", r"[\1]", value)
