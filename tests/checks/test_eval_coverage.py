"""Kernel paths that no evaluated point has (C07)."""

from __future__ import annotations

from pathlib import Path

from branches import findings, make_branch
from small_checkout import LINK, RECIPE, e2e, entry, master, recipe, variant

from benchscribe.schema.results import Severity

ROWS = f"- {{ tp: 4, kv-offloading: none, conc-list: [1, 2, 48], spec-decoding: mtp, srt-recipe: {RECIPE} }}"


def mono(*on: int, name: str = "ATOM_MONO_ENABLE", value: str = "'1'") -> str:
    blocks = []
    for conc in (1, 2, 48):
        env = f"{name}: {value if conc in on else repr('0')}"
        blocks.append(
            variant(f"tp4_c{conc}", 4, conc, args=f"max-num-seqs: {conc}\nnum-speculative-tokens: 3", env=env)
        )
    return recipe(*blocks)


def branch(tmp_path: Path, before: str, after: str, *entries: str, config: str = master(ROWS)) -> Path:
    old = e2e(master(ROWS), more={RECIPE: before})
    return make_branch(tmp_path, old, e2e(config, *(entries or (entry("Retune."),)), more={RECIPE: after}))


def test_c07_mono_decode_at_the_small_points_only(tmp_path: Path) -> None:
    path = branch(tmp_path, mono(), mono(1, 2))
    (found,) = findings(path, "eval-coverage")
    assert found.severity is Severity.WARNING
    assert found.message == (
        "ATOM_MONO_ENABLE=1 runs at TP4 C1, TP4 C2 only, but the accuracy eval runs at TP4 C48: "
        "this kernel path is never evaluated"
    )
    text = (path / found.path).read_text().splitlines()
    assert text[found.line - 1].strip() == "ATOM_MONO_ENABLE: '1'"


def test_the_cure_is_a_second_key_with_just_those_points_in_an_evals_only_entry(tmp_path: Path) -> None:
    (found,) = findings(branch(tmp_path, mono(), mono(1, 2)), "eval-coverage")
    assert found.fix is not None
    patch = found.fix.arguments["patch"]
    (change,) = patch["changes"]
    assert (change["config-key"], change["like"]) == ("key-eval", "key")
    (row,) = change["scenarios"]["agentic-coding"]["search-space"]
    assert (row["tp"], row["conc-list"], row["srt-recipe"]) == (4, [1, 2], RECIPE)
    assert patch["changelog"] == [{"keys": ["key"]}, {"keys": ["key-eval"], "evals-only": True}]


def test_a_companion_entry_covers_it(tmp_path: Path) -> None:
    twin = master(ROWS.replace("[1, 2, 48]", "[1, 2]"), key="key-eval")
    entries = (entry("Retune."), entry("Evals.", keys=("key-eval",), flags="  evals-only: true\n"))
    path = branch(tmp_path, mono(), mono(1, 2), *entries, config=master(ROWS) + twin)
    assert [one for one in findings(path, "eval-coverage") if "C1" in one.message.partition("only")[0]] == []


def test_all_evals_covers_it(tmp_path: Path) -> None:
    path = branch(tmp_path, mono(), mono(1, 2), entry("Retune.", flags="  all-evals: true\n"))
    assert findings(path, "eval-coverage") == []


def test_near_misses_are_quiet(tmp_path: Path) -> None:
    assert findings(branch(tmp_path / "everywhere", mono(), mono(1, 2, 48)), "eval-coverage") == []
    assert findings(branch(tmp_path / "evaluated", mono(), mono(48)), "eval-coverage") == []
    assert (
        findings(
            branch(tmp_path / "size", mono(name="ATOM_RING"), mono(1, 2, name="ATOM_RING", value="'64'")),
            "eval-coverage",
        )
        == []
    )
    assert (
        findings(
            branch(tmp_path / "connector", mono(name="KV_CONNECTOR"), mono(1, name="KV_CONNECTOR", value="lmcache")),
            "eval-coverage",
        )
        == []
    )


def test_an_old_path_is_an_old_debt(tmp_path: Path) -> None:
    changed = mono(1, 2).replace("num-speculative-tokens: 3", "num-speculative-tokens: 2")
    assert findings(branch(tmp_path, mono(1, 2), changed), "eval-coverage") == []


def test_no_evals_is_not_asked_to_cover(tmp_path: Path) -> None:
    path = branch(tmp_path, mono(), mono(1, 2), entry("Retune.", flags="  no-evals: true\n"))
    assert findings(path, "eval-coverage") == []
    assert LINK.startswith("https://")
