"""Which row continues which (FACTS §3, "Row identity")."""

from __future__ import annotations

from benchscribe.derive.pairing import pair_items, pair_rows
from benchscribe.schema.master import Item, Row


def rows(*data: dict[str, object]) -> list[Row]:
    return [Row(one) for one in data]


def test_rows_pair_by_identity_wherever_they_stand() -> None:
    before = rows({"tp": 4, "conc-list": [1]}, {"tp": 8, "conc-list": [2]})
    after = rows({"tp": 8, "ep": 1, "conc-list": [4]}, {"tp": 2, "conc-list": [1]}, {"tp": 4, "conc-list": [1]})
    assert pair_rows(before, after) == [1, None, 0]


def test_siblings_of_one_identity_pair_by_the_largest_common_set_then_by_order() -> None:
    before = rows({"tp": 4, "conc-list": [1, 2, 4]}, {"tp": 4, "conc-list": [64, 128]})
    after = rows({"tp": 4, "conc-list": [128, 256]}, {"tp": 4, "conc-list": [1, 2]})
    assert pair_rows(before, after) == [1, 0]
    strangers = rows({"tp": 4, "conc-list": [7]}, {"tp": 4, "conc-list": [9]})
    assert pair_rows(before, strangers) == [0, 1]


def test_items_pair_by_lengths_then_by_the_rows_they_share() -> None:
    def item(index: int, isl: int | None, tp: int) -> Item:
        lengths = {"isl": isl, "osl": 1024} if isl else {}
        return Item("s", index, {**lengths, "search-space": [{"tp": tp}]})

    assert pair_items([item(0, 1024, 4), item(1, 8192, 4)], [item(0, 8192, 4)]) == [1]
    assert pair_items([item(0, None, 4), item(1, None, 8)], [item(0, None, 8)]) == [1]
    assert pair_items([item(0, 1024, 4)], [item(0, 2048, 4)]) == [None]
