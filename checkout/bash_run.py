"""Following a bash script's statements, as far as its own text decides the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ..schema.errors import Place, StateError
from .bash_facts import Command, Fact, Heredoc, Word
from .bash_state import State, merge
from .bash_values import decide, expand, fits, line_of, name_of, parts, scalar, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

Arm: TypeAlias = "tuple[Node | None, Sequence[Node]]"

_DEEPEST_CALL = 8
_MOST_STEPS = 50_000
_MOST_ROUNDS = 64
_ENDING = ("exit", "return", "exec")
_SETTING = ("read", "mapfile", "readarray", "printf", "getopts", "let", "unset")
_CONDITIONS = ("test_command", "negated_command")
_COMPARING = ("==", "!=", "<=", ">=")


class Run:
    """Follows a script's statements, changing a State."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._steps = 0
        self._depth = 0
        self._locals: list[dict[str, Fact | None]] = []

    def statements(self, nodes: Sequence[Node], state: State) -> None:
        for node in nodes:
            if state.ended:
                return
            if node.is_named:
                self.statement(node, state)

    def statement(self, node: Node, state: State) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise StateError("the script repeats itself too often to follow", where=Place(self._path, line_of(node)))
        match node.type:
            case "variable_assignment":
                self._assign(node, state)
            case "variable_assignments":
                self.statements(node.children, state)
            case "declaration_command":
                self._declare(node, state)
            case "unset_command":
                for child in node.named_children:
                    state.forget(text_of(child), line_of(node))
            case "command":
                self._command(node, state)
            case "redirected_statement":
                self._redirected(node, state)
            case "if_statement":
                self._if(node, state)
            case "case_statement":
                self._case(node, state)
            case "list":
                self._list(node, state)
            case "negated_command":
                self.statements(node.named_children, state)
            case "for_statement" | "c_style_for_statement" | "while_statement":
                self._loop(node, state)
            case "function_definition":
                self._define(node, state)
            case "compound_statement" if text_of(node).startswith("(("):
                self._count(node, state)
            case "compound_statement" | "do_group":
                self.statements(node.children, state)
            case "subshell" | "pipeline":
                self._apart(node, state)
            case _:
                pass

    def _assign(self, node: Node, state: State) -> None:
        name, value = name_of(node), node.child_by_field_name("value")
        target = node.child_by_field_name("name")
        line = line_of(node)
        appended = any(child.type == "+=" for child in node.children)
        if target is not None and target.type == "subscript":
            state.arrays[name] = None
        elif value is not None and value.type == "array":
            self._assign_array(name, value, appended, state)
        else:
            text = "" if value is None else scalar(value, state)
            if appended:
                before = state.value(name)
                text = None if before is None or text is None else before + text
            state.arrays.pop(name, None)
            state.scalars[name] = Fact(name, text, line)

    def _assign_array(self, name: str, value: Node, appended: bool, state: State) -> None:
        words = [word for child in value.named_children if child.type != "comment" for word in expand(child, state)]
        before = state.arrays.get(name, ()) if appended else ()
        state.scalars.pop(name, None)
        state.arrays[name] = None if before is None else (*before, *words)

    def _declare(self, node: Node, state: State) -> None:
        kind = text_of(node.children[0])
        for child in node.named_children:
            name = name_of(child) if child.type == "variable_assignment" else text_of(child)
            if kind == "local" and self._locals and child.type != "word":
                self._locals[-1].setdefault(name, state.scalars.get(name))
            if child.type == "variable_assignment":
                self._assign(child, state)
            if kind == "export" and child.type in ("variable_assignment", "variable_name"):
                state.exported.add(name)

    def _command(self, node: Node, state: State) -> None:
        own = [child for child in node.named_children if child.type == "variable_assignment"]
        env = [Fact(name_of(child), self._value(child, state), line_of(child)) for child in own]
        rest = [child for child in node.named_children if child not in own and not child.type.endswith("redirect")]
        words = [word for child in rest for word in self._words(child, state)]
        name = words[0].text if words else None
        state.commands.append(Command(tuple(words), tuple(env), line_of(node), state.certain))
        if name in state.functions:
            self._call(state.functions[name], state)
        elif name in _ENDING and (name != "exec" or len(words) > 1):
            state.ended = True
        elif name == "set" and len(words) > 1 and words[1].text == "--":
            state.arrays["@"] = tuple(words[2:])
        elif name == "eval":
            self._forget_all(state, line_of(node))
        elif name in _SETTING:
            self._set_by_command(words, state)

    @staticmethod
    def _value(assignment: Node, state: State) -> str | None:
        value = assignment.child_by_field_name("value")
        return "" if value is None else scalar(value, state)

    @staticmethod
    def _words(node: Node, state: State) -> list[Word]:
        if node.type == "command_name" and node.named_children:
            return expand(node.named_children[0], state)
        return expand(node, state)

    @staticmethod
    def _set_by_command(words: Sequence[Word], state: State) -> None:
        """`read`, `printf -v`, `let` and their like set variables to what cannot be known here."""
        texts = [word.text or "" for word in words]
        if texts[0] == "printf":
            texts = texts[2:3] if texts[1:2] == ["-v"] else []
        for text in texts[1:] if texts and texts[0] in _SETTING else texts:
            name = text.partition("=")[0].rstrip("+-*/%")
            if name.isidentifier():
                state.forget(name, words[0].line)

    @staticmethod
    def _forget_all(state: State, line: int) -> None:
        for name in [*state.scalars, *state.arrays]:
            state.forget(name, line)
        state.arrays.clear()

    def _call(self, body: Node, state: State) -> None:
        if self._depth >= _DEEPEST_CALL:
            self._forget_all(state, line_of(body))
            return
        self._depth += 1
        self._locals.append({})
        positional = state.arrays.pop("@", None)
        self.statement(body, state)
        if positional is not None:
            state.arrays["@"] = positional
        for name, fact in self._locals.pop().items():
            state.arrays.pop(name, None)
            if fact is None:
                state.scalars.pop(name, None)
            else:
                state.scalars[name] = fact
        self._depth -= 1
        state.ended = False

    def _redirected(self, node: Node, state: State) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self.statement(body, state)
        for redirect in node.named_children:
            if redirect.type == "heredoc_redirect":
                self._heredoc(redirect, state)

    @staticmethod
    def _heredoc(redirect: Node, state: State) -> None:
        start = next((text_of(child) for child in redirect.children if child.type == "heredoc_start"), "")
        for body in redirect.named_children:
            if body.type == "heredoc_body":
                literal = any(sign in start for sign in "'\"\\")
                text = text_of(body) if literal else parts(body, state, 0, quoted=False)
                state.heredocs.append(Heredoc(text, line_of(body)))

    def _if(self, node: Node, state: State) -> None:
        arms = [node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))]
        self._choose([_arm(arm) for arm in arms], state)

    def _choose(self, arms: Sequence[Arm], state: State) -> None:
        """Follow the first arm whose condition holds; where that is not known, it or one of those left."""
        if not arms:
            return
        condition, body = arms[0]
        holds = True if condition is None else self._decide(condition, state)
        if holds is None:
            self._either(state, partial(self.statements, body), partial(self._choose, arms[1:]))
        elif holds:
            self.statements(body, state)
        else:
            self._choose(arms[1:], state)

    def _decide(self, condition: Node, state: State) -> bool | None:
        """Whether a condition holds; the commands in it run, whatever they answer."""
        answer = decide(condition, state)
        if condition.type in ("command", "redirected_statement", "pipeline", "subshell", "negated_command"):
            self.statement(condition, state)
        elif condition.type == "list":
            self._apart(condition, state)
        return answer

    def _either(self, state: State, *ways: Callable[[State], None]) -> None:
        """Follow several ways from here, of which one is taken; go on with what they agree in."""
        ends = []
        for way in ways:
            inner = state.copy()
            inner.certain = False
            way(inner)
            ends.append(inner)
        state.take_over(merge(ends))

    def _case(self, node: Node, state: State) -> None:
        subject = node.child_by_field_name("value")
        value = None if subject is None else scalar(subject, state)
        items = [child for child in node.named_children if child.type == "case_item"]
        through = any(child.type in (";&", ";;&") for item in items for child in item.children)
        possible: list[Sequence[Node]] = []
        for item in items:
            patterns, body = _case_item(item)
            answers = [None if value is None or through else fits(value, pattern, state) for pattern in patterns]
            if True in answers or any(text_of(pattern) == "*" for pattern in patterns):
                possible.append(body)
                break
            if None in answers:
                possible.append(body)
        else:
            possible.append(())
        if len(possible) == 1:
            self.statements(possible[0], state)
        else:
            self._either(state, *(partial(self.statements, body) for body in possible))

    def _list(self, node: Node, state: State) -> None:
        left, right = node.named_children[0], node.named_children[-1]
        wanted = any(child.type == "&&" for child in node.children)
        answer = decide(left, state)
        if left.type not in _CONDITIONS:
            self.statement(left, state)
        if state.ended or left == right:
            return
        if answer is None:
            self._either(state, partial(self.statement, right), lambda skipped: None)
        elif answer is wanted:
            self.statement(right, state)

    def _loop(self, node: Node, state: State) -> None:
        """A loop's body runs some times or never; one over literal words runs once for each."""
        body = next((child for child in node.children if child.type in ("do_group", "compound_statement")), None)
        named = node.child_by_field_name("variable")
        name = "" if named is None else text_of(named)
        if body is None:
            return
        words = _loop_words(node, state) if name and not _breaks(body) else None
        if words is not None:
            for word in words:
                state.scalars[name] = Fact(name, word.text, line_of(node))
                self.statement(body, state)
            return
        # An earlier round may have set what this one reads; arrays only grow, and merging sees to them.
        for variable in [*_scalars_set_in(body), name]:
            if variable:
                state.forget(variable, line_of(node))
        self._either(state, partial(self.statement, body), lambda never: None)
        state.ended = False

    def _define(self, node: Node, state: State) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            state.functions[text_of(name)] = body

    @staticmethod
    def _count(node: Node, state: State) -> None:
        """`(( N++ ))` and its like: what they change is worked out for plain assignments, else forgotten."""
        for found in walk(node):
            if found.type in (
                "postfix_expression",
                "unary_expression",
                "binary_expression",
                "variable_assignment",
            ):
                operators = {child.type for child in found.children}
                if any(sign in ("++", "--") or (sign.endswith("=") and sign not in _COMPARING) for sign in operators):
                    for child in found.named_children[:1]:
                        state.forget(text_of(child), line_of(node))

    def _apart(self, node: Node, state: State) -> None:
        """A subshell or a pipeline: what it runs counts, the variables it sets do not."""
        inner = state.copy()
        self.statements(node.named_children if node.type in ("subshell", "pipeline") else [node], inner)
        state.commands, state.heredocs = inner.commands, inner.heredocs


