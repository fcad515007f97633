"""The sample is what it says: rules of FACTS §2, §3, §4 and §6 written down again, without product code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from benchscribe.demo.sample import prepared_spec

PACKAGE = Path(__file__).resolve().parents[2] / "demo"
PROJECT = PACKAGE / "checkout" / "inferencex-e2e"
CHANGELOG = PROJECT / "perf-changelog.yaml"
CAP_MIB = 2_861_022
CONCURRENCY = {"conc-list", "conc-start", "conc-end"}
AGENTIC = {"kv-offloading", "kv-offload-backend"}
ROW = CONCURRENCY | AGENTIC | {"spec-decoding", "router", "srt-recipe"}
SINGLE_ROW = ROW | {"tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn", "eval-srt-recipe"}
MULTI_ROW = ROW | {"prefill", "decode", "worker", "num-nodes", "kv-p2p-transfer"}
FLAGS = {"append-only", "evals-only", "all-evals", "no-evals", "eval-min-prefill-ep"}


def read(path: Path) -> Any:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    return yaml.load(path.read_text(encoding="utf-8"))


def masters() -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = {}
    for name in ("amd", "nvidia"):
        of_vendor = read(PROJECT / "configs" / f"{name}-master.yaml")
        assert not entries.keys() & of_vendor.keys(), "a key stands in one master only"
        entries |= of_vendor
    return entries


KEYS = masters()
RUNNERS = read(PROJECT / "configs" / "runners.yaml")


@dataclass(frozen=True)
class Row:
    key: str
    entry: Mapping[str, Any]
    scenario: str
    item: Mapping[str, Any]
    row: Mapping[str, Any]

    @property
    def concurrencies(self) -> list[int]:
        if "conc-list" in self.row:
            return list(self.row["conc-list"])
        points, at = [], self.row["conc-start"]
        while at < self.row["conc-end"]:
            points.append(at)
            at *= 2
        return [*points, self.row["conc-end"]]

    @property
    def gpus(self) -> int:
        return self.row["tp"] * self.row.get("pp", 1) * self.row.get("pcp-size", 1)

    @property
    def is_dram(self) -> bool:
        return self.row.get("kv-offloading", "none") == "dram"


def rows() -> Iterator[Row]:
    for key, entry in KEYS.items():
        for scenario, items in entry["scenarios"].items():
            for item in items:
                for row in item["search-space"]:
                    yield Row(key, entry, scenario, item, row)


ROWS = list(rows())
SINGLE = [row for row in ROWS if not row.entry["multinode"]]


# --- the changelog


def test_changelog_has_the_oddities_real_ones_have() -> None:
    text = CHANGELOG.read_text(encoding="utf-8")
    links = r"pr-link:[^\n]*(?:\n    https[^\n]*)?(?:\n  [a-z-]+: [^\n]*)*\n"
    separators = set(re.findall(rf"{links}((?:[ ]*\n)*)(?=- config-keys:)", text))
    assert separators == {"\n", "  \n", "  \n\n", "\n\n", "\n  \n", " \n"}
    assert re.search(r"^    # ", text, re.M), "a comment in a key list"
    assert re.search(r"^  pr-link: ?\n    https", text, re.M), "a link on its own line"
    assert re.search(r"/pull/\d+ +\n", text), "blanks behind a link"
    assert re.search(r"^    - [A-Z]", text, re.M) and re.search(r"^    - '", text, re.M), "older descriptions"


def test_changelog_obeys_the_byte_contract() -> None:
    raw = CHANGELOG.read_bytes()
    entries = read(CHANGELOG)
    assert not {b"\r", b"\t", b"\0"} & {raw[at : at + 1] for at in range(len(raw))}
    assert raw.endswith(b"\n") and not raw.endswith(b"\n\n")
    assert 40 <= len(entries) <= 60
    assert len(re.findall(rb"^- config-keys:", raw, re.M)) == len(entries)
    order = ["config-keys", "scenario-type", "description", "pr-link"]
    for entry in entries:
        fields = [field for field in entry if field in order]
        assert fields == [field for field in order if field in entry] == list(entry)[: len(fields)]
        assert set(entry) - set(order) <= FLAGS
        assert all(isinstance(line, str) for line in entry["description"])
        assert re.fullmatch(r"https://github\.com/SemiAnalysisAI/InferenceX/pull/\d+", entry["pr-link"])


def test_newest_entries_are_canonical_and_name_living_keys() -> None:
    text = CHANGELOG.read_text(encoding="utf-8")
    tail = text[text.index("/pull/9024\n") :]
    assert all(re.fullmatch(r'    - ".*"', line) for line in re.findall(r"^    - .* .*$", tail, re.M))
    for entry in read(CHANGELOG)[24:]:
        assert set(entry["config-keys"]) <= KEYS.keys()
        assert set(entry["scenario-type"]) <= {"fixed-seq-len", "agentic-coding"}


# --- the master configs


def test_size_and_spread() -> None:
    assert len(KEYS) == 36
    assert {entry["framework"].split("-")[-1] for entry in KEYS.values()} >= {"atom", "sglang", "vllm", "trt"}
    assert len({entry["model-prefix"] for entry in KEYS.values()}) >= 6
    text = "".join((PROJECT / "configs" / f"{name}-master.yaml").read_text() for name in ("amd", "nvidia"))
    for wanted in (
        "dram-utilization: 0.80\n",
        "dram-utilization: 0.8\n",
        "      - tp: ",
        "      - { tp: ",
        "       - { tp: ",
    ):
        assert wanted in text
    for wanted in (
        "      # ",
        "    # ",
        "\n# ",
        "CONFIG_FILE=recipes/",
        "CONFIG_FILE=benchmarks/",
        "zip_override_",
    ):
        assert wanted in text


@pytest.mark.parametrize("key", KEYS)
def test_entry_obeys_the_rules(key: str) -> None:
    entry = KEYS[key]
    required = {
        "image",
        "model",
        "model-prefix",
        "runner",
        "precision",
        "framework",
        "multinode",
        "scenarios",
    }
    assert required <= entry.keys() <= required | {"disagg", "router", "kv-p2p-transfer"}
    assert entry["runner"] in RUNNERS["labels"]
    assert entry["scenarios"] and entry["scenarios"].keys() <= {"fixed-seq-len", "agentic-coding"}
    if entry["framework"] == "vllm":
        assert entry["image"].startswith("vllm/")
    if entry["framework"] == "sglang":
        assert entry["image"].startswith("lmsysorg/")
    if "agentic-coding" in entry["scenarios"]:
        assert entry["runner"].startswith("cluster:")
    if entry.get("disagg"):
        assert entry["multinode"] and "kv-p2p-transfer" in entry


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_row_obeys_the_rules(row: Row) -> None:
    fields = row.row
    assert fields.keys() <= (MULTI_ROW if row.entry["multinode"] else SINGLE_ROW)
    assert ("conc-list" in fields) != ("conc-start" in fields and "conc-end" in fields)
    assert row.concurrencies and all(point > 0 for point in row.concurrencies)
    assert fields.get("spec-decoding", "none") in {"mtp", "draft_model", "none"}
    assert not ("router" in fields and "router" in row.entry)
    agentic = row.scenario == "agentic-coding"
    assert agentic or not AGENTIC & fields.keys()
    assert row.is_dram == ("kv-offload-backend" in fields)
    assert not row.is_dram or 0 < row.item["dram-utilization"] <= 1
    if row.entry["multinode"]:
        workers = [fields[role] for role in ("prefill", "decode", "worker") if role in fields]
        assert ("worker" in fields and "num-nodes" in fields) or {"prefill", "decode"} <= fields.keys()
        assert all({"num-worker", "tp", "ep", "dp-attn"} <= worker.keys() for worker in workers)
    else:
        assert fields["tp"] % fields.get("dcp-size", 1) == 0
        assert not agentic or "kv-offloading" in fields


# --- recipes


def merged(base: Any, patch: Any) -> Any:
    if not (isinstance(base, dict) and isinstance(patch, dict)):
        return patch
    result = dict(base)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def at_index(block: Any, index: int) -> Any:
    if isinstance(block, dict):
        return {name: at_index(value, index) for name, value in block.items()}
    return block[index] if isinstance(block, list) else block


def lengths(block: Any) -> set[int]:
    if isinstance(block, dict):
        return set().union(*(lengths(value) for value in block.values()))
    return {len(block)} if isinstance(block, list) else set()


def variants(path: Path) -> dict[str, Any]:
    recipe = read(path)
    found: dict[str, Any] = {}
    for name, block in recipe.items():
        if name.startswith("override_"):
            found[name] = merged(recipe["base"], block)
        elif name.startswith("zip_override_"):
            (length,) = lengths(block)
            for index in range(length):
                found[f"{name}[{index}]"] = merged(recipe["base"], at_index(block, index))
        else:
            assert name == "base"
    return found


ENGINES = {"atom": "atom", "sglang": "sglang", "vllm": "vllm", "trt": "trtllm"}


def facts(recipe: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a variant serves: engine, GPUs, concurrency, offloading, DP attention, EP, DCP, speculation."""
    agg = recipe["roles"]["agg"]
    args = {name.replace("_", "-"): value for name, value in agg["args"].items()}
    engine, gpus = recipe["engine"], agg["gpus"]
    bench = recipe["benchmark"]["env"]
    expert_parallel = args.get("expert-parallel-size") or args.get("moe-expert-parallel-size")
    if expert_parallel is None:
        expert_parallel = gpus if args.get("enable-expert-parallel") else 1
    spread = engine == "vllm" and args.get("data-parallel-size", 1) > 1
    return (
        engine,
        gpus,
        int(bench["CONC"]),
        bench.get("KV_OFFLOADING", "none"),
        bool(args.get("enable-dp-attention") or args.get("enable-attention-dp") or spread),
        expert_parallel,
        args.get("decode-context-parallel-size", 1),
        any(name.startswith("speculative-") or name == "method" for name in args),
    )


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row.key)
def test_each_point_is_served_by_exactly_one_variant(row: Row) -> None:
    name, _, chosen = row.row["srt-recipe"].partition(":")
    served = [facts(recipe) for variant, recipe in variants(PROJECT / name).items() if chosen in ("", variant)]
    for concurrency in row.concurrencies:
        point = (
            ENGINES[row.entry["framework"]],
            row.gpus,
            concurrency,
            row.row.get("kv-offloading", "none"),
            row.row.get("dp-attn", False),
            row.row.get("ep", 1),
            row.row.get("dcp-size", 1),
            row.row.get("spec-decoding", "none") != "none",
        )
        assert served.count(point) == 1, point


