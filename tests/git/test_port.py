"""`port` in real repositories: three ways per field and row, conflicts in git's form, the entry derived anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from append_contract import assert_appended
from git_repository import CHANGELOG, HISTORY, MASTER, URL, Repository, config_entry, entry

KEY = "alpha-fp4-mi355x-vllm"
SCRIPT = "benchmarks/single_node/agentic/alpha_fp4_mi355x_vllm.sh"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A script of ours, `fork` (empty yet) from the old main, main one entry further, HEAD on `work` from there."""
    repository = Repository.create(tmp_path / "repo")
    repository.write(SCRIPT, b'#!/bin/bash\nvllm serve "$MODEL" \\\n  --max-num-seqs 8 \\\n  --block-size 32\n')
    repository.commit("script")
    repository.git("branch", "fork")
    repository.changelog(HISTORY + b"\n" + entry("beta-fp4-mi355x-vllm", 50))
    repository.git("checkout", "-qb", "work")
    return repository


MAIN = HISTORY + b"\n" + entry("beta-fp4-mi355x-vllm", 50)


def edit(repository: Repository, *pairs: tuple[str, str], name: str = MASTER) -> None:
    data = repository.read(name).decode()
    for old, new in pairs:
        assert old in data
        data = data.replace(old, new, 1)
    repository.write(name, data.encode())


def fork(repository: Repository, *pairs: tuple[str, str], text: str = "", **files: bytes) -> None:
    """Commit changes of the master, an entry and files on `fork`, and go back."""
    repository.git("checkout", "-q", "fork")
    edit(repository, *pairs)
    if text:
        repository.write(CHANGELOG, repository.read() + b"\n" + entry(KEY, 2698, text=text))
    for name, data in files.items():
        repository.write(name, data)
    repository.commit("fork")
    repository.git("checkout", "-q", "work")


def own_entry(repository: Repository, main: bytes = MAIN) -> str:
    assert_appended(main, repository.read())
    return repository.read()[len(main) :].decode()


def test_a_change_of_one_side_is_carried_whole(repository: Repository) -> None:
    fork(repository, ("v0.1", "v0.2"), ("[1, 2]", "[1, 2, 4]"), text="Drafts stay BF16.")
    done = repository.run("port", "fork", "--pr", "77")
    assert done.exit_code == 0, done.output
    assert repository.read(MASTER) == repository.git("show", f"fork:{MASTER}").encode() + b"\n"
    text = own_entry(repository)
    assert '- "Update the image from vllm/vllm-openai:v0.1 to vllm/vllm-openai:v0.2."' in text
    assert '- "Add TP4 C4."' in text
    assert '- "Drafts stay BF16."' in text
    assert text.endswith(f"pr-link: {URL}77\n")
    assert "2698" not in text
    found = repository.run("check")
    assert found.exit_code == 0, found.output
    again = repository.run("port", "fork", "--pr", "77")
    assert "Nothing to do" in again.stdout


def test_without_pr_the_placeholder_stands_never_the_forks_number(repository: Repository) -> None:
    fork(repository, ("v0.1", "v0.2"), text="x")
    repository.run("port", "fork")
    assert f"pr-link: {URL}XXX" in own_entry(repository)


def test_both_sides_moved_fields_rows_and_points_go_together(repository: Repository) -> None:
    new_row = "      - { tp: 2, kv-offloading: none, conc-list: [4] }\n"
    fork(
        repository,
        ("dram-utilization: 0.20", "dram-utilization: 0.30"),
        ("[1, 2] }\n", "[1, 2, 4] }\n" + new_row),
    )
    edit(repository, ("v0.1", "v0.3"), ("[1, 2]", "[1, 2, 8]"), ("[16, 32]", "[16]"))
    done = repository.run("port", "fork")
    assert done.exit_code == 0, done.output
    expected = (
        config_entry(KEY, "vllm/vllm-openai:v0.3", "0.30")
        .replace("[1, 2] }\n", "[1, 2, 4, 8] }\n" + new_row)
        .replace("[16, 32]", "[16]")
    )
    assert repository.read(MASTER).decode().startswith(expected)
    text = own_entry(repository)
    assert "TP4 C4 and C8" in text
    assert "TP2" in text


