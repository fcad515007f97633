"""Concurrencies as files state and people type them."""

from __future__ import annotations

import pytest

from benchscribe.schema.points import doubling, parse_concurrencies


def test_a_range_doubles_and_includes_its_end() -> None:
    assert doubling(4, 64) == (4, 8, 16, 32, 64)
    assert doubling(16, 100) == (16, 32, 64, 100)
    assert doubling(8, 8) == (8,)


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("1 2 4 8", (1, 2, 4, 8)),
        ("1,2,4", (1, 2, 4)),
        ("[1, 2]", (1, 2)),
        ("16-48/8", (16, 24, 32, 40, 48)),
        ("4..64", (4, 8, 16, 32, 64)),
        ("1 4..16 16", (1, 4, 8, 16)),
        ("", ()),
    ],
)
def test_everything_people_type_for_points(text: str, points: tuple[int, ...]) -> None:
    assert parse_concurrencies(text) == points


@pytest.mark.parametrize("text", ["a", "1-2", "0", "-4", "8..4", "1-9/0", "1-100000000/1", "²"])
def test_what_is_no_concurrency_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"concurrency|points"):
        parse_concurrencies(text)
