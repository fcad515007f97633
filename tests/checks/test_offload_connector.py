"""`offload-connector`: an LMCache row whose recipe never speaks of LMCache."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from small_checkout import RECIPE, e2e, entry, master, recipe, root, variant

from benchscribe.schema.results import Severity

RULE = "offload-connector"
ROW = (
    "- { tp: 4, dcp-size: 4, kv-offloading: dram, kv-offload-backend: { name: NAME }, conc-list: [16, 32], "
    f"srt-recipe: {RECIPE} }}"
)
DCP = "decode-context-parallel-size: 4"
CONNECTOR = 'kv-transfer-config: \'{"kv_connector": "LMCacheConnectorV1"}\''


def branch(tmp_path: Path, *environments: str, name: str = "lmcache", base_args: str = "block-size: 16") -> Path:
    """A branch that adds a TP4+DCP4 row; one variant for C16, one for C32, with that environment."""
    variants = [
        variant(f"tp4_dcp4_c{conc}", 4, conc, args=DCP, env=env, dram=True)
        for conc, env in zip((16, 32), environments, strict=True)
    ]
    kept = master("- { tp: 1, conc-list: [1], kv-offloading: none }", key="kept")
    new = kept + master(ROW.replace("NAME", name), utilization="0.74")
    return make_branch(
        tmp_path, e2e(kept), e2e(new, entry("Add."), more={RECIPE: recipe(*variants, base_args=base_args)})
    )


def test_nothing_connects_the_engine(tmp_path: Path) -> None:
    path = branch(tmp_path, "", "")
    (found,) = findings(path, RULE)
    assert found.severity is Severity.WARNING
    assert found.message == "TP4+DCP4 offloads with lmcache, but nothing in its variants connects the engine to it"
    line = (path / found.path).read_text().split("\n")[found.line - 1]
    assert "dcp-size: 4" in line and found.text == "lmcache"


def test_one_of_two_variants_is_named_by_its_point(tmp_path: Path) -> None:
    (found,) = findings(branch(tmp_path, "LMCACHE_MAX_LOCAL_CPU_SIZE: '64'", ""), RULE)
    assert found.message.startswith("TP4+DCP4 C32 offloads with lmcache, but nothing in its variant connects")


@pytest.mark.parametrize(
    ("environment", "name", "base_args"),
    [
        ("LMCACHE_MAX_LOCAL_CPU_SIZE: '64'", "lmcache", "block-size: 16"),
        ("", "lmcache", CONNECTOR),
        ("", "hicache", "block-size: 16"),
    ],
)
def test_a_connector_anywhere_in_the_variant_or_another_backend_is_quiet(
    tmp_path: Path, environment: str, name: str, base_args: str
) -> None:
    assert findings(branch(tmp_path, environment, environment, name=name, base_args=base_args), RULE) == []


def test_bash_recipes_and_those_out_of_sight(tmp_path: Path) -> None:
    row = "- { tp: 8, kv-offloading: dram, kv-offload-backend: { name: lmcache }, conc-list: [16] }"
    kept = master("- { tp: 1, conc-list: [1], kv-offloading: none }", key="kept")
    new = kept + master(row, utilization="0.5")
    script = "benchmarks/single_node/agentic/glm5.2_fp4_mi355x_atom.sh"
    texts = {"a": "serve --tp $TP\n", "b": "export LMCACHE_CONFIG_FILE=x\nserve --tp $TP\n"}
    counts = {
        name: len(
            findings(make_branch(tmp_path / name, root(kept), root(new, entry("Add."), more={script: text})), RULE)
        )
        for name, text in texts.items()
    }
    assert counts == {"a": 1, "b": 0}
    assert findings(make_branch(tmp_path / "none", root(kept), root(new, entry("Add."))), RULE) == []


def test_an_old_debt_is_not_told_again(tmp_path: Path) -> None:
    variants = [variant(f"tp4_dcp4_c{conc}", 4, conc, args=DCP, dram=True) for conc in (16, 32)]
    config = master(ROW.replace("NAME", "lmcache"), utilization="0.74")
    base = e2e(config, more={RECIPE: recipe(*variants, base_args="block-size: 16")})
    new = e2e(
        config.replace("nightly_202608201032", "nightly_202608220000"),
        entry("Image."),
        more={RECIPE: recipe(*variants, base_args="block-size: 16")},
    )
    path = make_branch(tmp_path, base, new)
    assert findings(path, RULE) == []
    assert len(findings(path, RULE, everything=True)) == 1
