"""Offload tiers read from a recipe's settings and from a spec's `offload:` (the knob table of FACTS §4)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchscribe.derive.dram import tier_words, total_gb
from benchscribe.derive.tiers import Exactness, Tier, offload_tier, read_tiers
from benchscribe.schema.engines import ATOM, SGLANG, TRTLLM, VLLM, Scope
from benchscribe.schema.errors import UsageError
from benchscribe.schema.recipe import read_recipe
from benchscribe.schema.units import parse_size
from benchscribe.schema.yaml_text import load

LMCACHE_JSON = '{"kv_connector":"LMCacheConnectorV1","kv_connector_extra_config":{"lmcache.max_local_cpu_size":"180"}}'
BOTH_BYTES = '{"kv_connector_extra_config":{"cpu_bytes_to_use":549755813888,"cpu_bytes_to_use_per_rank":137438953472}}'


@pytest.mark.parametrize(
    ("settings", "words", "gb"),
    [
        # 256 GiB = 274.877906944 GB per rank; 180 GiB = 193.27352832 GB.
        ({"LMCACHE_MAX_LOCAL_CPU_SIZE": "256"}, "4 × 256 GiB = 1099.5 GB", "1099.511627776"),
        ({"kv-transfer-config": LMCACHE_JSON}, "4 × 180 GiB = 773.1 GB", "773.09411328"),
        ({"lmcache_config": {"max_local_cpu_size": 2.5}}, "4 × 2.5 GiB = 10.7 GB", "10.73741824"),
        ({"LMCACHE_MP_L1_SIZE_GB": "1000"}, "1000 GB", "1000"),
        ({"LMCACHE_L1_SIZE_GB": 800}, "800 GB", "800"),
        ({"l1-size-gb": 900}, "900 GB", "900"),
        ({"setup": "lmcache server --port 5555 --l1-size-gb 700 --x"}, "700 GB", "700"),
        ({"kv_cache_config": {"host_cache_size": 137438953472}}, "4 × 128 GiB = 549.8 GB", "549.755813888"),
        ({"store_config": {"global_segment_size": "200GB"}}, "4 × 200 GB = 800 GB", "800"),
        ({"MOONCAKE_GLOBAL_SEGMENT_SIZE": "200gb"}, "4 × 200 GB = 800 GB", "800"),
        ({"kv-transfer-config": '{"cpu_bytes_to_use":1200000000000}'}, "1200 GB", "1200"),
        (
            {"kv-transfer-config": '{"cpu_bytes_to_use_per_rank":154250000000}'},
            "4 × 154.25 GB = 617 GB",
            "617",
        ),
        # Two spellings of one tier are one tier.
        ({"kv-transfer-config": BOTH_BYTES}, "4 × 128 GiB = 549.8 GB", "549.755813888"),
        ({"LMCACHE_MAX_LOCAL_CPU_SIZE": "180", "c": LMCACHE_JSON}, "4 × 180 GiB = 773.1 GB", "773.09411328"),
        # Two tiers of different kinds add up.
        (
            {"host_cache_size": 2**30, "LMCACHE_MP_L1_SIZE_GB": "10"},
            "10 GB + 4 × 1 GiB = 14.3 GB",
            "14.294967296",
        ),
    ],
)
def test_sized_knobs(settings: dict[str, Any], words: str, gb: str) -> None:
    tiers = read_tiers(settings)
    assert tier_words(tiers, 4) == words
    assert total_gb(tiers, 4) == Fraction(gb)
    assert {tier.exactness for tier in tiers} == {Exactness.EXACT}


def test_32_gib_for_8_ranks_is_275_gb_not_257() -> None:
    tiers = read_tiers({"LMCACHE_MAX_LOCAL_CPU_SIZE": "32"})
    assert tier_words(tiers, 8) == "8 × 32 GiB = 274.9 GB"


def test_hicache_size_is_a_lower_bound_and_its_ratio_has_no_size() -> None:
    (size,) = read_tiers({"hicache-size": 135, "hicache-ratio": 6})
    assert (size.exactness, size.scope, str(size.total(4))) == (Exactness.LOWER_BOUND, Scope.RANK, "540 GB")
    (ratio,) = read_tiers({"hicache_ratio": load("0.9"), "hicache-size": 0})
    assert (ratio.exactness, ratio.size, ratio.knob) == (Exactness.UNSIZED, None, "hicache-ratio 0.9")


def test_what_follows_the_budget_has_no_size_of_its_own() -> None:
    (tier,) = read_tiers({"LMCACHE_MAX_LOCAL_CPU_SIZE": "$((TOTAL_CPU_DRAM_GB / 4))"})
    assert (tier.exactness, tier.size) == (Exactness.FROM_BUDGET, None)
    assert "TOTAL_CPU_DRAM_GB" in tier.words(4)
    (flag,) = read_tiers({"command": 'lmcache server --l1-size-gb "$TOTAL_CPU_DRAM_GB"'})
    assert flag.exactness is Exactness.FROM_BUDGET


@pytest.mark.parametrize("value", ["${SIZE}", "", "-5", "1e999999999", "twelve", "200 pounds", None, True], ids=repr)
def test_a_value_that_is_no_size_is_not_guessed(value: Any) -> None:
    for name in ("LMCACHE_MAX_LOCAL_CPU_SIZE", "global_segment_size"):
        (tier,) = read_tiers({name: value})
        assert tier.size is None and tier.exactness is Exactness.UNSIZED
        assert total_gb([tier], 4) is None


def test_a_knob_at_0_is_off_and_other_names_are_none() -> None:
    assert read_tiers({"host_cache_size": 0, "LMCACHE_CHUNK_SIZE": "256"}, {"cpu_offload_gb": 5}) == ()
    assert total_gb((), 8) is None


def test_ranks_and_servers() -> None:
    ranked = Tier("k", Scope.RANK, Exactness.EXACT, parse_size("256 GiB"))
    server = Tier("k", Scope.SERVER, Exactness.EXACT, parse_size("256 GiB"))
    assert (ranked.count(8), server.count(8)) == (8, 1)
    assert tier_words([server], 8) == "256 GiB = 274.9 GB"


def test_real_recipes(shared: Path) -> None:
    path = "benchmarks/single_node/srt-slurm-recipes/dsv4/atom/mi355x-fp4-mtp/agentic.yaml"
    recipe = read_recipe((shared / "upstream/e2e/inferencex-e2e" / path).read_text(), path)
    found = {variant.name: read_tiers(variant.args, variant.env) for variant in recipe.variants}
    assert [tier_words(tiers, 8) for tiers in found.values() if tiers] == ["1000 GB"]
    expected = shared / "specs/expected/glm52-agentic.yaml"
    arms = read_recipe(expected.read_text(), expected.name).variants
    sized = {variant.name: tier_words(read_tiers(variant.args, variant.env), 4) for variant in arms}
    assert [name for name, words in sized.items() if words == "4 × 256 GiB = 1099.5 GB"] == [
        f"override_tp4_dcp4_c{concurrency}" for concurrency in (16, 24, 32, 40, 48)
    ]


def test_an_offload_of_a_spec_is_as_large_as_the_knob_makes_it() -> None:
    atom = offload_tier(ATOM, "lmcache", per_rank=parse_size("256 GiB"))
    assert (atom.knob, str(atom.size), atom.scope) == ("LMCACHE_MAX_LOCAL_CPU_SIZE", "256 GiB", Scope.RANK)
    # 300 GB = 279.4 GiB, and LMCache counts in GiB.
    assert str(offload_tier(ATOM, "lmcache", per_rank=parse_size("300 GB")).size) == "280 GiB"
    assert str(offload_tier(ATOM, "lmcache", per_rank=parse_size("179.5 GiB")).size) == "179.5 GiB"
    server = offload_tier(ATOM, "lmcache", per_server=parse_size("1000 GB"))
    assert (server.knob, server.scope, str(server.size)) == ("LMCACHE_MP_L1_SIZE_GB", Scope.SERVER, "1000 GB")
    # 128 GiB = 137.44 GB, rounded up to whole GB; and SGLang may take more than asked.
    hicache = offload_tier(SGLANG, "hicache", per_rank=parse_size("128 GiB"))
    assert (str(hicache.size), hicache.exactness) == ("138 GB", Exactness.LOWER_BOUND)
    trtllm = offload_tier(TRTLLM, "native", per_rank=parse_size("128 GiB"))
    assert trtllm.size is not None and trtllm.size.bytes == 137438953472


def test_an_offload_that_no_knob_takes() -> None:
    size = parse_size("256 GiB")
    with pytest.raises(UsageError, match="offload per-rank is not offered for vLLM"):
        offload_tier(VLLM, "lmcache", per_rank=size)
    with pytest.raises(UsageError, match="needs the backend lmcache, the row has mooncake"):
        offload_tier(ATOM, "mooncake", per_rank=size)
    with pytest.raises(UsageError, match="offload per-server is not offered for SGLang"):
        offload_tier(SGLANG, "hicache", per_server=size)
    for sizes in ({}, {"per_rank": size, "per_server": size}):
        with pytest.raises(UsageError, match="exactly one size"):
            offload_tier(ATOM, "lmcache", **sizes)
