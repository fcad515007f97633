"""Engine arguments: spellings, nesting, JSON in strings, exact numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from benchscribe.schema.arguments import argument, canonical, exact, leaves, opened, spelled_as, whole
from benchscribe.schema.yaml_text import load


def test_both_spellings_are_one_name_and_the_files_is_kept() -> None:
    arguments = {"max_num_seqs": 4, "kv_cache_dtype": "fp8"}
    assert canonical("max_num_seqs") == canonical("max-num-seqs")
    assert spelled_as("max-num-seqs", arguments) == "max_num_seqs"
    assert spelled_as("block-size", arguments) == "block-size"
    assert argument(arguments, "kv-cache-dtype") == "fp8"
    assert argument(arguments, "block-size") is None


def test_leaves_open_json_inside_strings_and_keep_the_order() -> None:
    data = {"a": 1, "b": '{"c": [2.50, {"d": true}]}', "e": [], "f": "{not json"}
    found = list(leaves(data))
    assert [(path, str(value)) for path, value in found] == [
        (("a",), "1"),
        (("b", "c", 0), "2.50"),
        (("b", "c", 1, "d"), "True"),
        (("f",), "{not json"),
    ]


def test_an_alias_bomb_is_walked_once() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    assert len(list(leaves(load("\n".join(lines))))) == 2


def test_deep_json_is_text() -> None:
    deep = "[" * 200_000
    assert opened(deep) == deep
    assert opened('"quoted"') == '"quoted"'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        ("0.60", Fraction(3, 5)),
        ("'256'", Fraction(256)),
        ("2_063_920", Fraction(2063920)),
        (load("0.171"), Fraction(171, 1000)),
        (load("2_861_022"), Fraction(2861022)),
        ("1e3", Fraction(1000)),
        ("1e999999", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("${SIZE}", None),
        (True, None),
        (None, None),
        ([1], None),
    ],
)
def test_numbers_are_exact_as_spelled(value: object, expected: Fraction | None) -> None:
    assert exact(value) == expected


def test_whole_numbers_only() -> None:
    assert whole("16") == 16
    assert whole("16.0") == 16
    assert whole("16.5") is None
    assert whole("auto") is None
