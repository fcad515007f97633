"""Texts read in pieces: whatever is cut reads as the parser reads the whole, and what is no YAML is never cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from yaml_told import told

from benchscribe.schema.yaml_pieces import load_in_pieces, pieces
from benchscribe.schema.yaml_text import YamlTextError, load

ENTRY = """\
# the key's comment
glm:
  image: rocm/atom:v1   # pinned
  # about multinode
  multinode: false
  scenarios:
    agentic-coding:
    - dram-utilization: 0.60
      search-space:
      - { tp: 4, conc-list: [1, 2] }

next: { a: 1 }
"""


def test_an_entry_is_cut_into_its_fields() -> None:
    found = pieces(ENTRY)
    assert found is not None
    assert [(piece.entry, piece.field, piece.above) for piece in found] == [
        ("glm", "image", 2),
        ("glm", "multinode", 4),
        ("glm", "scenarios", 5),
        ("next", "", 11),
    ]
    assert found[2].data["agentic-coding"][0]["dram-utilization"].spelling == "0.60"
    assert told(load_in_pieces(ENTRY)) == told(load(ENTRY))


def test_a_field_met_again_is_the_same_object() -> None:
    one, other = pieces(ENTRY), pieces(ENTRY.replace("v1", "v2"))
    assert one is not None and other is not None
    assert one[2].data is other[2].data
    assert one[0].data == "rocm/atom:v1" and other[0].data == "rocm/atom:v2"


@pytest.mark.parametrize(
    "text",
    [
        "a: &x\n  b: 1\nc: *x\n",
        "a:\n  b: 1\n  b: 2\n",
        "a:\n  b: 1\na:\n  c: 2\n",
        "a: 1\nb: 2\na: 3\n",
        "- a\n- b\n",
        "---\na: 1\n",
        "a:\n    b: 1\n  c: 2\n",
        "a: !x 1\n",
    ],
)
def test_what_is_tied_doubled_or_broken_is_left_whole(text: str) -> None:
    assert pieces(text) is None


LINES = st.sampled_from(
    [
        "a:", "b: 1", "c: x y", "'d': 2", "- 1", "- e: 3", "? f", ": g", "[1, 2]", "[1,", "2]", "{h: 1,", "i: 2}",
        "'open", "close'", '"open', 'close"', "j: |", "k: >-", "l: 'x", "text", "# note", "m: # note", "n: x # y", "",
        "1: 2", "yes: no", "null:", "o: [", "]", "p: a: b", "q:r", "...", "---", "s: - 1", "t: |2", "~: 1", "=: 1",
    ]
)  # fmt: skip
SOUP = st.lists(st.tuples(st.sampled_from([0, 0, 2, 2, 4, 1]), LINES), max_size=12).map(
    lambda lines: "\n".join(" " * indent + line for indent, line in lines) + "\n"
)


@given(SOUP)
@example("a:\n  j: |\n    text\n  b: 1\n")
@example("a:\n  l: 'x\n  b: 1\n")
@example("a:\n  b: [1,\n  c: 2]\n")
@example("a:\n  c: x y\n    text\n  b: 1\n")
@settings(max_examples=400, deadline=None)
def test_pieces_hold_what_the_parser_reads(text: str) -> None:
    if pieces(text) is None:
        return
    try:
        whole = load(text)
    except YamlTextError as error:
        raise AssertionError(f"cut, though it is no YAML: {error}") from None
    assert told(load_in_pieces(text)) == told(whole)


def test_real_configs_and_recipes_are_cut(shared: Path) -> None:
    from benchscribe.checkout.blocks import split_blocks

    cut = entries = 0
    for master in sorted((shared / "upstream").rglob("*-master.yaml")):
        text = master.read_text()
        for block in split_blocks(text):
            part = text[block.start : block.end]
            entries += 1
            cut += pieces(part) is not None
            assert told(load_in_pieces(part)) == told(load(part)), block.name
    assert cut == entries > 200
    for recipe in sorted((shared / "upstream/e2e").rglob("recipes/**/*.yaml"))[:40]:
        text = recipe.read_text()
        assert told(load_in_pieces(text)) == told(load(text)), recipe