def test_a_true_conflict_is_named_per_key_and_field_and_marked_as_git_does(repository: Repository) -> None:
    fork(repository, ("v0.1", "v0.2"), ("0.20", "0.30"), ("[1, 2]", "[1, 2, 4]"))
    edit(repository, ("v0.1", "v0.3"), ("[16, 32]", "[16]"))
    before = repository.read(MASTER)
    dry = repository.run("port", "fork", "--dry-run")
    assert dry.exit_code == 3
    assert repository.read(MASTER) == before
    done = repository.run("port", "fork", "--format", "json")
    assert done.exit_code == 3
    told = json.loads(done.stdout)
    assert told["conflicts"] == [
        {
            "path": MASTER,
            "key": KEY,
            "field": "image",
            "ours": "vllm/vllm-openai:v0.3",
            "theirs": "vllm/vllm-openai:v0.2",
        }
    ]
    marked = (
        "<<<<<<< this branch\n  image: vllm/vllm-openai:v0.3\n=======\n  image: vllm/vllm-openai:v0.2\n>>>>>>> fork\n"
    )
    text = repository.read(MASTER).decode()
    assert marked in text
    assert "dram-utilization: 0.30" in text
    assert "conc-list: [1, 2, 4]" in text
    assert text.count("<<<<<<<") == 1
    assert f"UU {MASTER}" in repository.status()
    assert repository.git("show", f":3:{MASTER}") == repository.git("show", f"fork:{MASTER}")
    # Settled by hand, the second run keeps what stands and derives the entry anew.
    repository.write(MASTER, text.replace(marked, "  image: vllm/vllm-openai:v0.4\n").encode())
    repository.git("add", MASTER)
    done = repository.run("port", "fork", "--prefer", "ours")
    assert done.exit_code == 0, done.output
    assert "to vllm/vllm-openai:v0.4." in own_entry(repository)


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_prefer_settles_conflicts_for_one_side(repository: Repository, side: str) -> None:
    fork(repository, ("v0.1", "v0.2"), **{SCRIPT: b"#!/bin/bash\nvllm serve --block-size 64\n"})
    edit(repository, ("v0.1", "v0.3"))
    edit(repository, ("32", "128"), name=SCRIPT)
    ours = repository.read(SCRIPT)
    done = repository.run("port", "fork", "--prefer", side)
    assert done.exit_code == 0, done.output
    image = "v0.3" if side == "ours" else "v0.2"
    assert f"to vllm/vllm-openai:{image}." in own_entry(repository)
    assert repository.read(SCRIPT) == (ours if side == "ours" else b"#!/bin/bash\nvllm serve --block-size 64\n")


def test_keys_added_and_removed(repository: Repository) -> None:
    new = config_entry("gamma-fp4-mi355x-vllm")
    fork(repository, ("\nbeta-fp4", f"\n# why gamma\n{new}\nbeta-fp4"), text="New.")
    edit(
        repository,
        (
            "beta-fp4-mi355x-vllm:\n  image: vllm/vllm-openai:v0.1",
            "beta-fp4-mi355x-vllm:\n  image: vllm/vllm-openai:v0.9",
        ),
    )
    assert repository.run("port", "fork").exit_code == 0
    text = repository.read(MASTER).decode()
    assert f"\n\n# why gamma\n{new}\nbeta-fp4-mi355x-vllm:\n  image: vllm/vllm-openai:v0.9" in text
    assert "gamma-fp4-mi355x-vllm" in own_entry(repository)


def test_a_key_removed_there_and_changed_here(repository: Repository) -> None:
    fork(repository, (config_entry(KEY), ""))
    edit(repository, ("v0.1", "v0.3"))
    done = repository.run("port", "fork")
    assert done.exit_code == 3
    assert f"{MASTER}: {KEY} (ours it changed, theirs the entry goes)" in done.stderr
    assert b"v0.3" in repository.read(MASTER)


