"""What a spec can say, on the demo's checkout: exact lines, worked out by hand (SPEC)."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import AMD, CHANGELOG, NVIDIA, RECIPES, mistakes, plan, sample, write

SPEC = "benchscribe: 1\nchanges:\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return sample(tmp_path / "checkout")


def test_a_retired_key_goes_with_its_comment_and_has_no_entry(checkout: Path) -> None:
    done = write(checkout, SPEC + "- {config-key: glm5.2-fp4-mi355x-atom-agentic-mtp, remove: true}\n")
    removed, added = done.pop(AMD)
    assert (done, added, len(removed)) == ({}, [], 19)
    assert removed[2] == "# Flags as in the tuning sheet of 2 October."
    assert removed[-1] == ""


def test_a_removed_key_is_told_in_the_entry_of_one_that_stays(checkout: Path) -> None:
    text = SPEC + (
        "- {config-key: kimik2.5-fp4-mi355x-atom, remove: true}\n"
        "- {config-key: gptoss-fp4-mi355x-atom, set: {image: rocm/atom-dev:nightly_202611011200}}\n"
    )
    entry = plan(checkout, text).entry
    assert "    - gptoss-fp4-mi355x-atom\n" in entry
    assert "    - kimik2.5-fp4-mi355x-atom\n" not in entry
    assert '"Remove kimik2.5-fp4-mi355x-atom."' in entry


def test_one_of_two_items_is_named_changed_removed_and_a_new_one_added(checkout: Path) -> None:
    key = "- config-key: dsr1-fp8-mi300x-sglang\n  scenarios:\n    fixed-seq-len:\n"
    recipe = "benchmarks/single_node/srt-slurm-recipes/dsr1/sglang/mi300x-fp8/8k1k.yaml"
    longer = SPEC + key + f"      {{isl: 8192, search-space: [{{tp: 8, conc-list: [4, 8], srt-recipe: {recipe}}}]}}\n"
    removed, added = write(checkout, longer)[AMD]
    assert removed == [f"      - {{ tp: 8, conc-start: 4, conc-end: 64, srt-recipe: {recipe} }}"]
    assert added == [f"      - {{ tp: 8, conc-list: [4, 8], srt-recipe: {recipe} }}"]

    several = SPEC + key + "      {search-space: [{tp: 8, conc-list: [4]}]}\n"
    ((field, what),) = mistakes(checkout, several)
    assert (field, "has several" in what) == ("changes[0].scenarios.fixed-seq-len", True)

    gone = SPEC + key + "      {item: 0, search-space: null}\n"
    removed, added = write(checkout, gone)[AMD]
    assert added == []
    # The comment above covers the item that follows too, so it stays.
    assert removed[:2] == ["    - isl: 1024", "      osl: 1024"]
    assert len(removed) == 4


def test_a_new_item_takes_the_shape_of_its_neighbour(checkout: Path) -> None:
    recipe = "benchmarks/single_node/srt-slurm-recipes/dsr1/sglang/mi325x-fp8/8k1k.yaml"
    text = SPEC + (
        "- config-key: dsr1-fp8-mi325x-sglang\n  scenarios:\n    fixed-seq-len:\n"
        f"      item: new\n      isl: 1024\n      osl: 1024\n      search-space: [{{tp: 8, conc-list: [64], srt-recipe: {recipe}}}]\n"
    )
    removed, added = write(checkout, text)[AMD]
    assert removed == []
    assert added == [
        "    - isl: 1024",
        "      osl: 1024",
        "      search-space:",
        f"      - {{ tp: 8, conc-list: [64], srt-recipe: {recipe} }}",
    ]


def test_a_whole_new_entry_stands_behind_its_nearest_relative(checkout: Path) -> None:
    text = SPEC + (
        "- config-key: gptoss-fp4-mi325x-vllm\n  entry:\n    image: vllm/vllm-openai-rocm:v0.26.1\n"
        "    model: openai/gpt-oss-120b\n    model-prefix: gptoss\n    runner: mi325x\n    precision: fp4\n"
        "    framework: vllm\n    multinode: false\n    scenarios:\n      fixed-seq-len:\n"
        "        - {isl: 8192, osl: 1024, search-space: [{tp: 1, conc-start: 4, conc-end: 16}]}\n"
    )
    made = plan(checkout, text)
    (edit,) = [edit for edit in made.edits if edit.path == AMD]
    lines = (edit.after or b"").decode().splitlines()
    place = lines.index("gptoss-fp4-mi325x-vllm:")
    keys = [line for line in lines if line and not line.startswith((" ", "#", "-"))]
    assert keys[keys.index("gptoss-fp4-mi325x-vllm:") - 1].startswith("gptoss-fp4-mi3")
    assert lines[place - 1] == "" and lines[place + 1] == "  image: vllm/vllm-openai-rocm:v0.26.1"
    assert lines[place + 8 : place + 14] == [
        "  scenarios:",
        "    fixed-seq-len:",
        "    - isl: 8192",
        "      osl: 1024",
        "      search-space:",
        "      - { tp: 1, conc-start: 4, conc-end: 16 }",
    ]


def test_null_takes_an_optional_field_out_and_a_new_one_has_its_place(checkout: Path) -> None:
    out = SPEC + "- {config-key: dsv4-fp4-gb300-dynamo-vllm-agentic-mtp-agg, set: {router: null}}\n"
    assert write(checkout, out)[NVIDIA] == (['  router: { name: dynamo-router, version: "1.3.2" }'], [])
    put = SPEC + (
        "- config-key: dsv4-fp4-gb300-dynamo-vllm-agentic-mtp-agg\n"
        '  set: {router: { name: dynamo-router, version: "1.3.3" }}\n'
    )
    write(checkout, put)
    lines = (checkout / NVIDIA).read_text().splitlines()
    place = lines.index('  router: { name: dynamo-router, version: "1.3.3" }')
    assert (lines[place - 1], lines[place + 1]) == ("  framework: dynamo-vllm", "  multinode: true")


def test_one_point_of_a_zip_block_is_set_in_place(checkout: Path) -> None:
    text = SPEC + (
        "- config-key: dsr1-fp8-h200-sglang\n  recipe:\n    points:\n"
        "      - {match: {conc: 32}, admission: 2x, graphs: auto}\n"
        "      - {match: {conc: [4, 8]}, env: {SGLANG_X: '1'}}\n"
    )
    done = write(checkout, text)
    removed, added = done[f"{RECIPES}/dsr1/sglang/h200-fp8/8k1k.yaml"]
    assert removed == [
        "        max-running-requests: [4, 8, 16, 32, 64]",
        "        cuda-graph-max-bs: [4, 8, 16, 32, 64]",
    ]
    assert added == [
        "        max-running-requests: [4, 8, 16, 64, 64]",
        "        cuda-graph-max-bs: [4, 8, 16, 64, 64]",
        "      env:",
        "        SGLANG_X: ['1', '1', null, null, null]",
    ]
    assert NVIDIA not in done


def test_the_variants_of_dropped_points_go_comments_and_all(checkout: Path) -> None:
    text = SPEC + (
        "- config-key: glm5.2-fp4-mi355x-atom-agentic-mtp\n  scenarios:\n    agentic-coding:\n      search-space:\n"
        "        - { tp: 4, kv-offloading: none, conc-list: [2, 8], spec-decoding: mtp }\n"
        "        - { tp: 8, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp }\n"
        "  recipe: {}\n"
    )
    done = write(checkout, text)
    removed, added = done[f"{RECIPES}/glm5.2/atom/mi355x-fp4-mtp/agentic.yaml"]
    assert added == []
    assert "override_tp4_c4:" in removed
    assert [line for line in removed if line.startswith("override")] == ["override_tp4_c4:"]
    removed, added = done[AMD]
    assert [line.replace("[2, 4, 8]", "[2, 8]") for line in removed] == added


def test_a_variant_that_another_key_runs_stays(checkout: Path) -> None:
    recipe = "benchmarks/single_node/srt-slurm-recipes/glm5.2/atom/mi355x-fp4-mtp/agentic.yaml"
    twin = SPEC + "- {config-key: glm5.2-fp4-mi355x-atom-agentic-mtp-c4, like: glm5.2-fp4-mi355x-atom-agentic-mtp}\n"
    write(checkout, twin)
    text = SPEC + (
        "- config-key: glm5.2-fp4-mi355x-atom-agentic-mtp\n  scenarios:\n    agentic-coding:\n      search-space:\n"
        "        - { tp: 8, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp }\n"
        "  recipe: {}\n"
    )
    done = write(checkout, text)
    assert not any(path.endswith(recipe) for path in done)


def test_whole_recipes_are_patched_created_and_removed(checkout: Path) -> None:
    flat = "benchmarks/multi_node/srt-slurm-recipes/vllm/dsv4/gb300-fp4"
    text = SPEC + (
        "- config-key: dsv4-fp4-gb300-dynamo-vllm-agentic-mtp-agg\n  recipes:\n"
        f"    - file: {flat}/new.yaml\n      create: {{name: new, benchmark: {{env: {{CONC: '1'}}}}}}\n"
        f"    - {{file: {flat}/agg-dep8.yaml, patch: {{benchmark: {{env: {{NEW_VARIABLE: 'on'}}}}}}}}\n"
    )
    done = write(checkout, text)
    created = "inferencex-e2e/" + flat + "/new.yaml"
    assert (
        done[created][1] == ["name: new", "", "benchmark:", "  env:", "    CONC: '1'"]
        or done[created][1][0] == "name: new"
    )
    removed, added = done["inferencex-e2e/" + flat + "/agg-dep8.yaml"]
    assert removed == []
    assert [line.strip() for line in added] == ["NEW_VARIABLE: 'on'"]
    gone = SPEC + (
        f"- config-key: dsv4-fp4-gb300-dynamo-vllm-agentic-mtp-agg\n  recipes: [{{file: {flat}/new.yaml, remove: true}}]\n"
    )
    write(checkout, gone)
    assert not (checkout / created).exists()


def test_comments_are_put_replaced_and_dropped_where_the_spec_says(checkout: Path) -> None:
    text = SPEC + (
        "- config-key: glm5.2-fp4-mi355x-atom-agentic-mtp\n  comments:\n    key: null\n    image: 'Pinned for the MTP fix.'\n"
        "    dram-utilization: null\n    'rows[1]': \"first\\nsecond\"\n"
    )
    removed, added = write(checkout, text)[AMD]
    assert removed[2:] == [
        "# Flags as in the tuning sheet of 2 October.",
        "    # 374 GB for a TP4 server; nothing here offloads yet.",
    ]
    assert added == ["  # Pinned for the MTP fix.", "       # first", "       # second"]
    assert CHANGELOG not in write(checkout, text), "comments alone are no benchmark change"


@pytest.mark.parametrize(
    ("change", "field", "what"),
    [
        ("{config-key: glm5.2-fp4-mi355x-atom-agentic-mtp, like: dsr1-fp4-mi355x-sglang}", "changes[0].like", "exists at the base"),
        ("{config-key: a-new-key, like: dsr1-fp4-mi355x-sgla}", "changes[0].like", "no config key"),
        ("{config-key: dsr1-fp4-mi355x-sglang, comments: {imag: x}}", "changes[0].comments.imag", "no such place"),
        ("{config-key: dsr1-fp4-mi355x-sglang, set: {runner: x}, scenarios: {agentic-coding: {search-space: [{tp: 4, kv-offloading: none, conc-list: [1]}]}}}", "changes[0].set.runner", "cluster:"),
        ("{config-key: dsr1-fp4-mi355x-sglang, scenarios: {agentic-coding: null}}", "changes[0].scenarios.agentic-coding", "no scenario"),
        ("{config-key: dsr1-fp4-mi355x-sglang, archive: true, remove: true}", "changes[0].archive", "no archive"),
        ("{config-key: glm5.2-fp4-mi355x-atom-agentic-mtp, recipe: {points: [{match: {tp: 2}, admission: 1x}]}}", "changes[0].recipe.points[0].match", "matches no point"),
        ("{config-key: glm5.2-fp4-mi355x-atom-agentic-mtp, recipe: {points: [{offload: {per-rank: 1 GiB}}]}}", "changes[0].recipe.points[0]", "offload"),
        ("{config-key: glm5.2-fp4-mi355x-atom-agentic-mtp, scenarios: {agentic-coding: {dram-utilization: auto}}}", "changes[0].scenarios.agentic-coding.dram-utilization", "nothing to go by"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_at_its_field(checkout: Path, change: str, field: str, what: str) -> None:
    found = mistakes(checkout, SPEC + f"- {change}\n")
    assert [one for one, _ in found] == [field]
    assert what in found[0][1]


def test_an_impossible_tier_says_what_would_fit(checkout: Path) -> None:
    text = SPEC + (
        "- config-key: qwen3.5-fp8-h200-vllm-agentic-mtp\n  scenarios:\n    agentic-coding:\n      dram-utilization: auto\n"
        "  recipe:\n    points:\n      - {match: {kv-offloading: dram}, env: {LMCACHE_MAX_LOCAL_CPU_SIZE: '256'}}\n"
    )
    ((field, what),) = mistakes(checkout, text)
    assert field.endswith("dram-utilization")
    assert "1.43" in what


def test_the_pull_requests_number_comes_from_the_flag_the_spec_or_the_entry(checkout: Path) -> None:
    bump = "- {config-key: gptoss-fp4-mi355x-atom, set: {image: 'rocm/atom-dev:nightly_202611011200'}}\n"
    with_number = "benchscribe: 1\npr: 7\nchanges:\n" + bump
    assert plan(checkout, SPEC + bump).entry.endswith("/pull/XXX\n")
    assert plan(checkout, with_number).entry.endswith("/pull/7\n")
    assert plan(checkout, with_number, number=8).entry.endswith("/pull/8\n")
    write(checkout, with_number, number=8)
    assert plan(checkout, SPEC + bump).entry.endswith("/pull/8\n")


def test_null_takes_utilization_and_recipe_references_out(checkout: Path) -> None:
    text = SPEC + (
        "- config-key: glm5.2-fp4-mi355x-atom-agentic-mtp\n  scenarios:\n    agentic-coding:\n      dram-utilization: null\n      search-space:\n"
        "        - { tp: 4, kv-offloading: none, conc-list: [2, 4, 8], spec-decoding: mtp }\n"
        "        - { tp: 8, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp, srt-recipe: null }\n"
    )
    removed, added = write(checkout, text)[AMD]
    assert [line for line in removed if "dram-utilization" in line] == ["    - dram-utilization: 0.25"]
    assert added == [
        "    - search-space:",
        "       - { tp: 8, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp }",
    ]


def test_a_value_that_turns_the_direction_of_text_is_refused(checkout: Path) -> None:
    text = SPEC + '- {config-key: gptoss-fp4-mi355x-atom, set: {model: "openai/\\u202egpt"}}\n'
    ((field, what),) = mistakes(checkout, text)
    assert (field, "u202e" in what) == ("changes[0].set.model", True)


def test_a_spec_nested_beyond_reason_is_refused(checkout: Path) -> None:
    ((_, what),) = mistakes(checkout, "benchscribe: 1\nx: " + "[" * 2000 + "]" * 2000)
    assert "nested" in what


def test_what_a_person_wrote_into_the_entry_does_not_go_silently(checkout: Path) -> None:
    bump = SPEC + "- {config-key: gptoss-fp4-mi355x-atom, set: {image: 'rocm/atom-dev:nightly_202611011200'}}\n"
    write(checkout, bump)
    path = checkout / CHANGELOG
    path.write_text(
        path.read_text().replace('nightly_202611011200."\n', 'nightly_202611011200."\n    - "Tuned by hand."\n')
    )
    (finding,) = [one for one in plan(checkout, bump).findings if one.rule == "entry-replaced"]
    assert "Tuned by hand." in finding.message
    other = bump.replace("202611011200", "202611021200")
    messages = [one.message for one in plan(checkout, other).findings if one.rule == "entry-replaced"]
    assert len(messages) == 1 and "Tuned by hand." in messages[0], "the derived line of the old image is nobody's words"


def test_rows_left_out_of_a_search_space_are_told(checkout: Path) -> None:
    text = SPEC + (
        "- config-key: glm5.2-fp4-mi355x-atom-agentic-mtp\n  scenarios:\n    agentic-coding:\n      search-space:\n"
        "        - { tp: 8, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp }\n"
    )
    (finding,) = [one for one in plan(checkout, text).findings if one.rule == "rows-dropped"]
    assert "1 row (3 points)" in finding.message


def test_a_point_that_stands_twice_is_refused(checkout: Path) -> None:
    text = SPEC + (
        "- config-key: glm5.2-fp4-mi355x-atom-agentic-mtp\n  scenarios:\n    agentic-coding:\n      search-space:\n"
        "        - { tp: 8, kv-offloading: none, conc-list: [1, 2, 2], spec-decoding: mtp }\n"
    )
    ((field, what),) = mistakes(checkout, text)
    assert (field.rpartition(".")[2], what) == ("conc-list", "2 stands twice")


def test_order_puts_the_named_lines_first_and_an_unknown_id_warns(checkout: Path) -> None:
    change = (
        SPEC + "- {config-key: gptoss-fp4-mi355x-atom, set: {image: rocm/atom-dev:nightly_202611011200, model: a/B}}\n"
    )
    usual = plan(checkout, change)
    ids = [line.id for line in usual.lines]
    assert len(ids) == 2
    turned = plan(checkout, change + f"changelog: {{order: ['{ids[1]}', nothing]}}\n")
    assert [line.id for line in turned.lines] == [ids[1], ids[0]]
    described = [line for line in turned.entry.splitlines() if line.startswith('    - "')]
    assert described == [f'    - "{line.en}"' for line in turned.lines]
    (warning,) = [one for one in turned.findings if one.rule == "order-unknown"]
    assert "'nothing'" in warning.message
