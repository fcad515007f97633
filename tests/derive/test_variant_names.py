"""Names of variants (SPEC, "Rows, variants, bytes")."""

from __future__ import annotations

from typing import Any

from benchscribe.derive.variant_names import new_variant_name, suffixes_for, variant_name
from benchscribe.schema.master import Point, Row, Topology

DSV4 = ("override_tp8_c1", "override_tp8_c16", "override_tp8_c256_dep_lmcache")


def point(concurrency: int, **fields: Any) -> Point:
    return Point(Row({name.replace("_", "-"): value for name, value in fields.items()}), concurrency)


DRAM = {"kv_offloading": "dram", "kv_offload_backend": {"name": "lmcache"}}


def test_each_size_that_is_not_the_default() -> None:
    assert variant_name(Topology(tp=4), 1) == "override_tp4_c1"
    assert variant_name(Topology(tp=4, dcp=4), 16) == "override_tp4_dcp4_c16"
    assert variant_name(Topology(tp=8, ep=8, dcp=2), 64) == "override_tp8_ep8_dcp2_c64"
    assert variant_name(Topology(tp=4, pp=2), 8) == "override_tp4_pp2_c8"
    assert variant_name(Topology(tp=8, ep=8, dp_attn=True), 256, ("dep", "lmcache")) == DSV4[2]


def test_the_files_own_suffixes() -> None:
    deep = point(128, tp=8, ep=8, dp_attn=True, **DRAM)
    assert suffixes_for(deep, DSV4) == ("dep", "lmcache")
    assert suffixes_for(point(128, tp=8, **DRAM), DSV4) == ("lmcache",)
    assert suffixes_for(point(4, tp=8), DSV4) == ()
    assert suffixes_for(deep, ("override_tp4_c1", "zip_override_x", "override_odd")) == ()
    assert new_variant_name(deep, DSV4) == "override_tp8_c128_dep_lmcache"


def test_a_taken_name_gets_what_tells_the_points_apart() -> None:
    taken = ["override_tp4_c16"]
    assert new_variant_name(point(16, tp=4, **DRAM), taken) == "override_tp4_c16_lmcache"
    assert new_variant_name(point(16, tp=4, dp_attn=True), taken) == "override_tp4_c16_dep"
    assert new_variant_name(point(16, tp=4), taken) == "override_tp4_c16_2"
    assert new_variant_name(point(16, tp=4), [*taken, "override_tp4_c16_2"]) == "override_tp4_c16_3"
