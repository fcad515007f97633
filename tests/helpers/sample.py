"""The demo's checkout, and specs applied to it in this process."""

from __future__ import annotations

from pathlib import Path

from upstream_checkout import changed_lines

from benchscribe.checkout.checkout import Checkout
from benchscribe.demo.sample import create
from benchscribe.plan import Plan, apply_plan, make_plan
from benchscribe.schema.errors import SpecError
from benchscribe.schema.spec_reader import read_spec

PROJECT = "inferencex-e2e"
AMD, NVIDIA = f"{PROJECT}/configs/amd-master.yaml", f"{PROJECT}/configs/nvidia-master.yaml"
CHANGELOG = f"{PROJECT}/perf-changelog.yaml"
RECIPES = f"{PROJECT}/benchmarks/single_node/srt-slurm-recipes"


def sample(directory: Path) -> Path:
    """A copy of the demo's checkout."""
    return create(directory)


def plan(directory: Path, text: str, number: int | None = None) -> Plan:
    """The plan for a spec's text."""
    return make_plan(read_spec(text, "spec.yaml"), Checkout.open(directory), number=number)


def write(directory: Path, text: str, number: int | None = None) -> dict[str, tuple[list[str], list[str]]]:
    """Apply a spec; per file the lines removed and added. A second application must do nothing."""
    made = plan(directory, text, number)
    apply_plan(made)
    assert not plan(directory, text, number).edits, "applying a spec twice is applying it once"
    return {edit.path: changed_lines(edit.before or b"", edit.after or b"") for edit in made.edits}


def mistakes(directory: Path, text: str) -> list[tuple[str, str]]:
    """(field, what) of every mistake the spec is refused for."""
    try:
        plan(directory, text)
    except SpecError as error:
        return [(problem.field, problem.what) for problem in error.problems]
    return []
