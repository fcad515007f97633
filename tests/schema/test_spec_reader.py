"""Bad input: every mistake at once, with line, path, what is allowed and what was meant (SPEC, "Bad input")."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchscribe.schema.errors import SpecError
from benchscribe.schema.spec_reader import layout_mistakes, read_spec


def problems(text: str) -> list[tuple[int, str, str]]:
    """(line, path, whole text) of every problem in a spec."""
    try:
        reading = read_spec(text, "s.yaml")
        reading.refuse(layout_mistakes(reading.data, "e2e") if reading.spec else ())
    except SpecError as error:
        return [(one.place.line, one.field, f"{one.what} {one.hint}") for one in error.problems]
    return []


def spec(changes: str, rest: str = "") -> str:
    return f"benchscribe: 1\nchanges:\n{changes}\n{rest}"


def test_the_broken_spec_of_the_shared_folder_tells_every_mistake_in_one_run(shared: Path) -> None:
    text = (shared / "specs" / "broken.yaml").read_text()
    found = {(line, path) for line, path, _ in problems(text)}
    assert found == {
        (3, "pr"),
        (7, "changes[0].set.imagee"),
        (8, "changes[0].set.image"),
        (11, "changes[0].scenarios.agentic-coding.dram-utilization"),
        (13, "changes[0].scenarios.agentic-coding.search-space[0].dcp-size"),
        (13, "changes[0].scenarios.agentic-coding.search-space[0].kv-offloading"),
        (14, "changes[0].scenarios.agentic-coding.search-space[1].conc-list"),
        (14, "changes[0].scenarios.agentic-coding.search-space[1].spec-decoding"),
        (16, "changes[0].recipe.file"),
        (19, "changelog.evals-only"),
        (20, "changelog.notes[0].en"),
    }


@pytest.mark.parametrize(
    ("text", "line", "path", "words"),
    [
        (spec("- config-key: a*b"), 3, "changes[0].config-key", "'*'"),
        (spec("- config-key: &x a"), 3, "changes[0].config-key", "anchor"),
        (spec("- config-key: !!str a"), 3, "changes[0].config-key", "tag"),
        (spec("- config-key: a\n  config-key: b"), 4, "changes[0].config-key", "twice"),
        (spec("- config-key: a\n- config-key: a"), 4, "changes[1].config-key", "changed twice"),
        (spec("- config-key: a\n  set: {image: null}"), 4, "changes[0].set.image", "required"),
        (
            spec("- config-key: a\n  remove: true\n  set: {image: x/y:z}"),
            5,
            "changes[0].set",
            "remove excludes",
        ),
        (spec("- config-key: a\n  like: b\n  entry: {}"), 4, "changes[0].like", "exclude each other"),
        (
            spec("- config-key: a\n  recipes: [{file: /etc/passwd, remove: true}]"),
            4,
            "changes[0].recipes[0].file",
            "leaves",
        ),
        (
            spec("- config-key: a", "changelog: {no-evals: true, all-evals: true}"),
            4,
            "changelog.all-evals",
            "no-evals excludes",
        ),
        (spec("- config-key: a", "changelog: {language: both}"), 4, "changelog.language", "English only"),
        (
            spec("- config-key: a", "changelog: {languages: en}"),
            4,
            "changelog.languages",
            "did you mean 'language'",
        ),
        (
            spec('- config-key: a\n  recipe: {points: [{env: {A: "x\\ny"}}]}'),
            4,
            "changes[0].recipe.points[0].env.A",
            "\\n",
        ),
        (
            spec("- config-key: a\n  recipe: {points: [{offload: {per-rank: 256}}]}"),
            4,
            "changes[0].recipe.points[0].offload.per-rank",
            "unit",
        ),
        (
            spec("- config-key: a\n  recipe: {points: [{admission: 3x}]}"),
            4,
            "changes[0].recipe.points[0].admission",
            "1x, 2x",
        ),
        ("benchscribe: 2\nchanges: [{config-key: a}]\n", 1, "benchscribe", "allowed: 1"),
        ("benchscribe: 1\nchanges: []\n", 2, "changes", "empty"),
        ("changes: [{config-key: a}]\n", 1, "", "'benchscribe' is required"),
        ("benchscribe: [", 1, "", "not valid YAML"),
        ("", 1, "", "empty"),
    ],
)
def test_one_mistake(text: str, line: int, path: str, words: str) -> None:
    found = problems(text)
    assert [(at, where) for at, where, _ in found] == [(line, path)]
    assert words in found[0][2]


def test_an_alias_bomb_is_refused_before_it_goes_off() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(24)
    )
    assert any("anchor" in words for _, _, words in problems(bomb))


def test_json_is_read_too_even_indented_with_tabs() -> None:
    reading = read_spec('{\n\t"benchscribe": 1,\n\t"changes": [{"config-key": "a"}]\n}', "s.json")
    assert reading.require().changes[0].config_key == "a"


def test_values_keep_the_authors_spelling() -> None:
    text = spec("- config-key: a\n  scenarios:\n    agentic-coding: {dram-utilization: 0.60}")
    item = read_spec(text, "s").require().changes[0].scenarios["agentic-coding"][0]  # type: ignore[index]
    assert item.dram_utilization.spelling == "0.60"
