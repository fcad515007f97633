"""Golden acceptance-length curves and the choice among them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchscribe.checkout.curves import Curve, candidates, curve_methods, read_curves, starts_with_prefix
from benchscribe.schema.errors import StateError

HEADER = """\
# dataset: coding | top_p: 0.95
# speculative-config: draft_sample_method=probabilistic | rejection_sample_method=block
# Measured on kimi-k3 (B300, vLLM DSpark, draft: Inferact/Kimi-K3-DSpark), per num_speculative_tokens.
kimi-k3:
  thinking_on:
    1: 1.85
    3: 3.00
  thinking_off: { 1: 1.80 }
"""


def test_a_file_is_read_with_its_header_and_lines() -> None:
    on, off = read_curves(HEADER, "curves/kimik3_dspark_probabilistic.yaml")
    assert (on.model, on.thinking, dict(on.values)) == ("kimi-k3", "thinking_on", {1: 1.85, 3: 3.0})
    assert on.values[3].spelling == "3.00"
    assert (on.method, on.draft_model, on.extra) == ("dspark", "Inferact/Kimi-K3-DSpark", ("probabilistic",))
    assert on.sampling == {"draft_sample_method": "probabilistic", "rejection_sample_method": "block"}
    assert str(on.place(3)) == "curves/kimik3_dspark_probabilistic.yaml:7"
    assert (off.thinking, dict(off.values)) == ("thinking_off", {1: 1.8})


def test_the_method_comes_from_the_header_where_the_name_has_none() -> None:
    (curve,) = read_curves("# Measured on m (B300, vLLM EAGLE3), x\nm:\n  thinking_on: {1: 1.5}\n", "a.yaml")
    assert curve.method == "eagle3"


@pytest.mark.parametrize("text", ["", "- 1\n", "text\n"])
def test_what_is_no_curve_file_is_refused(text: str) -> None:
    with pytest.raises(StateError, match="not a curve file"):
        read_curves(text, "a.yaml")


def test_odd_contents_are_passed_over() -> None:
    assert read_curves("m: 3\n", "a.yaml") == []
    (curve,) = read_curves("m:\n  thinking_on: {x: 1, 2: many, 3: 2}\n", "a.yaml")
    assert dict(curve.values) == {3: 2}


@pytest.mark.parametrize(
    ("name", "prefix", "expected"),
    [
        ("glm5.2_mtp.yaml", "glm5.2", True),
        ("dsv4-pro-0813-dspark.yaml", "dsv4", True),
        ("dsv4_mtp.yaml", "dsv41flash", False),
        ("dsv41flash_mtp.yaml", "dsv4", False),
        ("kimik2.5_eagle3.yaml", "kimik2", False),
        ("glm5.2_mtp.md", "glm5.2", False),
        ("x.yaml", "", False),
    ],
)
def test_prefix(name: str, prefix: str, expected: bool) -> None:
    assert starts_with_prefix(name, prefix) is expected


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("mtp", ("mtp",)),
        ("deepseek_mtp", ("mtp",)),
        ("NEXTN", ("mtp",)),
        ("EAGLE3", ("eagle3",)),
        ("dspark", ("dspark",)),
    ],
)
def test_methods_as_engines_name_them(method: str, names: tuple[str, ...]) -> None:
    assert curve_methods(method) == names
    assert set(curve_methods("EAGLE")) >= {"mtp", "eagle3"}


@pytest.fixture(scope="module")
def real(shared: Path) -> list[Curve]:
    folder = shared / "upstream/root/golden_al_distribution"
    return [curve for path in sorted(folder.iterdir()) for curve in read_curves(path.read_text(), path.name)]


def files(curves: list[Curve]) -> list[str]:
    return [curve.file.removesuffix(".yaml") for curve in curves]


PROBABILISTIC = "kimik3_dspark_probabilistic_sample_method_block_rejection_sample_method"


def test_real_figures(real: list[Curve]) -> None:
    (glm,) = candidates(real, "glm5.2", "amd/GLM-5.2-MXFP4", method="mtp")
    assert dict(glm.values) == {1: 1.84, 2: 2.50, 3: 2.99, 4: 3.33, 5: 3.61, 6: 3.78, 7: 3.91, 8: 4.06}
    (dsv4,) = candidates(real, "dsv4", "deepseek-ai/DeepSeek-V4-Pro", method="mtp")
    assert dsv4.values[3] == 2.49


def test_real_choices(real: list[Curve]) -> None:
    pro, flash = "deepseek-ai/DeepSeek-V4-Pro", "deepseek-ai/DeepSeek-V4-Pro-0813"
    assert files(candidates(real, "dsv4", flash, method="dspark")) == ["dsv4-pro-0813-dspark"]
    assert files(candidates(real, "dsv4", flash, method="mtp")) == ["dsv4_mtp"]
    assert files(candidates(real, "dsv4", pro)) == ["dsv4_mtp"]
    assert files(candidates(real, "dsv4", flash)) == ["dsv4-pro-0813-dspark", "dsv4_mtp"]
    assert candidates(real, "dsv41flash", "deepseek-ai/DeepSeek-V4.1-Flash", method="dspark") == []
    assert candidates(real, "glm5.2", "zai/GLM-5.2", method="dspark") == []
    mini = ("minimaxm3", "nvidia/MiniMax-M3-NVFP4")
    assert files(candidates(real, *mini, method="eagle3", draft_model="x/MiniMax-M3-EAGLE3-GQA")) == [
        "minimaxm3_eagle3_gqa"
    ]
    assert files(candidates(real, *mini, method="eagle3", draft_model="x/MiniMax-M3-EAGLE3")) == ["minimaxm3_eagle3"]
    assert files(candidates(real, *mini, method="eagle3")) == ["minimaxm3_eagle3", "minimaxm3_eagle3_gqa"]
    kimi = ("kimik3", "moonshotai/Kimi-K3")
    sampling = {"draft_sample_method": "probabilistic", "rejection_sample_method": "synthetic"}
    draft = "Inferact/Kimi-K3-DSpark"
    assert files(candidates(real, *kimi, method="dspark", draft_model=draft, sampling=sampling)) == [PROBABILISTIC]
    assert files(candidates(real, *kimi, method="dspark", draft_model=draft)) == [
        "kimik3_dspark",
        PROBABILISTIC,
    ]


def test_real_recipes_hold_a_candidates_value(real: list[Curve], shared: Path) -> None:
    """Every vLLM recipe's forced acceptance length is on a curve that the choice leaves."""
    from benchscribe.schema.recipe import read_recipe

    prefixes = {"kimi-k3": "kimik3", "deepseek-v4": "dsv4", "minimax-m3": "minimaxm3"}
    judged = wrong = 0
    for path in sorted((shared / "upstream/root/benchmarks/multi_node/srt-slurm-recipes/vllm").rglob("*.yaml")):
        prefix = next(prefix for name, prefix in prefixes.items() if name in path.parts)
        for role in read_recipe(path.read_text(), path.name).variants[0].roles.values():
            config = role.argument("speculative-config")
            spoken = json.loads(config) if isinstance(config, str) else (config or {})
            if "synthetic_acceptance_length" not in spoken:
                continue
            sampling = {key: value for key, value in spoken.items() if key.endswith("_sample_method")}
            model = str(role.argument("served-model-name") or "")
            found = candidates(
                real,
                prefix,
                model,
                method=spoken["method"],
                draft_model=str(spoken.get("model", "")),
                sampling=sampling,
            )
            values = {curve.values[spoken["num_speculative_tokens"]] for curve in found}
            judged += 1
            wrong += spoken["synthetic_acceptance_length"] not in values
    assert judged == 17
    assert wrong == 0
