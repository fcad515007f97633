"""Appending entries, replacing own ones, changing a link: bytes against the rules of FACTS §2."""

from __future__ import annotations

from pathlib import Path

import pytest
from append_contract import added_entries, assert_appended, assert_one_list
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.schema.changelog import Entry, pull_request_link, render
from benchscribe.schema.errors import StateError, UsageError
from benchscribe.writers.changelog import append, own_entries, replace_link, replace_own, trimmed, with_link

NEW = Entry(("new-key",), ('Says "this": # \\ and 那.',), pull_request_link(4308))
NEW_BYTES = (
    '- config-keys:\n    - new-key\n  description:\n    - "Says \\"this\\": # \\\\ and 那."\n'
    "  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/4308\n"
).encode()
OLD = (
    b"- config-keys:\n    # NVIDIA\n    - old*\n  description:\n  - 'it''s old'\n"
    b"  pr-link: \n    https://github.com/SemiAnalysisAI/InferenceX/pull/1\n"
)


@pytest.mark.parametrize(
    ("tail", "separator"),
    [
        (b"", b"\n"),
        (b"\n", b""),
        (b"\n\n", b""),
        (b"  \n", b"\n"),
        (b"\n  \n", b"\n"),
        (b"  \n\n", b""),
        (b"# end\n", b"\n"),
        (b"\n# end\n\n", b""),
        (b"  ", b"\n"),
    ],
)
def test_each_kind_of_old_tail_gets_its_separator(tail: bytes, separator: bytes) -> None:
    old = OLD + tail
    assert append(old, [NEW]) == old + separator + NEW_BYTES
    assert_appended(old, append(old, [NEW]))
    assert_one_list(append(old, [NEW]))


def test_a_missing_final_line_end_and_an_empty_file_follow_the_rule_to_the_letter() -> None:
    assert append(OLD[:-1], [NEW]) == OLD + NEW_BYTES
    assert append(b"", [NEW]) == b"\n" + NEW_BYTES
    for old in (OLD[:-1], b""):
        assert_appended(old, append(old, [NEW]))
        assert_one_list(append(old, [NEW]))


def test_several_entries_stand_one_empty_line_apart() -> None:
    assert append(OLD, [NEW, b"\n\n" + OLD + b"\n  \n", NEW]) == b"\n".join([OLD, NEW_BYTES, OLD, NEW_BYTES])
    assert append(OLD, []) == OLD


def test_nothing_is_appended_to_what_is_no_list() -> None:
    with pytest.raises(StateError, match=r"perf-changelog\.yaml:1"):
        append(b"[]\n", [NEW])


def test_a_block_keeps_its_trailing_blanks_and_loses_the_lines_around_it() -> None:
    assert trimmed(b" \n\n- config-keys:\n    - a  \n \n\n") == b"- config-keys:\n    - a  \n"
    assert trimmed(b"- config-keys:") == b"- config-keys:\n"


blank_runs = st.lists(st.sampled_from([b"\n", b"  \n", b" \n", b"# note\n", b"#\n"]), max_size=5).map(b"".join)
last_lines = st.sampled_from([b"", b"# end", b"  ", b"# "])
prose = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60)
entries = st.builds(
    Entry,
    config_keys=st.lists(st.from_regex(r"[a-z][a-z0-9.*-]{0,20}", fullmatch=True), min_size=1, max_size=3).map(tuple),
    description=st.lists(prose, min_size=1, max_size=3).map(tuple),
    pr_link=st.one_of(st.none(), st.integers(1, 9999)).map(pull_request_link),
    scenario_type=st.sampled_from([(), ("agentic-coding",), ("fixed-seq-len", "agentic-coding")]),
    flags=st.sampled_from([(), (("append-only", True),), (("evals-only", True), ("eval-min-prefill-ep", 2))]),
)
olds = st.builds(
    lambda head, count, gap, run, last: head + gap.join([OLD] * count) + run + last,
    blank_runs,
    st.integers(0, 3),
    blank_runs,
    blank_runs,
    last_lines,
)


@given(olds, st.lists(entries, max_size=3))
@settings(max_examples=120, deadline=None)
def test_any_tail_and_any_prose_obey_the_contract(old: bytes, added: list[Entry]) -> None:
    new = append(old, added)
    assert_appended(old, new)
    assert_one_list(new)
    assert [entry["description"] for entry in added_entries(old, new)] == [list(entry.description) for entry in added]
    assert [list(entry) for entry in added_entries(old, new)] == [
        ["config-keys", *(["scenario-type"] if entry.scenario_type else []), "description", "pr-link"]
        + [name for name, _ in entry.flags]
        for entry in added
    ]


