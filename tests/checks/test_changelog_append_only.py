"""`append-only: true` promises a curve that only grows; each way to break the promise is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from changelog_branch import ALPHA, BETA, HISTORY, MASTER, entry, root_files

from benchscribe.schema.results import Finding

RULE = "changelog-append-only"
FLAG = "  append-only: true\n"
GROWN = MASTER.replace("conc-list: [1, 2]", "conc-list: [1, 2, 4]")


def judged(tmp_path: Path, master: str, own: str = "") -> list[Finding]:
    own = own or entry("XXX", ALPHA, scenario="agentic-coding", more=FLAG)
    files = {"perf-changelog.yaml": f"{HISTORY}\n{own}", "configs/amd-master.yaml": master}
    return findings(make_branch(tmp_path / "repo", root_files(), files), RULE)


def test_a_curve_that_only_grows_is_right(tmp_path: Path) -> None:
    assert judged(tmp_path, GROWN) == []


def test_a_new_row_on_a_known_curve_is_right(tmp_path: Path) -> None:
    row = "      - { tp: 8, conc-list: [32], kv-offloading: none }\n"
    at = MASTER.index("      - { tp: 4, conc-list: [16]")
    assert judged(tmp_path, MASTER[:at] + row + MASTER[at:]) == []


def test_rows_split_without_changing_a_point_are_right(tmp_path: Path) -> None:
    split = "[1], kv-offloading: none }\n      - { tp: 4, conc-list: [2, 4], kv-offloading: none }"
    assert judged(tmp_path, MASTER.replace("[1, 2], kv-offloading: none }", split)) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("atom:v1\n  model: vendor/Alpha", "atom:v2\n  model: vendor/Alpha", "image of alpha"),
        ("dram-utilization: 0.60", "dram-utilization: 0.74", "0.60 became 0.74, which moves the budget"),
        ("conc-list: [1, 2, 4]", "conc-list: [1, 4]", "TP4 C2 of alpha"),
        ("name: lmcache }", "name: lmcache, version: '2' }", "TP4 C16 of alpha"),
        ("conc-list: [16]", "conc-list: [16]", ""),
        ("tp: 8", "tp: 4", "no other key may change, but beta-fp4-mi355x-atom-agentic changes too"),
    ],
)
def test_names_what_does_not_stay(tmp_path: Path, old: str, new: str, message: str) -> None:
    found = judged(tmp_path, GROWN.replace(old, new))
    assert [message in finding.message for finding in found] == ([True] if message else [])
    # Entry from line 27; key, scenario-type (2), description (2), link, flag.
    assert {finding.line for finding in found} <= {34}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("conc-list: [1, 2, 4]", "conc-list: [1, 4]", "append-only: TP4 C2 of alpha-fp4-mi355x-atom-agentic is gone"),
        (
            "      - { tp: 4, conc-list: [16], kv-offloading: dram, kv-offload-backend: { name: lmcache } }\n",
            "",
            "C16 of alpha-fp4-mi355x-atom-agentic is gone",
        ),
    ],
)
def test_dropped_points_are_to_be_repeated_not_the_flag_dropped(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (found,) = judged(tmp_path, GROWN.replace(old, new))
    assert found.message.endswith(message)
    assert found.hint.startswith("repeat the rows to keep them")
    assert "drop append-only" not in found.hint


def test_points_that_run_otherwise_cannot_be_kept_by_repeating_them(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, GROWN.replace("name: lmcache }", "name: lmcache, version: '2' }"))
    assert "does not stay as it was" in found.message
    assert found.hint == "drop append-only, so that the whole curve is run again"


def test_a_removed_key_breaks_it_too(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, GROWN[: GROWN.index(BETA)].rstrip("\n") + "\n")
    assert f"{BETA} is removed" in found.message


def test_at_least_one_point_is_new(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, MASTER)
    assert "no point is new" in found.message


def test_a_new_curve_is_no_growth(tmp_path: Path) -> None:
    row = "      - { tp: 8, conc-list: [32], kv-offloading: dram, kv-offload-backend: { name: lmcache } }\n"
    master = MASTER.replace("    - search-space:\n", "    - dram-utilization: 0.5\n      search-space:\n" + row)
    found = judged(tmp_path, master, entry("XXX", BETA, more=FLAG))
    assert any("joins no curve" in finding.message for finding in found)


def test_a_key_that_is_new_has_no_curve(tmp_path: Path) -> None:
    new = MASTER + "\n" + MASTER[MASTER.index(BETA) :].replace("beta-fp4", "beta-fp8")
    found = judged(tmp_path, new, entry("XXX", BETA.replace("fp4", "fp8"), more=FLAG))
    assert any("does not exist at the base" in finding.message for finding in found)


def test_a_scenario_that_is_new_has_no_curve(tmp_path: Path) -> None:
    more = (
        "    fixed-seq-len:\n    - isl: 8192\n      osl: 1024\n      search-space:\n      - { tp: 8, conc-list: [4] }\n"
    )
    found = judged(tmp_path, MASTER + more, entry("XXX", BETA, scenario="fixed-seq-len", more=FLAG))
    assert any("has no fixed-seq-len at the base" in finding.message for finding in found)


def test_is_not_mixed_with_other_entries(tmp_path: Path) -> None:
    own = f"{entry('XXX', ALPHA, scenario='agentic-coding', more=FLAG)}\n{entry('XXX', BETA, text='Other.')}"
    found = judged(tmp_path, GROWN.replace("tp: 8", "tp: 4"), own)
    assert any("cannot be mixed" in finding.message for finding in found)
