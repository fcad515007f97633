"""Sizes: decimal and binary units, exact arithmetic (figures from FACTS §4)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from benchscribe.schema.units import number, parse_size


def test_four_ranks_of_256_gib_are_1099_5_decimal_gb() -> None:
    tier = parse_size("256 GiB").times(4)
    assert tier.bytes == 1_099_511_627_776
    assert number(tier.gigabytes, 1) == "1099.5"


def test_binary_and_decimal_units_never_mix() -> None:
    assert parse_size("32 GiB").times(8).gigabytes == Fraction(274_877_906_944, 10**9)
    assert parse_size("200GB").bytes == 200_000_000_000
    assert parse_size("1.5 TB").bytes == 1_500_000_000_000
    assert parse_size("3_095_781 MiB").bytes == 3_095_781 * 1_048_576


@pytest.mark.parametrize("text", ["256", "GiB", "256 gigs", "-1 GB", "0 GiB", "", "1,5 GB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"256 GiB|use one of|more than nothing"):
        parse_size(text)


def test_case_of_the_unit_does_not_matter_but_the_letter_i_does() -> None:
    assert parse_size("1 gib").bytes == 2**30
    assert parse_size("1 gb").bytes == 10**9
