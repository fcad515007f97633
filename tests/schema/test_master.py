"""Rows and topologies as FACTS §3 reads them."""

from __future__ import annotations

from benchscribe.schema.master import Entry, Row


def test_a_stated_default_is_no_difference_in_identity() -> None:
    assert Row({"tp": 8, "ep": 1, "kv-offloading": "none"}).identity == Row({"tp": 8}).identity
    assert Row({"tp": 8, "ep": 8}).identity != Row({"tp": 8}).identity


def test_concurrencies_backend_version_and_router_are_contents_not_identity() -> None:
    one = Row(
        {
            "tp": 4,
            "kv-offloading": "dram",
            "kv-offload-backend": {"name": "lmcache", "version": "0.4.5"},
            "conc-list": [1],
        }
    )
    other = Row(
        {
            "tp": 4,
            "kv-offloading": "dram",
            "kv-offload-backend": {"name": "lmcache", "version": "0.5.1"},
            "router": {"name": "r", "version": "1"},
            "conc-list": [2, 4],
        }
    )
    assert one.identity == other.identity
    assert one.identity != Row({"tp": 4, "kv-offloading": "dram", "kv-offload-backend": {"name": "mooncake"}}).identity


def test_gpus_are_tp_times_pp_times_pcp_and_dcp_reuses_tp() -> None:
    assert Row({"tp": 4, "dcp-size": 4}).topology.gpus == 4
    assert Row({"tp": 4, "pp": 2, "pcp-size": 2}).topology.gpus == 16


def test_arms_read_as_people_write_them() -> None:
    assert str(Row({"tp": 4, "dcp-size": 4})) == "TP4+DCP4"
    assert str(Row({"tp": 8, "ep": 8})) == "TP8/EP8"
    assert str(Row({"tp": 8, "ep": 8, "dp-attn": True})) == "DEP8"
    assert str(Row({"tp": 8, "dp-attn": True})) == "TP8 with DP attention"


def test_a_range_is_expanded_and_nonsense_is_no_point() -> None:
    assert Row({"conc-start": 4, "conc-end": 32}).concurrencies == (4, 8, 16, 32)
    assert Row({"conc-start": 8, "conc-end": 4}).concurrencies == ()
    assert Row({}).concurrencies == ()


def test_every_form_of_recipe_reference_is_found() -> None:
    row = Row(
        {
            "srt-recipe": "benchmarks/a.yaml",
            "eval-srt-recipe": "benchmarks/b.yaml",
            "prefill": {"additional-settings": ["X=1", "CONFIG_FILE=recipes/c.yaml:override_d"]},
            "decode": {"srt-recipe": "benchmarks/e.yaml"},
        }
    )
    assert row.recipe_references == (
        "benchmarks/a.yaml",
        "benchmarks/b.yaml",
        "benchmarks/e.yaml",
        "recipes/c.yaml:override_d",
    )


def test_a_broken_entry_is_read_without_failing() -> None:
    entry = Entry("k", {"scenarios": {"agentic-coding": [{"search-space": ["text", {"tp": "four"}]}, 3]}, "image": 5})
    assert [row.topology.tp for _, row in entry.rows()] == [1, 1]
    assert entry.image == "5"
