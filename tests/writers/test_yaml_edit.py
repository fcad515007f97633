"""`rewrite`, each rule of SPEC "Rows, variants, bytes" on bytes worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from benchscribe.schema.errors import StateError
from benchscribe.schema.yaml_text import YamlTextError, load
from benchscribe.writers.yaml_edit import RewriteMismatch, rewrite


def data(text: str) -> Any:
    """Wanted data with spellings and styles, as a spec would bring it."""
    return load(text)


ENTRY = """\
# header of the entry
key:
  image: a/b:1  # pinned
  runner: "cluster:x"
  scenarios:
    agentic-coding:
    # why this much
    - dram-utilization: 0.80
      search-space:
       # the latency arm
       - { tp: 4, ep: 1, conc-list: [1, 2] }
       - { tp: 8, conc-list: [4], spec-decoding: "mtp" }  # wide

       # the throughput arm
       - { tp: 8, dp-attn: true, conc-list: [64] }
"""


def changed(text: str, **lines: str) -> str:
    """`text` with single lines replaced: `L3="..."` sets line 3."""
    rows = text.split("\n")
    for name, line in lines.items():
        rows[int(name[1:]) - 1] = line
    return "\n".join(rows)


def entry() -> tuple[Any, list[Any]]:
    wanted = data(ENTRY)
    return wanted, wanted["key"]["scenarios"]["agentic-coding"][0]["search-space"]


def test_equal_data_is_the_same_text_whatever_its_spelling() -> None:
    assert rewrite("a: 0.80\nb: 'x'\nc: yes\n", {"a": 0.8, "b": "x", "c": True}) == "a: 0.80\nb: 'x'\nc: yes\n"


def test_a_scalar_changes_in_place_and_keeps_the_comment_behind_it() -> None:
    wanted, _ = entry()
    wanted["key"]["image"] = "a/b:2"
    assert rewrite(ENTRY, wanted) == changed(ENTRY, L3="  image: a/b:2  # pinned")


def test_a_number_keeps_the_spelling_it_comes_with() -> None:
    wanted, _ = entry()
    wanted["key"]["scenarios"]["agentic-coding"][0]["dram-utilization"] = data("0.60")
    assert rewrite(ENTRY, wanted) == changed(ENTRY, L8="    - dram-utilization: 0.60")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"mtp"', data("none"), '"none"'),
        ('"mtp"', "none", '"none"'),
        ("mtp", data("'none'"), "none"),
        ("mtp", "true", "'true'"),
        ("mtp", data('"1"'), '"1"'),
        ("'mtp'", 'it\'s "x"', "'it''s \"x\"'"),
        ('"mtp"', 'a\\b "x"', '"a\\\\b \\"x\\""'),
        ("'16'", "32", "'32'"),
        ("'16'", 32, "32"),
        ("16", "1e5", "'1e5'"),
        ("16", "[1,2]", "'[1,2]'"),
        ("16", "a: b", "'a: b'"),
        ("16", "a #b", "'a #b'"),
        ("16", "", "''"),
        ("16", "a\x07b", '"a\\x07b"'),
        ("16", None, "null"),
        ("True", False, "False"),
        ("yes", False, "no"),
        ("0.5", 1e-7, "1.0e-07"),
        ("0.5", 3.0, "3.0"),
        ("[1, 2]", "x", "x"),
        ("~", "x", "x"),
    ],
)
def test_a_replaced_scalar_takes_the_files_quotes_where_that_keeps_its_type(old: str, new: Any, line: str) -> None:
    assert rewrite(f"k: {old} # c\n", {"k": new}) == f"k: {line} # c\n"


def test_a_value_where_none_was() -> None:
    assert rewrite("a:\nb: 1\n", {"a": "x", "b": 1}) == "a: x\nb: 1\n"
    assert rewrite("a: # c\nb: 1\n", {"a": [1], "b": 1}) == "a: # c\n  - 1\nb: 1\n"
    assert rewrite("- \n- 1\n", ["x", 1]) == "- x\n- 1\n"


def test_a_flow_list_changes_only_between_its_items() -> None:
    assert rewrite("a: [1, 4]\n", {"a": [1, 2, 4]}) == "a: [1, 2, 4]\n"
    assert rewrite("a: [ 1,4 ]\n", {"a": [1, 2, 4]}) == "a: [ 1,2,4 ]\n"
    assert rewrite("a: [ 1 ]  # c\n", {"a": [1, 2]}) == "a: [ 1, 2 ]  # c\n"
    assert rewrite("a: [1,  2, 3]\n", {"a": [1, 3]}) == "a: [1,  3]\n"
    assert rewrite("a: {x: 1,  z: 2}\n", {"a": {"x": 1, "z": 3}}) == "a: {x: 1,  z: 3}\n"
    assert rewrite("a: [1, 2]\n", {"a": []}) == "a: []\n"


def test_a_flow_list_on_several_lines_keeps_its_layout_and_comments() -> None:
    text = "a: [\n  1, # one\n  2, # two\n  # above three\n  3 # three\n]\nb: 1\n"
    assert rewrite(text, {"a": [1, 2], "b": 1}) == "a: [\n  1, # one\n  2 # two\n]\nb: 1\n"
    assert rewrite(text, {"a": [1, 3], "b": 1}) == "a: [\n  1, # one\n  # above three\n  3 # three\n]\nb: 1\n"
    wanted = "a: [\n  1, # one\n  2, # two\n  # above three\n  3, # three\n  4\n]\nb: 1\n"
    assert rewrite(text, {"a": [1, 2, 3, 4], "b": 1}) == wanted


def test_a_field_new_to_a_flow_row_stands_where_wanted_has_it() -> None:
    wanted, rows = entry()
    rows[0] = data('{ tp: 4, dcp-size: 4, ep: 1, conc-list: [1, 2], router: { name: x, version: "1" } }')
    line = '       - { tp: 4, dcp-size: 4, ep: 1, conc-list: [1, 2], router: { name: x, version: "1" } }'
    assert rewrite(ENTRY, wanted) == changed(ENTRY, L11=line)


def test_a_new_row_takes_its_neighbours_indentation_and_blanks() -> None:
    wanted, rows = entry()
    rows.insert(1, data('{tp: 2, conc-list: [ 8,16 ], version: "0.5"}'))
    above, below = ENTRY.split("       - { tp: 8, conc-list", 1)
    row = '       - { tp: 2, conc-list: [8, 16], version: "0.5" }\n'
    assert rewrite(ENTRY, wanted) == above + row + "       - { tp: 8, conc-list" + below


def test_a_new_row_does_not_come_between_a_comment_and_its_row() -> None:
    wanted, rows = entry()
    rows.insert(0, {"tp": 1})
    above, below = ENTRY.split("       # the latency arm", 1)
    assert rewrite(ENTRY, wanted) == above + "       - { tp: 1 }\n       # the latency arm" + below
    wanted, rows = entry()
    rows.insert(2, {"tp": 1})
    above, below = ENTRY.split("\n       # the throughput arm", 1)
    assert rewrite(ENTRY, wanted) == above + "       - { tp: 1 }\n\n       # the throughput arm" + below


def test_a_dropped_row_takes_its_own_comment_along() -> None:
    wanted, rows = entry()
    del rows[2]
    assert rewrite(ENTRY, wanted) == ENTRY[: ENTRY.index("\n       # the throughput arm")]


def test_a_comment_over_a_run_of_rows_stays_while_one_of_them_does() -> None:
    wanted, rows = entry()
    del rows[0]
    assert rewrite(ENTRY, wanted) == ENTRY.replace("       - { tp: 4, ep: 1, conc-list: [1, 2] }\n", "")
    del rows[0]
    above, below = ENTRY.split("       # the latency arm", 1)
    assert rewrite(ENTRY, wanted) == above + below[below.index("       # the throughput arm") :]


def test_a_moved_row_keeps_its_text_and_its_comment() -> None:
    text = "rows:\n- {a: 1}\n# about b\n- {b:  1} # trailing\n- {c: 1}\n"
    moved = rewrite(text, {"rows": [{"b": 1}, {"a": 1}, {"c": 1}]})
    assert moved == "rows:\n# about b\n- {b:  1} # trailing\n- {a: 1}\n- {c: 1}\n"


def test_the_callers_pairing_decides_which_row_continues_which() -> None:
    text = "rows:\n- {tp: 4, conc: 1} # four\n- {tp: 8, conc: 1} # eight\n"
    wanted = {"rows": [{"tp": 8, "conc": 2}, {"tp": 4, "conc": 9}]}
    seen = []

    def by_tp(path: Any, old: list[Any], new: list[Any]) -> list[int | None]:
        seen.append(path)
        return [[row["tp"] for row in old].index(row["tp"]) for row in new]

    result = rewrite(text, wanted, pair=by_tp)
    assert result == "rows:\n- {tp: 8, conc: 2} # eight\n- {tp: 4, conc: 9} # four\n"
    assert seen == [("rows",)]
    for wrong in ([0], [0, 0], [0, 5]):
        with pytest.raises(RewriteMismatch, match="pairing"):
            rewrite(text, wanted, pair=lambda path, old, new, wrong=wrong: wrong)


BLOCK_ROWS = """\
rows:
- spec-decoding: "mtp"
  conc-list: [ 1, 2 ]
  prefill:
    num-worker: 1
    additional-settings:
    - "A=1"
    - "B=2"  # second
  # before decode
  decode:
      tp: 8