@given(olds, st.lists(entries, max_size=3))
@settings(max_examples=60, deadline=None)
def test_what_was_appended_is_the_branchs_own(old: bytes, added: list[Entry]) -> None:
    new = append(old, added)
    assert own_entries(old, new) == tuple(render(entry).encode() for entry in added)
    assert replace_own(old, new, added) == new
    assert replace_own(old, new, []) == old
    assert replace_own(old, new, [NEW]) == append(old, [NEW])


def test_an_own_entry_that_differs_is_replaced_and_one_that_says_the_same_keeps_its_style() -> None:
    styled = (
        b"- config-keys:\n  - new-key # mine\n  description:\n  - 'Says \"this\": # \\ and \xe9\x82\xa3.'\n"
        b"  pr-link: 'https://github.com/SemiAnalysisAI/InferenceX/pull/4308'\n"
    )
    other = styled.replace(b"4308", b"4309")
    assert replace_own(OLD, OLD + b"\n" + styled, [NEW]) == OLD + b"\n" + styled
    assert replace_own(OLD, OLD + b"\n" + other, [NEW]) == OLD + b"\n" + NEW_BYTES
    assert replace_own(OLD, OLD + styled + b"\n\n\n", [NEW]) == OLD + b"\n" + styled
    assert replace_own(OLD, OLD + b"\n" + styled + b"\n" + OLD, [NEW]) == OLD + b"\n" + styled
    doubled = styled + b"  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/4308\n"
    assert replace_own(OLD, OLD + b"\n" + doubled, [NEW]) == OLD + b"\n" + NEW_BYTES
    broken = b"- config-keys: [\n"
    assert replace_own(OLD, OLD + b"\n" + broken, [NEW]) == OLD + b"\n" + NEW_BYTES


def test_rewritten_history_stops_the_write() -> None:
    with pytest.raises(StateError, match="history differs") as caught:
        replace_own(OLD + b"  \n" + NEW_BYTES, OLD + b"\n" + NEW_BYTES, [NEW])
    assert "reseat" in str(caught.value)
    assert "perf-changelog.yaml:8" in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"  pr-link: XXX\n", b"  pr-link: {}\n"),
        (b"  pr-link: '{x}'  \n", b"  pr-link: '{}'  \n"),
        (b'  pr-link: "{x}" # soon\n  evals-only: true\n', b'  pr-link: "{}" # soon\n  evals-only: true\n'),
        (b"  pr-link: \n    {x}  \n", b"  pr-link: \n    {}  \n"),
        (b"  pr-link: {x}/changes\r\n", b"  pr-link: {}\r\n"),
        (b"  pr-link:\n  evals-only: true\n", b"  pr-link: {}\n  evals-only: true\n"),
        (b"  pr-link: ''\n", b"  pr-link: '{}'\n"),
        (b"  pr-link: TBD", b"  pr-link: {}"),
        (b"  evals-only: true\n", b"  pr-link: {}\n  evals-only: true\n"),
        (b"", b"  pr-link: {}\n"),
    ],
)
def test_a_link_changes_alone_in_any_style(before: bytes, after: bytes) -> None:
    head = b'- config-keys:\n    - a\n  description:\n    - "pr-link: XXX"\n'
    url = b"https://github.com/SemiAnalysisAI/InferenceX/pull/"
    block = head + before.replace(b"{x}", url + b"XXX")
    assert with_link(block, 4311) == head + after.replace(b"{}", url + b"4311")
    assert with_link(with_link(block, 4311), None) == head + after.replace(b"{}", url + b"XXX")


def test_a_link_cannot_bring_yaml_along() -> None:
    with pytest.raises(UsageError):
        replace_link(NEW_BYTES, "x\n- config-keys:")


def test_appending_to_the_real_changelog(shared: Path) -> None:
    for layout in ("root", "e2e/inferencex-e2e"):
        old = (shared / "upstream" / layout / "perf-changelog.yaml").read_bytes()
        new = append(old, [NEW])
        assert own_entries(old, new) == (NEW_BYTES,)
        assert_appended(old, new)
