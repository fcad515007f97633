"""Random documents in the style of the master configs, with random edits.

The result holds the wanted data, a second rewrite changes nothing, and what an edit does not name keeps its lines.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.schema.yaml_text import load, plain
from benchscribe.writers.yaml_edit import rewrite

NASTY = [
    "mtp", "none", "a b", "it's", '"q"', "# x", "x # y", "a: b", "", "0.5", "true", "~", "1e5", "[1,2]", "{a}",
    "- x", "yes", "*a", "&b", "!t", "%p", "@x", "a,b", "a]", "é😀", "l1\nl2", "l1\nl2\n", "\n", "  lead", "trail ",
    "tab\tx", "a\\b", "x:", "?", "-", "--- a", "0x1F", "1_000", "12:30", "<<", "=", "l1\n\nl3\n", " x\nz", "a#b",
    "http://x/z?q=1", "\u2028", "\x07", "\x85", "\ufeff", "a\r\nb", "2026-01-01",
]  # fmt: skip
NAMES = ["tp", "ep", "conc-list", "image", "env", "a b", "x:z", "1", "# k", "é", '"q"', "no", "null", "[k]"]

scalars = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(max_codepoint=0xD7FF, exclude_categories=["C", "Zl", "Zp"]), max_size=8),
    st.integers(-5, 10**9),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)
comments = st.sampled_from(["# a comment", "# a, b", "# - x: 1", "# it's"])


def quoted(value: Any) -> str:
    """A scalar in JSON, which YAML reads alike but for floats without a point."""
    if isinstance(value, float):
        text = repr(value).replace("inf", ".inf")
        mantissa, exponent, power = text.partition("e")
        return text if not exponent or "." in mantissa else f"{mantissa}.0e{power}"
    return json.dumps(value, ensure_ascii=not (isinstance(value, str) and value.isprintable()))


def flow(value: Any, pad: str, comma: str) -> str:
    if isinstance(value, dict) and value:
        return f"{{{pad}" + comma.join(f"{quoted(k)}: {flow(v, pad, comma)}" for k, v in value.items()) + f"{pad}}}"
    if isinstance(value, list) and value:
        return f"[{pad}" + comma.join(flow(item, pad, comma) for item in value) + f"{pad}]"
    return quoted(value)


class Writer:
    """Writes a tree as YAML in random style, beside the code under test."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.offset = draw(st.sampled_from([0, 2, 3]))
        self.step = draw(st.sampled_from([2, 4]))
        self.pad = draw(st.sampled_from(["", " "]))
        self.comma = draw(st.sampled_from([", ", ",", ",  "]))

    def above(self, indent: int) -> list[str]:
        kind = self.draw(st.integers(0, 9))
        comment = [" " * indent + self.draw(comments)] if kind < 2 else []
        return ([""] if kind in (1, 3) else []) + comment + ([""] if kind == 0 else [])

    def behind(self) -> str:
        return self.draw(st.sampled_from(["", "", "", "  # behind", ' # "x']))

    def lines(self, value: Any, indent: int) -> list[str]:
        found: list[str] = []
        entries = value.items() if isinstance(value, dict) else [(None, item) for item in value]
        for key, item in entries:
            head = "-" if key is None else f"{quoted(key)}:"
            found += self.above(indent)
            if isinstance(item, (dict, list)) and item and self.draw(st.booleans()):
                inner = 2 if key is None else self.offset if isinstance(item, list) else self.step
                rows = self.lines(item, indent + inner)
                if key is None and rows[0].strip()[:1] not in ("", "#"):
                    rows[0] = " " * indent + "- " + rows[0].lstrip()
                    found += rows
                else:
                    found += [" " * indent + head + self.behind(), *rows]
            else:
                found.append(f"{' ' * indent}{head} {flow(item, self.pad, self.comma)}{self.behind()}")
        return found


@st.composite
def documents(draw: Any) -> str:
    tree = draw(trees.filter(lambda value: isinstance(value, (dict, list)) and value))
    lines = Writer(draw).lines(tree, 0)
    return "\n".join(lines) + draw(st.sampled_from(["\n", "\n", "\n\n# the end\n", ""]))


