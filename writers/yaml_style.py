"""The habits of a text: indentation, blanks inside brackets, which keys it writes in flow style or quotes.

What is new is written as its neighbours are, and where they do not say, as the rest of the file is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from .yaml_layout import Child, Layout, Value


class Habits:
    """What one part of a text does, as votes: how often each question was answered in which way."""

    def __init__(self, layout: Layout, value: Value, label: str = "") -> None:
        self._layout = layout
        self._votes: dict[Hashable, Counter[Any]] = {}
        self._read(value, label)

    def most(self, question: Hashable) -> Any:
        """The most frequent answer, the first met among equals; None where nothing says."""
        votes = self._votes.get(question)
        return votes.most_common(1)[0][0] if votes else None

    def _vote(self, answer: Any, *questions: Hashable) -> None:
        for question in questions:
            self._votes.setdefault(question, Counter())[answer] += 1

    def _read(self, value: Value, label: str) -> None:
        if value.alias:
            return
        if value.kind == "scalar":
            self._read_scalar(value, label)
            return
        if value.children:
            self._vote(value.flow, ("flow", value.kind, label))
            (self._read_flow if value.flow else self._read_block)(value, label)
        for child in value.children:
            if not child.merge:
                self._read(child.value, label_of(child, label))

    def _read_scalar(self, value: Value, label: str) -> None:
        text = self._layout.text[value.inner : value.end]
        if str(value.node.tag).endswith(":str") and text[:1] not in ("|", ">"):
            self._vote(text[0] if text[:1] in ("'", '"') else "", ("quote", label))

    def _read_flow(self, value: Value, label: str) -> None:
        text = self._layout.text
        if text[value.inner] not in "[{":
            return
        blank = text[value.inner + 1 : value.children[0].start]
        if blank.strip(" ") == "":
            self._vote(blank[:1], ("pad", value.kind, label), ("pad", value.kind, ""))
        for left, right in zip(value.children, value.children[1:], strict=False):
            comma = text[left.end : right.start]
            if comma.strip(" ") == ",":
                self._vote(comma, ("comma", value.kind))

    def _read_block(self, value: Value, label: str) -> None:
        for child in value.children:
            if child.key is None:
                blank = self._layout.text[child.start + 1 : child.value.start]
                if blank and blank.strip(" ") == "":
                    self._vote("-" + blank, ("dash",))
            if child.value.block and not child.value.alias and not self._layout.inline(child.value):
                inner = child.value.children[0].start
                step = self._layout.column(inner) - self._layout.column(child.start)
                self._vote(step, ("step", child.value.kind))


def label_of(child: Child, label: str) -> str:
    """What a value is known by: its key's name, or for an item the list's with `[]`."""
    return f"{label}[]" if child.key is None else str(child.name)


@dataclass(frozen=True, slots=True)
class Style:
    """Habits, the nearest first. `neighbours` are the rows beside a new one, when it is a row of a list."""

    neighbours: Sequence[Habits] = ()
    document: Sequence[Habits] = ()
    step: int = 2

    def ask(self, question: Hashable, default: Any = None) -> Any:
        for habits in (*self.neighbours, *self.document):
            answer = habits.most(question)
            if answer is not None:
                return answer
        return default

    def mapping_step(self) -> int:
        return int(self.ask(("step", "mapping"), self.step))

    def sequence_step(self) -> int:
        """How far a list's dashes stand behind their key; the mapping step where the file has no list."""
        answer = self.ask(("step", "sequence"))
        return int(self.mapping_step() if answer is None else answer)

    def pad(self, kind: str, label: str) -> str:
        """The blank inside `{ }` or `[ ]`."""
        default = " " if kind == "mapping" else ""
        return str(self.ask(("pad", kind, label), self.ask(("pad", kind, ""), default)))

    def comma(self, kind: str) -> str:
        return str(self.ask(("comma", kind), ", "))

    def dash(self) -> str:
        return str(self.ask(("dash",), "- "))

    def quote(self, label: str) -> str | None:
        """The quotes strings under this key have in the file, None where there are none."""
        return self.ask(("quote", label))  # type: ignore[no-any-return]

    def is_flow(self, value: Any, label: str) -> bool:
        """Whether a new list or mapping is written in flow style.

        Beside rows that have the same key: as they do. Else as it was flagged; without a flag in flow style
        when it holds only scalars and the file writes this key so.
        """
        if not value:
            return True
        kind = "mapping" if isinstance(value, dict) else "sequence"
        question = ("flow", kind, label)
        for habits in self.neighbours:
            answer = habits.most(question)
            if answer is not None:
                return bool(answer)
        flag = getattr(value, "flow", None)
        if flag is not None:
            return bool(flag)
        items = value.values() if isinstance(value, dict) else value
        scalars = not any(isinstance(item, (dict, list, tuple)) for item in items)
        return scalars and bool(self.ask(question, False))
