"""The whole prose of eight varied cases, as a person has read and accepted it: snapshots/prose.

A wanted change of wording is renewed with `BENCHSCRIBE_RENEW=1 pytest tests/plan/test_prose_snapshots.py`, and read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from case_checkout import build, cases

from benchscribe.checkout.checkout import Checkout
from benchscribe.plan.branch import read_branch

SNAPSHOTS = Path(__file__).resolve().parents[2] / "snapshots" / "prose"
# An arm replaced and a launcher's table, a stack update in multi-node recipes, a new key on a layered recipe, several
# keys at once, backends and points replaced, offload turned on, a key split off, two new keys.
CASES = ("pr2301", "pr2139", "pr2123", "pr2169", "pr2224", "pr2279", "pr2314", "pr2157")


@pytest.mark.parametrize("name", CASES)
def test_the_prose_of_a_case_reads_as_accepted(name: str, shared: Path, tmp_path: Path) -> None:
    (case,) = [one for one in cases(shared) if one.name == name]
    branch = read_branch(Checkout.open(build(shared, case, tmp_path / "checkout")))
    prose = "\n".join(f"{line.id}\n  {line.en}\n  {line.zh}\n" for line in branch.lines())
    snapshot = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("BENCHSCRIBE_RENEW"):
        snapshot.write_text(prose)
    assert snapshot.is_file(), f"no snapshot of {name}: renew with BENCHSCRIBE_RENEW=1, then read it"
    assert prose == snapshot.read_text()
