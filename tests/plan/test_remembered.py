"""What is remembered from one plan to the next changes no plan: after many others it is what it is on its own."""

from __future__ import annotations

import functools
import gc
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sample import sample

from benchscribe.checkout.checkout import Checkout
from benchscribe.demo.sample import prepared_spec
from benchscribe.plan import make_plan
from benchscribe.plan.judging import judged
from benchscribe.schema.errors import BenchscribeError
from benchscribe.schema.spec_reader import read_spec

TEXT = prepared_spec().read_text(encoding="utf-8")
# Each turns one thing of the spec into another; several together make specs that share most of what is remembered.
TURNS = (
    ("nightly_202610141730", "nightly_202610151200"),
    ("dram-utilization: auto", "dram-utilization: 0.8"),
    ("conc-list: [16, 32, 48]", "conc-list: [16, 32, 48, 64]"),
    ("conc-list: [1, 2, 4, 8]", "conc-list: [1, 2]"),
    ("draft-tokens: 4", "draft-tokens: 5"),
    ("per-rank: 256 GiB", "per-rank: 128 GiB"),
    ("ATOM_MONO_ENABLE: '0'", "ATOM_MONO_ENABLE: '2'"),
    ("ATOM_MONO_ENABLE: '1'", "OTHER: 'x'"),
    ("file: null", "file: another word"),
    ("pr: 9050", "pr: 1"),
)


def spec_of(turns: set[int]) -> str:
    text = TEXT
    for at in turns:
        text = text.replace(*TURNS[at])
    return text


def answer(text: str, checkout: Checkout) -> Any:
    """Everything that a face shows of a plan."""
    try:
        plan = judged(make_plan(read_spec(text, "spec"), checkout))
    except BenchscribeError as error:
        return str(error)
    values = [(one.name, one.value, one.reason, one.inputs) for one in plan.derived]
    return plan.edits, values, plan.lines, plan.entry, plan.findings


def forget() -> None:
    """Empty every memory of ours."""
    for thing in gc.get_objects():
        if isinstance(thing, functools._lru_cache_wrapper) and str(thing.__module__).startswith("benchscribe"):
            thing.cache_clear()


def test_every_turn_is_one() -> None:
    assert all(old in TEXT for old, _ in TURNS)


@given(st.lists(st.sets(st.sampled_from(range(len(TURNS))), max_size=4), min_size=2, max_size=5))
@settings(max_examples=6, deadline=None)
def test_a_plan_after_others_is_the_plan_alone(tmp_path_factory: Any, runs: list[set[int]]) -> None:
    root: Path = sample(tmp_path_factory.mktemp("remembered") / "checkout")
    checkout = Checkout.open(root)
    after_others = [answer(spec_of(turns), checkout) for turns in runs]
    # A second time round everything is remembered.
    assert [answer(spec_of(turns), checkout) for turns in runs] == after_others
    forget()
    alone = answer(spec_of(runs[-1]), Checkout.open(root))
    assert alone == after_others[-1]
