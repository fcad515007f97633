"""Golden acceptance length: candidates, figures, relations (FACTS §5)."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchscribe.checkout.curves import candidates, read_curves
from benchscribe.derive.acceptance import (
    Acceptance,
    Speculation,
    acceptable,
    draft_lengths,
    draft_tokens_of,
    equal_under_relation,
    figure_for,
    golden_lengths,
    speculation_of,
    stated_acceptance,
)
from benchscribe.schema.engines import ATOM, SGLANG, TRTLLM, VLLM, Engine, Relation

GLM_TEXT = """# Measured on glm-5.2-fp8 (B200, vLLM MTP), per num_speculative_tokens.
glm-5.2-fp8:
  thinking_on:
    1: 1.84
    2: 2.50
    3: 2.99
    4: 3.33
    5: 3.61
    6: 3.78
    7: 3.91
    8: 4.06
"""
(GLM,) = read_curves(GLM_TEXT, "al/glm5.2_mtp.yaml")
MINIMAX, MINIMAX_OFF = read_curves(
    "minimax-m3: {thinking_on: {3: 2.83}, thinking_off: {3: 2.93}}", "al/minimaxm3_eagle3.yaml"
)
(MINIMAX_GQA,) = read_curves("minimax-m3: {thinking_on: {3: 2.78}}", "al/minimaxm3_eagle3_gqa.yaml")


def length(text: str) -> Acceptance:
    return Acceptance(Relation.LENGTH, Decimal(text))


def rate(text: str) -> Acceptance:
    return Acceptance(Relation.RATE, Decimal(text))


def accepted(text: str) -> Acceptance:
    return Acceptance(Relation.ACCEPTED, Decimal(text))


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [(1, "1.84"), (2, "2.50"), (3, "2.99"), (4, "3.33"), (5, "3.61"), (6, "3.78"), (7, "3.91"), (8, "4.06")],
)
def test_the_glm52_curve(tokens: int, shown: str) -> None:
    found = golden_lengths([GLM], tokens, model="GLM-5.2")
    assert [str(value) for value in found.value] == [shown]
    plural = "" if tokens == 1 else "s"
    assert found.reason == (f"GLM-5.2, thinking on, {tokens} draft token{plural}: {shown} (al/glm5.2_mtp.yaml)")
    assert [(item.value, item.source) for item in found.inputs] == [(shown, f"al/glm5.2_mtp.yaml:{tokens + 3}")]


def test_several_candidates_are_all_shown() -> None:
    found = golden_lengths([MINIMAX, MINIMAX_OFF, MINIMAX_GQA], 3)
    assert found.value == (Decimal("2.83"), Decimal("2.78"))
    assert found.reason == (
        "minimax-m3, thinking on, 3 draft tokens: "
        "2.83 (al/minimaxm3_eagle3.yaml) or 2.78 (al/minimaxm3_eagle3_gqa.yaml)"
    )
    off = golden_lengths([MINIMAX, MINIMAX_OFF, MINIMAX_GQA], 3, thinking="thinking_off")
    assert off.value == (Decimal("2.93"),)


def test_without_a_curve_nothing_is_judged_and_the_reason_says_so() -> None:
    none = golden_lengths([], 3, model="GLM-5.1")
    assert none.value == () and none.reason == "not known: no curve for GLM-5.1 with thinking on"
    deep = golden_lengths([GLM], 9)
    assert deep.value == ()
    assert deep.reason.endswith("glm5.2_mtp.yaml has 1, 2, 3, 4, 5, 6, 7, 8")
    assert not acceptable(length("2.99"), none.value, 3)


def test_the_lengths_a_curve_has() -> None:
    assert draft_lengths([GLM]) == (1, 2, 3, 4, 5, 6, 7, 8)
    assert draft_lengths([MINIMAX_OFF]) == ()
    assert draft_lengths([MINIMAX_OFF], "thinking_off") == (3,)


def test_real_curves_give_the_facts_figures(shared: Path) -> None:
    curves = []
    for path in sorted((shared / "upstream/root/golden_al_distribution").glob("*.yaml")):
        curves += read_curves(path.read_text(), path.name)
    dsv4 = candidates(curves, "dsv4", "deepseek-ai/DeepSeek-V4-Pro", method="mtp")
    assert golden_lengths(dsv4, 3, model="DeepSeek-V4-Pro").value == (Decimal("2.49"),)
    minimax = candidates(curves, "minimaxm3", "MiniMaxAI/MiniMax-M3", method="eagle3")
    assert set(golden_lengths(minimax, 3).value) == {Decimal("2.83"), Decimal("2.78")}
    glm = golden_lengths(candidates(curves, "glm5.2", "amd/GLM-5.2-MXFP4", method="mtp"), 2)
    assert glm.reason == "glm-5.2-fp8, thinking on, 2 draft tokens: 2.50 (glm5.2_mtp.yaml)"


def test_an_engines_own_figure() -> None:
    assert figure_for(Relation.LENGTH, Decimal("2.50"), 2) == Decimal("2.50")
    assert figure_for(Relation.ACCEPTED, Decimal("2.99"), 3) == Decimal("1.99")
    assert str(figure_for(Relation.RATE, Decimal("2.49"), 3)) == "0.4966666667"


@pytest.mark.parametrize(
    ("one", "other", "tokens", "equal"),
    [
        # Casebook C04: (2.49 − 1) / 3 = 0.49666…
        (rate("0.4966666667"), length("2.49"), 3, True),
        (length("2.49"), rate("0.496666"), 3, True),
        (rate("0.496664"), length("2.49"), 3, False),
        (rate("0.4966666667"), length("2.49"), 4, False),
        (rate("0.5"), length("1"), 0, False),
        (accepted("1.99"), length("2.99"), 3, True),
        (accepted("2.61"), length("3.61"), 5, True),
        (accepted("2.99"), length("2.99"), 3, False),
        (length("2.990"), length("2.99"), 3, True),
        (length("2.9900001"), length("2.99"), 3, False),
        (accepted("1.49"), rate("0.4966666667"), 3, True),
    ],
)
def test_equal_under_the_engines_relation(one: Acceptance, other: Acceptance, tokens: int, equal: bool) -> None:
    assert equal_under_relation(one, other, tokens) is equal
    assert equal_under_relation(other, one, tokens) is equal


def test_any_candidates_value_is_right() -> None:
    golden = golden_lengths([MINIMAX, MINIMAX_GQA], 3).value
    assert acceptable(length("2.78"), golden, 3) and acceptable(length("2.83"), golden, 3)
    assert not acceptable(length("2.80"), golden, 3)


SPECULATIVE = '{"method":"eagle3","num_speculative_tokens":3,"synthetic_acceptance_length":2.78}'


@pytest.mark.parametrize(
    ("engine", "arguments", "environment", "tokens", "figures"),
    [
        (ATOM, {"num_speculative_tokens": 5}, {}, 5, []),
        (
            ATOM,
            {"num-speculative-tokens": "3", "spec-decode-acceptance-rate": "0.4966666667"},
            {},
            3,
            ["2.4900000001"],
        ),
        (ATOM, {"num-speculative-tokens": 3, "spec-decode-acceptance-length": 2.49}, {}, 3, ["2.49"]),
        (
            SGLANG,
            {"speculative-num-steps": 3, "speculative-num-draft-tokens": 4},
            {"SGLANG_SIMULATE_ACC_LEN": "3.39"},
            3,
            ["3.39"],
        ),
        (SGLANG, {"speculative-num-draft-tokens": 4}, {}, 3, []),
        (SGLANG, {"speculative-dspark-block-size": 7}, {}, 7, []),
        (VLLM, {"speculative-config": SPECULATIVE}, {}, 3, ["2.78"]),
        (VLLM, {"speculative_config": {"num_speculative_tokens": 2}}, {}, 2, []),
        (
            TRTLLM,
            {"speculative_config": {"decoding_type": "MTP", "max_draft_len": 5}},
            {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": "2.61"},
            5,
            ["3.61"],
        ),
        (TRTLLM, {"speculative_config": {"num_nextn_predict_layers": 2}}, {}, 2, []),
        (ATOM, {"num-speculative-tokens": "${K}"}, {"SGLANG_SIMULATE_ACC_LEN": "3"}, None, []),
        (VLLM, {"num_speculative_tokens": 4}, {}, None, []),
    ],
)
def test_what_a_recipe_states(
    engine: Engine,
    arguments: dict[str, Any],
    environment: dict[str, Any],
    tokens: int | None,
    figures: list[str],
) -> None:
    assert draft_tokens_of(engine, arguments) == tokens
    stated = stated_acceptance(engine, arguments, environment)
    assert [figure.length(tokens or 0) for figure in stated] == [Decimal(text) for text in figures]


def test_how_a_recipe_drafts() -> None:
    dspark = (
        '{"method":"dspark","model":"Inferact/Kimi-K3-DSpark","num_speculative_tokens":2,'
        '"draft_sample_method":"probabilistic","rejection_sample_method":"synthetic"}'
    )
    vllm = speculation_of(VLLM, {"served-model-name": "moonshotai/Kimi-K3", "speculative-config": dspark})
    assert (vllm.method, vllm.draft_model) == ("dspark", "Inferact/Kimi-K3-DSpark")
    assert vllm.sampling == {"draft_sample_method": "probabilistic", "rejection_sample_method": "synthetic"}
    sglang = speculation_of(SGLANG, {"speculative_algorithm": "EAGLE", "speculative-draft-model-path": "x/y"})
    assert (sglang.method, sglang.draft_model, dict(sglang.sampling)) == ("EAGLE", "x/y", {})
    assert speculation_of(TRTLLM, {"speculative_config": {"decoding_type": "MTP"}}).method == "MTP"
    assert speculation_of(ATOM, {"method": "mtp"}).method == "mtp"
    # A method outside the speculative config is none.
    assert speculation_of(VLLM, {"method": "mtp", "model": "x"}) == Speculation()


def test_the_method_and_draft_of_a_real_recipe_find_its_curve(shared: Path) -> None:
    curves = []
    for path in sorted((shared / "upstream/root/golden_al_distribution").glob("*.yaml")):
        curves += read_curves(path.read_text(), path.name)
    arguments = {"speculative-config": '{"method":"eagle3","model":"Inferact/MiniMax-M3-EAGLE3-GQA"}'}
    how = speculation_of(VLLM, arguments)
    found = candidates(
        curves,
        "minimaxm3",
        "m/MiniMax-M3",
        method=how.method,
        draft_model=how.draft_model,
        sampling=how.sampling,
    )
    assert golden_lengths(found, 3).value == (Decimal("2.78"),)
