"""How one scalar is spelled: quotes, escapes, numbers, in block and in flow style."""

from __future__ import annotations

import re
from typing import Any

from ..schema.yaml_text import YamlFloat, YamlInt, YamlStr, reads_as_text

_UNPRINTABLE = re.compile("[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_UNSAFE_START = re.compile("[,\\[\\]{}#&*!|>'\"%@`]|[-?:](?=[\\s,\\[\\]{}]|$)|---|\\.\\.\\.|\\s")
_UNSAFE = re.compile(":(?=\\s|$)|\\s#|\\t|\\s$")
_UNSAFE_IN_FLOW = re.compile("[,\\[\\]{}?]|:(?=[,\\[\\]{}])|^[-:]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_OPPOSITES = {"true": "false", "yes": "no", "on": "off", "y": "n"}


def is_scalar(value: Any) -> bool:
    return not isinstance(value, (dict, list, tuple))


def spell(value: Any, quote: str | None = None, *, flow: bool = False) -> str:
    """A scalar on one line.

    `quote` is the style wished for a string (`'`, `"`, or `` for none); None takes the value's own spelling,
    else no quotes. Where the wish would change the type or break the line, quotes win.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(value)
    text = str(value)
    own = own_quote(value)
    if own and quote in (None, own):
        return str(value.spelling)
    wish = (own or "") if quote is None else quote
    if not wish and is_plain(text, flow=flow):
        return text
    return quoted(text, wish or own or "'")


def respell(value: Any, old: str, *, flow: bool = False) -> str:
    """A scalar in the place of one spelled `old`, in the file's quotes where that keeps the type."""
    if isinstance(value, bool):
        return _like_truth(value, old)
    return spell(value, old[0] if old[:1] in ("'", '"') else "", flow=flow)


def own_quote(value: Any) -> str | None:
    """The quotes a string brings along: `'`, `"`, `` for none; None without a spelling fit for one line."""
    spelling = value.spelling if isinstance(value, YamlStr) else None
    if spelling is None or "\n" in spelling:
        return None
    if len(spelling) > 1 and spelling[0] in "'\"" and spelling[-1] == spelling[0]:
        return str(spelling[0])
    return "" if spelling == str(value) else None


def is_plain(text: str, *, flow: bool = False) -> bool:
    """Whether `text` without quotes is one line of YAML and a string to every reader."""
    if not text or _UNSAFE_START.match(text) or _UNSAFE.search(text) or _UNPRINTABLE.search(text):
        return False
    return not (flow and _UNSAFE_IN_FLOW.search(text)) and reads_as_text(text)


def quoted(text: str, quote: str) -> str:
    """`text` in quotes, double ones where single ones cannot hold it."""
    if quote == '"' or _UNPRINTABLE.search(text):
        return '"' + "".join(_escaped(sign) for sign in text) + '"'
    return "'" + text.replace("'", "''") + "'"


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if not _UNPRINTABLE.match(sign):
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def block_scalar(text: str, indent: int, mark: str = "") -> list[str] | None:
    """A string as `|` or `>` and its lines, None where that form cannot hold it or is not called for.

    It is called for by several lines, or by an old value in that form: `mark` is the first sign of it.
    """
    body = text.removesuffix("\n")
    several = "\n" in text
    lines = body.split("\n")
    if not several and mark not in ("|", ">"):
        return None
    if not body.strip() or body.endswith(("\n", " ", "\t")) or body[:1] in (" ", "\t", "\n"):
        return None
    if any(_UNPRINTABLE.search(line) for line in lines):
        return None
    head = (mark if mark == ">" and len(lines) == 1 else "|") + ("" if text.endswith("\n") else "-")
    return [head, *(" " * indent + line if line else "" for line in lines)]


def _number(value: float) -> str:
    if isinstance(value, (YamlInt, YamlFloat)):
        spelling: str | None = getattr(value, "spelling", None)
        if spelling is not None:
            return spelling
    if isinstance(value, int):
        return str(int(value))
    text = repr(float(value))
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, exponent, power = text.partition("e")
    return text if "." in mantissa or not exponent else f"{mantissa}.0e{power}"


def _like_truth(value: bool, old: str) -> str:
    for true, false in _OPPOSITES.items():
        for cased in (str.lower, str.capitalize, str.upper):
            if old in (cased(true), cased(false)):
                return cased(true if value else false)
    return "true" if value else "false"
