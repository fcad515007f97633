"""DRAM budgets and `dram-utilization: auto`, with the worked figures of FACTS §4."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.derive.dram import (
    Demand,
    budget_for,
    budget_gb,
    budgets,
    dram_gpus,
    fraction_of,
    largest_tier,
    utilization_for,
)
from benchscribe.derive.tiers import Exactness, Tier
from benchscribe.schema.engines import Scope
from benchscribe.schema.errors import Place, StateError, UsageError
from benchscribe.schema.master import Row
from benchscribe.schema.runners import Hardware
from benchscribe.schema.units import Size, parse_size
from benchscribe.schema.yaml_text import load

CAP = 2_861_022
RUNNERS = Place("configs/runners.yaml", 7)
MI355X = Hardware("mi355x-amds", 3_095_781, 8, RUNNERS)
B300 = Hardware("b300-nv", 2_964_436, 8, RUNNERS)
H200 = Hardware("h200-dgxc", 1_471_356, 8, RUNNERS)
GB300 = Hardware("gb300-nv", 860_160, 4, RUNNERS)


def row(**fields: Any) -> Row:
    return Row({"kv-offloading": "dram", **{name.replace("_", "-"): value for name, value in fields.items()}})


def per_rank(size: str, source: str = "") -> Tier:
    return Tier("LMCACHE_MAX_LOCAL_CPU_SIZE", Scope.RANK, Exactness.EXACT, parse_size(size), source=source)


def per_server(size: str) -> Tier:
    return Tier("LMCACHE_MP_L1_SIZE_GB", Scope.SERVER, Exactness.EXACT, parse_size(size))


@pytest.mark.parametrize(
    ("hardware", "gpus", "utilization", "gb"),
    [
        # min(3_095_781, 2_861_022) MiB = 2_999_999_004_672 bytes, half of it for four of eight GPUs.
        (MI355X, 4, "0.74", 1109),
        (MI355X, 4, "0.73", 1094),
        (MI355X, 4, "0.734", 1100),
        (MI355X, 4, "0.171", 256),
        (MI355X, 8, "0.34", 1019),
        (MI355X, 4, "0.20", 299),
        (MI355X, 2, "0.20", 149),
        (B300, 4, "0.80", 1199),
        (B300, 8, "0.80", 2399),
        # 1_471_356 MiB = 1_542_828_589_056 bytes.
        (H200, 8, "1", 1542),
        # 860_160 MiB = 901_943_132_160 bytes.
        (GB300, 4, "0.61", 550),
    ],
)
def test_budgets_as_worked_out_in_facts(hardware: Hardware, gpus: int, utilization: str, gb: int) -> None:
    assert hardware.dram_mib is not None
    assert budget_gb(hardware.dram_mib, CAP, utilization, gpus, hardware.gpus_per_node) == gb


def test_utilizations_count_as_spelled_not_as_binary_floats() -> None:
    assert fraction_of(load("0.57")) == Fraction(57, 100)
    assert fraction_of(0.57) == Fraction(57, 100)
    # A node of 5^9 MiB has 2048 GB to the byte; of 100 × 5^9 MiB 0.29 is 59392 GB to the byte, where
    # binary arithmetic ends a hair below and would floor to 59391.
    assert int(204800 * 0.29) == 59391
    assert budget_gb(100 * 5**9, 10**12, load("0.29"), 8, 8) == 59392


@pytest.mark.parametrize("utilization", ["0", "-0.5", "1.01", "1.4", "auto", "", None, True, "nan"])
def test_a_utilization_lies_above_0_and_up_to_1(utilization: Any) -> None:
    with pytest.raises(UsageError, match="out of range"):
        budget_gb(1000, 1000, utilization, 1, 1)


def test_the_glm52_retune() -> None:
    arm = Demand(row(tp=4, **{"dcp-size": 4}), (per_rank("256 GiB", "agentic.yaml:92"),))
    found = utilization_for([arm], MI355X, CAP, cap_source="infx/matrix/generate.py")
    assert found.value == Decimal("0.74")
    assert str(found.value) == "0.74"
    assert found.reason == "1109 GB ≥ 4 × 256 GiB = 1099.5 GB; 0.73 gives 1094 GB: short by 5.5"
    shown = {item.name: (item.value, item.source) for item in found.inputs}
    assert shown == {
        "tier of TP4+DCP4": ("4 × 256 GiB = 1099.5 GB", "agentic.yaml:92"),
        "available-cpu-dram-mib of mi355x-amds": ("3,095,781", "configs/runners.yaml:7"),
        "cap in MiB": ("2,861,022", "infx/matrix/generate.py"),
        "gpus-per-node of mi355x-amds": ("8", "configs/runners.yaml:7"),
        "step": ("0.01", ""),
    }


def test_a_finer_step_gives_a_finer_value() -> None:
    found = utilization_for([Demand(row(tp=4), (per_rank("256 GiB"),))], MI355X, CAP, Decimal("0.001"))
    assert str(found.value) == "0.734"
    # 0.733 of 1499.9995 GB is 1099.49…, so 1099 GB against 1099.51.
    assert found.reason == "1100 GB ≥ 4 × 256 GiB = 1099.5 GB; 0.733 gives 1099 GB: short by 0.5"


def test_a_server_tier_counts_once() -> None:
    found = utilization_for([Demand(row(tp=8, ep=8), (per_server("1000 GB"),))], MI355X, CAP)
    assert str(found.value) == "0.34"
    assert found.reason == "1019 GB ≥ 1000 GB; 0.33 gives 989 GB: short by 11"


def test_the_value_has_the_steps_decimals() -> None:
    # 8 × 128 GiB = 1099.51 GB of 2999.999: 0.37 at 0.01 (1109 GB), 0.4 at 0.1, 0.40 at 0.05.
    demand = [Demand(row(tp=8), (per_rank("128 GiB"),))]
    values = {step: str(utilization_for(demand, MI355X, CAP, Decimal(step)).value) for step in ("0.01", "0.1", "0.05")}
    assert values == {"0.01": "0.37", "0.1": "0.4", "0.05": "0.40"}


def test_every_dram_row_of_the_item_is_covered() -> None:
    # 1000 GB per server: all eight GPUs reach it at 0.34, four GPUs (1499.9995 GB) only at 0.67 (1004 GB).
    demands = [Demand(row(tp=8), (per_server("1000 GB"),)), Demand(row(tp=4), (per_server("1000 GB"),))]
    found = utilization_for(demands, MI355X, CAP)
    assert str(found.value) == "0.67"
    assert found.reason == ("TP4: 1004 GB ≥ 1000 GB; 0.66 gives 989 GB: short by 11; TP8: 2009 GB ≥ 1000 GB")
    assert [item.name for item in found.inputs][:2] == ["tier of TP8", "tier of TP4"]


def test_of_a_rows_variants_the_largest_speaks() -> None:
    arms = [Demand(row(tp=4), (per_server(size),)) for size in ("300 GB", "900 GB", "500 GB")]
    other = Demand(row(tp=8), (per_server("10 GB"),))
    # 900 GB of 1499.9995: 0.60 gives 899 GB, 0.61 gives 914; the eight GPUs of TP8 then have 1829.
    found = utilization_for([*arms, other], MI355X, CAP)
    assert found.reason == "TP4: 914 GB ≥ 900 GB; 0.60 gives 899 GB: short by 1; TP8: 1829 GB ≥ 10 GB"
    assert found.value == Decimal("0.61")


def test_several_tiers_of_one_row_add_up() -> None:
    # 4 × 100 GiB = 429.5 GB, + 70.5 GB = 500.0 GB of 1499.9995: 0.34 → 509 GB; 0.33 → 494.
    found = utilization_for([Demand(row(tp=4), (per_rank("100 GiB"), per_server("70.5 GB")))], MI355X, CAP)
    assert found.reason.startswith("509 GB ≥ 4 × 100 GiB + 70.5 GB = 500 GB; 0.33 gives 494 GB: short by 6")


def test_a_lower_bound_says_so() -> None:
    hicache = Tier("hicache-size", Scope.RANK, Exactness.LOWER_BOUND, Size(Fraction(135), "GB"), "per host pool")
    found = utilization_for([Demand(row(tp=4), (hicache,))], MI355X, CAP)
    # 4 × 135 = 540 GB of 1499.9995: 0.36 → 539 GB is short by 1, 0.37 → 554 GB.
    assert str(found.value) == "0.37"
    assert found.reason == (
        "554 GB ≥ 4 × 135 GB = 540 GB (a lower bound: hicache-size counts per host pool); 0.36 gives 539 GB: short by 1"
    )


def test_an_impossible_tier_names_the_largest_that_fits() -> None:
    with pytest.raises(UsageError) as caught:
        utilization_for([Demand(row(tp=8), (per_rank("256 GiB"),))], H200, CAP)
    message = str(caught.value)
    assert "row TP8 needs 1.43, and 1 is the most there is" in message
    assert "8 × 256 GiB = 2199 GB against 1542 GB on h200-dgxc" in message
    # 1542 GB / 8 = 192.75 GB = 179.5 GiB; 8 × 179 GiB = 1537.6 GB.
    assert "the largest tier per rank that fits is 179 GiB: 8 × 179 GiB = 1537.6 GB ≤ 1542 GB" in message
    assert caught.value.exit_code == 2


def test_an_impossible_server_tier_in_gb() -> None:
    with pytest.raises(UsageError, match=r"the largest tier per server that fits is 1542 GB: 1542 GB ≤ 1542 GB"):
        utilization_for([Demand(row(tp=8), (per_server("2000 GB"),))], H200, CAP)


def test_an_unsized_tier_names_every_such_row() -> None:
    ratio = Tier("hicache-ratio 0.9", Scope.RANK, Exactness.UNSIZED, None, "relative to the GPU's KV pool")
    demands = [
        Demand(row(tp=4), (ratio,)),
        Demand(row(tp=8), ()),
        Demand(row(tp=2), (per_rank("10 GiB"),)),
    ]
    with pytest.raises(UsageError) as caught:
        utilization_for(demands, MI355X, CAP)
    message = str(caught.value)
    assert "row TP4: hicache-ratio 0.9 (relative to the GPU's KV pool)" in message
    assert "row TP8: its recipe sets no tier whose knob is known" in message
    assert "row TP2" not in message
    assert "as a number" in caught.value.hint


def test_nothing_to_size_by_and_bad_steps() -> None:
    with pytest.raises(UsageError, match="no row has kv-offloading: dram"):
        utilization_for([], MI355X, CAP)
    demand = [Demand(row(tp=4), (per_rank("1 GiB"),))]
    for step in ("0", "-0.01", "1.5", "NaN"):
        with pytest.raises(UsageError, match="dram-step"):
            utilization_for(demand, MI355X, CAP, Decimal(step))
    assert str(utilization_for(demand, MI355X, CAP, Decimal(1)).value) == "1"


def test_hardware_without_dram_points_at_its_place() -> None:
    unknown = Hardware("b200-cw", None, 8, Place("configs/runners.yaml", 31))
    with pytest.raises(StateError, match=r"configs/runners.yaml:31: b200-cw states no available-cpu-dram-mib"):
        utilization_for([Demand(row(tp=4), (per_rank("1 GiB"),))], unknown, CAP)


@pytest.mark.parametrize(
    ("fields", "per_node", "gpus"),
    [
        ({"tp": 4}, 8, 4),
        ({"tp": 4, "dcp-size": 4}, 8, 4),
        ({"tp": 2, "pp": 2, "pcp-size": 2}, 8, 8),
        ({"prefill": {"num-worker": 2, "tp": 8}, "decode": {"num-worker": 1, "tp": 12}}, 4, 4),
        ({"prefill": {"num-worker": 1, "tp": 16}, "decode": {"num-worker": 1, "tp": 4}}, 8, 8),
        ({"prefill": {"num-worker": 1, "tp": 2}, "decode": {"num-worker": 1, "tp": 8}}, 8, 2),
        ({"worker": {"num-worker": 1, "tp": 8, "pp": 2}, "num-nodes": 2}, 8, 8),
    ],
)
def test_the_gpus_that_share_a_nodes_dram(fields: dict[str, Any], per_node: int, gpus: int) -> None:
    assert dram_gpus(Row(fields), per_node) == gpus


@pytest.mark.parametrize(
    ("fields", "per_node", "words"),
    [
        ({"tp": 16}, 8, "row TP16 needs 16 GPUs, a node has 8"),
        ({"tp": 4, "pp": 2}, 4, r"row TP4\+PP2 needs 8 GPUs, a node has 4"),
        ({"prefill": {"num-worker": 1, "tp": 12}, "decode": {}}, 8, "the prefill replica's 12 GPUs neither"),
        ({"prefill": {"num-worker": 1, "tp": 3}, "decode": {}}, 8, "the prefill replica's 3 GPUs neither"),
        ({"worker": {"num-worker": 1, "tp": 6}}, 4, "the worker replica's 6 GPUs neither"),
    ],
)
def test_a_replica_that_fits_no_node(fields: dict[str, Any], per_node: int, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        dram_gpus(Row(fields), per_node)


def test_the_budget_in_words_is_per_server_not_per_rank() -> None:
    found = budget_for(row(tp=4), MI355X, load("0.171"), CAP)
    assert found.value == 256
    assert found.reason == (
        "2,861,022 MiB (the cap) × 0.171 for 4/8 GPUs of a node = 256 GB per server, 64 GB for each of 4 ranks"
    )
    whole = budget_for(row(tp=8), H200, "0.50", CAP)
    assert whole.reason.startswith("1,471,356 MiB × 0.50 for all GPUs of a node = 771 GB per server")


def test_the_budget_table() -> None:
    table = budgets([row(tp=4), row(tp=2)], MI355X, "0.20", CAP)
    assert [(str(line.row), line.gpus, line.gb, line.per_rank_gb) for line in table] == [
        ("TP4", 4, 299, Fraction(299, 4)),
        ("TP2", 2, 149, Fraction(149, 2)),
    ]
    # Casebook C16: 256 GiB per rank is 3.7 times either budget.
    for line in table:
        assert round(float(parse_size("256 GiB").times(line.gpus).gigabytes / line.gb), 1) == 3.7


def test_the_largest_tier_both_ways() -> None:
    ranked = largest_tier(row(tp=4), MI355X, CAP, utilization="0.74")
    # 1109 GB / 4 = 277.25 GB = 258.2 GiB.
    assert str(ranked.value) == "258 GiB"
    assert ranked.reason == "4 × 258 GiB = 1108.1 GB ≤ 1109 GB, the budget of TP4 at 0.74"
    server = largest_tier(row(tp=8), MI355X, CAP, utilization="0.34", scope=Scope.SERVER, unit="GB")
    assert str(server.value) == "1019 GB"


@settings(max_examples=150, deadline=None)
@given(
    dram=st.integers(100_000, 4_000_000),
    tp=st.sampled_from([1, 2, 4, 8]),
    size=st.integers(1, 120),
    step=st.sampled_from(["0.01", "0.001", "0.05", "0.3"]),
)
def test_the_step_below_is_always_short(dram: int, tp: int, size: int, step: str) -> None:
    hardware = Hardware("node", dram, 8, RUNNERS)
    need = tp * size * 2**30
    try:
        value = utilization_for([Demand(row(tp=tp), (per_rank(f"{size} GiB"),))], hardware, CAP, Decimal(step)).value
    except UsageError:
        most = int(1 / Decimal(step)) * Decimal(step)
        assert budget_gb(dram, CAP, most, tp, 8) * 10**9 < need
        return
    assert value % Decimal(step) == 0
    assert budget_gb(dram, CAP, value, tp, 8) * 10**9 >= need
    if value > Decimal(step):
        assert budget_gb(dram, CAP, value - Decimal(step), tp, 8) * 10**9 < need
