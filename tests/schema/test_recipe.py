"""Recipes of both kinds and the references that name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.schema.engines import ATOM, SGLANG
from benchscribe.schema.errors import StateError
from benchscribe.schema.recipe import Reference, block_of, deep_merge, parse_reference, read_recipe
from benchscribe.schema.yaml_text import YamlTextError, plain

LAYERED = """\
base:
  schema: 2
  model: { path: hf:some/Model, container: vendor/engine:1 }
  frontend: { container_image: vendor/router:2 }
  engine: atom
  roles:
    agg:
      nodes: 1
      gpus: 4
      args:
        max-num-seqs: 8
        kv_cache_dtype: fp8
        method: mtp
      env: { A: '1', B: '2' }
  benchmark:
    env: { CONC: '1' }

# a reason
override_tp4_c2:
  roles: { agg: { args: { max-num-seqs: 4, method: null }, env: { B: null } } }
  benchmark: { env: { CONC: '2', KV_OFFLOADING: dram } }

zip_override_more:
  roles:
    agg:
      gpus: [4, 8]
      args: { sizes: [[1, 2], [1, 2, 4]], level: [3] }
  benchmark: { env: { CONC: ['16', '32'] } }
"""
FLAT = """\
model: { path: m, container: alias }
identity: { container: { image: "vendor/engine:9" } }
resources:
  gpus_per_node: 4
  prefill_nodes: 2
  prefill_workers: 1
  gpus_per_prefill: 8
  decode_nodes: 2
  decode_workers: 4
backend:
  type: sglang
  prefill_environment: { X: '1' }
  sglang_config:
    prefill: { tp-size: 8 }
    decode: { tensor-parallel-size: 2 }
