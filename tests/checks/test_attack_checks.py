"""What an attack on `check` found: honest prose called wrong, old debts charged to a branch, odd files and settings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from branches import findings, make_branch
from click.testing import CliRunner, Result
from small_checkout import RECIPE, e2e, entry, master, recipe, root, variant

from benchscribe.cli import benchscribe
from benchscribe.schema.errors import BenchscribeError, UsageError

ROWS = "- { tp: 8, kv-offloading: none, conc-list: [1, 4, 8, 10] }"


def run(directory: Path, *arguments: str) -> Result:
    return CliRunner().invoke(benchscribe, ["--repo", str(directory), *arguments])


def told(tmp_path: Path, line: str) -> list[str]:
    """What is said against a line about a key with TP8 at 1, 4, 8 and 10."""
    old = master("- { tp: 8, kv-offloading: none, conc-list: [1, 4] }", image="rocm/atom:v1")
    new = master(ROWS, image="rocm/atom:v2")
    branch = make_branch(tmp_path, root(old), root(new, entry(line)))
    return [found.message for found in findings(branch) if found.rule.startswith("prose-")]


@pytest.mark.parametrize(
    "line",
    [
        "The DEP arm (attention-DP + EP8) is not carried over",
        "The EP8 arm (conc 64) is not carried over",
        "Omit EP8",
        "Avoid EP4, which hangs",
        "Prune conc 64 and 128 (OOM)",
        "Trimmed TP4 conc 64",
        "Exclude concurrency 128",
        "The accuracy eval runs at conc 64",
        "GSM8K at concurrency 64 in CI",
        "This follows the B200 recipe (TP4, conc 64)",
        "MI300X: TP4 C64",
        "Once TP4 fits, conc 64 comes too",
    ],
)
def test_a_line_that_speaks_of_something_else_is_not_contradicted(tmp_path: Path, line: str) -> None:
    assert told(tmp_path, line) == []


def test_a_line_that_names_its_own_hardware_is_still_judged(tmp_path: Path) -> None:
    (message,) = told(tmp_path, "Sweep MI355X at conc 64")
    assert "the rows have concurrency 1, 4, 8, 10" in message


def test_rows_that_do_not_exist_are_not_said_to_have_points(tmp_path: Path) -> None:
    concurrency, topology = sorted(told(tmp_path, "Add TP4 C64"))
    assert "'TP4', but the rows have TP8" in topology
    assert "'C64', but the rows have concurrency 1, 4, 8, 10" in concurrency


# Old debts


def test_one_more_concurrency_of_a_short_row_is_no_new_debt(tmp_path: Path) -> None:
    # TP4 with 256 GiB per rank under 0.171: 1099.5 GB against 256 GB, at the base already.
    env = "LMCACHE_MAX_LOCAL_CPU_SIZE: '256'"
    row = (
        "- { tp: 4, kv-offloading: dram, kv-offload-backend: { name: lmcache }, conc-list: [CONC], "
        f"spec-decoding: mtp, srt-recipe: {RECIPE} }}"
    )
    text = {RECIPE: recipe(*(variant(f"c{conc}", 4, conc, env=env, dram=True) for conc in (16, 32)))}
    base = e2e(master(row.replace("CONC", "16"), utilization="0.171"), more=text)
    branch = e2e(master(row.replace("CONC", "16, 32"), utilization="0.171"), entry("Add C32"), more=text)
    assert findings(make_branch(tmp_path, base, branch), "dram-budget") == []


def test_one_more_concurrency_of_a_row_with_a_wrong_length_is_no_new_debt(tmp_path: Path) -> None:
    script = (
        "#!/usr/bin/env bash\n"
        "ACC=(--spec-decode-acceptance-length 3.10)\n"
        'if [ "$EVAL_ONLY" = "true" ]; then ACC=(); fi\n'
        'python3 -m atom.entrypoints.openai_server --method mtp --num-speculative-tokens 3 "${ACC[@]}"\n'
    )
    more = {"benchmarks/single_node/agentic/glm5.2_fp4_mi355x_atom_mtp.sh": script}
    row = "- { tp: 4, kv-offloading: none, conc-list: [CONC], spec-decoding: mtp }"
    base = root(master(row.replace("CONC", "1")), more=more)
    branch = root(master(row.replace("CONC", "1, 2")), entry("Add C2"), more=more)
    assert findings(make_branch(tmp_path, base, branch), "golden-acceptance") == []


def test_a_tag_that_is_the_models_name_does_not_make_comments_stale(tmp_path: Path) -> None:
    comments = "# Recipe: recipes/vllm/kimi-k3/agg.yaml\n# The kimi-k3 image of the bring-up.\n"
    config = master(ROWS, image="vllm/vllm-openai:kimi-k3", model="moonshotai/Kimi-K3", prefix="kimik3")
    base = comments + config
    branch = make_branch(tmp_path, root(base), root(base.replace(":kimi-k3", ":v0.20"), entry("Image v0.20")))
    (found,) = findings(branch, "stale-comment")
    assert found.line == 2


# Files that are not ours, settings, formats


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    """A clean branch: a new image, named in the entry."""
    old, new = master(ROWS, image="rocm/atom:v1"), master(ROWS, image="rocm/atom:v2")
    return make_branch(tmp_path / "repo", root(old), root(new, entry("Image rocm/atom:v2")))


@pytest.mark.parametrize("output_format", ["text", "json", "github", "sarif"])
def test_links_and_odd_names_in_the_work_tree_end_no_run(branch: Path, output_format: str) -> None:
    (branch / "models").symlink_to("/")
    (branch / "loop").symlink_to("loop")
    (branch / "two\nlines.txt").write_text("x")
    (branch / "back\\slash.txt").write_text("x")
    Path(os.fsdecode(os.fsencode(branch) + b"/\xff.txt")).write_text("x")
    done = run(branch, "check", "--format", output_format)
    assert done.exit_code == 0, done.output
    if output_format == "json":
        counts = {file["path"]: (file["added"], file["removed"]) for file in json.loads(done.stdout)["files"]}
        assert counts["models"] == counts["loop"] == counts["two\nlines.txt"] == (0, 0)
        assert counts["configs/amd-master.yaml"] == (1, 1)


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("pyproject.toml", "tool = 3 # benchscribe\n", "tool is a table"),
        (".benchscribe.toml", 'tool = "x"\n', "tool is a table"),
        (".benchscribe.toml", '[upstream]\ncommands = ["check.py \'open"]\n', "cannot be split into words"),
        (".benchscribe.toml", '[upstream]\ncommands = ["../check.py"]\n', "no program below the project root"),
        (".benchscribe.toml", '[upstream]\ncommands = ["/bin/check.py"]\n', "no program below the project root"),
    ],
)
def test_settings_that_cannot_be_meant_are_usage_errors(branch: Path, file: str, text: str, words: str) -> None:
    (branch / file).write_text(text)
    done = run(branch, "check", "--upstream")
    assert isinstance(done.exception, UsageError)
    assert words in str(done.exception)


def test_a_program_that_is_not_there_gives_no_verdict(branch: Path) -> None:
    (branch / ".benchscribe.toml").write_text('[upstream]\ncommands = ["utils/gone.py"]\n')
    done = run(branch, "check", "--upstream", "--format", "json")
    assert done.exit_code == 0
    (found,) = (one for one in json.loads(done.stdout)["findings"] if one["rule"] == "upstream")
    assert found["severity"] == "info"
    assert "does not hold that file" in found["message"]


def test_upstream_sees_links_as_git_keeps_them(branch: Path) -> None:
    (branch / "data").symlink_to("/somewhere/else")
    (branch / "loop").symlink_to("loop")
    (branch / "check.py").write_text("import os, sys\nsys.exit(os.readlink('data') != '/somewhere/else')\n")
    (branch / ".benchscribe.toml").write_text('[upstream]\ncommands = ["check.py"]\n')
    done = run(branch, "check", "--upstream")
    assert done.exit_code == 0, done.output
    assert "accepts this state" in done.stderr


def test_a_run_that_cannot_judge_leaves_an_annotation(branch: Path) -> None:
    done = run(branch, "check", "--base", "nowhere", "--format", "github")
    assert isinstance(done.exception, BenchscribeError)
    assert done.exception.exit_code == 3
    first = done.stdout.splitlines()[0]
    assert first.startswith("::error title=state::no commit is named 'nowhere' here%0A")


def test_percent_signs_and_separators_reach_an_annotation_whole(branch: Path) -> None:
    changelog = branch / "perf-changelog.yaml"
    changelog.write_text(changelog.read_text().replace("/pull/XXX", "/pull/%0A::error,a:b"))
    lines = run(branch, "check", "--format", "github").stdout.splitlines()
    (line,) = (line for line in lines if "title=changelog-link" in line)
    assert "/pull/%250A::error,a:b'" in line