"""


def test_block_rows_change_in_place() -> None:
    wanted = data(BLOCK_ROWS)
    wanted["rows"][0]["spec-decoding"] = data("none")
    wanted["rows"][0]["prefill"]["additional-settings"] = ["A=1", "C=3", "B=2"]
    wanted["rows"][0]["decode"]["ep"] = 8
    lines = BLOCK_ROWS.replace('"mtp"', '"none"').replace('"A=1"\n', '"A=1"\n    - "C=3"\n')
    assert rewrite(BLOCK_ROWS, wanted) == lines + "      ep: 8\n"


def test_a_new_block_row_is_laid_out_like_its_neighbours() -> None:
    wanted = data(BLOCK_ROWS)
    wanted["rows"].append(
        data("{spec-decoding: mtp, conc-list: [4], prefill: {additional-settings: ['X=1']}, decode: {tp: 4}}")
    )
    assert rewrite(BLOCK_ROWS, wanted) == BLOCK_ROWS + (
        '- spec-decoding: "mtp"\n'
        "  conc-list: [ 4 ]\n"
        "  prefill:\n"
        "    additional-settings:\n"
        '    - "X=1"\n'
        "  decode:\n"
        "    tp: 4\n"
    )


def test_the_first_key_of_an_item_goes_and_the_next_takes_its_place() -> None:
    text = "x:\n# about the item\n- a: 1\n  # about b\n  b: 2\n- c: 1\n"
    assert rewrite(text, {"x": [{"b": 2}, {"c": 1}]}) == "x:\n# about the item\n# about b\n- b: 2\n- c: 1\n"
    assert rewrite("x:\n- a: 1\n  b: 2\n", {"x": [{"k": {"m": 0}, "a": 1, "b": 2}]}) == (
        "x:\n- k:\n    m: 0\n  a: 1\n  b: 2\n"
    )


def test_new_keys_stand_behind_the_key_they_follow() -> None:
    text = "a: 1\n# about c\nc: 3\n"
    assert rewrite(text, {"a": 1, "b": 2, "c": 3, "d": 4}) == "a: 1\nb: 2\n# about c\nc: 3\nd: 4\n"
    assert rewrite(text, {"z": 0, "y": "n", "a": 1, "c": 3}) == "z: 0\n'y': 'n'\n" + text
    assert rewrite(text, {"c": 3, "a": 1}) == text


def test_a_key_goes_with_the_comment_above_it_and_what_stands_apart_stays() -> None:
    text = "a: 1\n\n# apart\n\n# about b\nb:\n  x: 1\n  # inside b\n\n# about c\nc: 3\n"
    assert rewrite(text, {"a": 1, "c": 3}) == "a: 1\n\n# apart\n\n# about c\nc: 3\n"


def test_lists_and_mappings_become_empty_and_other_kinds() -> None:
    text = "a: # why\n  # about x\n  x: 1\nb:\n- 1\nc: 3 # three\n"
    assert rewrite(text, {"a": {}, "b": [], "c": 3}) == "a: {} # why\nb: []\nc: 3 # three\n"
    assert rewrite(text, {"a": "s", "b": {"k": 1}, "c": {"k": [1]}}) == (
        "a: s # why\nb:\n  k: 1\nc: # three\n  k:\n  - 1\n"
    )
    assert rewrite("- 1\n- - 2\n  - 3\n", [{"k": {"l": 1}}, [3]]) == "- k:\n    l: 1\n- - 3\n"


def test_new_collections_are_in_the_style_they_are_flagged_with() -> None:
    text = "base:\n  args:\n    n: 1\n"
    wanted = data(text)
    wanted["base"]["args"]["kv"] = data("- { connector: x, role: z }")
    wanted["base"]["args"]["sizes"] = data("[1, 2]")
    assert rewrite(text, wanted) == text + ("    kv:\n      - { connector: x, role: z }\n    sizes: [1, 2]\n")


def test_an_unflagged_list_of_scalars_follows_the_same_key_elsewhere() -> None:
    text = "one:\n  conc-list: [ 1 ]\ntwo:\n  x: 1\n"
    wanted = {"one": {"conc-list": [1]}, "two": {"x": 1, "conc-list": [2, 3], "other": [4]}}
    assert rewrite(text, wanted) == text + "  conc-list: [ 2, 3 ]\n  other:\n    - 4\n"


def test_a_new_scalar_is_quoted_as_its_key_is_elsewhere() -> None:
    text = 'one:\n  FLAG: "1"\n  MODE: fast\ntwo:\n  x: 1\n'
    wanted = data(text)
    wanted["two"] |= {"FLAG": data("'0'"), "MODE": data("'slow'"), "NEW": data('"n"'), "PORT": "80"}
    assert rewrite(text, wanted) == text + '  FLAG: "0"\n  MODE: slow\n  NEW: "n"\n  PORT: \'80\'\n'


def test_top_level_keys_set_off_by_empty_lines_stay_so() -> None:
    text = "a:\n  x: 1\n\n# about b\nb:\n  x: 2\n"
    wanted = {"a": {"x": 1}, "k": {"x": 3}, "b": {"x": 2}, "z": {"x": 4}}
    assert rewrite(text, wanted) == "a:\n  x: 1\n\nk:\n  x: 3\n\n# about b\nb:\n  x: 2\n\nz:\n  x: 4\n"
    assert rewrite(text, {"b": {"x": 2}}) == "# about b\nb:\n  x: 2\n"
    assert rewrite(text, {"a": {"x": 1}}) == "a:\n  x: 1\n"


def test_block_scalars_and_scalars_on_several_lines() -> None:
    text = 'c: >-\n  some text\n  folded\nd: |\n  l1\n  # not a comment\nq: "two\n  lines"\ne: 1\n'
    same = data(text)
    assert same["d"] == "l1\n# not a comment\n"
    assert rewrite(text, same | {"c": "other text", "d": "l1\nl3\n", "e": 2}) == (
        'c: >-\n  other text\nd: |\n  l1\n  l3\nq: "two\n  lines"\ne: 2\n'
    )
    assert rewrite(text, same | {"e": "a\nb", "q": "one"}) == (
        'c: >-\n  some text\n  folded\nd: |\n  l1\n  # not a comment\nq: "one"\ne: |-\n  a\n  b\n'
    )
    assert rewrite("a: {b: x}\n", {"a": {"b": "l1\nl2"}}) == 'a: {b: "l1\\nl2"}\n'


def test_a_missing_final_newline_stays_missing_unless_the_data_need_it() -> None:
    assert rewrite("a: 1\nb: 2", {"a": 1, "b": 3}) == "a: 1\nb: 3"
    assert rewrite("a: 1", {"a": 1, "b": [2]}) == "a: 1\nb:\n  - 2"
    assert rewrite("a: 1", {"a": "x\ny\n"}) == "a: |\n  x\n  y\n"
    assert rewrite("a: |\n  x", {"a": "x", "b": 1}) == "a: |-\n  x\nb: 1\n"


def test_crlf_files_get_crlf_lines() -> None:
    text = "a: 1\r\nrows:\r\n- {x: 1}\r\n"
    assert rewrite(text, {"a": 2, "rows": [{"x": 1}, {"x": 2}], "z": [1]}) == (
        "a: 2\r\nrows:\r\n- {x: 1}\r\n- {x: 2}\r\nz:\r\n- 1\r\n"
    )


def test_mixed_line_ends_stay_where_they_are() -> None:
    assert rewrite("a: 1\r\nb: 2\nc: 3\r\n", {"a": 1, "b": 4, "c": 5, "d": 6}) == ("a: 1\r\nb: 4\nc: 5\r\nd: 6\n")


def test_documents_without_content_or_with_markers_and_marks() -> None:
    assert rewrite("# only\n", {"a": 1}) == "# only\na: 1\n"
    assert rewrite("", {"a": [1]}) == "a:\n  - 1\n"
    assert rewrite("--- # c\n# d\na: 1\n...\n", {"a": 1, "b": 2}) == "--- # c\n# d\na: 1\nb: 2\n...\n"
    assert rewrite("\ufeffa: 1\n", {"z": 1, "a": 1}) == "\ufeffz: 1\na: 1\n"
    assert rewrite("- 1\n", {"a": 1}) == "a: 1\n"
    assert rewrite("? a\n: 1\n? [x]\n: 2\n", {"a": 3, "['x']": 2}) == "? a\n: 3\n? [x]\n: 2\n"


ANCHORED = """\
pre: &env
  A: "1"
  B: "2"
