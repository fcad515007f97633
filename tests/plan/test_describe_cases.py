"""`describe` on the 60 real pull requests: every fact named, nothing invented, and a spec that gives the data again."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from case_checkout import Case, build, cases, data_of
from prose_facts import arms_and_points, sentences_differ, settings
from upstream_checkout import git

from benchscribe.checkout.checkout import Checkout
from benchscribe.derive.claim_facts import facts_for
from benchscribe.derive.claims import Verdict, judge_line
from benchscribe.plan import make_plan
from benchscribe.plan.branch import read_branch
from benchscribe.plan.specifying import specify
from benchscribe.schema.errors import SpecError
from benchscribe.schema.results import Line
from benchscribe.schema.spec_reader import read_spec

SHARED = Path(os.environ.get("BENCHSCRIBE_SHARED", Path(__file__).resolve().parents[3] / "shared"))
NAMES = sorted(path.stem for path in (SHARED / "cases").glob("*.yaml")) if SHARED.is_dir() else []
DEFAULTS = {"ep": 1, "pp": 1, "dcp-size": 1, "pcp-size": 1, "dp-attn": False, "spec-decoding": "none"}

# New keys of early July 2026 that today's rules (FACTS §3) refuse: disagg without kv-p2p-transfer.
OLDER_THAN_THE_RULE = ("pr1818", "pr2127", "pr2137")


@dataclass(frozen=True)
class Described:
    """One case as a checkout on its branch, with the lines and the spec that describe it."""

    case: Case
    directory: Path
    lines: tuple[Line, ...]
    spec: str
    left: tuple[str, ...]
    changed_keys: tuple[str, ...]

    @property
    def prose(self) -> str:
        return "\n".join(line.en for line in self.lines)

    def of(self, *kinds: str) -> list[Line]:
        return [line for line in self.lines if re.split("[:@]", line.id)[0] in kinds]


@pytest.fixture(
    scope="module",
    params=NAMES or [pytest.param("", marks=pytest.mark.skip(reason="the shared cases are not here"))],
)
def described(request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Described:
    (case,) = [one for one in cases(shared) if one.name == request.param]
    directory = build(shared, case, tmp_path_factory.mktemp(case.name) / "checkout")
    branch = read_branch(Checkout.open(directory))
    changed = tuple(one.key for one in branch.change.keys if one.data_changed)
    return Described(case, directory, branch.lines(), *specify(branch), changed)


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


def topology(data: dict[str, Any]) -> str:
    """`TP4+DCP4`, `TP8/EP8`, `DEP8`: how people write a replica, from its fields (FACTS §3)."""
    tp, ep, spread = data["tp"], data.get("ep", 1), data.get("dp-attn") is True
    dep = spread and ep == tp > 1
    name = f"DEP{tp}" if dep else f"TP{tp}" + (f"/EP{ep}" if ep > 1 else "")
    for field, word in (("pp", "PP"), ("dcp-size", "DCP"), ("pcp-size", "PCP")):
        name += f"+{word}{data[field]}" if data.get(field, 1) > 1 else ""
    return name + (" with DP attention" if spread and not dep else "")


def arm_name(row: dict[str, Any]) -> str:
    if "worker" in row or row.get("decode", {}).get("num-worker") == 0:
        block = row.get("worker") or row["prefill"]
        return (f"{block['num-worker']}×" if block["num-worker"] > 1 else "") + f"aggregated {topology(block)}"
    if "prefill" not in row:
        return topology(row)
    one, two = row["prefill"], row["decode"]
    head = f"{one['num-worker']}P{two['num-worker']}D"
    if topology(one) == topology(two):
        return f"{head} {topology(one)}"
    return f"{head} (prefill {topology(one)}, decode {topology(two)})"


def backend(row: dict[str, Any]) -> str:
    stated = row.get("kv-offload-backend")
    return str(stated.get("name") if isinstance(stated, dict) else stated)


def points(entry: dict[str, Any] | None) -> Counter[tuple[Any, ...]]:
    """Every point with what its arm is told by: lengths, topology, offload, speculation."""
    return Counter(
        (
            item.get("isl"),
            arm_name(row),
            row.get("kv-offloading", "none"),
            backend(row),
            row.get("spec-decoding", "none"),
            concurrency,
        )
        for item in items(entry or {})
        for row in item["search-space"]
        for concurrency in concurrencies(row)
    )


def changed_entries(case: Case) -> list[tuple[str, dict[str, Any] | None, dict[str, Any] | None]]:
    sides = [
        (
            block.key,
            data_of(block.before)[block.key] if block.before else None,
            data_of(block.after)[block.key] if block.after else None,
        )
        for block in case.configs
    ]
    return [(key, before, after) for key, before, after in sides if before != after]


def test_every_fact_of_the_change_is_named(described: Described) -> None:
    prose, case = described.prose, described.case
    chinese = "\n".join(line.zh for line in described.lines)
    changed = changed_entries(case)
    assert set(described.changed_keys) == {key for key, _, _ in changed}
    for key, before, after in changed:
        if before is None or after is None:
            assert key in prose and key in chinese
        for side in (before, after):
            if after and side and (before is None or before["image"] != after["image"]):
                assert str(side["image"]) in prose and str(side["image"]) in chinese
        for was, now in zip(items(before or {}), items(after or {}), strict=False):
            if was.get("dram-utilization") != now.get("dram-utilization"):
                assert f"{now['dram-utilization']}" in prose
    for recipe in case.recipes:
        if recipe.before and recipe.after and _is_named(case, recipe.file):
            for name, value in differing_leaves(data_of(recipe.before), data_of(recipe.after)):
                assert name in prose, (recipe.file, name, value)
        elif recipe.before and recipe.after and "/srt-slurm-recipes/" not in recipe.file:
            # A launcher's table: by model name; an empty text is no setting.
            old, new = data_of(recipe.before), data_of(recipe.after)
            assert all(model in prose for model in {*old} ^ {*new})
            for model in {*old} & {*new}:
                for name, value in differing_leaves(old[model], new[model]):
                    assert model in prose and (name in prose or not value), (recipe.file, model, name, value)


def test_the_points_of_the_lines_are_the_points_that_changed(described: Described) -> None:
    """Arm by arm: what the lines add and drop, taken apart, is the difference of the two search spaces."""
    added: set[tuple[str, int]] = set()
    dropped: set[tuple[str, int]] = set()
    for _, before, after in changed_entries(described.case):
        if after is not None:
            old, new = points(before), points(after)
            added |= {(point[1], point[-1]) for point in new - old}
            dropped |= {(point[1], point[-1]) for point in old - new}
    told_added, told_dropped = told_points(described)
    assert (told_added, told_dropped) == (added, dropped)


def told_points(described: Described) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    added: set[tuple[str, int]] = set()
    dropped: set[tuple[str, int]] = set()
    kinds = (
        "points",
        "arm-added",
        "arm-dropped",
        "arm-replaced",
        "offload",
        "item-added",
        "item-dropped",
        "search-space",
    )
    for line in described.of(*kinds):
        words = line.en.rstrip(".")
        if "@" in line.id and not words.startswith(("Add", "Drop", "Replace", "Sweep")):
            words = words.partition(": ")[2]
        verb, _, rest = words.partition(" ")
        verb = verb.lower()
        rest = re.sub(r"^(?:the )?\S* ?(?:fixed-seq-len|agentic-coding) search space: |^\d+k\d+k: ", "", rest)
        if line.id.startswith("offload"):
            moved = arms_and_points(rest.partition(" offload on ")[2])
            added |= pairs(moved)
            dropped |= pairs(moved)
        elif line.id.startswith("arm-replaced"):
            old, _, new = rest.partition(" with ") if " offload with " not in rest else rest.partition(" offload with ")
            moved = arms_and_points(new)
            added |= pairs(moved)
            dropped |= pairs([(name, moved[0][1]) for name, _ in arms_and_points(old)])
        elif verb == "replace":
            old, _, new = rest.rpartition(" with ")
            ((name, gone),) = arms_and_points(old)
            dropped |= pairs([(name, gone)])
            added |= {(name, int(value)) for value in re.findall(r"C(\d+)", new)}
        else:
            assert verb in ("add", "drop", "sweep"), line
            (dropped if verb == "drop" else added).update(pairs(arms_and_points(rest)))
    return added, dropped


def pairs(arms: list[tuple[str, set[int]]]) -> set[tuple[str, int]]:
    return {(name, value) for name, values in arms for value in values}


def test_every_setting_of_a_line_is_in_the_recipes(described: Described) -> None:
    """Names and values, old and new, of each setting told are leaves of a recipe (or row settings) of that side."""
    before, after = leaves_of(described.case, "before"), leaves_of(described.case, "after")
    for line in described.of("setting", "router-image"):
        words = line.en.partition(": ")[2] if re.match(r"\S+-\S+(?:(?:, | and )\S+-\S+)*: ", line.en) else line.en
        for name, old, new in settings(words):
            leaf = "container_image" if name == "router image" else name.rpartition(".")[2]
            assert new is None or new in after.get(leaf, ()), (line, name, new)
            assert old is None or old in before.get(leaf, ()), (line, name, old)


def leaves_of(case: Case, side: str) -> dict[str, set[str]]:
    """Every leaf name of the recipes, and of the rows' `additional-settings`, with its values as people write them."""
    found: dict[str, set[str]] = {}

    def collect(data: Any, name: str = "") -> None:
        if isinstance(data, dict):
            for key, value in data.items():
                collect(value, str(key))
        elif isinstance(data, list):
            for value in data:
                collect(value, name)
                if isinstance(value, str) and "=" in value:
                    collect(value.partition("=")[2], value.partition("=")[0])
        elif isinstance(data, str) and data.startswith("{"):
            collect(data_of(data), name)
        found.setdefault(name, set()).add(str(data).lower() if isinstance(data, bool) else str(data))

    for block in (*case.recipes, *case.configs):
        text = getattr(block, side)
        if text:
            collect(data_of(text))
    return found


