"""`benchscribe describe`: printed, written at the tail in place of the branch's entry, as JSON, in both languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from git_repository import Repository
from small_checkout import OLD_ENTRY, e2e, entry, master, recipe, root, variant
from upstream_checkout import git

ROWS = "- { tp: 4, kv-offloading: none, conc-list: [1, 2], spec-decoding: mtp }\n- { tp: 8, kv-offloading: none, conc-list: [4] }"
BEFORE = master(ROWS)
AFTER = master(ROWS.replace("[1, 2]", "[1, 2, 8]"), image="rocm/atom-dev:nightly_202610181506")
ENTRY = """\
- config-keys:
    - key
  scenario-type:
    - agentic-coding
  description:
    - "Update the image from rocm/atom-dev:nightly_202608201032 to rocm/atom-dev:nightly_202610181506."
    - "Add TP4 C8."
  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/XXX
"""
CHINESE = """\
    - "将镜像从 rocm/atom-dev:nightly_202608201032 更新到 rocm/atom-dev:nightly_202610181506。"
    - "新增 TP4 C8。"
"""


def checkout(tmp_path: Path, before: dict[str, str | bytes], after: dict[str, str]) -> Path:
    """A git checkout whose branch changed the given files."""
    directory = tmp_path / "checkout"
    write(directory, before)
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", "base")
    git(directory, "checkout", "-qb", "work")
    write(directory, dict(after))
    return directory


def write(directory: Path, files: dict[str, str | bytes]) -> None:
    for path, data in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data.encode() if isinstance(data, str) else data)


def describe(directory: Path, *arguments: str) -> Result:
    return Repository(directory).run("describe", *arguments)


def changelog(directory: Path) -> str:
    return (directory / "perf-changelog.yaml").read_text()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return checkout(tmp_path, root(BEFORE), {"configs/amd-master.yaml": AFTER})


def test_the_entry_is_printed_and_nothing_written(directory: Path) -> None:
    result = describe(directory)
    assert (result.exit_code, result.stdout) == (0, ENTRY)
    assert changelog(directory) == OLD_ENTRY


def test_write_appends_once(directory: Path) -> None:
    assert describe(directory, "--write").exit_code == 0
    assert changelog(directory) == f"{OLD_ENTRY}\n{ENTRY}"
    again = describe(directory, "--write")
    assert again.exit_code == 0 and "already says this" in again.stderr
    assert changelog(directory) == f"{OLD_ENTRY}\n{ENTRY}"


def test_write_replaces_the_branchs_entry_keeps_its_flags_and_tells_what_it_said(directory: Path) -> None:
    own = entry("Add TP4 C8.", "Tuned by hand.", flags="  all-evals: true\n").replace("/XXX", "/77")
    write(directory, {"perf-changelog.yaml": f"{OLD_ENTRY}\n{own}"})
    result = describe(directory, "--write")
    assert result.exit_code == 0
    assert "Tuned by hand." in result.stderr and "Add TP4 C8." not in result.stderr
    promise = '    - "Add TP4 C8."\n    - "Every point gets an accuracy eval."\n'
    wanted = ENTRY.replace('    - "Add TP4 C8."\n', promise).replace("/XXX", "/77") + "  all-evals: true\n"
    assert changelog(directory) == f"{OLD_ENTRY}\n{wanted}"


def test_the_number_of_the_command_wins(directory: Path) -> None:
    assert describe(directory, "--pr", "4308").stdout == ENTRY.replace("/XXX", "/4308")


def test_both_languages(directory: Path) -> None:
    head, tail = ENTRY.split("  pr-link")
    assert describe(directory, "--language", "both").stdout == f"{head}{CHINESE}  pr-link{tail}"


def test_both_languages_are_refused_where_entries_are_english(tmp_path: Path) -> None:
    files = e2e(BEFORE)
    directory = checkout(tmp_path, files, {"inferencex-e2e/configs/amd-master.yaml": AFTER})
    result = describe(directory, "--language", "both", "--write")
    assert result.exit_code == 2 and "English" in result.stderr
    assert changelog(directory / "inferencex-e2e") == OLD_ENTRY


def test_a_companion_entry_keeps_its_keys_and_its_promise(tmp_path: Path) -> None:
    configs = f"{BEFORE}\n{master(ROWS, key='key-two')}"
    changed = f"{AFTER}\n{master(ROWS.replace('[4]', '[4, 64]'), key='key-two')}"
    directory = checkout(tmp_path, root(configs), {"configs/amd-master.yaml": changed})
    own = "\n".join([entry("One."), entry("Two.", keys=("key-two",), flags="  evals-only: true\n")])
    write(directory, {"perf-changelog.yaml": f"{OLD_ENTRY}\n{own}"})
    assert describe(directory, "--write").exit_code == 0
    first, second = changelog(directory).removeprefix(f"{OLD_ENTRY}\n").split("\n\n")
    assert first + "\n" == ENTRY
    assert "    - key-two\n" in second and second.endswith("  evals-only: true\n")
    assert (
        '    - "Add TP8 C64."\n    - "TP4 is unchanged."\n    - "These keys run for their accuracy evals only."\n'
        in second
    )


def test_json_has_lines_values_and_the_entry(directory: Path) -> None:
    data = json.loads(describe(directory, "--format", "json").stdout)
    assert data["ok"] is True and data["entry"] == ENTRY and data["findings"] == []
    assert [line["id"] for line in data["lines"]] == ["image", "points:tp4"]
    assert data["lines"][1] == {"id": "points:tp4", "en": "Add TP4 C8.", "zh": "新增 TP4 C8。"}
    assert data["files"] == [{"path": "perf-changelog.yaml", "added": 9, "removed": 0}]
    values = {value["name"]: value["value"] for value in data["derived"]}
    # TP4 at 1, 2 and 8, TP8 at 4; in root the first at the highest concurrency of all is evaluated (FACTS §7).
    assert values["points"] == 4 and values["evaluated points"] == ["TP4 C8"]


def test_nothing_to_tell(tmp_path: Path) -> None:
    directory = checkout(tmp_path, root(BEFORE), {"README.md": "Hello.\n"})
    result = describe(directory, "--write")
    assert (result.exit_code, result.stdout) == (0, "") and "no config key" in result.stderr
    assert changelog(directory) == OLD_ENTRY


def test_a_changed_script_without_a_readable_change_is_pointed_out(tmp_path: Path) -> None:
    script = "benchmarks/single_node/agentic/glm5.2_fp4_mi355x_atom.sh"
    files = root(BEFORE, more={script: "prepare one\n"})
    directory = checkout(tmp_path, files, {script: "prepare two\n"})
    assert script in describe(directory).stderr


def test_a_recipe_of_fifty_variants_takes_a_dozen_lines(tmp_path: Path) -> None:
    rows, before, after = [], [], []
    path = "benchmarks/single_node/srt-slurm-recipes/agentic.yaml"
    for tp, dcp in ((1, 1), (2, 1), (4, 1), (4, 4), (8, 8)):
        concurrencies = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64]
        rows.append(
            f"- {{ tp: {tp}, dcp-size: {dcp}, kv-offloading: none, conc-list: {concurrencies}, spec-decoding: mtp, srt-recipe: {path} }}"
        )
        for conc in concurrencies:
            name = f"tp{tp}_dcp{dcp}_c{conc}"
            dcp_argument = f"decode-context-parallel-size: {dcp}\n"
            old = f"{dcp_argument}num-speculative-tokens: 3\nmax-num-seqs: {2 * conc}"
            drafts = 4 if conc > 16 else 3
            new = f"{dcp_argument}num-speculative-tokens: {drafts}\nmax-num-seqs: {conc if conc < 4 else 2 * conc}\nblock-size: {16 * tp}"
            before.append(variant(name, tp, conc, args=old, env="ATOM_A: '1'"))
            env = f"ATOM_A: '{tp}'" + (f"\nATOM_B: '{dcp}'" if conc > 8 else "")
            after.append(variant(name, tp, conc, args=new, env=env))
    config = master("\n".join(rows))
    files = e2e(config, more={path: recipe(*before)})
    directory = checkout(tmp_path, files, {f"inferencex-e2e/{path}": recipe(*after)})
    lines = json.loads(describe(directory, "--format", "json").stdout)["lines"]
    told = "\n".join(line["en"] for line in lines)
    assert 3 <= len(lines) <= 12 and max(len(line["en"]) for line in lines) < 700, told
    assert "draft tokens from 3 to 4 (golden AL 3.33)" in told
    assert "Change max-num-seqs from 2× the concurrency to 1×" in told