def test_no_single_node_variant_is_left_over() -> None:
    wanted = {
        (row.row["srt-recipe"].partition(":")[0], row.gpus, point) for row in SINGLE for point in row.concurrencies
    }
    for path in sorted((PROJECT / "benchmarks" / "single_node").rglob("*.yaml")):
        name = path.relative_to(PROJECT).as_posix()
        for recipe in variants(path).values():
            assert (name, *facts(recipe)[1:3]) in wanted


def test_recipes_carry_no_acceptance_length_of_their_own() -> None:
    for path in PROJECT.rglob("*.yaml"):
        assert not re.search(r"ACC_LEN|acceptance|ACCEPTED", path.read_text()) or "golden_al" in str(path)


def test_images_in_recipes_are_those_of_their_entries() -> None:
    for row in ROWS:
        for reference in references(row):
            recipe = read(PROJECT / reference.partition(":")[0])
            for stated in re.findall(r"'container': '([^']*[/:][^']*)'", repr(recipe)):
                assert stated == row.entry["image"], reference


def references(row: Row) -> Iterator[str]:
    if "srt-recipe" in row.row:
        yield row.row["srt-recipe"]
    for role in ("prefill", "decode", "worker"):
        for setting in row.row.get(role, {}).get("additional-settings", []):
            path = setting.removeprefix("CONFIG_FILE=")
            yield re.sub(r"^recipes/", "benchmarks/multi_node/srt-slurm-recipes/", path)


