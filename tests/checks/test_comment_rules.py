"""Comments: header blocks and provenance (C06), and values they still cite."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from small_checkout import RECIPE, e2e, entry, master, recipe, variant

ROW = f"- {{ tp: 4, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp, srt-recipe: {RECIPE} }}"
C1, C2 = variant("tp4_c1", 4, 1), variant("tp4_c2", 4, 2)
CONFIG, FILE = "inferencex-e2e/configs/amd-master.yaml", f"inferencex-e2e/{RECIPE}"


def branch(tmp_path: Path, *, config: tuple[str, str] | None = None, text: tuple[str, str] | None = None) -> Path:
    configs = config or (master(ROW), master(ROW.replace("[1, 2]", "[2, 1]")))
    texts = text or (recipe(C1, C2), recipe(C1, C2))
    old, new = e2e(configs[0], more={RECIPE: texts[0]}), e2e(configs[1], entry("Retune."), more={RECIPE: texts[1]})
    return make_branch(tmp_path, old, new)


HEADER = "# TP4 at C1 and C2, MTP with 3 draft tokens,\n# matching the standalone recipe (PR 2632).\n"


def test_c06_a_header_above_a_key_and_its_provenance(tmp_path: Path) -> None:
    path = branch(tmp_path, config=(master(ROW), master(ROW, head=HEADER)))
    (header,) = findings(path, "comment-header")
    assert (header.path, header.line) == (CONFIG, 1)
    assert header.message == "a comment block of 2 lines above config key key restates what stands below it"
    assert header.fix is not None
    assert header.fix.arguments["patch"] == {"changes": [{"config-key": "key", "comments": {"key": None}}]}
    (provenance,) = findings(path, "comment-provenance")
    assert (provenance.path, provenance.line, provenance.text) == (CONFIG, 2, "PR 2632")


def test_c06_a_block_above_an_override_that_repeats_it(tmp_path: Path) -> None:
    block = "# TP4 C1: num-speculative-tokens 3,\n# GPU-resident KV.\n"
    path = branch(tmp_path, text=(recipe(C1, C2), recipe(block + C1, C2)))
    (found,) = findings(path, "comment-header")
    assert found.path == FILE
    assert "above override override_tp4_c1 restates" in found.message
    assert found.fix is not None
    assert found.fix.arguments["patch"]["changes"] == [
        {"config-key": "key", "recipe": {"comments": {"override_tp4_c1": None}}}
    ]


def test_old_headers_are_old_debts(tmp_path: Path) -> None:
    wider = ROW.replace("[1, 2]", "[2, 1]")
    path = branch(tmp_path, config=(master(ROW, head=HEADER), master(wider, head=HEADER)))
    assert findings(path, "comment-header") == findings(path, "comment-provenance") == []


def test_short_reasons_above_a_field_or_row_are_welcome(tmp_path: Path) -> None:
    rows = "# C2 runs out of memory beyond 8 requests\n" + ROW
    args = "# 4 hangs at C1\nnum-speculative-tokens: 3"
    text = recipe(variant("tp4_c1", 4, 1, args=args + "   # vllm-project/vllm#1234"), C2)
    path = branch(tmp_path, config=(master(ROW), master(rows)), text=(recipe(C1, C2), text))
    assert findings(path, "comment-header") == findings(path, "comment-provenance") == []


@pytest.mark.parametrize(
    ("comment", "text"),
    [
        ("from PR 2345", "PR 2345"),
        ("see #2345", "#2345"),
        ("copied from the sglang sibling", "copied from"),
        ("matching the standalone recipe", "matching the standalone recipe"),
        ("same as the launcher script", "same as the launcher script"),
        ("https://github.com/SemiAnalysisAI/InferenceX/pull/2345", "SemiAnalysisAI/InferenceX/pull/2345"),
        ("works around vllm-project/vllm#12345", ""),
        ("srt-slurm PR #278 is not released yet", ""),
        ("matching batch sizes keep the graph warm", ""),
        ("read from the node's runners file", ""),
    ],
)
def test_what_is_provenance(tmp_path: Path, comment: str, text: str) -> None:
    path = branch(tmp_path, config=(master(ROW), master(ROW + f"   # {comment}")))
    assert [one.text for one in findings(path, "comment-provenance")] == ([text] if text else [])


def test_a_hash_inside_quotes_is_no_comment(tmp_path: Path) -> None:
    args = 'num-speculative-tokens: 3\nnote: "a #2345 b"'
    path = branch(tmp_path, text=(recipe(C1, C2), recipe(variant("tp4_c1", 4, 1, args=args), C2)))
    assert findings(path, "comment-provenance") == []


def test_a_comment_that_still_cites_the_old_tag_or_utilization(tmp_path: Path) -> None:
    told = "# nightly_202608201032 has the fix\n"
    old = master(ROW + "   # 0.171 leaves room", utilization="0.171", head=told)
    new = old.replace("image: rocm/atom-dev:nightly_202608201032", "image: rocm/atom-dev:nightly_202610181506")
    new = new.replace("dram-utilization: 0.171", "dram-utilization: 0.74")
    found = findings(branch(tmp_path, config=(old, new)), "stale-comment")
    assert [(one.line, one.text) for one in found] == [(1, "nightly_202608201032"), (14, "0.171")]
    assert found[1].message == "the comment still cites dram-utilization 0.171, which is 0.74 now"


def test_a_setting_cited_by_name_or_on_its_line_or_in_words(tmp_path: Path) -> None:
    def text(count: int) -> str:
        args = f"num-speculative-tokens: {count}   # 5 is the best depth"
        return recipe(
            "# The draft is five tokens at every point.\n" + variant("tp4_c1", 4, 1, args=args),
            "# Block 5 of the plan\n" + variant("tp4_c2", 4, 2, args=f"num-speculative-tokens: {count}"),
        )

    found = findings(branch(tmp_path, text=(text(5), text(4))), "stale-comment")
    assert len(found) == 2
    assert {one.text for one in found} == {"5"}


def test_a_value_that_some_point_keeps_or_history_is_not_stale(tmp_path: Path) -> None:
    def text(first: int) -> str:
        return recipe(
            "# draft tokens: 5\n" + variant("tp4_c1", 4, 1, args=f"num-speculative-tokens: {first}"),
            variant("tp4_c2", 4, 2, args="num-speculative-tokens: 5"),
        )

    assert findings(branch(tmp_path / "a", text=(text(5), text(4))), "stale-comment") == []
    old = master(ROW + "   # it was 0.171 before", utilization="0.171")
    assert (
        findings(
            branch(tmp_path / "b", config=(old, old.replace("dram-utilization: 0.171", "dram-utilization: 0.74"))),
            "stale-comment",
        )
        == []
    )
