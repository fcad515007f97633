"""Anchors tie parts of a file together that are edited apart: what such a file reads as afterwards, checked whole."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..schema.errors import Place, StateError
from ..schema.yaml_text import YamlTextError, compose, value_of, walk
from ..writers.yaml_pairing import same

_ANCHOR = re.compile(r"(?:^|[\s\[{,])[&*](?=[^\s\[\]{},&*])", re.M)
_HINT = "write out in the file what the alias repeats, then try again"


def has_anchors(text: str) -> bool:
    """Whether an anchor or an alias stands in the text, comments aside."""
    return _first_anchor(text) is not None


def ensure_reads_as(text: str, wanted: Mapping[str, Any], file: str) -> None:
    """Refuse a text with anchors that does not read as `wanted`, entry by entry: StateError with its line.

    A text without anchors is not looked at: its entries are independent, and were checked when they were written.
    """
    first = _first_anchor(text)
    if first is None:
        return
    place = Place(file, text.count("\n", 0, first.end()) + 1)
    try:
        with warnings.catch_warnings(action="ignore"):
            root = compose(text, file)
    except YamlTextError as error:
        raise StateError(f"an anchor is in the way of the change: {error.what}", where=place, hint=_HINT) from None
    nodes = {id(node): node for _, node in walk(root)}.values()
    twice = [name for name, count in Counter(node.anchor for node in nodes if node.anchor).items() if count > 1]
    if twice:
        raise StateError(f"the copy would define the anchor {twice[0]!r} again", where=place, hint=_HINT)
    data = {} if root is None else value_of(root)
    for key in dict.fromkeys((*data, *wanted)):
        if key not in data or key not in wanted or not same(data[key], wanted[key]):
            what = f"the change would reach {key!r} too, through an anchor and its alias"
            raise StateError(what, where=place, hint=_HINT)


def _first_anchor(text: str) -> re.Match[str] | None:
    return next((at for at in _ANCHOR.finditer(text) if not _in_comment(text, at.start())), None)


def _in_comment(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at + 1) + 1 : at + 1]
    return line.lstrip().startswith("#") or " #" in line