def test_no_figure_is_invented(described: Described) -> None:
    """Every figure and name of every line, in both languages, is found again in the data or worked out from it."""
    case = described.case
    texts = [text for one in (*case.configs, *case.recipes) for text in (one.before, one.after) if text]
    data = "\n".join([*texts, *(one.key for one in case.configs), *(one.file for one in case.recipes), "FP4 FP8 INT4"])
    skus = {runner.upper() for runner in re.findall(r"runner: (?:cluster:)?([a-z0-9]+)", data)}
    known = figures(case) | {str(number) for number in re.findall(r"\d+", data)} | {str(len(case.recipes))}
    for line in described.lines:
        for text in (line.en, line.zh):
            for word in re.findall(r"[A-Za-z0-9_][A-Za-z0-9_./:@+#-]*", text):
                word = word.rstrip(".:")
                if not re.search(r"\d", word) or word in data or word in GOLDEN or word in skus:
                    continue
                if count := re.fullmatch(r"(\d+)([KM])", word):
                    # A token count as people write it.
                    word = str(int(count[1]) * (1024 if count[2] == "K" else 1024**2))
                numbers = re.findall(r"\d+", word)
                assert re.fullmatch(FIGURE, word) and set(numbers) <= known, (line.id, word)


def test_golden_lengths_belong_to_their_draft_tokens(described: Described) -> None:
    for line in described.of("draft-tokens"):
        for drafts, golden in re.findall(r"(\d+) \(golden AL ([\d.]+(?: or [\d.]+)*)\)", line.en):
            assert golden in {curve.get(int(drafts)) for curve in CURVES}, line.en