same: *env
more:
  <<: *env
  B: "3"
"""


def anchored(**changes: Any) -> dict[str, Any]:
    env = {"A": "1", "B": "2"}
    return {"pre": dict(env), "same": dict(env), "more": {"A": "1", "B": "3"}} | changes


def test_an_alias_follows_its_target_when_both_change_alike() -> None:
    new = {"A": "9", "B": "2"}
    wanted = anchored(pre=new, same=new, more={"A": "9", "B": "3"})
    assert rewrite(ANCHORED, wanted) == ANCHORED.replace('A: "1"', 'A: "9"')


def test_an_alias_that_gains_or_changes_keys_becomes_a_merge() -> None:
    wanted = anchored(same={"A": "1", "B": "8", "C": "x"})
    assert rewrite(ANCHORED, wanted) == ANCHORED.replace("same: *env\n", 'same:\n  <<: *env\n  B: "8"\n  C: x\n')
    wanted = anchored(same={"B": "2"})
    assert rewrite(ANCHORED, wanted) == ANCHORED.replace("same: *env\n", 'same:\n  B: "2"\n')


def test_a_merged_key_is_overridden_where_the_mapping_is() -> None:
    wanted = anchored(more={"A": "7", "B": "3"})
    assert rewrite(ANCHORED, wanted) == ANCHORED.replace('  B: "3"', '  A: "7"\n  B: "3"')


@pytest.mark.parametrize(
    ("wanted", "line", "why"),
    [
        (anchored(more={"B": "3"}), 6, "'A' comes from the mapping merged here"),
        (anchored(more={"A": "1"}), 6, "'B' comes from the mapping merged here"),
        ({"same": {"A": "1", "B": "2"}, "more": {"A": "1", "B": "3"}}, 1, "repeated by an alias in line 4"),
        (anchored(pre="x"), 1, "repeated by an alias in line 4"),
    ],
)
def test_what_an_alias_forbids_is_said_with_its_line(wanted: Any, line: int, why: str) -> None:
    with pytest.raises(StateError) as raised:
        rewrite(ANCHORED, wanted, file="recipe.yaml")
    assert why in str(raised.value)
    assert raised.value.where is not None
    assert (raised.value.where.path, raised.value.where.line) == ("recipe.yaml", line)


def test_a_list_behind_an_alias_cannot_change_alone() -> None:
    text = "a: &l [1, 2]\nb: *l\n"
    with pytest.raises(StateError, match="line 1, which changes"):
        rewrite(text, {"a": [1], "b": [1, 2]})
    assert rewrite(text, {"a": [1, 2], "b": "x"}) == "a: &l [1, 2]\nb: x\n"


def test_files_that_cannot_be_edited_are_refused_with_the_line() -> None:
    with pytest.raises(StateError, match="in line 1 and in line 3") as raised:
        rewrite("a: 1\nb: 2\na: 3\n", {"a": 1}, file="f.yaml")
    assert str(raised.value.where) == "f.yaml:3:1"
    with pytest.raises(StateError, match="inside its own target"):
        rewrite("a: &x [*x]\n", {"a": 1})
    with pytest.raises(StateError, match="editors do not show"):
        rewrite("a: 1\u2028b: 2\n", {"a": 1})
    with pytest.raises(YamlTextError) as broken:
        rewrite("a: [1\nb: 2\n", {"a": 1}, file="f.yaml")
    assert broken.value.where is not None and broken.value.where.path == "f.yaml"


def test_a_result_that_is_not_as_wanted_stops_everything() -> None:
    with pytest.raises(RewriteMismatch):
        rewrite("a: 1\n", {"a": {1, 2}})
