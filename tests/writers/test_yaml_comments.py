"""Comment blocks above places: read, put, replaced, dropped."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.schema.errors import StateError
from benchscribe.schema.yaml_text import load
from benchscribe.writers.yaml_comments import comment_above, put_comment, put_comments

RECIPE = """\
# What this recipe is for,
# in two lines.

base:
  args:
    # why one:
    #
    #   really
    one: 1 # trailing
    two: |
      # text, not a comment
    three: 3
# first column

# above the variant
override_a:
  rows:
    # about the first
    - dram-utilization: 0.8
      search-space:
       - { tp: 4 }
         # oddly indented
       - { tp: 8 }
"""

ROWS = ("override_a", "rows", 0, "search-space")


@pytest.mark.parametrize(
    ("path", "comment"),
    [
        ((), "What this recipe is for,\nin two lines."),
        (("base",), None),
        (("base", "args", "one"), "why one:\n\n  really"),
        (("base", "args", "two"), None),
        (("base", "args", "three"), None),
        (("override_a",), "above the variant"),
        (("override_a", "rows"), None),
        (("override_a", "rows", 0), "about the first"),
        (("override_a", "rows", 0, "dram-utilization"), "about the first"),
        ((*ROWS, 0), None),
        ((*ROWS, 1), "oddly indented"),
        ((*ROWS, 1, "tp"), "oddly indented"),
    ],
)
def test_a_comment_is_the_block_directly_above(path: tuple[str | int, ...], comment: str | None) -> None:
    assert comment_above(RECIPE, path) == comment


def test_a_comment_is_dropped_with_its_lines_only() -> None:
    assert put_comment(RECIPE, ("override_a",), None) == RECIPE.replace("# above the variant\n", "")
    assert put_comment(RECIPE, (*ROWS, 1), None) == RECIPE.replace("         # oddly indented\n", "")
    assert put_comment(RECIPE, ("base", "args", "three"), None) == RECIPE


def test_the_files_comment_goes_with_the_empty_line_that_set_it_off() -> None:
    assert put_comment(RECIPE, (), None) == RECIPE[RECIPE.index("base:") :]
    assert put_comment("# a\nbase: 1\n", (), None) == "base: 1\n"
    assert put_comment("\n\nbase: 1\n", (), None) == "\n\nbase: 1\n"


def test_a_comment_is_replaced_and_added_at_the_places_indentation() -> None:
    new = put_comment(RECIPE, ("override_a", "rows", 0, "dram-utilization"), "1109 GB, for four ranks.")
    assert new == RECIPE.replace("# about the first", "# 1109 GB, for four ranks.")
    long = "x" * 200
    assert put_comment(RECIPE, (*ROWS, 0), f"a\n\n  {long}") == RECIPE.replace(
        "       - { tp: 4 }", f"       # a\n       #\n       #   {long}\n       - {{ tp: 4 }}"
    )
    assert put_comment("base: 1\n", (), "new") == "# new\nbase: 1\n"


def test_several_comments_at_once_equal_one_after_the_other() -> None:
    comments = {(): None, ("override_a",): "new\nlines", ("base", "args", "one"): None, (*ROWS, 1): "x"}
    text = RECIPE
    for path, comment in comments.items():
        text = put_comment(text, path, comment)
    assert put_comments(RECIPE, comments) == text


def test_two_places_on_one_line_do_not_undo_each_other() -> None:
    text = "# old\nbase: 1\n"
    assert put_comments(text, {(): None, ("base",): "new"}) == "# new\nbase: 1\n"
    assert put_comments(text, {("base",): "new", (): None}) == "# new\nbase: 1\n"


def test_crlf_and_a_byte_order_mark_stay() -> None:
    assert put_comment("\ufeff# a\r\nb: 1\r\n", ("b",), "c\nd") == "\ufeff# c\r\n# d\r\nb: 1\r\n"
    assert put_comment("\ufeffb: 1\r\n", (), "c") == "\ufeff# c\r\nb: 1\r\n"


def test_a_place_that_is_not_there_is_named() -> None:
    with pytest.raises(StateError, match=r"nothing stands at override_a\.rows\.7") as raised:
        put_comment(RECIPE, ("override_a", "rows", 7), "x", file="r.yaml")
    assert str(raised.value.where) == "r.yaml"


PATHS = [("base",), ("base", "args", "two"), ("base", "args", "three"), ("override_a",), ROWS, (*ROWS, 0), (*ROWS, 1)]


@settings(max_examples=60, deadline=None)
@given(
    path=st.sampled_from(PATHS),
    comment=st.none() | st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=40),
)
def test_data_never_change_and_the_comment_reads_back(path: tuple[str | int, ...], comment: str | None) -> None:
    result = put_comment(RECIPE, path, comment)
    assert load(result) == load(RECIPE)
    assert comment_above(result, path) == comment
    assert put_comment(result, path, comment) == result
    assert put_comment(result, path, None) == put_comment(RECIPE, path, None)