def test_every_recipe_and_variant_referred_to_is_there_and_the_other_way_round() -> None:
    used = set()
    for row in ROWS:
        found = list(references(row))
        assert found, row.key
        for reference in found:
            name, _, variant = reference.partition(":")
            used.add(PROJECT / name)
            assert not variant or variant in variants(PROJECT / name), reference
    assert used == set((PROJECT / "benchmarks").rglob("*.yaml"))
    assert sum("schema" in read(path).get("base", {}) for path in used) >= 8


def test_fixed_sequence_concurrencies_agree_with_their_recipes() -> None:
    for row in ROWS:
        for reference in references(row):
            name, _, variant = reference.partition(":")
            recipe = variants(PROJECT / name)[variant] if variant else read(PROJECT / name)
            if "concurrencies" in recipe.get("benchmark", {}):
                assert recipe["benchmark"]["concurrencies"] == "x".join(map(str, row.concurrencies))


# --- host memory


def tier_gb(recipe: Mapping[str, Any]) -> float | None:
    """Decimal GB that a single-node variant keeps in host memory, None where nothing states it (FACTS §4)."""
    agg = recipe["roles"]["agg"]
    env, args = agg.get("env", {}), agg["args"]
    if "LMCACHE_MAX_LOCAL_CPU_SIZE" in env:
        return agg["gpus"] * int(env["LMCACHE_MAX_LOCAL_CPU_SIZE"]) * 2**30 / 1e9
    if "LMCACHE_MP_L1_SIZE_GB" in env:
        return int(env["LMCACHE_MP_L1_SIZE_GB"])
    if "hicache-size" in args:
        return agg["gpus"] * args["hicache-size"]
    if "host_cache_size" in args.get("kv_cache_config", {}):
        return agg["gpus"] * args["kv_cache_config"]["host_cache_size"] / 1e9
    connector = json.loads(args.get("kv-transfer-config", "{}")).get("kv_connector_extra_config", {})
    if "global_segment_size" in connector:
        return agg["gpus"] * int(connector["global_segment_size"].removesuffix("GB"))
    return None


