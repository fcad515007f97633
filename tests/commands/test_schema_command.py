"""The printed JSON Schema, as an editor would use it: it takes what the reader takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from benchscribe.commands import schema
from benchscribe.demo.sample import prepared_spec


@pytest.fixture
def validator(capsys: pytest.CaptureFixture[str]) -> Draft202012Validator:
    schema.run()
    printed = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(printed)
    return Draft202012Validator(printed)


def data(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text())


def test_the_demos_spec_fits(validator: Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors(data(prepared_spec()))] == []


@pytest.mark.parametrize(
    "name", ["dsv4-b300-append-points", "glm52-atom-retune", "glm52-vllm-new-key", "qwen35-image-bump"]
)
def test_the_shared_specs_fit(validator: Draft202012Validator, shared: Path, name: str) -> None:
    assert [error.message for error in validator.iter_errors(data(shared / "specs" / f"{name}.yaml"))] == []


def test_a_wrong_spec_does_not(validator: Draft202012Validator) -> None:
    wrong = {
        "benchscribe": 1,
        "changes": [{"config-key": "a", "recipe": {"points": [{"admission": "3x"}]}}],
        "pr": "XXX",
    }
    assert {error.json_path.rpartition(".")[2] for error in validator.iter_errors(wrong)} >= {"pr"}
    assert not validator.is_valid({"benchscribe": 1, "changes": [{"config-key": "a", "imagee": "x"}]})
