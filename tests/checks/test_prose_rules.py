"""The rules about prose: C02's entry, C03, C04, C13, and that a plan's own prose is never contradicted."""

from __future__ import annotations

from pathlib import Path

from branches import findings, make_branch
from small_checkout import entry, master, root

from benchscribe.schema.results import Severity

ROWS = "- { tp: 8, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp }"
SCRIPT_PATH = "benchmarks/single_node/agentic/dsv4_fp4_mi355x_atom_mtp.sh"
SCRIPT = """\
#!/usr/bin/env bash
python3 -m atom.entrypoints.openai_server --max-num-batched-tokens 16384 --long-prefill-token-threshold 16384 \\
  --state-checkpoint-interval-tokens 8192 --method mtp --num-speculative-tokens 3 --spec-decode-acceptance-length 2.49
"""
DSV4 = {"model": "deepseek-ai/DeepSeek-V4-Pro", "prefix": "dsv4"}


def branch(
    tmp_path: Path, *lines: str, image: str = "rocm/atom-dev:nightly_202608201032", keys: tuple[str, ...] = ("key",)
) -> Path:
    old = root(master(ROWS, image="rocm/atom-dev:nightly_202607010101", **DSV4), more={SCRIPT_PATH: SCRIPT})
    new = root(master(ROWS, image=image, **DSV4), entry(*lines, keys=keys))
    return make_branch(tmp_path, old, {name: new[name] for name in ("perf-changelog.yaml", "configs/amd-master.yaml")})


def prose(path: Path) -> list[tuple[str, int, str]]:
    return [(one.rule, one.line, one.text) for one in findings(path) if one.rule.startswith("prose")]


def test_c03_two_wrong_claims_and_a_right_one_beside_them(tmp_path: Path) -> None:
    path = branch(
        tmp_path,
        "Retune the search space.",
        "Use rocm/atom-dev:nightly_202608181633 (sha256:fdc5650fdc5650), 32K state checkpoints, 16K batching/prefill chunks.",
    )
    assert prose(path) == [
        ("prose-image", 11, "rocm/atom-dev:nightly_202608181633"),
        ("prose-settings", 11, "32K state checkpoints"),
    ]
    image, setting = (one for one in findings(path) if one.rule.startswith("prose"))
    assert image.severity is setting.severity is Severity.ERROR
    assert image.message == (
        "the entry says 'rocm/atom-dev:nightly_202608181633', but the config ships "
        "rocm/atom-dev:nightly_202608201032 (configs/amd-master.yaml:2:3)"
    )
    assert "--state-checkpoint-interval-tokens is 8192" in setting.message
    assert f"{SCRIPT_PATH}:3" in setting.message
    assert all("`benchscribe describe --write`" in one.hint for one in (image, setting))
    assert image.fix is not None
    (note,) = image.fix.arguments["patch"]["changelog"]["notes"]
    assert note.startswith("Use rocm/atom-dev:nightly_202608201032 (sha256:")


def test_c04_rate_and_length_are_one_target(tmp_path: Path) -> None:
    path = branch(tmp_path, "Run three-token MTP with a synthetic acceptance rate of 0.4966666667.")
    assert prose(path) == []


def test_c04_another_rate_is_found(tmp_path: Path) -> None:
    path = branch(tmp_path, "Run three-token MTP with a synthetic acceptance rate of 0.53.")
    assert prose(path) == [("prose-speculation", 10, "acceptance rate of 0.53")]


def test_c13_an_image_copied_from_a_siblings_entry(tmp_path: Path) -> None:
    stated = "lmsysorg/sglang-rocm:v0.5.15.post1-rocm720-mi35x-20260719"
    shipped = "lmsysorg/sglang-rocm:v0.5.17-rocm720-mi35x-20260813"
    (found,) = findings(branch(tmp_path, f"Bump the image to {stated}", image=shipped), "prose-image")
    assert stated in found.message
    assert shipped in found.message


def test_the_old_image_may_be_named_as_the_old_one(tmp_path: Path) -> None:
    path = branch(
        tmp_path,
        "Bump image from rocm/atom-dev:nightly_202607010101 to rocm/atom-dev:nightly_202608201032",
        "The image was rocm/atom-dev:nightly_202606010101 in an earlier attempt",
    )
    assert prose(path) == []


def test_an_entry_for_two_keys_is_held_against_both(tmp_path: Path) -> None:
    other = "  \n" + master(
        ROWS.replace("tp: 8", "tp: 4"), key="second", image="rocm/atom-dev:nightly_202608150000", **DSV4
    )
    old = root(master(ROWS, **DSV4) + other)
    new = root(
        master(ROWS.replace("[1, 2]", "[1, 2, 4]"), **DSV4) + other,
        entry(
            "Image: rocm/atom-dev:nightly_202608150000",
            "Sweep TP4 at C1 and TP8 at C4, never at TP2",
            keys=("key", "sec*"),
        ),
    )
    assert prose(make_branch(tmp_path, old, new)) == []


def test_points_and_utilization(tmp_path: Path) -> None:
    path = branch(tmp_path, "Sweep TP8 at conc [1, 2, 4].", "Sweep TP4 at C1.", "Raise dram-utilization to 0.4.")
    assert prose(path) == [("prose-points", 10, "conc [1, 2, 4]"), ("prose-points", 11, "TP4")]


def test_lines_of_history_are_not_judged(tmp_path: Path) -> None:
    old = root(master(ROWS, **DSV4), entry("Image: rocm/atom-dev:nightly_209901010000", "Sweep TP2."))
    assert prose(make_branch(tmp_path, old, {"README.md": "x"})) == []