def test_budgets_cover_the_tiers() -> None:
    sized = 0
    for row in SINGLE:
        if not row.is_dram:
            continue
        host = RUNNERS["clusters"][row.entry["runner"].removeprefix("cluster:")]
        usable = min(host["available-cpu-dram-mib"], CAP_MIB) * 2**20 / 1e9
        budget = int(usable * row.item["dram-utilization"] * row.gpus / host["gpus-per-node"])
        for recipe in variants(PROJECT / row.row["srt-recipe"]).values():
            tier = tier_gb(recipe)
            if tier is not None and facts(recipe)[3] == "dram":
                sized += 1
                assert tier <= budget, row.key
    assert sized >= 10


# --- the prepared spec


def test_prepared_spec_changes_a_key_of_the_sample() -> None:
    spec = read(prepared_spec())
    (change,) = spec["changes"]
    entry = KEYS[change["config-key"]]
    (item,) = entry["scenarios"]["agentic-coding"]
    wanted = change["scenarios"]["agentic-coding"]
    assert change["set"]["image"] != entry["image"]
    assert wanted["dram-utilization"] == "auto"
    assert [(row["tp"], row["conc-list"]) for row in item["search-space"]] == [(4, [2, 4, 8]), (8, [1, 2])]
    assert [(row["tp"], row.get("dcp-size", 1), row["conc-list"]) for row in wanted["search-space"]] == [
        (4, 1, [1, 2, 4, 8]),
        (4, 4, [16, 32, 48]),
        (8, 1, [1, 2]),
    ]
    assert str(spec["pr"]) not in CHANGELOG.read_text()