def test_scripts_and_other_files_as_they_are(repository: Repository) -> None:
    odd = "docs/ünï [x]*.txt"
    fork(repository, ("v0.1", "v0.2"), **{odd: b"\x00\xff binary", "run.sh": b"#!/bin/sh\n"})
    repository.git("checkout", "-q", "fork")
    (repository.path / "run.sh").chmod(0o755)
    (repository.path / SCRIPT).chmod(0o755)
    (repository.path / "link").symlink_to("run.sh")
    (repository.path / "golden_al_distribution/none.yaml").unlink()
    repository.write("golden_al_distribution/other.yaml", b"# other\n")
    repository.commit("more")
    repository.git("checkout", "-q", "work")
    repository.write("README.md", b"mine, dirty\n")
    done = repository.run("port", "fork")
    assert done.exit_code == 0, done.output
    assert repository.read(odd) == b"\x00\xff binary"
    assert (repository.path / "run.sh").stat().st_mode & 0o111 == 0o111
    assert (repository.path / SCRIPT).stat().st_mode & 0o111 == 0o111
    assert not (repository.path / "golden_al_distribution/none.yaml").exists()
    assert "link (a link or a submodule: git checkout fork -- link)" in done.stderr
    assert repository.read("README.md") == b"mine, dirty\n"


def test_a_file_deleted_there_and_changed_here_stays_and_is_named(repository: Repository) -> None:
    repository.git("checkout", "-q", "fork")
    (repository.path / SCRIPT).unlink()
    repository.commit("gone")
    repository.git("checkout", "-q", "work")
    edit(repository, ("32", "128"), name=SCRIPT)
    done = repository.run("port", "fork")
    assert done.exit_code == 3
    assert "theirs the file goes" in done.stderr
    assert b"128" in repository.read(SCRIPT)


def test_an_entry_about_a_script_alone_and_a_companion_entry_are_carried(repository: Repository) -> None:
    lib = "benchmarks/benchmark_lib.sh"
    text = (
        entry(KEY, 2698, text="Wait longer.") + b"\n" + entry("beta-*", 2698, text="Judge it.", flag="evals-only: true")
    )
    repository.git("checkout", "-q", "fork")
    repository.write(lib, b"WAIT=3600\n")
    repository.changelog(HISTORY + b"\n" + text)
    repository.git("checkout", "-q", "work")
    done = repository.run("port", "fork", "--pr", "77")
    assert done.exit_code == 0, done.output
    assert repository.read(lib) == b"WAIT=3600\n"
    assert own_entry(repository) == "\n" + text.decode().replace("2698", "77")


RECIPE = """base:
  engine: vllm
  roles:
    agg:
      args:
        block-size: 32   # small
        max-num-seqs: 8

override_tp4_c1:
  benchmark:
    env:
      CONC: '1'
"""


def test_a_yaml_recipe_is_merged_by_its_data_and_keeps_its_comments(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "repo", project="inferencex-e2e")
    name = "inferencex-e2e/benchmarks/single_node/srt-slurm-recipes/a.yaml"
    repository.write(name, RECIPE.encode())
    repository.commit("recipe")
    repository.git("checkout", "-qb", "fork")
    edit(repository, ("block-size: 32   # small", "block-size: 64   # large"), name=name)
    repository.commit("fork")
    repository.git("checkout", "-qb", "work", "main")
    edit(repository, ("max-num-seqs: 8", "max-num-seqs: 16"), name=name)
    done = repository.run("port", "fork")
    assert done.exit_code == 0, done.output
    assert "block-size: 64" in repository.read(name).decode()
    assert "max-num-seqs: 16" in repository.read(name).decode()
    repository.git("checkout", "-q", "--", ".")
    edit(repository, ("block-size: 32", "block-size: 128"), ("max-num-seqs: 8", "max-num-seqs: 16"), name=name)
    done = repository.run("port", "fork")
    assert done.exit_code == 3
    assert f"{name}: base.roles.agg.args.block-size (ours 128, theirs 64)" in done.stderr
    assert "max-num-seqs: 16\n" in repository.read(name).decode()


def test_a_fork_in_the_old_layout_is_mapped(repository: Repository) -> None:
    fork(repository, ("v0.1", "v0.2"), text="Drafts stay BF16.")
    repository.git("checkout", "-q", "main")
    (repository.path / "inferencex-e2e/infx/matrix").mkdir(parents=True)
    repository.write("inferencex-e2e/infx/matrix/generate.py", b"# e2e\n")
    for name in ("configs", CHANGELOG):
        repository.git("mv", name, f"inferencex-e2e/{name}")
    repository.git("rm", "-rq", "golden_al_distribution")
    repository.commit("move")
    repository.git("checkout", "-qB", "work", "main")
    done = repository.run("port", "fork")
    assert done.exit_code == 0, done.output
    assert b"v0.2" in repository.read(f"inferencex-e2e/{MASTER}")
    assert not (repository.path / MASTER).exists()
    assert b'"Drafts stay BF16."' in repository.read(f"inferencex-e2e/{CHANGELOG}")


