"""Puts the children of a flow collection back together, on one line or on several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .yaml_layout import Layout, Value
from .yaml_lines import Body

_COMMENT = re.compile(r"[ \t]*#[^\n]*")
_COMMENT_LINES = re.compile(r"(?:\n[ \t]*#[^\n]*)+")


@dataclass(frozen=True, slots=True)
class Seam:
    """What stands between two children beside the comma.

    `comment`: behind the first one on its line; `above`: comment lines over the second; `blank`: the rest.
    """

    comment: str
    above: str
    blank: str

    @classmethod
    def of(cls, text: str) -> Seam:
        line, newline, rest = text.partition("\n")
        comment = _COMMENT.search(line)
        line = line[: comment.start()] if comment else line
        above = _COMMENT_LINES.search(newline + rest)
        blank = line.replace(",", "", 1) + _COMMENT_LINES.sub("", newline + rest).replace(",", "", 1)
        return cls(comment[0] if comment else "", above[0] if above else "", blank)


def flow_span(layout: Layout, value: Value) -> tuple[int, int]:
    """From a flow collection's first child to its closing bracket, the bracket excluded."""
    has_brackets = layout.text[value.inner] in "[{"
    return value.children[0].start, value.end - 1 if has_brackets else value.end


def join_flow(layout: Layout, value: Value, bodies: Sequence[Body], comma: str) -> str:
    """The new text of a flow collection's span.

    Children that stay beside each other keep what stands between them; a comment goes with its child.
    `comma` separates children where the collection itself gives no example.
    """
    children = value.children
    ends = [*(child.start for child in children[1:]), flow_span(layout, value)[1]]
    between = [layout.text[child.end : end] for child, end in zip(children, ends, strict=True)]
    seams = [Seam.of(text) for text in between]
    last = len(children) - 1
    blanks = Counter(seam.blank for seam in seams[:-1])
    usual = blanks.most_common(1)[0][0] if blanks else comma.replace(",", "", 1)
    text = ""
    for slot, body in enumerate(bodies):
        old = body.old
        end = slot == len(bodies) - 1
        following = last + 1 if end else bodies[slot + 1].old
        if old is not None and following == old + 1:
            text += body.text + between[old]
            continue
        comment = "" if old is None else seams[old].comment
        above = "" if end or not following else seams[following - 1].above
        blank = seams[last].blank if end else usual if old in (None, last) else seams[old].blank
        has_comma = not end or "," in _COMMENT.sub("", between[last])
        text += body.text + ("," if has_comma else "") + _space(comment, above, blank)
    return text


def _space(comment: str, above: str, blank: str) -> str:
    """Comments and blanks in a row; a comment always has a line's end behind it."""
    if above and "\n" not in blank:
        blank = above[: above.index("#")]
    return (comment if "\n" in above + blank else "") + above + blank
