"""`describe` on the 60 real pull requests: every fact named, and a spec that gives the branch's data again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchscribe.checkout.checkout import Checkout
from benchscribe.plan import make_plan
from benchscribe.plan.branch import read_branch
from benchscribe.plan.specifying import specify
from benchscribe.schema.errors import SpecError
from benchscribe.schema.spec_reader import read_spec
from case_checkout import Case, build, cases, data_of
from upstream_checkout import git

SHARED = Path(os.environ.get("BENCHSCRIBE_SHARED", Path(__file__).resolve().parents[3] / "shared"))
NAMES = sorted(path.stem for path in (SHARED / "cases").glob("*.yaml")) if SHARED.is_dir() else []
DEFAULTS = {"ep": 1, "pp": 1, "dcp-size": 1, "pcp-size": 1, "dp-attn": False, "spec-decoding": "none"}

# New keys of early July 2026 that today's rules (FACTS §3) refuse: disagg without kv-p2p-transfer.
OLDER_THAN_THE_RULE = ("pr1818", "pr2127", "pr2137")


@pytest.fixture(params=NAMES or [pytest.param("", marks=pytest.mark.skip(reason="the shared cases are not here"))])
def case(request: pytest.FixtureRequest, shared: Path) -> Case:
    (found,) = [one for one in cases(shared) if one.name == request.param]
    return found


def items(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for scenario in (entry.get("scenarios") or {}).values():
        yield from scenario or []


def concurrencies(row: dict[str, Any]) -> list[int]:
    if "conc-list" in row:
        return [int(value) for value in row["conc-list"]]
    points, value = [], int(row["conc-start"])
    while value < int(row["conc-end"]):
        points.append(value)
        value *= 2
    return [*points, int(row["conc-end"])]


def arm(item: dict[str, Any], row: dict[str, Any]) -> tuple[Any, ...]:
    """What tells one arm from another, worked out here from FACTS §3."""

    def topology(data: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(
            data.get(name, DEFAULTS.get(name)) for name in ("tp", "ep", "pp", "dcp-size", "pcp-size", "dp-attn")
        )

    blocks = tuple(
        (name, row[name].get("num-worker"), topology(row[name]), row[name].get("hardware"))
        for name in ("prefill", "decode", "worker")
        if name in row
    )
    stated = row.get("kv-offload-backend")
    backend = stated.get("name") if isinstance(stated, dict) else stated
    own = () if blocks else topology(row)
    return item.get("isl"), own, blocks, row.get("kv-offloading", "none"), backend, row.get("spec-decoding", "none")


def points(entry: dict[str, Any] | None) -> dict[tuple[Any, ...], set[int]]:
    found: dict[tuple[Any, ...], set[int]] = {}
    for item in items(entry or {}):
        for row in item["search-space"]:
            found.setdefault(arm(item, row), set()).update(concurrencies(row))
    return found


def test_every_fact_of_the_change_is_named(case: Case, shared: Path, tmp_path: Path) -> None:
    branch = read_branch(Checkout.open(build(shared, case, tmp_path / "checkout")))
    prose = "\n".join(line.en for line in branch.lines())
    chinese = "\n".join(line.zh for line in branch.lines())
    changed = [
        (
            block.key,
            data_of(block.before)[block.key] if block.before else None,
            data_of(block.after)[block.key] if block.after else None,
        )
        for block in case.configs
    ]
    changed = [(key, before, after) for key, before, after in changed if before != after]
    assert [one.key for one in branch.change.keys if one.data_changed] == [
        key for key in (one.key for one in branch.change.keys) if key in {name for name, _, _ in changed}
    ]
    assert {key for key, _, _ in changed} <= {one.key for one in branch.change.keys}
    for key, before, after in changed:
        if len(branch.change.keys) > 1 and (before is None or after is None):
            assert key in prose
        wanted = {str(side["image"]) for side in (before, after) if side}
        if before is None or after is None or before["image"] != after["image"]:
            for image in wanted if after else ():
                assert image in prose and image in chinese
        old, new = points(before), points(after)
        for name in {*old, *new} if after else ():
            for concurrency in old.get(name, set()) ^ new.get(name, set()):
                assert re.search(rf"\bC{concurrency}\b", prose), (key, name, concurrency)
        for was, now in zip(items(before or {}), items(after or {}), strict=False):
            if before and after and was.get("dram-utilization") != now.get("dram-utilization"):
                assert f"{now['dram-utilization']}" in prose
    for recipe in case.recipes:
        if recipe.before and recipe.after and _is_named(case, recipe.file):
            for name, value in differing_leaves(data_of(recipe.before), data_of(recipe.after)):
                assert name in prose, (recipe.file, name, value)


def test_no_line_says_what_the_data_does_not_show(case: Case, shared: Path, tmp_path: Path) -> None:
    """Every figure and name of every line, in both languages, is found again in the data or worked out from it."""
    branch = read_branch(Checkout.open(build(shared, case, tmp_path / "checkout")))
    texts = [text for one in (*case.configs, *case.recipes) for text in (one.before, one.after) if text]
    data = "\n".join([*texts, *(one.key for one in case.configs), *(one.file for one in case.recipes), "FP4 FP8 INT4"])
    known = figures(case) | {str(number) for number in re.findall(r"\d+", data)}
    for line in branch.lines():
        for text in (line.en, line.zh):
            for word in re.findall(r"[A-Za-z0-9_][A-Za-z0-9_./:@+#-]*", text):
                word = word.rstrip(".:")
                if not re.search(r"\d", word) or word in data or word in GOLDEN:
                    continue
                numbers = re.findall(r"\d+", word)
                assert re.fullmatch(FIGURE, word) and set(numbers) <= known, (line.id, word)


# Golden AL (thinking on) of the models in these cases, from the curve files: DeepSeek-V4-Pro and Qwen3.5 MTP,
# MiniMax-M3 EAGLE3.
GOLDEN = ("1.79", "2.27", "2.49", "2.54", "2.55", "2.73", "3.39", "3.97", "2.83", "2.78", "3.11", "3.02")
FIGURE = r"C\d+|(?:T|E|P|DC|PC|DE)P\d+(?:[/+](?:E|P|DC|PC)P\d+)*|\d+P\d+D|\d+k\d+k|\d+(?:\.\d+)?"


def figures(case: Case) -> set[str]:
    """Numbers that follow from the data: points of ranges, lengths in k, budgets by FACTS §4, golden AL."""
    found: set[str] = set()
    for block in case.configs:
        for text in (block.before, block.after):
            entry = data_of(text)[block.key] if text else {}
            for item in items(entry):
                found |= {str(item[name] // 1024) for name in ("isl", "osl") if name in item}
                for row in item["search-space"]:
                    found |= {str(value) for value in concurrencies(row)}
                    if "dram-utilization" in item:
                        found.add(str(budget(entry["runner"], item["dram-utilization"], row)))
    return found


# available-cpu-dram-mib and gpus-per-node of upstream/root's runners, copied out by hand.
NODES = {
    "cluster:b200-dgxc": (3_095_781, 8),
    "cluster:b300-nv": (2_964_436, 8),
    "cluster:gb300-nv": (860_160, 4),
    "cluster:mi355x-amds": (3_095_781, 8),
    "cluster:h200-dgxc": (1_471_356, 8),
}


def budget(runner: str, utilization: float, row: dict[str, Any]) -> int | None:
    if runner not in NODES:
        return None
    mib, per_node = NODES[runner]
    shape = row.get("prefill") or row.get("worker") or row
    gpus = min(shape["tp"] * shape.get("pp", 1) * shape.get("pcp-size", 1), per_node)
    scaled = round(utilization * 1000)
    return min(mib, 2_861_022) * 2**20 * scaled * gpus // (per_node * 1000 * 10**9)


def _is_named(case: Case, file: str) -> bool:
    """Whether rows name the recipe on both sides, so that its points run it before and after."""
    name = file.rpartition("/")[2]
    return any(name in (one.before or "") and name in (one.after or "") for one in case.configs)


def differing_leaves(before: Any, after: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Leaf names whose value changed; names that only label a file, and images the entry tells of, are no news."""
    if isinstance(before, dict) or isinstance(after, dict):
        old, new = before if isinstance(before, dict) else {}, after if isinstance(after, dict) else {}
        for key in {*old, *new}:
            yield from differing_leaves(old.get(key), new.get(key), str(key))
    elif before != after and name not in ("name", "container", "image", "CONC", "path"):
        yield name, after


