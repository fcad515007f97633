"""Text from files and specs on its way to the screen: always literal, never markup, never a control sequence."""

from __future__ import annotations

import re

from rich.text import Text
from textual.content import Content
from textual.widgets import Static

# Control characters, direction marks, lone surrogates: what could steer a terminal or reorder what is read.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def literal(text: object) -> str:
    """One line that cannot steer a terminal: control characters and direction marks stand as escapes."""
    shown = _STEERING.sub(lambda match: ascii(match[0]).strip("'"), str(text))
    return shown.replace("\n", "⏎").replace("\t", "  ")


def content(text: object, style: str = "") -> Content:
    """A line for Textual's own widgets."""
    shown = literal(text)
    return Content.styled(shown, style) if style else Content(shown)


def cell(text: object, style: str = "", *, justify: str = "left") -> Text:
    """A table cell."""
    return Text(literal(text), style=style, justify=justify, no_wrap=True, end="")  # type: ignore[arg-type]


def lines_of(text: str) -> list[str]:
    """A text's lines, each safe to show."""
    return [literal(line) for line in text.rstrip("\n").split("\n")]


def say(line: Static, text: str | Content) -> None:
    """A remark's text. The screen is only laid out anew, which takes as long as a plan, where its height changes."""
    said = Content(text) if isinstance(text, str) else text
    if line.content != said:
        width, height = line.content_size
        fits = width > 0 and said.get_height(line.styles.get_rules(), width) == height and bool(said.plain)
        line.update(said, layout=not fits)
