"""Simulated traffic (`benchmarks/merge_traffic.py`): twelve pairs on real git, and proof that the verdicts bite."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from append_contract import assert_appended
from git_repository import HISTORY

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks/merge_traffic.py"


@pytest.fixture(scope="module")
def traffic() -> ModuleType:
    spec = importlib.util.spec_from_file_location("merge_traffic", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_twelve_pairs_never_conflict_and_lose_nothing(traffic: ModuleType) -> None:
    counts = traffic.simulate(HISTORY, 12, 7, ("benchscribe",))
    assert {way: dict(found) for way, found in counts["benchscribe"].items()} == {
        way: {"right": 12} for way in traffic.WAYS
    }


def test_the_same_on_the_real_changelog(traffic: ModuleType, shared: Path) -> None:
    history = (shared / "upstream/root/perf-changelog.yaml").read_bytes()
    counts = traffic.simulate(history, 3, 8, ("benchscribe",))
    assert all(found == {"right": 3} for found in counts["benchscribe"].values())


def test_the_pairs_hold_what_they_promise(traffic: ModuleType) -> None:
    pairs = list(traffic.pairs(HISTORY, 14, 1))
    assert len({pair.ancestor for pair in pairs}) == 7  # every kind of tail
    assert {len(pair.branch) for pair in pairs} == {1, 2}
    for pair in pairs:
        assert_appended(pair.ancestor, pair.main)
        assert len(set(pair.entries)) == len(pair.entries)


def test_a_wrong_result_is_called_wrong(traffic: ModuleType) -> None:
    pair = next(iter(traffic.pairs(HISTORY, 1, 1)))
    own = pair.entries[-traffic.suffix_size(pair) :]
    right = pair.main + b"\n" + b"\n".join(own)
    assert traffic.verdict(pair, right) == "right"
    spoiled = {
        "main's bytes are not first": pair.branch[-1] + b"\n" + pair.main[len(pair.ancestor) :],
        "an entry is lost": pair.main,
        "an entry stands twice": right + b"\n" + own[-1],
        "a field is lost": right.replace(own[-1], own[-1].replace(b"  pr-link", b"  link")),
        "history differs": b"\n" + right,
    }
    assert {what: traffic.verdict(pair, result) for what, result in spoiled.items()} == dict.fromkeys(spoiled, "wrong")
    for sloppy in (pair.main + b"".join(own), pair.main + b"\n\n" + b"\n".join(own), right + b"\n"):
        assert traffic.verdict(pair, sloppy) == "separators"
    assert traffic.verdict(pair, right + b"<<<<<<< HEAD\n") == "conflict"