benchmark: { type: sa-bench, concurrencies: "64x128x256" }
"""


@pytest.mark.parametrize(
    ("text", "path", "variant"),
    [
        ("benchmarks/single_node/a/agentic.yaml", "benchmarks/single_node/a/agentic.yaml", ""),
        ("a/b.yaml:override_x", "a/b.yaml", "override_x"),
        ("CONFIG_FILE=recipes/a/b.yml:zip_override_x[2]", "recipes/a/b.yml", "zip_override_x[2]"),
        ("CONFIG_FILE=benchmarks/multi_node/x.yaml", "benchmarks/multi_node/x.yaml", ""),
        ("some-name.yaml", "some-name.yaml", ""),
        ("no-ending", "no-ending", ""),
    ],
)
def test_every_form_of_reference(text: str, path: str, variant: str) -> None:
    assert parse_reference(text) == Reference(path, variant)


def test_block_of_a_variant_name() -> None:
    assert block_of("zip_override_x[2]") == "zip_override_x"
    assert block_of("override_x") == "override_x"


def test_override_is_merged_and_null_deletes() -> None:
    recipe = read_recipe(LAYERED, "a.yaml")
    variant = recipe.variant("override_tp4_c2")
    assert variant is not None
    assert plain(variant.args) == {"max-num-seqs": 4, "kv_cache_dtype": "fp8"}
    assert plain(variant.env) == {"A": "1"}
    assert (variant.gpus, variant.concurrency, variant.kv_offloading) == (4, 2, "dram")
    assert variant.engine is ATOM
    assert (variant.container, variant.router_image) == ("vendor/engine:1", "vendor/router:2")
    role = variant.role
    assert role is not None
    assert role.argument("kv-cache-dtype") == "fp8"
    assert role.argument("max_num_seqs") == 4
    assert role.argument("method") is None


def test_merging_leaves_the_base_as_it_was() -> None:
    recipe = read_recipe(LAYERED, "a.yaml")
    before = plain(recipe.data)
    assert len(recipe.variants) == 3
    assert plain(recipe.data) == before


def test_zip_block_expands_by_index_and_a_list_of_one_serves_all() -> None:
    names = [variant.name for variant in read_recipe(LAYERED, "a.yaml").variants]
    assert names == ["override_tp4_c2", "zip_override_more[0]", "zip_override_more[1]"]
    second = read_recipe(LAYERED, "a.yaml").variant("zip_override_more[1]")
    assert second is not None
    assert (second.gpus, second.concurrency, second.zip_index) == (8, 32, 1)
    assert plain(second.args["sizes"]) == [1, 2, 4]
    assert second.args["level"] == 3


def test_zip_lists_of_different_length_are_refused_with_the_place() -> None:
    text = "base: {}\nzip_override_x:\n  a: [1, 2]\n  b: [1, 2, 3]\n"
    with pytest.raises(StateError) as error:
        _ = read_recipe(text, "r.yaml").variants
    assert "zip_override_x.a holds 2 values but zip_override_x.b holds 3" in error.value.what
    assert str(error.value.where) == "r.yaml:4:3"


def test_flat_recipe_has_one_variant_with_its_roles() -> None:
    recipe = read_recipe(FLAT, "f.yaml")
    assert not recipe.layered
    variant = recipe.variant("")
    assert variant is not None
    assert variant.engine is SGLANG
    assert variant.role is None
    prefill, decode = variant.roles["prefill"], variant.roles["decode"]
    assert (prefill.gpus, prefill.nodes, prefill.workers) == (8, 2, 1)
    # 2 nodes of 4 GPUs shared by 4 workers
    assert decode.gpus == 2
    assert prefill.env == {"X": "1"}
    assert prefill.args_path == ("backend", "sglang_config", "prefill")
    assert variant.concurrencies == (64, 128, 256)
    assert (variant.container, variant.identity_image) == ("alias", "vendor/engine:9")
    assert recipe.variant("override_x") is None


@pytest.mark.parametrize(
    ("stated", "expected"),
    [("2048", (2048,)), ("[4, 8]", (4, 8)), ('"64x"', ()), ('"${CONC}"', ()), ("null", ())],
)
def test_concurrencies(stated: str, expected: tuple[int, ...]) -> None:
    variant = read_recipe(f"benchmark: {{ concurrencies: {stated} }}\n", "f.yaml").variants[0]
    assert variant.concurrencies == expected


def test_a_layered_recipe_without_overrides_is_its_base() -> None:
    recipe = read_recipe("base:\n  engine: vllm\n", "a.yaml")
    assert [(found.name, found.engine_name) for found in recipe.variants] == [("base", "vllm")]


def test_without_a_name_only_a_single_variant_is_meant() -> None:
    assert read_recipe(LAYERED, "a.yaml").variant("") is None


def test_places_are_in_the_block_that_states_them() -> None:
    recipe = read_recipe(LAYERED, "a.yaml")
    variant = recipe.variant("override_tp4_c2")
    assert recipe.place(("roles", "agg", "args", "max-num-seqs"), variant).line == 20
    assert recipe.place(("roles", "agg", "args", "kv_cache_dtype"), variant).line == 12
    assert recipe.place(("override_tp4_c2",)).line == 19
    assert recipe.place(("roles", "agg", "args", "absent"), variant).line == 20


@pytest.mark.parametrize("text", ["", "- a\n", "just text\n", "# only a comment\n"])
def test_what_is_no_recipe_is_refused(text: str) -> None:
    with pytest.raises(StateError, match="not a recipe"):
        read_recipe(text, "r.yaml")


def test_broken_yaml_has_its_line() -> None:
    with pytest.raises(YamlTextError) as error:
        read_recipe("base:\n  a: 1\n b: 2\n", "r.yaml")
    assert error.value.where is not None
    assert error.value.where.line == 3


def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{n}: &a{n} {{l: *a{n - 1}, r: *a{n - 1}}}" for n in range(1, 40)]
    with pytest.raises(StateError, match="unfold"):
        read_recipe("\n".join(lines), "r.yaml")
    with pytest.raises(StateError, match="holds itself"):
        read_recipe("base: &b\n  again: *b\n", "r.yaml")


TREE = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=12,
)
MAPPING = st.dictionaries(st.sampled_from("abc"), TREE, max_size=3)


@settings(max_examples=150, deadline=None)
@given(MAPPING, MAPPING)
def test_merge_properties(base: dict[str, object], patch: dict[str, object]) -> None:
    merged = plain(deep_merge(base, patch))
    assert all((key in merged) == (value is not None) for key, value in patch.items())
    assert all(merged[key] == base[key] for key in base if key not in patch)
    assert set(merged) <= set(base) | set(patch)
    assert plain(deep_merge(merged, patch)) == merged


def test_all_real_multi_node_recipes(shared: Path) -> None:
    folder = shared / "upstream/root/benchmarks/multi_node"
    recipes = [read_recipe(path.read_text(), str(path)) for path in sorted(folder.rglob("*.yaml"))]
    assert len(recipes) == 94
    assert sum(not recipe.layered for recipe in recipes) == 92
    variants = [variant for recipe in recipes for variant in recipe.variants]
    assert len(variants) == 92 + 1 + 5
    for variant in variants:
        assert variant.engine is not None
        assert set(variant.roles) in ({"agg"}, {"prefill", "decode"})
        assert all(role.gpus and role.args and role.nodes for role in variant.roles.values())


def test_real_zip_variants(shared: Path) -> None:
    path = shared / "upstream/root/benchmarks/multi_node/srt-slurm-recipes/sglang/glm5.2"
    recipe = read_recipe((path / "gb300-fp4/agentic/glm5.2-agentx.yaml").read_text(), "x.yaml")
    third = recipe.variant("zip_override_mtp_agentx_lowlat[2]")
    assert third is not None
    assert third.data["name"] == "agentx-1p6d_tp4-c45"
    assert third.roles["decode"].workers == 6
    assert third.roles["prefill"].args["expert-parallel-size"] == 4
