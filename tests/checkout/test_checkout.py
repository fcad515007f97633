"""A checkout as a whole: lazily read, at the work tree, at the base, and with planned edits laid over."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchscribe.checkout import snapshot as snapshot_module
from benchscribe.checkout.checkout import Checkout
from benchscribe.checkout.entry_text import EntryText
from benchscribe.checkout.recipes import find_recipes, find_script, script_paths, sku_of
from benchscribe.checkout.snapshot import Missing, RecipeFile
from benchscribe.checkout.yaml_bytes import yaml_text
from benchscribe.schema.errors import StateError
from benchscribe.schema.master import Entry, Item, Row
from benchscribe.schema.yaml_text import YamlTextError

AMD = """\
# the first
alpha-fp4-mi355x-atom:
  image: vendor/engine:1
  model-prefix: alpha
  runner: cluster:mi355x-amds
  precision: fp4
  framework: atom
  scenarios:
    agentic-coding:
    - dram-utilization: 0.60
      search-space:
       - { tp: 4, conc-list: [1, 2], kv-offloading: none }

beta-fp4-mi355x-atom:
  image: vendor/engine:2
"""
NVIDIA = """\
gamma-fp4-b200-vllm:
  image: vllm/vllm-openai:v1
"""
RUNNERS = "hardware:\n  cluster:mi355x-amds:\n    available-cpu-dram-mib: 3_095_781\n    gpus-per-node: 8\n"
RECIPE = "base: { engine: atom }\noverride_a: {}\n"
FILES = {
    "perf-changelog.yaml": "- config-keys:\n    - alpha-fp4-mi355x-atom\n",
    "configs/amd-master.yaml": AMD,
    "configs/nvidia-master.yaml": NVIDIA,
    "configs/runners.yaml": RUNNERS,
    "golden_al_distribution/alpha_mtp.yaml": "alpha:\n  thinking_on:\n    3: 2.50\n",
    "benchmarks/multi_node/srt-slurm-recipes/alpha/x.yaml": RECIPE,
    "benchmarks/single_node/agentic/alpha_fp4_mi355x_atom.sh": "#!/bin/bash\nexport X=1\n",
    "utils/matrix_logic/generate_sweep_configs.py": "MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB = 3_000_000\n",
}


def git(directory: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", *arguments]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


def write(root: Path, files: dict[str, str]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    write(folder, FILES)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    git(folder, "checkout", "-qb", "work")
    return folder


def test_entries_now_and_at_the_base(root: Path) -> None:
    changed = AMD.replace("engine:2", "engine:3")
    write(root, {"configs/amd-master.yaml": changed})
    checkout = Checkout.open(root / "configs")
    entry, before = checkout.entry("beta-fp4-mi355x-atom"), checkout.entry_at_base("beta-fp4-mi355x-atom")
    assert entry is not None and before is not None
    assert (entry.image, before.image) == ("vendor/engine:3", "vendor/engine:2")
    assert checkout.read("configs/amd-master.yaml") == changed.encode()
    assert checkout.at_base("configs/amd-master.yaml") == AMD.encode()
    assert checkout.entry("nosuch") is None
    assert checkout.at_base("configs/absent.yaml") is None
    assert checkout.base.name == "main"


def test_keys_have_their_places(root: Path) -> None:
    after = Checkout.open(root).after
    assert list(after.keys) == ["alpha-fp4-mi355x-atom", "beta-fp4-mi355x-atom", "gamma-fp4-b200-vllm"]
    assert str(after.keys["beta-fp4-mi355x-atom"].place) == "configs/amd-master.yaml:14"
    row = ("scenarios", "agentic-coding", 0, "search-space", 0, "tp")
    assert str(after.place("alpha-fp4-mi355x-atom", row)) == "configs/amd-master.yaml:12:12"
    assert str(after.place("alpha-fp4-mi355x-atom", ("image",))) == "configs/amd-master.yaml:3:3"
    assert after.place("alpha-fp4-mi355x-atom", ("absent",)).line == 2
    assert after.near_keys("beta-fp4-mi355x-atm") == ["beta-fp4-mi355x-atom", "alpha-fp4-mi355x-atom"]
    assert after.near_keys("zzz") == []


def test_only_the_entry_asked_for_is_parsed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    real = snapshot_module.read_entry_text

    def counting(text: str, key: str, file: str) -> EntryText:
        parsed.append(text.strip())
        return real(text, key, file)

    monkeypatch.setattr(snapshot_module, "read_entry_text", counting)
    checkout = Checkout.open(root)
    assert checkout.entry("gamma-fp4-b200-vllm") is not None
    checkout.entry("gamma-fp4-b200-vllm")
    assert parsed == [NVIDIA.strip()]


def test_untracked_and_committed_states(root: Path) -> None:
    write(root, {"configs/nvidia-master.yaml": NVIDIA + "delta:\n  image: a/b:1\n"})
    assert "delta" in Checkout.open(root).after.keys
    assert "delta" not in Checkout.open(root, committed=True).after.keys
    git(root, "commit", "-qam", "more")
    assert "delta" in Checkout.open(root, committed=True).after.keys
    assert "delta" not in Checkout.open(root, committed=True).before.keys


def test_overlay_shows_the_wanted_state(root: Path) -> None:
    checkout = Checkout.open(root)
    assert checkout.after.runners.known == ("cluster:mi355x-amds",)
    base = checkout.base
    wanted = checkout.with_overlay(
        {"configs/nvidia-master.yaml": b"delta:\n  image: a/b:1\n", "configs/amd-master.yaml": None}
    )
    assert list(wanted.after.keys) == ["delta"]
    assert next(iter(checkout.after.keys)) == "alpha-fp4-mi355x-atom"
    assert wanted.base is base
    assert wanted.entry_at_base("gamma-fp4-b200-vllm") is not None
    changed = wanted.with_overlay({"configs/runners.yaml": b"hardware: {}\n"})
    assert changed.after.runners.known == ()
    assert wanted.after.runners.known == ("cluster:mi355x-amds",)
    opened = Checkout.open(root, overlay={"configs/nvidia-master.yaml": b"epsilon:\n  image: a/b:1\n"})
    assert "epsilon" in opened.after.keys


def test_facts_of_a_checkout(root: Path) -> None:
    after = Checkout.open(root).after
    assert after.runners.hardware("cluster:mi355x-amds").dram_mib == 3_095_781
    assert after.dram_cap.mib == 3_000_000
    assert str(after.dram_cap.place) == "utils/matrix_logic/generate_sweep_configs.py:1"
    (curve,) = after.curves("alpha")
    assert (curve.file, curve.values[3]) == ("golden_al_distribution/alpha_mtp.yaml", 2.5)
    assert after.curves("beta") == []


def test_a_key_twice_is_refused_only_when_it_is_asked_for(root: Path) -> None:
    write(root, {"configs/nvidia-master.yaml": NVIDIA + "\nbeta-fp4-mi355x-atom:\n  image: a/b:1\n"})
    checkout = Checkout.open(root)
    assert checkout.entry("gamma-fp4-b200-vllm") is not None
    assert list(checkout.after.repeated_keys) == ["beta-fp4-mi355x-atom"]
    with pytest.raises(StateError) as error:
        checkout.entry("beta-fp4-mi355x-atom")
    assert "stands at configs/amd-master.yaml:14 too" in error.value.what
    assert str(error.value.where) == "configs/nvidia-master.yaml:4"


def test_a_block_that_does_not_parse_has_the_line_of_the_file(root: Path) -> None:
    write(root, {"configs/nvidia-master.yaml": NVIDIA + "\ndelta:\n  image: a/b:1\n   model: x\n"})
    checkout = Checkout.open(root)
    assert checkout.entry("gamma-fp4-b200-vllm") is not None
    with pytest.raises(YamlTextError) as error:
        checkout.entry("delta")
    assert error.value.exit_code == 3
    assert error.value.where is not None
    assert (error.value.where.path, error.value.where.line) == ("configs/nvidia-master.yaml", 6)


@pytest.mark.parametrize("block", ["delta: text\n", "delta:\n", "delta:\n  - a\n"])
def test_an_entry_that_is_no_mapping_is_refused(root: Path, block: str) -> None:
    write(root, {"configs/nvidia-master.yaml": block})
    with pytest.raises(StateError, match="'delta' is not a mapping"):
        Checkout.open(root).entry("delta")


def test_an_alias_into_another_entry_is_understood(root: Path) -> None:
    text = "alpha:\n  image: &image vendor/engine:1\n\nbeta:\n  image: *image\n"
    write(root, {"configs/nvidia-master.yaml": text})
    checkout = Checkout.open(root)
    entry = checkout.entry("beta")
    assert entry is not None
    assert entry.image == "vendor/engine:1"
    assert checkout.after.place("beta", ("image",)).line == 5


@pytest.mark.parametrize(
    ("data", "line", "word"),
    [
        (b"a:\r\n  b: 1\r\n", 1, "carriage return"),
        (b"a:\n\tb: 1\n", 2, "tab"),
        (b"a:\n  b: \x001\n", 2, "control character"),
        (b"a:\n<<<<<<< HEAD\n", 2, "conflict marker"),
        (b"a:\n=======\nb:\n", 2, "conflict marker"),
        (b"a: 1\n>>>>>>> branch\n", 2, "conflict marker"),
        (b"\xef\xbb\xbfa: 1\n", 1, "byte order mark"),
        (b"a: 1\nb: \xff\n", 2, "UTF-8"),
    ],
)
def test_bytes_no_config_may_hold(root: Path, data: bytes, line: int, word: str) -> None:
    (root / "configs/nvidia-master.yaml").write_bytes(data)
    with pytest.raises(StateError, match=word) as error:
        _ = Checkout.open(root).after.keys
    assert str(error.value.where) == f"configs/nvidia-master.yaml:{line}"
    assert error.value.exit_code == 3


def test_tabs_that_do_no_harm_are_left_alone() -> None:
    text = "a: 1\t# why\n# x\ty\nb: 'c\td'\n\t# a comment\n"
    assert yaml_text(text.encode(), "a.yaml") == text


def test_recipes_in_every_form_of_reference(root: Path) -> None:
    checkout = Checkout.open(root)
    after = checkout.after
    path = "benchmarks/multi_node/srt-slurm-recipes/alpha/x.yaml"
    for reference in (
        "CONFIG_FILE=recipes/alpha/x.yaml:override_a",
        f"{path}:override_a",
        f"CONFIG_FILE={path}",
    ):
        found = after.recipe(reference)
        assert isinstance(found, RecipeFile)
        assert found.path == path
        assert found.variant is not None and found.variant.name == "override_a"
    absent = after.recipe("recipes/alpha/x.yaml:override_b")
    assert isinstance(absent, RecipeFile) and absent.variant is None


@pytest.mark.parametrize(
    ("reference", "judged", "word"),
    [
        ("recipes/alpha/other.yaml", True, "is not in the work tree"),
        ("recipes/beta/x.yaml", False, "is not in the work tree"),
        ("some-name.yaml", False, "outside the checkout"),
        ("../../etc/agentic.yaml", False, "leads out of the checkout"),
        ("/etc/passwd.yaml", False, "leads out of the checkout"),
    ],
)
def test_a_missing_recipe_is_judged_where_its_folder_was(root: Path, reference: str, judged: bool, word: str) -> None:
    checkout = Checkout.open(root)
    found = checkout.after.recipe(reference)
    assert isinstance(found, Missing)
    assert word in found.reason
    assert checkout.can_judge(found) is judged


def test_bash_recipes_are_found_by_their_names(root: Path) -> None:
    checkout = Checkout.open(root)
    entry = checkout.entry("alpha-fp4-mi355x-atom")
    assert entry is not None
    ((item, row),) = entry.rows()
    assert script_paths(checkout.layout, entry, item, row) == (
        "benchmarks/single_node/agentic/alpha_fp4_mi355x_atom.sh",
        "benchmarks/single_node/agentic/alpha_fp4_mi355x.sh",
    )
    assert find_recipes(checkout.after, entry, item, row) == ["benchmarks/single_node/agentic/alpha_fp4_mi355x_atom.sh"]
    script = checkout.after.script("benchmarks/single_node/agentic/alpha_fp4_mi355x_atom.sh")
    assert script is not None and script.assignments[0].name == "X"
    assert checkout.after.script("absent.sh") is None
    without = checkout.with_overlay(
        {
            "benchmarks/single_node/agentic/alpha_fp4_mi355x_atom.sh": None,
            "benchmarks/single_node/agentic/alpha_fp4_mi355x.sh": b"",
        }
    )
    assert find_script(without.after, entry, item, row) == "benchmarks/single_node/agentic/alpha_fp4_mi355x.sh"
    speculative = Row({**row.data, "spec-decoding": "mtp"})
    missing = find_script(checkout.after, entry, item, speculative)
    assert isinstance(missing, Missing)
    assert missing.path == "benchmarks/single_node/agentic/alpha_fp4_mi355x_atom_mtp.sh"
    assert checkout.can_judge(missing)
    fixed = find_script(checkout.after, entry, Item("fixed-seq-len", 0, {}), row)
    assert isinstance(fixed, Missing)
    assert not checkout.can_judge(fixed)


def test_sku_of_a_runner() -> None:
    assert [sku_of(label) for label in ("cluster:mi355x-amds", "mi355x-disagg", "b200", "cluster:gb300-nv")] == [
        "mi355x",
        "mi355x",
        "b200",
        "gb300",
    ]


def test_multi_node_rows_without_a_reference_have_no_recipe(root: Path) -> None:
    entry = Entry("x", {"multinode": True, "runner": "mi355x"})
    assert find_recipes(Checkout.open(root).after, entry, Item("agentic-coding", 0, {}), Row({"prefill": {}})) == []


def test_a_branch_still_in_the_old_layout(root: Path) -> None:
    """The base moved everything below inferencex-e2e; the branch took its files back to the root."""
    git(root, "checkout", "-q", "main")
    (root / "inferencex-e2e").mkdir()
    for name in ("perf-changelog.yaml", "configs", "benchmarks"):
        git(root, "mv", name, f"inferencex-e2e/{name}")
    (root / "inferencex-e2e/infx").mkdir()
    git(root, "mv", "golden_al_distribution", "inferencex-e2e/infx/golden_al_distribution")
    git(root, "commit", "-qam", "move")
    git(root, "checkout", "-q", "work")
    git(root, "merge", "-q", "-s", "ours", "--no-edit", "main")
    checkout = Checkout.open(root)
    assert (checkout.layout.name, checkout.base_layout.name) == ("root", "e2e")
    assert checkout.path_at_base("configs/amd-master.yaml") == "inferencex-e2e/configs/amd-master.yaml"
    assert checkout.at_base("configs/amd-master.yaml") == AMD.encode()
    assert checkout.at_base("golden_al_distribution/alpha_mtp.yaml") is not None
    assert checkout.entry_at_base("beta-fp4-mi355x-atom") is not None


def test_linked_work_tree(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    checkout = Checkout.open(tmp_path / "linked/configs")
    assert checkout.git_root == tmp_path / "linked"
    assert checkout.entry("beta-fp4-mi355x-atom") is not None


def test_committed_needs_a_commit(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    git(tmp_path, "init", "-q")
    assert Checkout.open(tmp_path).entry("beta-fp4-mi355x-atom") is not None
    with pytest.raises(StateError, match="no commit yet"):
        Checkout.open(tmp_path, committed=True)


def test_few_git_processes_for_a_whole_look(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = tmp_path / "calls"
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:/usr/bin:/bin")
    checkout = Checkout.open(root)
    for key in checkout.after.keys:
        assert checkout.entry_at_base(key) is not None
    assert checkout.at_base("perf-changelog.yaml") is not None
    assert checkout.before.dram_cap.mib == 3_000_000
    assert checkout.git.git_path("benchscribe") == root / ".git/benchscribe"
    assert len(calls.read_text().splitlines()) == 4


def test_real_checkouts(shared: Path, tmp_path: Path) -> None:
    subprocess.run([shared / "mkcheckout", "root", tmp_path / "root"], check=True, capture_output=True)
    checkout = Checkout.open(tmp_path / "root")
    after = checkout.after
    assert len(after.keys) == 208
    assert not after.repeated_keys
    for key in after.keys:
        entry = checkout.entry(key)
        assert entry is not None and entry.image and entry.runner
    entry = checkout.entry("dsv4-fp4-b300-vllm-agentic-mtp")
    assert entry is not None
    assert after.runners.hardware(entry.runner).dram_mib == 2_964_436
    assert after.dram_cap.mib == 2_861_022
    references = [text for key in after.keys for _, row in after.entry(key).rows() for text in row.recipe_references]
    found = [after.recipe(reference) for reference in references]
    here = [one for one in found if isinstance(one, RecipeFile)]
    assert len(here) == 96
    assert all(one.variant is not None for one in here)
    judged = [one for one in found if isinstance(one, Missing) and checkout.can_judge(one)]
    # Named by rows, but kept elsewhere: their folders hold other recipes, so they count as missing.
    assert len({one.path for one in judged}) == 4
    assert all(one.reason.endswith("is not in the work tree") for one in judged)


def test_real_e2e_checkout(shared: Path, tmp_path: Path) -> None:
    subprocess.run([shared / "mkcheckout", "e2e", tmp_path / "e2e"], check=True, capture_output=True)
    checkout = Checkout.open(tmp_path / "e2e")
    assert checkout.layout.e2e
    entry = checkout.entry("glm5.2-fp4-mi355x-atom-agentic-mtp")
    assert entry is not None
    for item, row in entry.rows():
        (found,) = find_recipes(checkout.after, entry, item, row)
        assert isinstance(found, RecipeFile)
        assert found.path.startswith("inferencex-e2e/benchmarks/single_node/srt-slurm-recipes/glm5.2/atom")
        assert found.variant is None
        assert len(found.recipe.variants) == 7
