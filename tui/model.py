"""The one model behind every screen: a spec, with the history of how it came to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from ..schema.yaml_text import load
from .spec_text import spec_text

LONGEST_HISTORY = 500


def empty_spec() -> dict[str, Any]:
    """A spec that says nothing yet."""
    return {"benchscribe": 1, "changes": []}


class SpecModel:
    """A spec being written. Every change goes through `editing`, so that it can be undone and is told to listeners.

    `data` is the spec as nested mappings; `revision` counts up with every change, undo and redo included.
    """

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        self.data: dict[str, Any] = deepcopy(dict(data)) if data is not None else empty_spec()
        self.revision = 0
        self.listeners: list[Callable[[], None]] = []
        self._undo: list[dict[str, Any]] = []
        self._redo: list[dict[str, Any]] = []
        self._run = ""
        self._written: tuple[Any, str] = (None, "")
        self._saved = self.text

    @classmethod
    def read(cls, text: str) -> SpecModel:
        """A model of a spec's text, spellings kept."""
        data = load(text)
        return cls(data if isinstance(data, Mapping) else None)

    @property
    def text(self) -> str:
        """The spec as YAML."""
        if self._written[0] is not self.data:
            self._written = (self.data, spec_text(self.data))
        return self._written[1]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is wanted yet."""
        return not self.data.get("changes")

    @property
    def unsaved(self) -> bool:
        """Whether there is anything that has neither been written to the checkout nor saved as a spec."""
        return not self.is_empty and self.text != self._saved

    def mark_saved(self) -> None:
        """What stands here now is safe: written, or saved as a spec."""
        self._saved = self.text

    @contextmanager
    def editing(self, run: str = "") -> Iterator[dict[str, Any]]:
        """The data, to be changed. Changes of one `run` (typing in one field) are undone together."""
        before, text = self.data, self.text
        changed = deepcopy(before)
        yield changed
        if spec_text(changed) == text:
            return
        self.data = changed
        if not run or run != self._run:
            self._undo.append(before)
            del self._undo[:-LONGEST_HISTORY]
        self._run = run
        self._redo.clear()
        self._tell()

    def replace(self, data: Mapping[str, Any]) -> None:
        """Another spec altogether; the old one can be had back with undo."""
        with self.editing() as now:
            now.clear()
            now.update(deepcopy(dict(data)))

    def end_run(self) -> None:
        """What is typed next is undone on its own."""
        self._run = ""

    @property
    def can_undo(self) -> bool:
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        return bool(self._redo)

    def undo(self) -> bool:
        """One change back; False where there is none."""
        return self._step(self._undo, self._redo)

    def redo(self) -> bool:
        """One undone change again; False where there is none."""
        return self._step(self._redo, self._undo)

    def _step(self, source: list[dict[str, Any]], target: list[dict[str, Any]]) -> bool:
        if not source:
            return False
        target.append(self.data)
        self.data = source.pop()
        self._run = ""
        self._tell()
        return True

    def _tell(self) -> None:
        self.revision += 1
        for listener in list(self.listeners):
            listener()
