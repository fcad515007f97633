"""Random specs on the demo's checkout: the invariants of DESIGN, whatever the spec says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from append_contract import assert_appended
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample import AMD, CHANGELOG, NVIDIA, PROJECT, plan, sample

from benchscribe.plan import Plan, apply_plan
from benchscribe.schema.errors import BenchscribeError

KEYS = (
    "dsr1-fp8-mi325x-sglang", "gptoss-fp4-mi355x-vllm", "gptoss-fp4-mi355x-atom", "qwen3.5-fp4-mi355x-atom",
    "glm5.2-fp4-mi355x-atom-agentic-mtp", "dsv4-fp4-mi355x-atom-agentic-mtp", "gptoss-fp4-b200-vllm",
)  # fmt: skip
TEXTS = st.text(st.sampled_from("ab0.:-_/ '\"#{}[],&*!|>%@`\\é🙂是"), min_size=1, max_size=12).filter(str.strip)
WORDS = st.sampled_from(
    ["yes", "n", "null", "~", "1e3", "0x1f", "012", "1_0", ".5", "12:30", "=", "<<", "- a", "a: b", "a #b"]
)
VALUES = st.one_of(
    TEXTS, WORDS, st.integers(-9, 10**6), st.booleans(), st.floats(0.001, 9, allow_nan=False), st.none(),
    st.lists(st.one_of(st.integers(0, 99), TEXTS), max_size=3),
    st.dictionaries(st.sampled_from(["p", "q.r", "s-t"]), st.one_of(st.integers(), TEXTS), min_size=1, max_size=2),
)  # fmt: skip
COMMENTS = st.one_of(st.none(), TEXTS, st.lists(TEXTS, min_size=2, max_size=3).map("\n".join))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("properties") / "checkout")


@st.composite
def key_changes(draw: st.DrawFn, key: str) -> dict[str, Any]:
    """A change of one key: some fields, concurrencies, comments, engine arguments."""
    change: dict[str, Any] = {"config-key": key}
    if draw(st.booleans()):
        change["set"] = {"model": draw(TEXTS)}
        if draw(st.booleans()):
            change["set"]["image"] = f"rocm/atom-dev:{draw(st.sampled_from(['v1', 'nightly_202611011200']))}"
    if draw(st.booleans()):
        change["comments"] = draw(
            st.dictionaries(st.sampled_from(["key", "image", "model", "rows[0]", "scenarios"]), COMMENTS, max_size=3)
        )
    if draw(st.booleans()):
        names = st.sampled_from(["new-argument", "other_argument", "third"])
        change["recipe"] = {
            "points": [
                {draw(st.sampled_from(["args", "env", "bench-env"])): draw(st.dictionaries(names, VALUES, min_size=1))}
            ]
        }
    return change


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """One to three keys, changed, copied or retired, and notes of the author's."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    changes = []
    for key in keys:
        kind = draw(st.sampled_from(["change", "change", "change", "like", "remove"]))
        if kind == "remove":
            changes.append({"config-key": key, "remove": True})
        elif kind == "like":
            copied = draw(key_changes(f"{key}-copy")) | {"like": key}
            copied.pop("recipe", None)
            changes.append(copied)
        else:
            changes.append(draw(key_changes(key)))
    notes = draw(st.lists(TEXTS, max_size=2))
    return {"benchscribe": 1, "changes": changes, "changelog": {"notes": notes}}


@pytest.fixture(scope="module")
def data(checkout: Path) -> dict[str, dict[str, Any]]:
    return {path: yaml.safe_load((checkout / path).read_text()) for path in (AMD, NVIDIA)}


def wanted_data(data: dict[str, dict[str, Any]], spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the master configs have to read as, worked out without the product."""
    result = copy.deepcopy(data)
    for change in spec["changes"]:
        key = change["config-key"]
        master = next(one for path, one in result.items() if change.get("like", key) in data[path])
        if change.get("remove"):
            del master[key]
            continue
        if "like" in change:
            origin = next(one[change["like"]] for one in data.values() if change["like"] in one)
            master[key] = copy.deepcopy(origin)
        master[key].update(change.get("set", {}))
    return result


def untouched(old: str, new: str, names: list[str]) -> Iterator[tuple[str, str]]:
    """The blocks of the entries that the spec does not name, before and after, with nothing around them."""
    before, after = blocks(old), blocks(new)
    for name, text in before.items():
        if name not in names:
            yield text, after[name]


def blocks(text: str) -> dict[str, str]:
    """A master's entries by key, first-column comments left aside."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.split("\n"):
        if line and line[0] not in " #-":
            name = line.rstrip(":")
        if name and not line.startswith("#"):
            found.setdefault(name, []).append(line)
    return {name: "\n".join(lines).rstrip("\n") for name, lines in found.items()}


def restore(checkout: Path, made: Plan) -> None:
    for edit in made.edits:
        if edit.before is None:
            (checkout / edit.path).unlink()
        else:
            (checkout / edit.path).write_bytes(edit.before)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spec=specs())
def test_a_plan_writes_what_was_asked_for_and_nothing_else(
    checkout: Path, data: dict[str, dict[str, Any]], spec: dict[str, Any]
) -> None:
    text = json.dumps(spec, ensure_ascii=False)
    try:
        made = plan(checkout, text)
    except BenchscribeError:
        return  # refused in words; anything else is a bug and fails here
    names = [change["config-key"] for change in spec["changes"]]
    for edit in made.edits:
        yaml.safe_load((edit.after or b"").decode())
    expected = wanted_data(data, spec)
    for path in (AMD, NVIDIA):
        after = (made.wanted.read(path) or b"").decode()
        assert yaml.safe_load(after) == expected[path]
        for old, new in untouched((checkout / path).read_text(), after, names):
            assert old == new
    base = (checkout / CHANGELOG).read_bytes()
    assert_appended(base, made.wanted.read(CHANGELOG) or b"")
    try:
        apply_plan(made)
        assert plan(checkout, text).edits == ()
    finally:
        restore(checkout, made)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.dictionaries(st.sampled_from(["a", "b-c", "d_e", "F"]), VALUES, min_size=1),
    where=st.sampled_from(["args", "env"]),
)
def test_every_point_gets_what_the_rule_says(checkout: Path, values: dict[str, Any], where: str) -> None:
    """Own keys of a rule stand in every variant exactly as the spec gives them, for a zip block as for others."""
    for key, recipe in (
        ("gptoss-fp4-mi355x-atom", "gptoss/atom/mi355x-fp4/8k1k.yaml"),
        ("dsr1-fp8-h200-sglang", "dsr1/sglang/h200-fp8/8k1k.yaml"),
    ):
        change = {"config-key": key, "recipe": {"points": [{where: values}]}}
        try:
            made = plan(checkout, json.dumps({"benchscribe": 1, "changes": [change]}, ensure_ascii=False))
        except BenchscribeError:
            continue
        path = f"{PROJECT}/benchmarks/single_node/srt-slurm-recipes/{recipe}"
        found = made.wanted.after.recipe_file(path)
        assert found is not None
        for variant in found.variants:
            block = variant.args if where == "args" else variant.env
            for name, value in values.items():
                if value is None:
                    assert block.get(name) is None
                else:
                    assert block[name] == without_nulls(value)


def without_nulls(value: Any) -> Any:
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, dict) else value
