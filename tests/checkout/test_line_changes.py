"""Which lines are new: the equal ends cost nothing, and taking the new lines away leaves old ones in their order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.checkout.line_changes import added_line_numbers, line_before

LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"  ", b"c\r", b"d"]), max_size=12)


def test_an_appended_line() -> None:
    assert added_line_numbers(b"a\nb\n", b"a\nb\nc\n") == {3}


def test_a_rewritten_line() -> None:
    assert added_line_numbers(b"a\nb\nc\n", b"a\nB\nc\n") == {2}


def test_a_removed_line_adds_none() -> None:
    assert added_line_numbers(b"a\nb\nc\n", b"a\nc\n") == frozenset()


def test_a_line_that_lost_its_end_is_the_same_text() -> None:
    assert added_line_numbers(b"a\nb\n", b"a\nb") == frozenset()


def test_only_a_line_feed_ends_a_line() -> None:
    assert added_line_numbers(b"a\rb\nc\n", b"a\rB\nc\n") == {1}


def test_a_new_file_is_new_in_every_line() -> None:
    assert added_line_numbers(b"", b"a\nb\n") == {1, 2}


@given(LINES, LINES)
@settings(max_examples=200)
def test_what_is_not_new_stood_there_in_the_same_order(old: list[bytes], new: list[bytes]) -> None:
    added = added_line_numbers(b"\n".join(old), b"\n".join(new))
    kept = iter(old or [b""])
    for number, line in enumerate(new, 1):
        if number not in added and line:
            assert any(line == other for other in kept)


def test_of_thousands_of_lines_that_repeat_only_the_new_ones_are_told() -> None:
    block = b'- config-keys:\n    - key-%d\n  description:\n    - "text"\n  pr-link: XXX\n  \n'
    old = b"".join(block % number for number in range(1500))
    new = b"x\n" + old.replace(b"  \n", b"\n") + b"y\n"
    added = added_line_numbers(old, new)
    # The first line, the last, and each entry's line of two blanks that became empty.
    assert {1, new.count(b"\n")} <= added
    assert added - {1, new.count(b"\n")} <= {7 + 6 * number for number in range(1500)}


def test_a_line_is_found_where_it_stood() -> None:
    before = b"a\nb\nc\nd\n"
    # Two lines stand before b now, and c reads otherwise.
    after = b"a\nx\ny\nb\nC\nd\n"
    assert [line_before(before, after, line) for line in (1, 4, 5, 6)] == [1, 2, 3, 4]
    # A new line is looked for where it was put in.
    assert line_before(before, after, 2) == 2
    assert line_before(b"", after, 3) == 1


@given(LINES, LINES, st.integers(1, 14))
@settings(max_examples=200)
def test_every_line_is_found_inside_the_file(old: list[bytes], new: list[bytes], line: int) -> None:
    before = b"\n".join(old)
    assert 1 <= line_before(before, b"\n".join(new), line) <= before.count(b"\n") + 1


@given(LINES, LINES)
@settings(max_examples=300)
def test_cutting_the_ends_off_changes_nothing(old: list[bytes], new: list[bytes]) -> None:
    """Common ends are found by halving; the lines that stay are as many as with the ends looked at line by line."""
    ends = [b"same"] * 3
    plain = added_line_numbers(b"\n".join(old), b"\n".join(new))
    padded = added_line_numbers(b"\n".join([*ends, *old, *ends]), b"\n".join([*ends, *new, *ends]))
    assert len(padded) <= len(new) + len(ends)
    if old == new:
        assert padded == frozenset() == plain
