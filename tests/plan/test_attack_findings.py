"""Specs that once lost bytes, wrote what does not read, did something the second time, or crashed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from sample import AMD, CHANGELOG, RECIPES, mistakes, plan, sample, write
from upstream_checkout import contents, git

from benchscribe.checkout.checkout import Checkout
from benchscribe.plan.branch import read_branch
from benchscribe.plan.specifying import specify
from benchscribe.schema.errors import StateError, UsageError

SPEC = "benchscribe: 1\nchanges:\n"
GLM = "glm5.2-fp4-mi355x-atom-agentic-mtp"
GPTOSS = "gptoss-fp4-mi355x-atom"
MI300X = "dsr1-fp8-mi300x-sglang"
DISAGG = "dsv4-fp4-mi355x-atom-disagg-agentic-mtp"
GLM_RECIPE = f"{RECIPES}/glm5.2/atom/mi355x-fp4-mtp/agentic.yaml"
FLAT = "benchmarks/multi_node/srt-slurm-recipes/vllm/dsv4/gb300-fp4/agg-dep8.yaml"
FLAT_KEY = "dsv4-fp4-gb300-dynamo-vllm-agentic-mtp-agg"
BUMP = f"- {{config-key: {GPTOSS}, set: {{image: 'rocm/atom-dev:nightly_202611011200'}}}}\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return sample(tmp_path / "checkout")


def at_base(checkout: Path, path: str, old: str, new: str) -> None:
    """Change a file at the base; the branch starts there anew."""
    file = checkout / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    git(checkout, "commit", "-qam", "base")
    git(checkout, "branch", "-f", "main", "HEAD")


def entries(checkout: Path) -> dict[str, dict[str, object]]:
    data: dict[str, dict[str, object]] = yaml.safe_load((checkout / AMD).read_text())
    return data


def flat(*recipes: str) -> str:
    return SPEC + f"- config-key: {FLAT_KEY}\n  recipes:\n" + "".join(f"  - {{file: {one}}}\n" for one in recipes)


# Whole recipes


def test_a_file_patched_twice_keeps_both_patches(checkout: Path) -> None:
    text = flat(
        f"{FLAT}, patch: {{benchmark: {{env: {{A: '1'}}}}}}", f"{FLAT}, patch: {{benchmark: {{env: {{B: '2'}}}}}}"
    )
    removed, added = write(checkout, text)[f"inferencex-e2e/{FLAT}"]
    assert (removed, [line.strip() for line in added]) == ([], ["A: '1'", "B: '2'"])


def test_recipe_and_recipes_change_the_same_file(checkout: Path) -> None:
    below = GLM_RECIPE.removeprefix("inferencex-e2e/")
    text = SPEC + (
        f"- config-key: {GLM}\n  recipe: {{points: [{{match: {{tp: 8, conc: 1}}, env: {{X: '1'}}}}]}}\n"
        f"  recipes: [{{file: {below}, patch: {{base: {{name: renamed}}}}}}]\n"
    )
    removed, added = write(checkout, text)[GLM_RECIPE]
    assert removed == ["  name: glm5.2-fp4-mi355x-atom-agentic"]
    assert added == ["  name: renamed", "      env:", "        X: '1'"]


@pytest.mark.parametrize(
    ("recipes", "field", "what"),
    [
        (["configs/amd-master.yaml, remove: true"], "recipes[0].file", "no place for a YAML recipe"),
        (["perf-changelog.yaml, create: {a: 1}"], "recipes[0].file", "no place for a YAML recipe"),
        (["benchmarks/agentic.sh, create: {a: 1}"], "recipes[0].file", "no place for a YAML recipe"),
        (["benchmarks, create: {a: 1}"], "recipes[0].file", "no place for a YAML recipe"),
        ([f"'{FLAT}:override_x', patch: {{a: 1}}"], "recipes[0].file", "names the variant"),
        ([f"{FLAT}, patch: {{a: 1}}, remove: true"], "recipes[0].remove", "exclude each other"),
        ([f"{FLAT}, create: {{}}"], "recipes[0].create", "is empty"),
        ([FLAT], "recipes[0]", "says nothing"),
        ([f"{FLAT}, create: {{a: 1}}", f"{FLAT}, create: {{b: 1}}"], "recipes[1].file", "stands in the spec twice"),
        ([f"{FLAT}, remove: true", f"{FLAT}, patch: {{b: 1}}"], "recipes[1].file", "stands in the spec twice"),
    ],
)  # fmt: skip
def test_what_recipes_cannot_mean_is_refused(checkout: Path, recipes: list[str], field: str, what: str) -> None:
    before = contents(checkout)
    ((where, said),) = mistakes(checkout, flat(*recipes))
    assert (where, what in said) == (f"changes[0].{field}", True)
    assert contents(checkout) == before


def test_a_recipe_behind_a_link_out_of_the_checkout_is_bad_input(checkout: Path) -> None:
    file = checkout / "inferencex-e2e" / FLAT
    file.unlink()
    file.symlink_to("/etc/hostname")
    ((where, said),) = mistakes(checkout, flat(f"{FLAT}, create: {{a: 1}}"))
    assert (where, "leads out of the checkout" in said) == ("changes[0].recipes[0].file", True)


def test_a_recipe_that_a_row_names_cannot_go(checkout: Path) -> None:
    made = plan(checkout, flat(f"{FLAT}, remove: true"))
    assert made.blocked
    assert [one.rule for one in made.findings if one.severity == "error"] == ["recipe-missing"]


# Keys


@pytest.mark.parametrize("is_first", [True, False])
def test_a_key_is_renamed_by_like_and_remove(checkout: Path, is_first: bool) -> None:
    changes = [f"- {{config-key: {GPTOSS}, remove: true}}\n", f"- {{config-key: {GPTOSS}-2, like: {GPTOSS}}}\n"]
    old = entries(checkout)[GPTOSS]
    write(checkout, SPEC + "".join(changes if is_first else reversed(changes)))
    assert GPTOSS not in entries(checkout)
    assert entries(checkout)[f"{GPTOSS}-2"] == old


def test_a_new_key_stands_where_a_key_that_goes_stood(checkout: Path) -> None:
    text = SPEC + f"- {{config-key: {GPTOSS}, remove: true}}\n- {{config-key: new-key, like: {GLM}, after: {GPTOSS}}}\n"
    before = list(entries(checkout))
    write(checkout, text)
    assert list(entries(checkout)) == ["new-key" if key == GPTOSS else key for key in before]


@pytest.mark.parametrize("shape", ["{fixed-seq-len: 3}", "[1]", "null", "{fixed-seq-len: [1]}"])
def test_an_entry_of_another_shape_is_refused_at_its_field(checkout: Path, shape: str) -> None:
    rows = "{isl: 1, osl: 2, search-space: [{tp: 1, conc-list: [1]}]}"
    text = SPEC + (
        f"- {{config-key: zz, after: {GPTOSS}, entry: {{scenarios: {shape}}}, scenarios: {{fixed-seq-len: {rows}}}}}\n"
    )
    ((where, said),) = mistakes(checkout, text)
    assert (where, "is no list of items" in said) == ("changes[0].scenarios.fixed-seq-len", True)


# Items


def test_a_scenario_that_was_removed_stays_removed(checkout: Path) -> None:
    workers = "{num-worker: 1, tp: 8, ep: 1, dp-attn: false}"
    text = SPEC + (
        f"- config-key: {DISAGG}\n  scenarios:\n    agentic-coding: null\n    fixed-seq-len:\n"
        f"      {{isl: 8192, osl: 1024, search-space: [{{conc-list: [8], prefill: {workers}, decode: {workers}}}]}}\n"
    )
    write(checkout, text)
    assert list(entries(checkout)[DISAGG]["scenarios"]) == ["fixed-seq-len"]  # type: ignore[call-overload]


def test_an_items_lengths_change_once(checkout: Path) -> None:
    write(checkout, SPEC + f"- {{config-key: {MI300X}, scenarios: {{fixed-seq-len: {{item: 0, isl: 2048}}}}}}\n")
    items = entries(checkout)[MI300X]["scenarios"]["fixed-seq-len"]  # type: ignore[index]
    assert [(item["isl"], item["osl"]) for item in items] == [(2048, 1024), (8192, 1024)]


@pytest.mark.parametrize(
    ("items", "field", "what"),
    [
        ("[{item: 0, remove: true}, {item: 0, search-space: null}]", "fixed-seq-len[1]", "is named twice"),
        ("[{item: 0, remove: true}, {item: 1, remove: true}]", "fixed-seq-len", "is empty"),
        ("[]", "fixed-seq-len", "is empty"),
        ("{item: 0, isl: 8192}", "fixed-seq-len", "item 1 has these lengths already"),
    ],
)
def test_items_that_cannot_be_meant_are_refused(checkout: Path, items: str, field: str, what: str) -> None:
    found = mistakes(checkout, SPEC + f"- {{config-key: {MI300X}, scenarios: {{fixed-seq-len: {items}}}}}\n")
    assert [where for where, _ in found] == [f"changes[0].scenarios.{field}"]
    assert what in found[0][1]


def test_two_new_items_without_lengths_are_two(checkout: Path) -> None:
    row = "{tp: 8, kv-offloading: none, conc-list: [%d], spec-decoding: mtp}"
    key = "minimaxm3-fp8-mi300x-vllm-agentic-mtp"
    items = "".join(f"      - {{item: new, search-space: [{row % conc}]}}\n" for conc in (2, 4))
    made = plan(checkout, SPEC + f"- config-key: {key}\n  scenarios:\n    agentic-coding:\n{items}")
    after = made.wanted.entry(key)
    assert after is not None
    assert [row.concurrencies for _, row in after.rows()] == [(1, 2, 4, 8), (2,), (4,)]


def test_a_comment_finds_its_item_behind_a_removed_one(checkout: Path) -> None:
    text = SPEC + (
        f"- config-key: {MI300X}\n  comments: {{'rows[0]': here}}\n  scenarios:\n    fixed-seq-len:\n"
        "      - {item: 0, remove: true}\n      - {item: 1, search-space: [{tp: 8, conc-list: [4]}]}\n"
    )
    write(checkout, text)
    lines = (checkout / AMD).read_text().splitlines()
    place = lines.index("      # here")
    assert lines[place + 1].startswith("      - { tp: 8, conc-list: [4],")


def test_a_range_stands_where_its_neighbours_have_their_list(checkout: Path) -> None:
    rows = "[{tp: 1, conc-list: [4, 8, 16, 32]}, {tp: 1, ep: 1, conc-start: 4, conc-end: 8, spec-decoding: mtp}]"
    made = plan(
        checkout, SPEC + f"- {{config-key: {GPTOSS}, scenarios: {{fixed-seq-len: {{search-space: {rows}}}}}}}\n"
    )
    entry = made.wanted.entry(GPTOSS)
    assert entry is not None
    added = list(entry.rows())[1][1]
    assert list(added.data) == ["tp", "ep", "conc-start", "conc-end", "srt-recipe", "spec-decoding"]


def test_a_recipe_path_in_the_settings_stays_inside(checkout: Path) -> None:
    worker = "{num-worker: 1, tp: 8, ep: 8, dp-attn: true, additional-settings: ['CONFIG_FILE=../../etc/x.yaml']}"
    row = f"{{spec-decoding: mtp, conc-list: [32, 64], kv-offloading: none, num-nodes: 2, worker: {worker}}}"
    text = SPEC + f"- {{config-key: {FLAT_KEY}, scenarios: {{agentic-coding: {{search-space: [{row}]}}}}}}\n"
    ((where, said),) = mistakes(checkout, text)
    assert where == "changes[0].scenarios.agentic-coding.search-space[0]"
    assert said.startswith("leaves the checkout")


# Variants


def test_a_key_below_a_deleted_mapping_brings_nothing_back(checkout: Path) -> None:
    old = "        cudagraph-capture-sizes: '[1,2]'\n        num-speculative-tokens: 5\n"
    at_base(checkout, GLM_RECIPE, old, old + "      env: null\n")
    text = SPEC + f"- {{config-key: {GLM}, recipe: {{points: [{{match: {{tp: 8, conc: 1}}, env: {{NEW: x}}}}]}}}}\n"
    made = plan(checkout, text)
    (point,) = [point for key in made.change.keys for point in key.points if point.differences]
    assert [(name.name, was, now) for name, was, now in point.differences] == [("NEW", None, "x")]
    write(checkout, text)


def test_one_mapping_of_a_zip_list_changes_and_the_others_stay(checkout: Path) -> None:
    recipe = f"{RECIPES}/dsr1/sglang/h200-fp8/8k1k.yaml"
    zipped = "    env: [{CONC: '4'}, {CONC: '8'}, {CONC: '16'}, {CONC: '32'}, {CONC: '64'}]\n"
    at_base(checkout, recipe, "    env:\n      CONC: ['4', '8', '16', '32', '64']\n", zipped)
    rule = "{match: {conc: 8}, bench-env: {A: '1'}}"
    done = write(checkout, SPEC + f"- {{config-key: dsr1-fp8-h200-sglang, recipe: {{points: [{rule}]}}}}\n")
    assert done[recipe] == ([zipped.rstrip("\n")], [zipped.rstrip("\n").replace("'8'}", "'8', A: '1'}")])


def test_a_number_as_name_stays_a_number(checkout: Path) -> None:
    rule = "{match: {tp: 8, conc: 1}, patch: {foo: {1: a}}}"
    write(checkout, SPEC + f"- {{config-key: {GLM}, recipe: {{points: [{rule}]}}}}\n")
    data = yaml.safe_load((checkout / GLM_RECIPE).read_text())
    assert data["override_tp8_c1"]["foo"] == {1: "a"}


# Comments


def test_two_texts_for_one_comment_are_refused(checkout: Path) -> None:
    text = SPEC + f"- {{config-key: {GLM}, recipe: {{comments: {{file: one, base: two}}}}}}\n"
    with pytest.raises(UsageError, match="two texts for the one comment"):
        plan(checkout, text)


def test_an_entry_on_one_line_has_only_the_comment_above_it(checkout: Path) -> None:
    entry = (
        "one-line: {image: 'a/b:c', model: m, model-prefix: gptoss, runner: mi355x, precision: fp4, framework: atom, "
        "multinode: false, scenarios: {fixed-seq-len: [{isl: 1, osl: 2, search-space: [{tp: 1, conc-list: [4]}]}]}}\n"
    )
    at_base(checkout, AMD, "gptoss-fp4-mi355x-atom:\n", entry + "\ngptoss-fp4-mi355x-atom:\n")
    ((where, said),) = mistakes(checkout, SPEC + "- {config-key: one-line, comments: {image: text}}\n")
    assert (where, "on one line" in said) == ("changes[0].comments", True)
    assert write(checkout, SPEC + "- {config-key: one-line, comments: {key: text}}\n")[AMD] == ([], ["# text"])


# Anchors


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (BUMP, "would reach 'qwen3.5-fp4-mi355x-atom' too"),
        (f"- {{config-key: {GPTOSS}-2, like: {GPTOSS}}}\n", "define the anchor 'image' again"),
        (f"- {{config-key: {GPTOSS}, remove: true}}\n", "undefined alias"),
    ],
)
def test_an_anchor_across_entries_is_never_broken(checkout: Path, change: str, what: str) -> None:
    file = checkout / AMD
    image = "rocm/atom-dev:nightly_202609081725"
    lines = f"qwen3.5-fp4-mi355x-atom:\n  image: {image}"
    file.write_text(file.read_text().replace(lines, "qwen3.5-fp4-mi355x-atom:\n  image: *image"))
    at_base(checkout, AMD, f"{GPTOSS}:\n  image: {image}", f"{GPTOSS}:\n  image: &image {image}")
    before = contents(checkout)
    with pytest.raises(StateError, match=what) as caught:
        plan(checkout, SPEC + change)
    assert caught.value.where is not None and caught.value.where.line == 135
    assert contents(checkout) == before


def test_other_entries_of_a_file_with_anchors_can_be_changed(checkout: Path) -> None:
    at_base(checkout, AMD, "qwen3.5-fp4-mi355x-atom:\n  image: rocm", "qwen3.5-fp4-mi355x-atom:\n  image: &i rocm")
    assert len(write(checkout, SPEC + BUMP)[AMD][1]) == 1


# The entry


def test_flags_and_companions_never_go_silently(checkout: Path) -> None:
    own = (
        f'\n- config-keys:\n    - {GPTOSS}\n  scenario-type:\n    - fixed-seq-len\n  description:\n    - "mine"\n'
        "  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/77\n"
    )
    file = checkout / CHANGELOG
    file.write_text(file.read_text() + own + "  all-evals: true\n" + own + "  evals-only: true\n")
    made = plan(checkout, SPEC + BUMP)
    said = [one.message for one in made.findings if one.rule == "entry-replaced"]
    assert [message.partition(" has ")[2].partition(";")[0] for message in said] == [
        "all-evals",
        f"the entry for {GPTOSS}: mine",
        "evals-only",
        "the line 'mine'",
    ]
    kept = (
        SPEC
        + BUMP
        + (
            f"changelog:\n- {{keys: [{GPTOSS}], all-evals: true}}\n- {{keys: [{GPTOSS}], evals-only: true, notes: [mine]}}\n"
        )
    )
    assert not [one for one in plan(checkout, kept).findings if one.rule == "entry-replaced"]


@pytest.mark.parametrize(
    ("changelog", "field"),
    [
        ("{keys: []}", "changelog.keys"),
        (f"[{{keys: [{GPTOSS}]}}, {{keys: [dsr1-fp4-mi355x-sglang], evals-only: true}}]", "changelog[1]"),
    ],
)
def test_an_entry_that_would_not_be_written_is_refused(checkout: Path, changelog: str, field: str) -> None:
    assert [where for where, _ in mistakes(checkout, SPEC + BUMP + f"changelog: {changelog}\n")] == [field]


def test_a_key_or_scenario_named_twice_stands_once(checkout: Path) -> None:
    twice = f"changelog: {{keys: [{GPTOSS}, {GPTOSS}], scenario-type: [fixed-seq-len, fixed-seq-len]}}\n"
    assert plan(checkout, SPEC + BUMP + twice).entry == plan(checkout, SPEC + BUMP).entry


# Describing


def test_a_described_spec_says_that_a_field_is_gone(checkout: Path) -> None:
    file = checkout / AMD
    file.write_text(file.read_text().replace("    - dram-utilization: 0.25\n      search", "    - search"))
    text, left = specify(read_branch(Checkout.open(checkout)))
    assert left == ()
    assert "      dram-utilization: null\n" in text.replace("        - dram", "      dram")