def test_the_described_spec_gives_the_branchs_data_again(case: Case, shared: Path, tmp_path: Path) -> None:
    directory = build(shared, case, tmp_path / "checkout")
    text, left = specify(read_branch(Checkout.open(directory)))
    branch = {path: path.read_text() for path in directory.rglob("*.yaml") if ".git" not in path.parts}
    git(directory, "checkout", "-q", "-f", "main")
    git(directory, "clean", "-qfd")
    git(directory, "checkout", "-qb", "again")
    if not any(one.before != one.after for one in case.configs) and not case.recipes:
        return
    checkout = Checkout.open(directory)
    reading = read_spec(text, "described.yaml")
    if reading.data.get("changes") == []:
        pytest.skip("nothing that a spec can say changed")
    if case.name in OLDER_THAN_THE_RULE:
        with pytest.raises(SpecError, match="kv-p2p-transfer, at the top or in every row"):
            make_plan(reading, checkout)
        return
    plan = make_plan(reading, checkout)
    for path, wanted in branch.items():
        relative = path.relative_to(directory).as_posix()
        if relative == "perf-changelog.yaml" or relative in left:
            continue
        got = plan.wanted.read(relative)
        assert got is not None and data_of(got.decode()) == data_of(wanted), relative
    gone = {recipe.file for recipe in case.recipes if recipe.after is None} - set(left)
    assert all(plan.wanted.read(path) is None for path in gone)