def test_refs_that_do_not_do(repository: Repository) -> None:
    for ref, words in {
        "--help-me": "No such option",
        "nosuch": "no commit is named",
        "main": "changes nothing",
    }.items():
        done = repository.run("port", ref)
        assert done.exit_code in (2, 3)
        assert words in done.output
    assert repository.run("port", "--", "-x").exit_code == 3
    repository.git("update-ref", "refs/heads/--dry-run", "fork")
    fork(repository, ("v0.1", "v0.2"))
    repository.git("update-ref", "refs/heads/--dry-run", "fork")
    assert repository.run("port", "refs/heads/--dry-run").exit_code == 0
    assert b"v0.2" in repository.read(MASTER)


def test_a_fork_remote_and_a_shallow_clone(repository: Repository, tmp_path: Path) -> None:
    fork(repository, ("v0.1", "v0.2"), text="x")
    source = repository.path.as_uri()
    clone = Repository(tmp_path / "clone")
    repository.git("clone", "-q", "--depth=1", "--no-single-branch", "-b", "main", source, str(clone.path))
    done = clone.run("port", "origin/fork")
    assert done.exit_code == 3
    assert "git fetch --deepen" in done.stderr
    clone.git("fetch", "-q", "--unshallow")
    assert clone.run("port", "origin/fork").exit_code == 0


def test_the_story_of_2698(tmp_path: Path) -> None:
    """A fork's retune on an old main, six entries newer on main, a new image on top."""
    key = "dsv4-fp4-mi355x-atom-agentic-mtp"
    script = "benchmarks/single_node/agentic/dsv4_fp4_mi355x_atom_mtp.sh"
    repository = Repository.create(tmp_path / "repo")
    config = config_entry(key, "rocm/atom-dev:nightly_202607011200").replace("framework: vllm", "framework: atom").replace(
        "conc-list: [1, 2] }", "conc-list: [1, 2], spec-decoding: mtp }"
    ).replace("conc-list: [16, 32] }", "conc-list: [16, 32], spec-decoding: mtp }")  # fmt: skip
    repository.write(MASTER, config.encode())
    serve = (
        b'#!/bin/bash\npython3 -m atom.entrypoints.openai_server --model "$MODEL" \\\n  --max-num-batched-tokens 8192\n'
    )
    repository.write(script, serve)
    repository.commit("before")
    repository.git("checkout", "-qb", "fork")
    edit(repository, ("nightly_202607011200", "nightly_202608181633"), ("[1, 2]", "[1, 2, 4]"))
    flags = b"  --max-num-batched-tokens 16384 \\\n  --state-checkpoint-interval-tokens 8192\n"
    repository.write(script, serve.replace(b"  --max-num-batched-tokens 8192\n", flags))
    lines = (
        "Retune on rocm/atom-dev:nightly_202608181633 with 32K state checkpoints.",
        "Use 16K batched tokens.",
        "Keep the sparse indexer in BF16.",
    )
    text = entry(key, 2459).replace(f'"About {key}."'.encode(), '"\n    - "'.join(lines).join('""').encode())
    repository.changelog(HISTORY + b"\n" + text)
    repository.git("checkout", "-q", "main")
    main = HISTORY
    for number in (2672, 2642, 2660, 2639, 2677, 2686):
        main += b"\n" + entry(f"other-{number}", number)
    repository.changelog(main)
    repository.git("checkout", "-qb", "internal")
    edit(repository, ("nightly_202607011200", "nightly_202608201032"))
    repository.commit("new image")
    done = repository.run("port", "fork", "--pr", "2698", "--prefer", "ours")
    assert done.exit_code == 0, done.output
    own = own_entry(repository, main)
    assert "nightly_202608201032" in own
    assert "nightly_202608181633" not in own
    assert "8K" in own or "8192" in own
    assert "32K" not in own
    assert "16K batched tokens" in own
    assert "Keep the sparse indexer in BF16." in own
    assert own.endswith(f"pr-link: {URL}2698\n")
    assert "contradicted" in done.stderr
    assert "32K state checkpoints" in done.stderr
    found = repository.run("check")
    assert found.exit_code == 0, found.output
