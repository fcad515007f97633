"""Which old items wanted ones continue when the caller does not say."""

from __future__ import annotations

from typing import Any

import pytest

from benchscribe.schema.yaml_text import load
from benchscribe.writers.yaml_pairing import by_likeness, same


@pytest.mark.parametrize(
    ("old", "wanted", "pairs"),
    [
        ([1, 4], [1, 2, 4], [0, None, 1]),
        ([1, 1, 2], [1, 2, 1], [1, 2, 0]),
        (["a", "b", "c"], ["c", "a", "b"], [2, 0, 1]),
        (["A=1", "B=2"], ["B=3", "C=9"], [1, None]),
        ([{"tp": 4, "conc": [1, 2]}, {"tp": 8, "conc": [4]}], [{"tp": 8, "conc": [4, 8]}], [1]),
        ([{"isl": 1, "rows": [1, 2, 3]}], [{"isl": 8, "rows": [7]}], [0]),
        ([[1]], [{"a": 1}], [None]),
        ([1], [True], [None]),
        ([], [1], [None]),
    ],
)
def test_equal_items_first_then_the_most_alike(old: list[Any], wanted: list[Any], pairs: list[int | None]) -> None:
    assert by_likeness((), old, wanted) == pairs


def test_same_data_are_of_one_kind_and_may_be_not_a_number() -> None:
    assert same(load("a: [0.60, 'x', .nan, 1]"), {"a": (0.6, "x", float("nan"), 1)})
    for one, other in ((1, 1.0), (1, True), (0, False), ("1", 1), (None, ""), ([], {}), ({1: 2}, {1: 3})):
        assert not same(one, other)


def test_a_nest_of_aliases_is_compared_in_no_time() -> None:
    text = "a: &a [x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(20)
    )
    assert same(load(text), load(text))
