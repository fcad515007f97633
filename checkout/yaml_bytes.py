"""Bytes of a YAML file as text, refused where they hold what no such file may hold: the line is named."""

from __future__ import annotations

import re
from functools import lru_cache

from ..schema.errors import Place, StateError

_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?: .*)?$", re.MULTILINE)
_INDENT_TAB = re.compile(r"^ *\t[ \t]*(?=[^ \t#\n])", re.MULTILINE)
_CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
_REFUSED = (
    (
        re.compile("\r"),
        "has a carriage return; the file must have plain line ends",
        "convert it: sed -i 's/\\r$//'",
    ),
    (_CONTROL, "has a control character", "remove it"),
    (_CONFLICT, "has a conflict marker", "resolve the conflict first"),
    (_INDENT_TAB, "is indented with a tab, which YAML does not allow", "indent with blanks"),
)


@lru_cache(maxsize=16)
def yaml_text(data: bytes, path: str) -> str:
    """The file's text; the same bytes are looked at once.

    Raises StateError with file and line for a byte order mark, bytes that are no UTF-8,
    carriage returns, control characters, conflict markers and indentation by tabs."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise StateError("starts with a byte order mark", where=Place(path, 1), hint="save it as plain UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StateError("is not UTF-8 text", where=Place(path, line), hint="save it as UTF-8") from None
    for sign, what, hint in _REFUSED:
        if match := sign.search(text):
            line = text.count("\n", 0, match.start()) + 1
            raise StateError(f"the line {what}", where=Place(path, line), hint=hint)
    return text
