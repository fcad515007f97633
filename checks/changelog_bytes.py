"""Rule `changelog-bytes`: bytes that no changelog may hold, in the lines the branch adds or rewrites."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .model import FINAL_NEWLINE, RESEAT, Rule, Subject

MARKER = re.compile(rb"(?:<{7,}|\|{7,}|={7,}|>{7,})(?:[ \t].*)?\r?")
CONFLICT = "is a conflict marker"
CARRIAGE_RETURN = "has a carriage return (CRLF line ends?)"
BYTE_ORDER_MARK = "has a byte order mark"
MEND_HINT = "write the line in plain UTF-8 with blanks and line feeds"
RESEAT_HINT = "`benchscribe check --fix` takes the base's bytes and appends this branch's own entries in plain ones"
CONFLICT_HINT = "`benchscribe reseat` settles it: main's bytes, then this branch's own entries"


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per kind of byte, at its first line, with the number of such lines; and the final line end."""
    data, path = subject.changelog, subject.changelog_path
    lines = data.split(b"\n")
    added = range(1, len(lines) + 1) if subject.everything else sorted(subject.added_lines(path))
    for is_trap, what in TRAPS:
        places = [number for number in added if is_trap(lines[number - 1])]
        if places:
            more = f"; {len(places) - 1} more such lines" if len(places) > 1 else ""
            hint, fix = HINTS.get(what, (MEND_HINT, None))
            yield RULE.finding(Place(path, places[0]), f"the line {what}{more}", hint, fix=fix)
    if data and not data.endswith(b"\n") and len(lines) in added:
        message = "the last line has no line end, so the next entry would be glued to it"
        hint = "`benchscribe check --fix` adds it"
        yield RULE.finding(Place(path, len(lines)), message, hint, fix=Fix(FINAL_NEWLINE))


def _is_not_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


TRAPS: tuple[tuple[Callable[[bytes], bool], str], ...] = (
    (lambda line: MARKER.fullmatch(line) is not None, CONFLICT),
    (lambda line: b"\r" in line, CARRIAGE_RETURN),
    (lambda line: b"\t" in line, "has a tab"),
    (lambda line: b"\0" in line, "has a NUL byte"),
    (lambda line: b"\xef\xbb\xbf" in line, BYTE_ORDER_MARK),
    (_is_not_utf8, "is not UTF-8"),
)
HINTS: dict[str, tuple[str, Fix | None]] = {
    CONFLICT: (CONFLICT_HINT, None),
    CARRIAGE_RETURN: (RESEAT_HINT, Fix(RESEAT)),
    BYTE_ORDER_MARK: (RESEAT_HINT, Fix(RESEAT)),
}

RULE = Rule(
    id="changelog-bytes",
    severity=Severity.ERROR,
    title="no carriage return, tab, NUL, byte order mark or conflict marker; a final line end",
    explanation=(
        "The changelog is plain UTF-8 with line feeds. A carriage return, tab, NUL byte or byte order mark "
        "breaks the merge and recovery helpers, a conflict marker breaks every reader, and a last line "
        "without a line end glues the next entry to this one. Only lines the branch adds or rewrites are "
        "judged."
    ),
    example_before="<<<<<<< HEAD",
    example_after="(both sides' entries, one empty line between them)",
    judge=judge,
)
