"""Whole entries put in, taken out, replaced and copied, to the byte."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.schema.errors import StateError
from benchscribe.schema.yaml_text import load, plain
from benchscribe.writers.yaml_blocks import (
    insert_block_after,
    insert_block_before,
    remove_block,
    rename_block,
    render_block,
    replace_block,
    without_comments,
)

TEXT = """\
# the first
one:
  a: 1
  # inside one

# apart

# the second
"two":
  a: 2
three: 3


# the last
four:
  - 4
"""


def test_a_block_is_replaced_between_its_comment_and_what_follows() -> None:
    assert replace_block(TEXT, "two", "two:\n  b: 5\n") == TEXT.replace('"two":\n  a: 2\n', "two:\n  b: 5\n")
    assert replace_block("a: 1\nb: 2", "b", "b: 3\n") == "a: 1\nb: 3"
    assert replace_block("a: 1\r\nb: 2\r\n", "a", "a:\n  x: 1") == "a:\r\n  x: 1\r\nb: 2\r\n"


def test_a_block_goes_one_empty_line_below_its_sibling() -> None:
    assert insert_block_after(TEXT, "one", "new:\n  b: 1\n") == TEXT.replace(
        "  # inside one\n", "  # inside one\n\nnew:\n  b: 1\n"
    )
    assert insert_block_after("a: 1", "a", "b: 2") == "a: 1\n\nb: 2\n"
    assert insert_block_after("a: 1\n\n\n", "a", "b: 2\n") == "a: 1\n\nb: 2\n\n\n"


def test_a_block_goes_above_the_comment_of_the_one_it_precedes() -> None:
    assert insert_block_before(TEXT, "two", "new: 1\n") == TEXT.replace("# the second", "new: 1\n\n# the second")
    assert insert_block_before(TEXT, "one", "new: 1\n") == "new: 1\n\n" + TEXT


def test_a_block_is_removed_with_its_comment_and_one_run_of_blank_lines() -> None:
    assert remove_block(TEXT, "one") == TEXT[TEXT.index("# apart") :]
    assert remove_block(TEXT, "two") == TEXT.replace('# the second\n"two":\n  a: 2\n', "")
    assert remove_block(TEXT, "three") == TEXT.replace("three: 3\n", "")
    assert remove_block(TEXT, "four") == TEXT[: TEXT.index("\n\n# the last")]
    assert remove_block("a: 1\n\nb: 2\n\nc: 3\n", "b") == "a: 1\n\nc: 3\n"
    assert remove_block("a: 1\n\nb: 2\nc: 3\n", "b") == "a: 1\n\nc: 3\n"
    assert remove_block("a: 1\n\nb: 2\n\n", "b") == "a: 1\n\n"
    assert remove_block("a: 1\n", "a") == ""
    assert remove_block("---\na: 1\n\nb: 2\n", "a") == "---\n\nb: 2\n"


def test_an_entry_that_is_not_there_is_named() -> None:
    with pytest.raises(StateError, match="there is no key 'five'"):
        remove_block(TEXT, "five", file="c.yaml")
    with pytest.raises(StateError, match="line 1 and in line 2"):
        remove_block("a: 1\na: 2\n", "a", file="c.yaml")


def test_a_copy_loses_its_comments_but_no_number_sign_inside_a_value() -> None:
    text = (
        "# above\n"
        "key: # behind the key\n"
        "  image: nvcr.io#nvidia/x:1  # pinned\n"
        "\n"
        "  # alone\n"
        "\n"
        "  a: 'x # y'\n"
        '  b: "say # \\" # z" # c\n'
        "  c: [1, # one\n"
        "    2]\n"
        "  d: |\n"
        "    # text\n"
        "    more # text\n"
        "  # at the end\n"
    )
    assert without_comments(text) == (
        "key:\n"
        "  image: nvcr.io#nvidia/x:1\n"
        "\n"
        "  a: 'x # y'\n"
        '  b: "say # \\" # z"\n'
        "  c: [1,\n"
        "    2]\n"
        "  d: |\n"
        "    # text\n"
        "    more # text\n"
    )
    assert without_comments("a: 1 # x\r\n# y\r\nb: 2\r\n") == "a: 1\r\nb: 2\r\n"


def test_an_entry_is_renamed_in_its_own_quotes() -> None:
    assert rename_block("# c\nold: # d\n  old: 1\n", "new") == "# c\nnew: # d\n  old: 1\n"
    assert rename_block('"old": 1\n', "new") == '"new": 1\n'
    assert rename_block("old: 1\n", "on") == "'on': 1\n"
    with pytest.raises(StateError):
        rename_block("# nothing\n", "new")


def test_a_block_is_rendered_with_spellings_and_flagged_styles() -> None:
    body = load(
        "roles: {agg: {gpus: 4}}\n"
        "args:\n  kv:\n  - { connector: x }\n  util: 0.60\n  empty: {}\n"
        "env:\n  A: '1'\n  B: \"b\"\n"
    )
    assert render_block("override_x", body) == (
        "override_x:\n"
        "  roles: { agg: { gpus: 4 } }\n"
        "  args:\n"
        "    kv:\n"
        "      - { connector: x }\n"
        "    util: 0.60\n"
        "    empty: {}\n"
        "  env:\n"
        "    A: '1'\n"
        '    B: "b"\n'
    )
    assert (
        render_block("x", {"a": {"b": [1, "2"]}}, step=4)
        == "x:\n    a:\n        b:\n            - 1\n            - '2'\n"
    )


def test_a_block_is_rendered_in_the_habits_of_a_file() -> None:
    like = 'old:\n    env:\n        FLAG: "1"\n    list:\n    - {a: 1}\n'
    block = render_block("new", {"env": {"FLAG": "0"}, "list": [load("{a: 2}")], "rest": [1]}, like=like)
    assert block == 'new:\n    env:\n        FLAG: "0"\n    list:\n    - {a: 2}\n    rest:\n    - 1\n'


names = st.sampled_from(["one", "two", "three", "four"])


@settings(max_examples=60, deadline=None)
@given(name=names, before=st.booleans(), newline=st.sampled_from(["\n", "\r\n"]), final=st.booleans())
def test_what_was_put_in_can_be_taken_out_again(name: str, before: bool, newline: str, final: bool) -> None:
    text = (TEXT if final else TEXT.rstrip("\n")).replace("\n", newline)
    insert = insert_block_before if before else insert_block_after
    result = insert(text, name, "new:\n  x: [1, 2]\n")
    assert plain(load(result)) == plain(load(text)) | {"new": {"x": [1, 2]}}
    order = ["one", "two", "three", "four"]
    order.insert(order.index(name) + (0 if before else 1), "new")
    assert list(load(result)) == order
    kept = [line for line in result.splitlines() if line not in ("new:", "  x: [1, 2]", "")]
    assert kept == [line for line in text.splitlines() if line]
    assert ("\r\n" in result) == (newline == "\r\n") and "\n" not in result.replace(newline, "")
    assert plain(load(remove_block(result, "new"))) == plain(load(text))