def test_both_languages_say_the_same(described: Described) -> None:
    for line in described.lines:
        assert not sentences_differ(line.en, line.zh), (line.en, line.zh)
        # Full-width punctuation between Chinese, and no sentence left in English.
        assert re.search(r"[\u4e00-\u9fff]", line.zh) and line.zh.endswith("。")
        assert not re.search(r"[\u4e00-\u9fff][,;:.]|[,;:.][\u4e00-\u9fff]", line.zh), line.zh
        assert not re.search(r"\b(?:the|at|and|with|on|from|every|point|arm)\b", line.zh.replace("DP attention", "")), (
            line.zh
        )


def test_our_own_check_contradicts_no_line(described: Described) -> None:
    checkout = Checkout.open(described.directory)
    keys = tuple(block.key for block in described.case.configs)
    before, after = facts_for(checkout.before, keys), facts_for(checkout.after, keys)
    for line in described.lines:
        for text in (line.en, line.zh):
            wrong = [one for one in judge_line(text, before, after) if one.verdict is Verdict.CONTRADICTED]
            assert not wrong, (text, wrong)


def test_the_length_is_sane(described: Described) -> None:
    ids = [line.id for line in described.lines]
    assert len(ids) == len(set(ids))
    keys = max(1, len(described.case.configs))
    assert len(ids) <= 11 + 3 * keys
    assert all(len(line.en) < 900 for line in described.lines)


# Golden AL (thinking on) of the models in these cases, from the curve files: DeepSeek-V4-Pro and Qwen3.5 MTP,
# MiniMax-M3 EAGLE3-GQA, by draft tokens.
CURVES = (
    {1: "1.79", 2: "2.27", 3: "2.49"},
    {3: "3.39"},
    {3: "2.78"},
)
GOLDEN = {golden for curve in CURVES for golden in curve.values()}
FIGURE = r"C\d+|(?:T|E|P|DC|PC|DE)P\d+(?:[/+](?:E|P|DC|PC)P\d+)*|\d+P\d+D|\d+k\d+k|\d+(?:\.\d+)?"


def figures(case: Case) -> set[str]:
    """Numbers that follow from the data: points of ranges, lengths in k, budgets by FACTS §4, counts of recipes."""
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


def test_the_described_spec_gives_the_branchs_data_again(described: Described) -> None:
    directory, case, left = described.directory, described.case, described.left
    branch = {path: path.read_text() for path in directory.rglob("*.yaml") if ".git" not in path.parts}
    git(directory, "checkout", "-q", "-f", "main")
    git(directory, "clean", "-qfd")
    git(directory, "checkout", "-qb", "again")
    checkout = Checkout.open(directory)
    reading = read_spec(described.spec, "described.yaml")
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
