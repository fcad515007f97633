"""The byte rules of the changelog (FACTS §2) on their own: nothing of benchscribe is imported."""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML

ENTRY_LINE = re.compile(rb"^- config-keys:", re.MULTILINE)


def assert_appended(old: bytes, new: bytes) -> None:
    """`new` is `old` with nothing, or with entries appended by rules 1 to 4."""
    assert new[: len(old)] == old, "rule 1: the new file starts with the old file's exact bytes"
    suffix = new[len(old) :]
    if not suffix:
        return
    start = b"- config-keys:" if old.endswith(b"\n\n") else b"\n- config-keys:"
    assert suffix.startswith(start), f"rule 2: the suffix starts with {start!r}, not {suffix[:40]!r}"
    assert suffix.endswith(b"\n"), "the file ends in a line end"
    assert not suffix.endswith(b"\n\n"), "the file ends in exactly one line end"
    _assert_separated(suffix)
    _assert_clean(suffix)
    assert len(added_entries(old, new)) == len(ENTRY_LINE.findall(suffix)), "rule 4: one entry per line"


def added_entries(old: bytes, new: bytes) -> list[dict[str, Any]]:
    """The entries behind `old`, parsed; a duplicate key or broken YAML raises."""
    suffix = new[len(old) :].decode("utf-8")
    parsed = YAML(typ="safe").load(suffix)
    assert parsed is None or isinstance(parsed, list)
    return parsed or []


def assert_one_list(new: bytes) -> None:
    """The whole file is one list with as many entries as `- config-keys:` lines (rule 4; slow if big)."""
    parsed = YAML(typ="safe").load(new.decode("utf-8")) or []
    assert isinstance(parsed, list)
    assert len(parsed) == len(ENTRY_LINE.findall(new))


def _assert_separated(suffix: bytes) -> None:
    starts = [match.start() for match in ENTRY_LINE.finditer(suffix)]
    for begin in starts[1:]:
        before = suffix[:begin]
        assert before.endswith(b"\n\n"), "rule 3: an empty line between added entries"
        assert before[:-2].rsplit(b"\n", 1)[-1].strip(), "rule 3: exactly one empty line, no blanks before it"


def _assert_clean(suffix: bytes) -> None:
    for byte, name in ((b"\r", "CR"), (b"\t", "tab"), (b"\0", "NUL"), (b"\xef\xbb\xbf", "BOM")):
        assert byte not in suffix, f"rule 4: no {name}"
    suffix.decode("utf-8")
