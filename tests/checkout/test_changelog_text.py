"""Reading the changelog's bytes: entries, tails, the branch's own part, links, broken bytes, damage."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.checkout.changelog_damage import in_plain_bytes, recover, straightened
from benchscribe.checkout.changelog_text import (
    Tail,
    ensure_list,
    ensure_writable,
    first_difference,
    link_of,
    link_span,
    own_blocks,
    raw_problems,
    separator_after,
    split,
    tail,
)
from benchscribe.schema.errors import StateError

URL = b"https://github.com/SemiAnalysisAI/InferenceX/pull/"


def entry(name: str, number: object = 1, extra: str = "") -> bytes:
    return (
        f'- config-keys:\n    - {name}\n  description:\n    - "About {name}."\n'
        f"  pr-link: {URL.decode()}{number}\n{extra}"
    ).encode()


A, B, C = entry("a"), entry("b", 2), entry("c", 3)


def test_a_file_is_cut_at_its_entry_lines_whatever_stands_between() -> None:
    found = split(A + b"\n" + B + b"  \n\n" + C)
    assert [(block.line, block.data) for block in found.blocks] == [(1, A), (7, B), (14, C)]
    assert found.rest == b""


def test_comments_inside_stay_with_the_entry_and_those_between_do_not() -> None:
    inside = A.replace(b"    - a\n", b"    # NVIDIA\n    - a\n")
    text = b"# head\n\n" + inside + b"\n# about b\n#second\n" + B + b"\n\n# the end\n"
    found = split(text)
    assert [block.data for block in found.blocks] == [inside, B]
    assert [block.lead for block in found.blocks] == [b"# head", b"# about b\n#second"]
    assert found.rest == b"# the end"


def test_an_entry_line_inside_prose_does_not_start_an_entry() -> None:
    odd = A.replace(b"About a.", b"See '- config-keys:' above").replace(b"    - a\n", b"    - a\n    - config-keys\n")
    assert [block.data for block in split(odd + b"\n" + B).blocks] == [odd, B]


def test_a_missing_final_line_end_and_no_entries_at_all() -> None:
    assert split(A[:-1]).blocks[0].data == A[:-1]
    assert split(b"").blocks == ()
    assert split(b"# only this\n").rest == b"# only this"


gaps = st.sampled_from([b"\n", b"\n\n", b"  \n", b"\n  \n", b" \n\n", b""])


@given(st.lists(st.tuples(st.integers(1, 99), gaps), max_size=8), st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_lines_and_bytes_are_those_of_the_file(entries: list[tuple[int, bytes]], skip: int) -> None:
    parts = [(entry("k", number), gap) for number, gap in entries]
    text = b"".join(data + gap for data, gap in parts)
    start = sum(len(data) + len(gap) for data, gap in parts[:skip])
    found = split(text, start)
    assert [block.data for block in found.blocks] == [data for data, _ in parts[skip:]]
    lines = text.split(b"\n")
    assert all(lines[block.line - 1] == b"- config-keys:" for block in found.blocks)
    assert [lines[block.line + 3].rsplit(b"/", 1)[-1] for block in found.blocks] == [
        str(number).encode() for number, _ in entries[skip:]
    ]


@pytest.mark.parametrize(
    ("data", "kind", "separator"),
    [
        (b"", Tail.EMPTY, b"\n"),
        (A, Tail.PLAIN, b"\n"),
        (A[:-1], Tail.UNFINISHED, b"\n"),
        (A + b"  ", Tail.UNFINISHED, b"\n"),
        (A + b"\n", Tail.EMPTY_LINE, b""),
        (A + b"\n\n\n", Tail.EMPTY_LINE, b""),
        (A + b"  \n", Tail.BLANKS, b"\n"),
        (A + b"\n  \n", Tail.BLANKS, b"\n"),
        (A + b"  \n\n", Tail.EMPTY_LINE, b""),
        (A + b"# end\n", Tail.PLAIN, b"\n"),
        (b"\n", Tail.BLANKS, b"\n"),
        (b"\n\n", Tail.EMPTY_LINE, b""),
    ],
)
def test_every_kind_of_tail(data: bytes, kind: Tail, separator: bytes) -> None:
    assert tail(data) is kind
    assert separator_after(data) == separator


def test_the_first_line_that_differs() -> None:
    assert first_difference(b"a\nb\nc\n", b"a\nb\nd\n") == 3
    assert first_difference(b"a\nb\n", b"a\nb\nc\n") == 3
    assert first_difference(b"x", b"y") == 1
    assert first_difference(b"a\nbc", b"a\nb") == 2


def test_own_entries_are_what_stands_behind_the_base() -> None:
    base = A + b"\n"
    own = own_blocks(base, base + B + b"\n" + C)
    assert [(block.line, block.data) for block in own] == [(7, B), (13, C)]
    assert own_blocks(base, base) == ()
    assert own_blocks(base, base + b"\n  \n") == ()
    assert [block.line for block in own_blocks(A[:-1], A + b"\n" + B)] == [7]


@pytest.mark.parametrize(
    ("base", "worktree", "line"),
    [
        (A + B, A + C + B, 7),  # inserted in mid-file, or history rewritten: `- b` stands where c is
        (A + b"  \n" + B, A + b"\n" + B, 6),
        (A + b"\n" + B, A, 6),
        (A, b"", 1),
        (A, A + b"  append-only: true\n", 6),
        (A, A + b'\n    - "more"\n' + B, 7),
        (A[:-1], A[:-1] + b"23\n\n" + B, 5),
    ],
)
def test_a_file_that_does_not_start_with_the_base_names_reseat_and_the_line(
    base: bytes, worktree: bytes, line: int
) -> None:
    with pytest.raises(StateError) as caught:
        own_blocks(base, worktree, "inferencex-e2e/perf-changelog.yaml")
    assert caught.value.exit_code == 3
    assert "reseat" in caught.value.hint
    assert str(caught.value.where) == f"inferencex-e2e/perf-changelog.yaml:{line}"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (b"  pr-link: https://x/pull/1\n", b"https://x/pull/1"),
        (b"  pr-link: https://x/pull/1  \n", b"https://x/pull/1"),
        (b"  pr-link: https://x/pull/1 # soon\n", b"https://x/pull/1"),
        (b"  pr-link: https://x/pull/1#issue\n", b"https://x/pull/1#issue"),
        (b"  pr-link: https://x/pull/1\r\n", b"https://x/pull/1"),
        (b"  pr-link: https://x/pull/1", b"https://x/pull/1"),
        (b"  pr-link: \n    https://x/pull/1\n", b"https://x/pull/1"),
        (b"  pr-link:\n      'https://x/pull/1' \n", b"https://x/pull/1"),
        (b"  pr-link: >-\n    https://x/pull/1\n", b"https://x/pull/1"),
        (b'  pr-link: "https://x/pull/1" # yes\n', b"https://x/pull/1"),
        (b"  pr-link: 'XXX'\n", b"XXX"),
        (b"  pr-link : XXX\n", b"XXX"),
        (b'  pr-link: ""\n', b""),
        (b"  pr-link:\n", b""),
        (b"  pr-link:\n  append-only: true\n", b""),
        (b"  pr-link: # none yet\n", b""),
    ],
)
def test_the_link_is_found_in_every_style(field: bytes, value: bytes) -> None:
    block = A[: A.index(b"  pr-link")] + field
    span = link_span(block)
    assert span is not None
    assert block[slice(*span)] == value
    assert link_of(block) == value.decode()


def test_only_the_field_is_the_link() -> None:
    prose = A.replace(b"    - a\n", b"    - a\n    - pr-link: no\n").replace(b"About", b"pr-link: about")
    assert link_of(prose) == (URL + b"1").decode()
    assert link_span(b"- config-keys:\n    - a\n    - pr-link: b\n") is None
    assert link_of(b"- pr-link: XXX\n  config-keys: [a]\n") == "XXX"
    assert link_of(b"-   config-keys:\n      - a\n    pr-link: XXX\n") == "XXX"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (A, []),
        (b"", []),
        (A + b"\r\n" + B + b"\r\n", [("cr", 6, 2)]),
        (A.replace(b"About", b"Ab\tout"), [("tab", 4, 1)]),
        (A + b"\0\n", [("nul", 6, 1)]),
        (b"\xef\xbb\xbf" + A, [("bom", 1, 1)]),
        (A + b"\xef\xbb\xbf" + B, [("bom", 6, 1)]),
        (A.replace(b"About", b"\xe9"), [("utf-8", 4, 1)]),
        (A[:-1], [("final-newline", 5, 1)]),
        (A + b"<<<<<<< HEAD\n" + B + b"=======\n" + C + b">>>>>>> main\n", [("conflict", 6, 3)]),
        (A + b"||||||| base\n", [("conflict", 6, 1)]),
        (A + b"=======\r\n\t", [("cr", 6, 1), ("conflict", 6, 1), ("tab", 7, 1), ("final-newline", 7, 1)]),
        (A.replace(b"About", b"======= about"), []),
    ],
)
def test_broken_bytes_are_found_with_their_lines(data: bytes, expected: list[tuple[str, int, int]]) -> None:
    assert [(problem.kind, problem.line, problem.count) for problem in raw_problems(data)] == expected


def test_the_lines_of_a_part_are_those_of_the_file() -> None:
    assert [problem.line for problem in raw_problems(B.replace(b"About", b"\t"), first_line=7)] == [10]


def test_a_writing_command_refuses_broken_bytes_but_not_a_missing_line_end() -> None:
    ensure_writable(A[:-1])
    with pytest.raises(StateError, match=r"perf-changelog\.yaml:4: this line has a tab"):
        ensure_writable(A.replace(b"About", b"\t"))
    with pytest.raises(StateError, match=r"carriage return .*and 4 more such places"):
        ensure_writable(A.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    "data",
    [b"", A, A[:-1], b"---\n" + A, b"# head\n" + A + b"# end\n", b"\n\n", b"---\n", b"\xef\xbb\xbf" + A],
)
def test_a_list_can_be_appended_to(data: bytes) -> None:
    ensure_list(data)


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"[]\n", 1), (b"entries:\n", 1), (A + b"...\n", 6), (A + b"\n---\n", 7), (A + b"done\n", 6)],
)
def test_anything_else_cannot(data: bytes, line: int) -> None:
    with pytest.raises(StateError, match=f"perf-changelog.yaml:{line}: the changelog does not end in a list"):
        ensure_list(data)


# --- damage


def found(data: bytes) -> list[bytes]:
    return [block.data for block in recover(data).blocks]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"\n", b"\r"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.decode().encode("utf-16"),
    ],
)
def test_other_systems_line_ends_and_encodings_are_read(damage) -> None:  # type: ignore[no-untyped-def]
    text = A + b"\n" + B
    assert in_plain_bytes(damage(text)) == text
    assert found(damage(text)) == [A, B]


CONFLICT = (
    A
    + b"\n- config-keys:\n"
    + b"<<<<<<< HEAD\n"
    + B.split(b"\n", 1)[1]
    + b"||||||| base\n"
    + b"=======\n"
    + C.split(b"\n", 1)[1]
    + b">>>>>>> origin/main\n"
)


def test_both_sides_of_a_conflict_are_read_even_where_git_split_an_entry() -> None:
    assert [(block.line, block.data) for block in recover(CONFLICT).blocks] == [(1, A), (7, B), (7, C)]


def test_markers_that_do_not_pair_up_are_dropped() -> None:
    text = A + b"\n" + B + b"=======\n" + C + b">>>>>>> main\n"
    assert [(block.line, block.data) for block in recover(text).blocks] == [(1, A), (7, B), (13, C)]


def test_an_entry_alike_on_both_sides_is_read_once_and_a_double_twice() -> None:
    text = b"<<<<<<< HEAD\n" + A + B + b"=======\n" + B + b"\n" + A + b">>>>>>> x\n"
    assert found(text) == [A, B]
    assert found(A + b"\n" + A) == [A, A]


def test_indented_and_re_sorted_entries_are_found_and_straightened() -> None:
    indented = b"".join(b"  " + line for line in A.splitlines(keepends=True))
    wide = b"-   config-keys:\n      - b\n    description: [x]\n    pr-link: XXX\n"
    resorted = b"- append-only: true\n  config-keys:\n  - c\n  description:\n  - d\n  pr-link: XXX\n"
    assert found(A + b"\n" + indented) == [A, indented]
    assert straightened(A) == A
    assert straightened(indented) == A
    assert straightened(wide) == b"- config-keys:\n    - b\n  description: [x]\n  pr-link: XXX\n"
    assert found(A + resorted + B) == [A, resorted, B]
    assert straightened(resorted) == (
        b'- config-keys:\n    - c\n  description:\n    - "d"\n  pr-link: XXX\n  append-only: true\n'
    )
    assert straightened(b"- append-only: true\n  pr-link: XXX\n") is None


def test_comments_between_entries_are_told_with_their_lines() -> None:
    remarks = recover(A + b"# one\n\n" + B + b"# two\n").remarks
    assert [(remark.line, remark.text) for remark in remarks] == [(6, b"# one"), (13, b"# two")]


def test_text_without_entries_is_not_taken_for_an_empty_changelog() -> None:
    assert recover(b"\n").blocks == ()
    assert recover(b"# head\n").blocks == ()
    with pytest.raises(StateError, match="no entry can be found"):
        recover(b"config-keys: a\n")


# --- the real file


def test_the_real_changelog_is_cut_within_milliseconds(shared: Path) -> None:
    data = (shared / "upstream/root/perf-changelog.yaml").read_bytes()
    best = 1.0
    for _ in range(5):
        start = time.perf_counter()
        blocks = split(data).blocks
        best = min(best, time.perf_counter() - start)
    assert len(blocks) == 772
    assert best < 0.05
    assert [
        link for link in (link_of(block.data) for block in blocks) if not re.fullmatch(r"https://.*/pull/\d+", link)
    ] == [
        "https://github.com/SemiAnalysisAI/InferenceX/pull/2305/changes",
        "https://github.com/SemiAnalysisAI/InferenceX/pull/XXX",
    ]
    assert raw_problems(data) == ()
