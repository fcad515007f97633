"""The changelog lines of the shared specs: what the issue names, word for word, and nothing invented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prose_facts import arms_and_points, sentences_differ, settings
from upstream_checkout import upstream

from benchscribe.checkout.checkout import Checkout
from benchscribe.derive.claim_facts import facts_for
from benchscribe.derive.claims import Verdict, judge_line
from benchscribe.plan import Plan, make_plan
from benchscribe.schema.errors import SpecError
from benchscribe.schema.spec_reader import read_spec

SPECS = {
    "glm52-atom-retune": "e2e",
    "dsv4-b300-append-points": "root",
    "qwen35-image-bump": "root",
    "glm52-vllm-new-key": "root",
}


def planned(shared: Path, name: str, directory: Path) -> Plan:
    path = shared / "specs" / f"{name}.yaml"
    return make_plan(
        read_spec(path.read_text(), str(path)), Checkout.open(upstream(shared, SPECS.get(name, "e2e"), directory))
    )


def test_the_lines_of_the_retune(shared: Path, tmp_path: Path) -> None:
    lines = {line.id: line.en for line in planned(shared, "glm52-atom-retune", tmp_path / "checkout").lines}
    assert list(lines) == [
        "image", "router-image", "points:tp4", "arm-added:tp4-dcp4", "utilization", "draft-tokens", "admission",
        "setting:atom-mono-enable", "setting:extra-kv-connectors",
    ]  # fmt: skip
    assert arms_and_points(lines["points:tp4"].removeprefix("Add ")) == [("TP4", {1})]
    assert arms_and_points(lines["arm-added:tp4-dcp4"].removeprefix("Add ")) == [("TP4+DCP4", {16, 24, 32, 40, 48})]
    assert lines["utilization"] == (
        "Raise dram-utilization from 0.171 to 0.74: a budget of 1109 GB per server on TP4+DCP4 for 256 GiB of LMCache "
        "per rank (4 × 256 GiB = 1099.5 GB)."
    )
    assert lines["draft-tokens"] == (
        "Set draft tokens to 3 (golden AL 2.99) at TP4 C1 and C2, and TP4+DCP4 C48 (TP4 C2 was 5); 4 (golden AL 3.33) at "
        "TP4+DCP4 C16, C24, C32 and C40."
    )
    assert lines["admission"].startswith("Set max-num-seqs to 1× the concurrency at TP4 C1 and C2")
    assert "2× on the TP4+DCP4 arm" in lines["admission"]
    assert settings(lines["setting:atom-mono-enable"]) == [
        ("ATOM_MONO_ENABLE", None, "1"),
        ("ATOM_MONO_ENABLE", None, "0"),
    ]
    assert ("PYTHONHASHSEED", None, "0") in settings(lines["setting:extra-kv-connectors"])


def test_the_lines_of_the_append(shared: Path, tmp_path: Path) -> None:
    plan = planned(shared, "dsv4-b300-append-points", tmp_path / "checkout")
    assert [(line.id, line.en) for line in plan.lines] == [
        ("points:tp8", "Add TP8 C2."),
        ("points:tp4-no-kv-offload", "Add TP4 (no KV offload) C10."),
        ("unchanged", "TP4 (SimpleCPU offload), DEP4 and DEP8 are unchanged."),
        ("scope:append-only", "Points are only added; every existing point stays as it was."),
    ]


def test_the_lines_of_the_new_key(shared: Path, tmp_path: Path) -> None:
    lines = {line.id: line.en for line in planned(shared, "glm52-vllm-new-key", tmp_path / "checkout").lines}
    assert lines["search-space"] == "Sweep TP4 with LMCache 0.4.5 DRAM offload at C4, C8 and C16; TP8 at C1, C2 and C4."
    assert lines["utilization"] == "Set dram-utilization to 0.60: a budget of 899 GB per server on TP4."


@pytest.mark.parametrize("name", SPECS)
def test_both_languages_agree_and_our_check_contradicts_nothing(name: str, shared: Path, tmp_path: Path) -> None:
    plan = planned(shared, name, tmp_path / "checkout")
    keys = tuple(change.key for change in plan.change.keys)
    before, after = facts_for(plan.checkout.before, keys), facts_for(plan.wanted.after, keys)
    data = shared / "specs" / f"{name}.yaml"
    for line in plan.lines:
        assert not sentences_differ(line.en, line.zh), line
        for text in (line.en, line.zh):
            judged = judge_line(text, before, after)
            assert not [one for one in judged if one.verdict is Verdict.CONTRADICTED], (data, judged)
        for word in re.findall(r"[a-z0-9./-]+[:@][A-Za-z0-9_.:-]+", line.en):
            sides = (str(side.image) for change in plan.change.keys for side in (change.before, change.after) if side)
            known = (*sides, data.read_text(), *(str(value) for value in routers(plan)))
            assert any(word.rstrip(".") in one for one in known) or word.startswith("cluster:"), word


def routers(plan: Plan) -> list[object]:
    return [
        value
        for change in plan.change.keys
        for point in change.points
        for side in (point.before, point.after)
        for setting, value in (side or {}).items()
        if setting.name == "frontend.container_image"
    ]


def test_the_broken_spec_has_no_lines(shared: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError):
        planned(shared, "broken", tmp_path / "checkout")
