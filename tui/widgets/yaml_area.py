"""A small text area for a mapping: `NAME=value` or `name: value` lines, nested YAML where it is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Label, Static, TextArea

from ...schema.errors import BenchscribeError
from ...schema.yaml_text import YamlMap, YamlStr, load
from ..spec_text import block_text, flow
from ..text import literal, say

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)")


def read_mapping(text: str, *, environment: bool) -> Any:
    """The mapping that was typed, empty for nothing. Raises ValueError that says what is wrong.

    Of an environment every value is text; `NAME=value` lines are taken as they are.
    """
    if environment:
        text = "\n".join(_as_yaml(line) for line in text.splitlines())
    if not text.strip():
        return YamlMap()
    try:
        data = load(text)
    except BenchscribeError as error:
        line = f"line {error.where.line}: " if error.where else ""
        raise ValueError(f"{line}{error.what.removeprefix('not valid YAML: ')}") from None
    if not isinstance(data, Mapping):
        raise ValueError("write name: value, one a line")
    return YamlMap({str(name): _as_text(value) for name, value in data.items()}) if environment else data


def _as_yaml(line: str) -> str:
    match = _ASSIGNMENT.fullmatch(line.strip())
    if match is None:
        return line
    quoted = match[2].replace("'", "''")
    return f"{match[1]}: '{quoted}'" if match[2] != "null" else f"{match[1]}: null"


def _as_text(value: Any) -> Any:
    """An environment's value as text; a string loses quotes that only we put there."""
    if value is None or isinstance(value, (Mapping, list)):
        return value
    if isinstance(value, YamlStr):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(getattr(value, "spelling", value))


def shown_mapping(data: Any, *, environment: bool) -> str:
    """A mapping as one would type it; text that was no mapping as it was typed."""
    if isinstance(data, str):
        return data
    if not isinstance(data, Mapping) or not data:
        return ""
    if environment and all(isinstance(value, str) and "\n" not in value for value in data.values()):
        return "\n".join(f"{name}={value}" for name, value in data.items())
    return block_text(data)


class YamlArea(Vertical):
    """Label, text area, mistake. Posts `Changed` with the mapping, or with the raw text while that is none."""

    class Changed(Message):
        """The author changed the text."""

        def __init__(self, area: YamlArea, value: Any) -> None:
            super().__init__()
            self.area = area
            self.value = value

    def __init__(self, name: str, *, label: str, environment: bool = False, placeholder: str = "") -> None:
        super().__init__(name=name, classes="yaml-area")
        self.field_name = name
        self._label = label
        self._environment = environment
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        yield Label(self._label, markup=False)
        yield Static("", markup=False, classes="area-now")
        yield TextArea(
            "", compact=True, placeholder=self._placeholder, tab_behavior="focus", highlight_cursor_line=False
        )
        yield Static("", markup=False, classes="field-error")

    def fill(self, data: Any) -> None:
        """Put a mapping in without telling anyone, unless it says the same already."""
        area = self.query_one(TextArea)
        if self._same(area.text, data):
            return
        with area.prevent(TextArea.Changed):
            area.text = shown_mapping(data, environment=self._environment)
        self.fail("")

    def tell(self, now: Any) -> None:
        """What stands there without this text, in a line or two; nothing where that is empty."""
        line = self.query_one(".area-now", Static)
        shown = flow(now)[2:-2] if isinstance(now, Mapping) and now else ""
        line.display = bool(shown)
        say(line, f"now: {literal(shown)}" if shown else "")

    def _same(self, text: str, data: Any) -> bool:
        try:
            return bool(read_mapping(text, environment=self._environment) == (data or {}))
        except ValueError:
            return bool(text == data)

    def fail(self, text: str) -> None:
        """The mistake under the area; empty for none."""
        self.query_one(".field-error", Static).update(f"✗ {literal(text)}" if text else "")
        self.set_class(bool(text), "-failed")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        try:
            value: Any = read_mapping(event.text_area.text, environment=self._environment)
            self.fail("")
        except ValueError as error:
            value = event.text_area.text
            self.fail(str(error))
        self.post_message(self.Changed(self, value))