def _arm(clause: Node) -> Arm:
    """Condition and body of `if`, `elif` or `else` (without a condition)."""
    inner = [child for child in clause.named_children if child.type not in ("elif_clause", "else_clause", "comment")]
    if clause.type == "else_clause":
        return None, inner
    return inner[0], inner[1:]


def _case_item(item: Node) -> tuple[list[Node], list[Node]]:
    """The patterns of one `case` item, and the statements behind its `)`."""
    closing = next(index for index, child in enumerate(item.children) if child.type == ")")
    patterns = [child for child in item.children[:closing] if child.is_named and child.type != "comment"]
    return patterns, item.children[closing + 1 :]


def _loop_words(node: Node, state: State) -> list[Word] | None:
    """The words a `for` goes through, None where they are not known or too many."""
    values = node.children_by_field_name("value")
    words = [word for value in values for word in expand(value, state)]
    known = all(word.text is not None and word.certain for word in words)
    return words if values and known and len(words) <= _MOST_ROUNDS else None


def _scalars_set_in(body: Node) -> set[str]:
    found = [node for node in walk(body) if node.type == "variable_assignment"]
    values = {node.id: node.child_by_field_name("value") for node in found}
    return {name_of(node) for node in found if (value := values[node.id]) is None or value.type != "array"}


def _breaks(body: Node) -> bool:
    return any(node.type == "command" and text_of(node).split()[0] in ("break", "continue") for node in walk(body))
