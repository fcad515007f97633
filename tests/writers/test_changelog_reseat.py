"""Reseating: what reviewers found in CASEBOOK, and worse, as bytes in and bytes out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from append_contract import assert_appended
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from benchscribe.schema.changelog import pull_request_link
from benchscribe.schema.errors import StateError
from benchscribe.writers.changelog import append, with_link
from benchscribe.writers.changelog_reseat import Reseated, reseat

URL = "https://github.com/SemiAnalysisAI/InferenceX/pull/"


def entry(name: str, number: object = "XXX", flag: str = "") -> bytes:
    flags = f"  {flag}\n" if flag else ""
    return (
        f"- config-keys:\n    - {name}\n  scenario-type:\n    - agentic-coding\n"
        f'  description:\n    - "About {name}."\n  pr-link: {URL}{number}\n{flags}'
    ).encode()


OLD = [entry(name, number) for number, name in enumerate(["one", "two", "three", "four"], 1)]
BASE = OLD[0] + b"\n" + OLD[1] + b"  \n" + OLD[2] + b"\n  \n" + OLD[3]
GAINED = [entry("gained", 2672), entry("gained-too", 2642)]
MAIN = append(BASE, GAINED)
OWN = entry("own", 2698, "append-only: true")
TWIN = entry("twin", 2698, "evals-only: true")


def seat(branch: bytes, main: bytes = MAIN, base: bytes = BASE, link: str | None = None) -> Reseated:
    """Reseat, and hold what must hold every time: the contract, and that a second run changes nothing."""
    seated = reseat(base, branch, main, link=link)
    assert_appended(main, seated.data)
    again = reseat(base, seated.data, main, link=link)
    assert (again.data, again.moved, again.unattributed) == (seated.data, seated.moved, ())
    assert reseat(main, seated.data, main, link=link).data == seated.data
    return seated


def at(place: str, text: bytes = BASE) -> bytes:
    """The text with the own entry at its top, in its middle, or glued to its end."""
    middle = text.index(OLD[2])
    return {
        "top": OWN + b"\n" + text,
        "middle": text[:middle] + OWN + b"\n" + text[middle:],
        "end": text + b"\n" + OWN,
        "glued": text + OWN,
        "far": text + b"\n\n  \n\n" + OWN + b"\n\n",
        "unfinished": text + b"\n" + OWN[:-1],
    }[place]


@pytest.mark.parametrize("place", ["top", "middle", "end", "glued", "far", "unfinished"])
@pytest.mark.parametrize("under", ["base", "main"])
def test_an_entry_in_the_wrong_place_moves_to_the_true_tail(place: str, under: str) -> None:
    """C01 (replayed below entries main had gained), C08 (mid-file), C09 (prepended)."""
    seated = seat(at(place, BASE if under == "base" else MAIN))
    assert seated.data == MAIN + b"\n" + OWN
    assert (seated.moved, seated.unattributed) == ((OWN,), ())
    assert seated.on_main == (() if under == "base" else tuple(GAINED))


def test_a_replayed_diff_that_landed_before_what_main_gained() -> None:
    """C01: the diff's context put the entry behind the merge base's last one."""
    landed = BASE + b"\n" + OWN + b"\n" + GAINED[0] + b"\n" + GAINED[1]
    assert seat(landed).data == MAIN + b"\n" + OWN


@pytest.mark.parametrize("placeholder", ["PLACEHOLDER", "TBD", "xxxx", "XXX"])
def test_a_placeholder_moves_along_and_gets_its_number_when_there_is_one(placeholder: str) -> None:
    """C10, C11, C18."""
    own = OWN.replace(b"2698", placeholder.encode())
    branch = BASE.replace(OLD[3], own + b"\n" + OLD[3])
    assert seat(branch).data == MAIN + b"\n" + own
    assert seat(branch, link=pull_request_link(2698)).data == MAIN + b"\n" + OWN
    assert seat(branch, link=pull_request_link(None)).data == MAIN + b"\n" + with_link(OWN, None)


REWRITES: dict[str, Callable[[bytes], bytes]] = {
    "blank lines removed": lambda text: re.sub(rb"\n[ \n]*\n-", b"\n-", text),
    "blank lines doubled": lambda text: text.replace(b"\n- config-keys", b"\n\n\n- config-keys"),
    "trailing blanks stripped": lambda text: re.sub(rb"(?m)[ ]+$", b"", text),
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "CR": lambda text: text.replace(b"\n", b"\r"),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "two more blanks": lambda text: b"".join(b"  " + line for line in text.splitlines(keepends=True)),
}


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES.keys())
def test_rewritten_white_space_is_put_back(rewrite: Callable[[bytes], bytes]) -> None:
    """C12, and the same from editors and other systems, the own entry included."""
    seated = seat(rewrite(BASE + b"\n" + OWN))
    assert seated.data == MAIN + b"\n" + OWN
    assert seated.unattributed == ()


def test_only_history_was_re_indented() -> None:
    branch = BASE.replace(b"    - ", b"  - ") + b"\n" + OWN
    assert seat(branch).data == MAIN + b"\n" + OWN


def test_an_own_entry_keeps_its_style_byte_for_byte() -> None:
    styled = (
        b"- config-keys:\n  # why\n  - own # here\n  description:\n  - 'it''s mine'  \n\n  pr-link: \n"
        b"    https://github.com/SemiAnalysisAI/InferenceX/pull/2698  \n  colour: red\n"
    )
    assert seat(BASE + styled).data == MAIN + b"\n" + styled
    assert seat(BASE + styled, link=f"{URL}9").data == MAIN + b"\n" + styled.replace(b"2698", b"9")


def test_a_file_that_a_tool_wrote_anew_is_compared_by_what_it_says() -> None:
    text = BASE.replace(b'"About one."', b"\"It's 'about' one: # \\\\ and a line far longer than any tool leaves it\"")
    yaml = YAML()
    yaml.width = 40
    out = io.BytesIO()
    yaml.dump(yaml.load(text + b"\n" + OWN), out)
    assert out.getvalue().count(b"\n") > text.count(b"\n")
    seated = seat(out.getvalue(), main=append(text, GAINED), base=text)
    assert seated.moved == (
        b"- config-keys:\n  - own\n  scenario-type:\n  - agentic-coding\n  description:\n  - About own.\n"
        b"  pr-link: \n    https://github.com/SemiAnalysisAI/InferenceX/pull/2698\n  append-only: true\n",
    )
    assert seated.unattributed == ()


def test_an_own_entry_whose_fields_a_tool_sorted_is_written_in_order() -> None:
    sorted_fields = (
        "- append-only: true\n  config-keys:\n  - own\n"
        f"  description:\n  - About own.\n  pr-link: {URL}2698\n  scenario-type:\n  - agentic-coding\n"
    )
    assert seat(BASE + sorted_fields.encode()).moved == (OWN,)


def test_an_entry_without_keys_is_named_and_left() -> None:
    seated = seat(BASE + b"- description:\n    - lost\n  pr-link: XXX\n")
    assert seated.data == MAIN
    assert [item.line for item in seated.unattributed] == [BASE.count(b"\n") + 1]
    assert "an entry starts with `config-keys`" in str(seated.unattributed[0])


def test_two_own_entries_without_an_empty_line_between() -> None:
    """C20."""
    assert seat(BASE + b"\n" + OWN + TWIN).data == MAIN + b"\n" + OWN + b"\n" + TWIN
    assert seat(TWIN + BASE + OWN).moved == (TWIN, OWN)


def test_a_bad_merge_doubled_entries() -> None:
    seated = seat(BASE + b"\n" + OWN + b"\n" + GAINED[0] + b"\n" + OLD[3] + b"\n" + OWN)
    assert seated.data == MAIN + b"\n" + OWN
    assert seated.unattributed == ()


def test_an_entry_doubled_with_and_without_its_number_stands_once() -> None:
    unset = with_link(OWN, None)
    for branch in (BASE + unset + OWN, BASE + OWN + unset):
        assert seat(branch).data == MAIN + b"\n" + OWN
    assert seat(BASE + OWN + OWN.replace(b"2698", b"2699")).moved == (OWN, OWN.replace(b"2698", b"2699"))


def test_what_main_already_holds_is_not_appended_again() -> None:
    merged = append(MAIN, [OWN])
    seated = seat(BASE + b"\n" + OWN + b"\n" + TWIN, main=append(merged, [entry("later", 2700)]))
    assert seated.on_main == (OWN,)
    assert seated.moved == (TWIN,)
    assert seat(BASE + with_link(OWN, None), main=merged).data == merged
    assert seat(BASE + OWN + b"\n" + OWN, main=merged).data == merged


def test_another_version_of_an_entry_main_holds_is_named_and_main_stands() -> None:
    merged = append(MAIN, [OWN.replace(b"About own.", b"About own, reviewed.")])
    seated = seat(BASE + b"\n" + OWN, main=merged)
    assert seated.data == merged
    assert [item.line for item in seated.unattributed] == [BASE.count(b"\n") + 2]
    what = "main holds another version of this entry; main's bytes stand"
    assert [item.what for item in seated.unattributed] == [f"{URL}2698: {what}"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace(b"About two.", b"About 2."),
        lambda text: text.replace(b"InferenceX/pull/2\n", b"InferenceX/pull/22\n"),
        lambda text: text.replace(b"InferenceX/pull/2\n", b"InferenceX/pull/2\n  append-only: true\n"),
    ],
)
def test_an_edited_old_entry_is_named_and_main_stands(edit: Callable[[bytes], bytes]) -> None:
    seated = seat(edit(BASE) + b"\n" + OWN)
    assert seated.data == MAIN + b"\n" + OWN
    assert [item.line for item in seated.unattributed] == [9]
    assert "a changed version of an old entry" in seated.unattributed[0].what


def test_deleted_old_entries_are_back_and_named() -> None:
    seated = seat(BASE.replace(OLD[1], b"") + b"\n" + OWN)
    assert seated.data == MAIN + b"\n" + OWN
    assert [str(item) for item in seated.unattributed] == [
        f"{URL}2: this old entry is missing on the branch; main's bytes stand"
    ]
    many = seat(OWN)
    assert many.data == MAIN + b"\n" + OWN
    assert [str(item) for item in many.unattributed] == [
        f"4 old entries are missing on the branch, {URL}1 first; main's bytes stand"
    ]
    assert seat(b"").data == MAIN


def test_a_copied_entry_with_its_neighbours_link_is_still_the_branchs_own() -> None:
    own = OWN.replace(b"2698", b"4")
    assert seat(BASE + b"\n" + own).data == MAIN + b"\n" + own


def test_an_old_placeholder_entry_does_not_swallow_a_new_one() -> None:
    base = append(BASE, [entry("rerun")])
    assert seat(append(base, [entry("rerun")]), base=base, main=append(base, GAINED)).moved == (entry("rerun"),)


def test_comments_between_entries_are_named_and_left() -> None:
    seated = seat(BASE + b"\n# mine\n" + OWN)
    assert seated.data == MAIN + b"\n" + OWN
    assert [item.what for item in seated.unattributed] == ["no entry: '# mine' is left out"]
    commented = b"# head\n" + BASE + b"# end\n"
    assert seat(append(commented, [OWN]), base=commented, main=append(commented, GAINED)).unattributed == ()


OURS, THEIRS = OWN.split(b"\n", 1)[1], GAINED[0].split(b"\n", 1)[1]


@pytest.mark.parametrize(
    "leftovers",
    [
        b"\n- config-keys:\n<<<<<<< HEAD\n" + OURS + b"=======\n" + THEIRS + b">>>>>>> origin/main\n",
        b"\n- config-keys:\n<<<<<<< HEAD\n" + THEIRS + b"||||||| 1\n=======\n" + OURS + b">>>>>>> work\n",
        b"\n<<<<<<< HEAD\n" + OWN + b"=======\n" + GAINED[0] + b"\n" + GAINED[1] + b">>>>>>> origin/main\n",
        b"\n" + OWN + b"=======\n" + GAINED[0] + b">>>>>>> origin/main\n",
        b"<<<<<<< HEAD\r\n" + OWN.replace(b"\n", b"\r\n"),
    ],
)
def test_between_conflict_markers_the_own_entry_is_still_found(leftovers: bytes) -> None:
    assert seat(BASE + leftovers).data == MAIN + b"\n" + OWN


def test_conflict_stages_are_taken_as_they_are() -> None:
    """C19: whole sides in, so no field can get lost in between."""
    seated = seat(append(BASE, [OWN, TWIN]), main=append(BASE, GAINED), base=BASE)
    assert seated.data == append(BASE, [*GAINED, OWN, TWIN])


def test_a_changelog_that_is_new_on_both_sides() -> None:
    assert seat(BASE + b"\n" + OWN, base=b"").data == MAIN + b"\n" + OWN


@pytest.mark.parametrize("tail", [b"", b"\n", b"  \n", b"\n  \n", b"\n\n\n", b"# end\n", b"  "])
def test_every_tail_of_main(tail: bytes) -> None:
    seat(BASE + b"\n" + OWN, main=MAIN + tail)
    seat(BASE + b"\n" + OWN, main=MAIN[:-1] + tail)


def test_a_file_without_any_entry_is_not_taken_for_a_branch_without_one() -> None:
    with pytest.raises(StateError, match="no entry can be found"):
        reseat(BASE, b"config-keys:\n  - own\n", MAIN)
    with pytest.raises(StateError, match="does not end in a list"):
        reseat(BASE, BASE + OWN, MAIN + b"oops\n")


pieces = st.lists(st.sampled_from([*OLD, *GAINED, OWN, TWIN, b"\n", b"  \n", b"# note\n"]), max_size=14)


@given(pieces, st.sampled_from([None, f"{URL}2698"]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_shuffle_of_entries_ends_in_main_and_the_own_ones_once(
    shuffled: list[bytes], link: str | None, is_crlf: bool
) -> None:
    branch = b"".join(shuffled)
    seated = reseat(BASE, branch.replace(b"\n", b"\r\n") if is_crlf else branch, MAIN, link=link)
    own = [block for block in dict.fromkeys(shuffled) if block in (OWN, TWIN)]
    assert seated.data == append(MAIN, own)
    assert_appended(MAIN, seated.data)


def test_the_real_changelog_in_a_moment(shared: Path) -> None:
    base = (shared / "upstream/root/perf-changelog.yaml").read_bytes()
    main = append(base, GAINED)
    lines = base.split(b"\n")
    middle = next(i for i in range(4000, len(lines)) if lines[i] == b"- config-keys:")
    mid_file = b"\n".join([*lines[:middle], *OWN.split(b"\n"), *lines[middle:]])
    for branch in (mid_file, OWN + b"\n" + base, re.sub(rb"(?m)[ ]+$", b"", base) + OWN, append(main, [OWN])):
        seated = reseat(base, branch, main)
        assert seated.data == append(main, [OWN])
        assert seated.unattributed == ()
