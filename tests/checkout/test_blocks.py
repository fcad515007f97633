"""Top-level entries found without parsing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.checkout.blocks import find_block, split_blocks
from benchscribe.schema.errors import StateError
from benchscribe.schema.yaml_text import MappingNode, compose


def cut(text: str) -> list[tuple[str, str, str, int]]:
    """Name, comment above, lines and line number of each block."""
    return [
        (block.name, text[block.comment_start : block.start], text[block.start : block.end], block.line)
        for block in split_blocks(text)
    ]


def test_a_block_ends_behind_its_last_line_with_content() -> None:
    text = (
        "# head\n\n"
        "# about a\n# more\na: 1\n\n"
        "# apart\n\n"
        "b:\n- 1\n# in the list\n- 2\n  # further in\n"
        "# about c\n"
        '"c d":\n  x: 1\n\n  y: 2\n\n\n# the end\n'
    )
    assert cut(text) == [
        ("a", "# about a\n# more\n", "a: 1\n", 5),
        ("b", "", "b:\n- 1\n# in the list\n- 2\n  # further in\n", 9),
        ("c d", "# about c\n", '"c d":\n  x: 1\n\n  y: 2\n', 15),
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("# only\n", []),
        ("\ufeffa: 1\r\nb: 2\r\n", ["a", "b"]),
        ("--- # c\n# d\na: 1\n...\n", ["a"]),
        ("%YAML 1.1\n---\na: 1\n", ["a"]),
        ("'it''s': 1\n\"q\\\"\" : 2\n", ["it's", 'q"']),
        ("a b:c#d: 1\n-x: 2\n", ["a b:c#d", "-x"]),
        ('a: "x\nb: y"\nc: 1\n', ["a", "c"]),
        ("a:\n  'x\nb: y''\nd: z'\nc: 1\n", ["a", "c"]),
        ('a: "x\\\nb: y"\nc: 1\n', ["a", "c"]),
        ("a: [1, # one\nb: 2,\n3]\nc: 1\n", ["a", "c"]),
        ("a: {x: 1,\nb: 2}\nc: 1\n", ["a", "c"]),
        ("a: [1\n, 2]\nc: 1\n", ["a", "c"]),
        ("a: |\n  x: \"\n\nb: it's, [not\n", ["a", "b"]),
        ("# don't, [\na: 1 # it's\nb: 2\n", ["a", "b"]),
        ("a: &x\n- 1\nb: *x\n", ["a", "b"]),
    ],
)
def test_keys_are_those_of_the_parser(text: str, names: list[str]) -> None:
    root = compose(text)
    keys = [key.value for key, _ in root.value] if isinstance(root, MappingNode) else []
    assert keys == names
    assert [block.name for block in split_blocks(text)] == names


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a: 1\n<<<<<<< HEAD\nb: 1\n", 2, "conflict marker"),
        ("a: 1\nb: 2\n=======\n", 3, "conflict marker"),
        ("a: 1\nfoo\nb: 2\n", 2, "could not find expected ':'"),
        ("a: 1\n\nb:\n\tc: 1\n", 4, "cannot start any token"),
        ("- a\n", 1, "not a top-level key"),
        ("a: 1\n- b\n", 2, "not a top-level key"),
        ("? a\n: b\n", 1, "not a top-level key"),
        ("{a: 1}\n", 1, "not a top-level key"),
        ("a: 1\n---\nb: 1\n", 2, "second document"),
        ("a: 1\n...\nb: 1\n", 3, "behind the document's end"),
        ('x: 1\na: "x\nb: 1\n', 2, "unexpected end of stream"),
    ],
)
def test_what_is_no_list_of_entries_is_refused_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(StateError) as raised:
        split_blocks(text, "configs/amd-master.yaml")
    assert why in str(raised.value)
    assert raised.value.where is not None
    assert (raised.value.where.path, raised.value.where.line) == ("configs/amd-master.yaml", line)


def test_one_entry_is_found_by_its_name() -> None:
    text = "a: 1\nb: 2\n"
    block = find_block(text, "b")
    assert block is not None and text[block.start : block.end] == "b: 2\n"
    assert find_block(text, "c") is None
    with pytest.raises(StateError, match="line 1 and in line 3"):
        find_block("a: 1\nb: 2\na: 3\n", "a")


def test_real_files_split_as_the_parser_splits_them(shared: Path) -> None:
    for path in sorted(shared.glob("upstream/**/*.yaml")):
        text = path.read_text()
        if path.name == "perf-changelog.yaml" or len(text) > 100_000:
            continue
        root = compose(text)
        assert isinstance(root, MappingNode)
        assert [(key.value, key.start_mark.index) for key, _ in root.value] == [
            (block.name, block.start) for block in split_blocks(text)
        ]


def test_the_largest_config_splits_into_its_entries(shared: Path) -> None:
    text = (shared / "upstream/root/configs/nvidia-master.yaml").read_text()
    blocks = split_blocks(text)
    assert len(blocks) == 152
    assert text.count("\n", 0, blocks[-1].start) + 1 == blocks[-1].line


KEYS = st.sampled_from(["key", "a.b-c", "k:1", "x y", '"quo ted"', "'it''s'", "-k", "k#1"])
VALUES = st.sampled_from(
    [
        " 1", "", " 'a: b'", ' "x # y"', ' "two\n  lines"', ' "in\nfirst: column"', " 'in\nfirst: column'", " [1,\n2]",
        " {a: 1,\nb: 2}", "\n- 1\n- b: 2", "\n  a: 1\n\n  b: 2", " |\n  text\n\n  # more", " # c\n  a: it's",
        "\n  a: [1, # one\n  2]", " plain\n  goes on", " !!str y",
    ]
)  # fmt: skip
BETWEEN = st.sampled_from(["", "", "\n", "\n\n", "# c, d\n", "\n# don't [\n", "  # in\n\n", " \n"])


@settings(max_examples=150, deadline=None)
@given(
    entries=st.lists(st.tuples(KEYS, VALUES, BETWEEN), min_size=1, max_size=6, unique_by=lambda entry: entry[0]),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_random_documents_split_as_the_parser_splits_them(entries: list[tuple[str, str, str]], newline: str) -> None:
    text = "".join(f"{key}:{value}\n{between}" for key, value, between in entries).replace("\n", newline)
    root = compose(text)
    assert isinstance(root, MappingNode)
    blocks = split_blocks(text)
    assert [(key.value, key.start_mark.index) for key, _ in root.value] == [
        (block.name, block.start) for block in blocks
    ]
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        stop = after.start if after else len(text)
        assert block.start < block.end <= (after.comment_start if after else stop)
        behind = text[block.end : stop].splitlines()
        assert all(not line.strip() or line.startswith("#") for line in behind)
        assert compose(text[block.start : block.end]) is not None
        assert text.count("\n", 0, block.start) + 1 == block.line