def edited(draw: Any, value: Any) -> Any:
    """The tree with one change somewhere."""
    if isinstance(value, dict) and value:
        items = list(value.items())
        place = draw(st.integers(0, len(items) - 1))
        kind = draw(st.sampled_from(["inside", "inside", "drop", "add"]))
        if kind == "inside":
            items[place] = (items[place][0], edited(draw, items[place][1]))
        elif kind == "drop":
            del items[place]
        else:
            items.insert(place, (draw(st.sampled_from(NAMES)), draw(trees)))
        return dict(items)
    if isinstance(value, list) and value:
        items = list(value)
        place = draw(st.integers(0, len(items) - 1))
        kind = draw(st.sampled_from(["inside", "inside", "drop", "add", "copy", "move"]))
        if kind == "inside":
            items[place] = edited(draw, items[place])
        elif kind in ("drop", "move"):
            item = items.pop(place)
            if kind == "move":
                items.insert(draw(st.integers(0, len(items))), item)
        else:
            items.insert(place, draw(trees) if kind == "add" else deepcopy(items[place]))
        return items
    return draw(trees)


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_any_edit_reaches_the_wanted_data_and_repeats_to_nothing(data: st.DataObject) -> None:
    text = data.draw(documents())
    wanted = load(text)
    assert rewrite(text, plain(wanted)) == text
    for _ in range(data.draw(st.integers(1, 3))):
        wanted = edited(data.draw, wanted)
    result = rewrite(text, wanted)
    assert repr(ordered(plain(load(result)))) == repr(ordered(plain(wanted)))
    assert rewrite(result, wanted) == result
    assert rewrite(result, plain(wanted)) == result


def ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((repr(key), ordered(item)) for key, item in value.items())
    return [ordered(item) for item in value] if isinstance(value, list) else value


@dataclass
class Entry:
    """A config entry whose lines know what they belong to: a field, a row, or nothing (blank lines)."""

    lines: list[tuple[str, str]]

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line, _ in self.lines)


@st.composite
def entries(draw: Any) -> tuple[Entry, list[bool]]:
    """A config entry with one to five rows, and for each row whether a comment stands above it."""
    odd = " " * draw(st.sampled_from([0, 1]))
    lines = [("key:", "")]
    for name, value in (("image", "a/b:1"), ("runner", '"x"'), ("precision", "fp4  # why")):
        if draw(st.booleans()):
            lines.append((f"  # on {name}", name))
        lines.append((f"  {name}: {value}", name))
    lines += [
        ("  scenarios:", ""),
        ("    agentic-coding:", ""),
        ("    - dram-utilization: 0.80", "dram"),
        ("      search-space:", ""),
    ]
    commented = []
    for row in range(draw(st.integers(1, 5))):
        commented.append(draw(st.booleans()))
        if row and draw(st.integers(0, 4)) == 0:
            lines.append(("", ""))
        if commented[-1]:
            lines.append((f"      {odd}# on row {row}", f"row {row}"))
        if draw(st.booleans()):
            lines.append((f"      {odd}- {{ tp: {row}, conc-list: [{row}, 64] }}  # behind {row}", f"row {row}"))
        else:
            lines += [
                (f"      {odd}- tp: {row}", f"row {row}"),
                (f"      {odd}  conc-list: [ {row}, 64 ]", f"row {row}"),
            ]
    return Entry(lines), commented


def by_tp(path: Any, old: list[Any], wanted: list[Any]) -> list[int | None]:
    """Rows are known by their `tp` here; other lists by place."""
    if path[-1:] == ("search-space",):
        places = {row["tp"]: number for number, row in enumerate(old)}
        return [places.get(row["tp"]) for row in wanted]
    return [number if number < len(old) else None for number in range(len(wanted))]


@settings(max_examples=200, deadline=None)
@given(entries(), st.data())
def test_an_edit_leaves_the_lines_of_everything_else(entry: tuple[Entry, list[bool]], data: st.DataObject) -> None:
    document, _ = entry
    wanted = load(document.text)
    item = wanted["key"]["scenarios"]["agentic-coding"][0]
    rows = item["search-space"]
    row = data.draw(st.integers(0, len(rows) - 1))
    edit = data.draw(st.sampled_from(["image", "runner", "dram", "conc", "field", "drop", "add", "drop image"]))
    owner = f"row {row}"
    if edit in ("image", "runner"):
        wanted["key"][edit], owner = "new", edit
    elif edit == "drop image":
        del wanted["key"]["image"]
        owner = "image"
    elif edit == "dram":
        item["dram-utilization"], owner = 0.5, "dram"
    elif edit == "conc":
        rows[row]["conc-list"] = [*rows[row]["conc-list"], 128]
    elif edit == "field":
        rows[row]["ep"] = 8
    elif edit == "add":
        rows.insert(data.draw(st.integers(0, len(rows))), {"tp": 99, "conc-list": [7]})
        owner = "none"
    elif len(rows) > 1:
        del rows[row]
    else:
        owner = "none"

    result = rewrite(document.text, wanted, pair=by_tp)

    assert plain(load(result)) == plain(wanted)
    assert rewrite(result, wanted, pair=by_tp) == result
    others = [line for line, name in document.lines if name != owner and line]
    assert [line for line in result.splitlines() if line in others] == others
    new = [line for line in result.splitlines() if line and line not in [line for line, _ in document.lines]]
    assert len(new) <= {"add": 2}.get(edit, 1)
    if edit in ("conc", "field", "image", "runner", "dram"):
        kept = [line for line in result.splitlines() if "#" in line]
        assert [line.split("#")[1] for line in kept] == [
            line.split("#")[1] for line, _ in document.lines if "#" in line
        ]
