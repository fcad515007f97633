"""The 60 real pull requests: from each block's and recipe's old text to its new data, no other line touched.

Which lines may be touched is worked out here from the parser's nodes alone, without the code under test.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest

from benchscribe.checkout.blocks import find_block
from benchscribe.schema.yaml_text import MappingNode, Node, SequenceNode, compose, load, plain, value_of
from benchscribe.writers.yaml_edit import rewrite


def in_order(_: Any, old: list[Any], wanted: list[Any]) -> list[int | None]:
    """Equal rows continue each other, then those between in order: simpler than the code's own pairing."""
    ours, theirs = [repr(plain(item)) for item in old], [repr(plain(item)) for item in wanted]
    pairs: list[int | None] = [None] * len(wanted)
    for tag, a, a_end, b, b_end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag in ("equal", "replace"):
            for x, y in zip(range(a, a_end), range(b, b_end), strict=False):
                pairs[y] = x
    return pairs


class Touchable:
    """The lines of `text` whose own data differ from `wanted`, and the comments of rows and keys that go."""

    def __init__(self, text: str, wanted: Any) -> None:
        self.lines = text.split("\n")
        self.found: set[int] = set()
        root = compose(text)
        assert root is not None
        self._walk(root, root, wanted)

    def _span(self, first: Node, last: Node) -> range:
        end = last.end_mark.line
        stop = end if last.end_mark.column == 0 and end > first.start_mark.line else end + 1
        while stop > first.start_mark.line + 1 and self.lines[stop - 1].strip()[:1] in ("", "#"):
            stop -= 1
        return range(first.start_mark.line, stop)

    def _goes(self, first: Node, last: Node) -> None:
        span = self._span(first, last)
        self.found |= set(span)
        above = span.start - 1
        while above >= 0 and self.lines[above].strip()[:1] in ("", "#"):
            self.found.add(above)
            above -= 1

    def _walk(self, key: Node, node: Node, wanted: Any) -> None:
        if plain(value_of(node)) == wanted and repr(plain(value_of(node))) == repr(wanted):
            return
        if isinstance(node, MappingNode) and isinstance(wanted, dict) and wanted:
            for key_node, value in node.value:
                name = plain(value_of(key_node))
                if name in wanted:
                    self._walk(key_node, value, wanted[name])
                else:
                    self._goes(key_node, value)
            if node.flow_style:
                self.found |= set(self._span(node, node))
        elif isinstance(node, SequenceNode) and isinstance(wanted, list) and wanted and not node.flow_style:
            pairs = in_order((), [value_of(item) for item in node.value], wanted)
            for number, item in enumerate(node.value):
                if number in pairs:
                    self._walk(item, item, wanted[pairs.index(number)])
                else:
                    self._goes(item, item)
        else:
            self.found |= set(self._span(key, node))


def missing(kept: list[str], after: str) -> list[str]:
    """The lines of `kept` that do not stand in `after` in this order, from the first such one on.

    Not difflib: where two rows share most lines it may lay a diff across both.
    """
    lines = iter(after.split("\n"))
    for number, line in enumerate(kept):
        if line not in lines:
            return kept[number:]
    return []


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[tuple[str, str, str]]:
    """Name, text before and text after of every config block and recipe that has both."""
    found = []
    for path in sorted((shared / "cases").glob("*.yaml")):
        case = plain(load(path.read_text()))
        for change in (*case["configs"], *case["recipes"]):
            if change["before"] and change["after"]:
                found.append((f"{path.stem} {change['file']}", change["before"], change["after"]))
    assert len(found) == 81
    return found


def test_every_case_is_rewritten_and_touches_only_what_changed(cases: list[tuple[str, str, str]]) -> None:
    judged = total = 0
    for name, before, after in cases:
        wanted = load(after)
        result = rewrite(before, wanted, pair=in_order)
        assert plain(load(result)) == plain(wanted), name
        assert rewrite(result, wanted, pair=in_order) == result, name
        touchable = Touchable(before, plain(wanted))
        kept = [line for number, line in enumerate(touchable.lines) if number not in touchable.found]
        assert missing(kept, result) == [], name
        judged, total = judged + len(kept), total + len(touchable.lines)
    assert judged > 0.7 * total


def test_most_cases_come_out_as_their_authors_wrote_them(cases: list[tuple[str, str, str]]) -> None:
    """Authors also rewrite comments and align columns by hand, so not all can; with the code's own pairing."""
    exact = 0
    for name, before, after in cases:
        result = rewrite(before, load(after))
        assert plain(load(result)) == plain(load(after)), name
        exact += result == after
    assert exact >= 56


def test_appended_points_change_two_lines_and_keep_every_comment(shared: Path) -> None:
    text = (shared / "upstream/root/configs/nvidia-master.yaml").read_text()
    block = find_block(text, "dsv4-fp4-b300-vllm-agentic-mtp")
    assert block is not None
    lines = text[block.start : block.end]
    wanted = load(lines)
    spec = load((shared / "specs/dsv4-b300-append-points.yaml").read_text())["changes"][0]
    item = wanted["dsv4-fp4-b300-vllm-agentic-mtp"]["scenarios"]["agentic-coding"][0]
    item["search-space"] = spec["scenarios"]["agentic-coding"]["search-space"]
    result = rewrite(lines, wanted)
    ours, theirs = lines.splitlines(), result.splitlines()
    assert len(ours) == len(theirs)
    assert sum(a != b for a, b in zip(ours, theirs, strict=True)) == 2
    assert [line for line in theirs if "#" in line] == [line for line in ours if "#" in line]
