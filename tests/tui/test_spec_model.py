"""The model: specs as text that reads back the same, undo and redo, and what counts as unsaved."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from yaml_told import told

from benchscribe.schema.results import Finding, Severity
from benchscribe.schema.spec_reader import read_spec
from benchscribe.schema.yaml_text import load, plain
from benchscribe.tui.model import SpecModel
from benchscribe.tui.planning import Outcome
from benchscribe.tui.spec_text import read_back, spec_text

TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x85\ufeff"), max_size=20)
SCALARS = (
    TEXTS
    | st.integers(-(10**6), 10**6)
    | st.booleans()
    | st.none()
    | st.sampled_from(
        [
            "0.60",
            "1e3",
            "yes",
            "null",
            "- a",
            "a: b",
            "#x",
            "'",
            '"',
            "16",
            "0x1",
            "1_000",
            "~",
            "!tag",
            "&a",
            "*a",
            "2026-08-22",
        ]
    )
)
DATA = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abcz-_.19", min_size=1, max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abcz-_", min_size=1, max_size=6), DATA, min_size=1, max_size=4))
@example({"a": "@x"})
@settings(max_examples=150, deadline=None)
def test_text_reads_back_to_the_same_data(data: dict[str, Any]) -> None:
    assert plain(load(spec_text(data))) == data


NAMES = st.sampled_from(["search-space", "notes", "match", "prefill", "changes", "set", "1", "on"])
NAMED = st.recursive(DATA, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))


@given(st.dictionaries(NAMES, NAMED, min_size=1, max_size=4))
@settings(max_examples=80, deadline=None)
def test_what_is_planned_is_what_the_text_says(data: dict[str, Any]) -> None:
    text = spec_text(data)
    read = load(text)
    assert told(read_back(data)) == told(read)
    # Data that was itself read, spellings and styles with it, is what a draft that is resumed holds.
    assert told(read_back(read)) == told(load(spec_text(read)))


@pytest.mark.parametrize(
    "name", ["glm52-atom-retune", "glm52-vllm-new-key", "qwen35-image-bump", "dsv4-b300-append-points"]
)
def test_real_specs_survive(shared: Path, name: str) -> None:
    data = load((shared / "specs" / f"{name}.yaml").read_text())
    text = SpecModel(data).text
    assert plain(load(text)) == plain(data)
    assert read_spec(text, "spec").mistakes == ()
    assert told(read_back(data)) == told(load(text))
    # One row stands on one line, and quotes stay as they were.
    assert 'version: "0.5.6.dev139+gf22dec28"' in text or name != "glm52-atom-retune"
    assert SpecModel.read(text).text == text


def test_undo_takes_back_a_run_of_typing_at_once() -> None:
    model = SpecModel({"benchscribe": 1, "changes": [{"config-key": "a"}]})
    start = model.text
    for image in ("r", "ro", "roc"):
        with model.editing("image") as data:
            data["changes"][0]["set"] = {"image": image}
    with model.editing("model") as data:
        data["changes"][0]["set"]["model"] = "m"
    assert model.undo()
    assert "image: roc" in model.text
    assert "model: m" not in model.text
    assert model.undo()
    assert model.text == start
    assert not model.undo()
    assert model.redo()
    assert "image: roc" in model.text
    assert model.redo()
    assert "model: m" in model.text
    assert not model.redo()


def test_a_change_after_undo_forgets_the_undone() -> None:
    model = SpecModel({"benchscribe": 1, "changes": [{"config-key": "a"}]})
    for value in ("1", "2"):
        with model.editing() as data:
            data["pr"] = value
    model.undo()
    with model.editing() as data:
        data["pr"] = "3"
    assert not model.redo()


def test_nothing_changed_is_no_change() -> None:
    model = SpecModel({"benchscribe": 1, "changes": [{"config-key": "a"}]})
    told: list[int] = []
    model.listeners.append(lambda: told.append(model.revision))
    with model.editing() as data:
        data["changes"][0]["config-key"] = "a"
    assert told == []
    assert not model.can_undo


def test_a_mistake_in_editing_changes_nothing() -> None:
    model = SpecModel({"benchscribe": 1, "changes": [{"config-key": "a"}]})
    before = model.text
    with pytest.raises(RuntimeError), model.editing() as data:
        data["changes"].clear()
        raise RuntimeError
    assert model.text == before


def test_unsaved_until_saved() -> None:
    model = SpecModel({"benchscribe": 1, "changes": [{"config-key": "a"}]})
    assert not model.unsaved
    with model.editing() as data:
        data["pr"] = 5
    assert model.unsaved
    model.mark_saved()
    assert not model.unsaved
    model.undo()
    assert model.unsaved


def test_what_the_rules_judged_to_be_nothing_is_no_finding() -> None:
    """The plan's own quick look at what a rule judges counts only until that rule has judged."""
    quick = Finding("recipe-missing", Severity.WARNING, "a.yaml", 1, "a quick look")
    plan: Any = SimpleNamespace(findings=(quick,))
    assert Outcome(1, plan).findings == (quick,)
    assert Outcome(1, plan, judged=()).findings == ()
