"""The two layouts, recognised by their files and mapped onto each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchscribe.checkout.files import Overlay, WorkTree, inside
from benchscribe.checkout.layout import Layout, find_layout, layout_at, layout_of_base, map_path
from benchscribe.schema.errors import StateError, SystemFailure

ROOT = Layout("root", "", ("configs/amd-master.yaml", "configs/nvidia-master.yaml"))
E2E = Layout(
    "e2e",
    "inferencex-e2e",
    ("inferencex-e2e/configs/amd-master.yaml", "inferencex-e2e/configs/nvidia-master.yaml"),
)


def lay(root: Path, *paths: str) -> WorkTree:
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
    return WorkTree(root)


def test_root_layout(tmp_path: Path) -> None:
    files = lay(tmp_path, "perf-changelog.yaml", "configs/amd-master.yaml", "golden_al_distribution/a.yaml", "x/y/z")
    layout = find_layout(files, "x/y")
    assert layout == ROOT
    assert layout.changelog == "perf-changelog.yaml"
    assert layout.runners == "configs/runners.yaml"
    assert layout.curves == "golden_al_distribution"
    assert layout.generator == "utils/matrix_logic/generate_sweep_configs.py"
    assert layout.models_page == "MODELS.md"
    assert layout.archive == "configs/deprecated"
    assert layout.bash_recipes
    assert "no-evals" not in layout.changelog_flags


def test_e2e_layout_from_anywhere(tmp_path: Path) -> None:
    names = (
        "perf-changelog.yaml",
        "configs/nvidia-master.yaml",
        "infx/golden_al_distribution/a.yaml",
        "docs/x",
    )
    files = lay(tmp_path, *(f"inferencex-e2e/{name}" for name in names), "other/deep/file")
    for directory in ("", ".", "inferencex-e2e", "inferencex-e2e/infx", "other/deep"):
        layout = find_layout(files, directory)
        assert layout == E2E
    assert layout.changelog == "inferencex-e2e/perf-changelog.yaml"
    assert layout.curves == "inferencex-e2e/infx/golden_al_distribution"
    assert layout.generator == "inferencex-e2e/infx/matrix/generate.py"
    assert layout.models_page == "inferencex-e2e/docs/MODELS.md"
    assert layout.archive == ""
    assert layout.multi_node_recipes == "inferencex-e2e/benchmarks/multi_node/srt-slurm-recipes"
    assert layout.changelog_flags[-1] == "no-evals"


def test_the_name_of_the_folder_does_not_matter(tmp_path: Path) -> None:
    files = lay(tmp_path, "bench/perf-changelog.yaml", "bench/configs/amd-master.yaml", "bench/utils/x.py")
    layout = find_layout(files)
    assert (layout.name, layout.project_root) == ("root", "bench")


def test_a_further_master_config_is_found(tmp_path: Path) -> None:
    files = lay(tmp_path, "perf-changelog.yaml", "configs/amd-master.yaml", "configs/tpu-master.yaml")
    assert find_layout(files).masters == (
        "configs/amd-master.yaml",
        "configs/nvidia-master.yaml",
        "configs/tpu-master.yaml",
    )


@pytest.mark.parametrize(
    "paths",
    [(), ("perf-changelog.yaml",), ("configs/amd-master.yaml",), ("perf-changelog.yaml", "configs/x.yaml")],
)
def test_not_a_checkout_says_what_was_looked_for(tmp_path: Path, paths: tuple[str, ...]) -> None:
    with pytest.raises(StateError, match=r"perf-changelog\.yaml and a master config") as error:
        find_layout(lay(tmp_path, *paths))
    assert error.value.exit_code == 3


def test_two_checkouts_side_by_side_are_not_guessed_between(tmp_path: Path) -> None:
    names = [f"{folder}/{name}" for folder in "ab" for name in ("perf-changelog.yaml", "configs/amd-master.yaml")]
    files = lay(tmp_path, *names)
    with pytest.raises(StateError, match="several checkouts stand here: a, b"):
        find_layout(files)
    assert find_layout(files, "b/configs").project_root == "b"


@pytest.mark.parametrize(
    ("root", "e2e"),
    [
        ("perf-changelog.yaml", "inferencex-e2e/perf-changelog.yaml"),
        ("configs/amd-master.yaml", "inferencex-e2e/configs/amd-master.yaml"),
        (
            "golden_al_distribution/glm5.2_mtp.yaml",
            "inferencex-e2e/infx/golden_al_distribution/glm5.2_mtp.yaml",
        ),
        ("golden_al_distribution", "inferencex-e2e/infx/golden_al_distribution"),
        ("golden_al_distribution_old/x", "inferencex-e2e/golden_al_distribution_old/x"),
        ("utils/matrix_logic/generate_sweep_configs.py", "inferencex-e2e/infx/matrix/generate.py"),
        ("MODELS.md", "inferencex-e2e/docs/MODELS.md"),
        (
            "benchmarks/multi_node/srt-slurm-recipes/a.yaml",
            "inferencex-e2e/benchmarks/multi_node/srt-slurm-recipes/a.yaml",
        ),
    ],
)
def test_paths_map_both_ways(root: str, e2e: str) -> None:
    assert map_path(root, ROOT, E2E) == e2e
    assert map_path(e2e, E2E, ROOT) == root
    assert map_path(root, ROOT, ROOT) == root


def test_a_path_outside_the_project_stays() -> None:
    assert map_path(".github/workflows/x.yml", E2E, ROOT) == ".github/workflows/x.yml"


def test_the_base_may_have_the_other_layout(tmp_path: Path) -> None:
    e2e = lay(
        tmp_path / "e2e",
        "inferencex-e2e/perf-changelog.yaml",
        "inferencex-e2e/configs/amd-master.yaml",
        "inferencex-e2e/infx/x",
    )
    root = lay(tmp_path / "root", "perf-changelog.yaml", "configs/amd-master.yaml")
    empty = lay(tmp_path / "empty", "readme")
    assert layout_of_base(e2e, ROOT) == E2E
    assert layout_of_base(root, E2E) == ROOT
    assert layout_of_base(empty, E2E) == E2E


def test_real_layouts(shared: Path) -> None:
    assert find_layout(WorkTree(shared / "upstream/root")) == ROOT
    assert find_layout(WorkTree(shared / "upstream/e2e")) == E2E
    assert layout_at(WorkTree(shared / "upstream/e2e"), "") is None


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "a\nb", "a\0b", "a\\b"])
def test_a_path_that_leads_out_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(StateError):
        inside(path)
    with pytest.raises(StateError):
        WorkTree(tmp_path).read(path)
    with pytest.raises(StateError):
        Overlay(WorkTree(tmp_path), {path: b""})


def test_inside_shortens() -> None:
    assert inside("./a//b/../c/.") == "a/c"
    assert inside("") == ""


def test_links_are_followed_inside_only(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret")
    files = lay(tmp_path / "repo", "a/real")
    (tmp_path / "repo/a/real").write_text("content")
    (tmp_path / "repo/link").symlink_to("a/real")
    (tmp_path / "repo/escape").symlink_to("../outside")
    (tmp_path / "repo/up").symlink_to("..")
    (tmp_path / "repo/dangling").symlink_to("nothing")
    (tmp_path / "repo/loop").symlink_to("loop")
    assert files.read("link") == b"content"
    assert files.read("dangling") is None
    for path in ("escape", "up/outside"):
        with pytest.raises(StateError, match="leads out of the checkout"):
            files.read(path)
    with pytest.raises(SystemFailure):
        files.read("loop")


def test_work_tree_reads_what_is_there(tmp_path: Path) -> None:
    files = lay(tmp_path, "a/b")
    assert files.read("a/b") == b""
    assert files.read("a") is None
    assert files.read("a/b/c") is None
    assert files.read("absent") is None
    assert files.names("a") == ["b"]
    assert files.names("absent") == []
    assert files.names("a/b") == []
    assert files.has_folder("a")
    assert not files.has_folder("a/b")


def test_an_unreadable_file_is_a_failure_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = lay(tmp_path, "a")

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(SystemFailure, match="a: cannot be read: Permission denied"):
        files.read("a")


def test_overlay(tmp_path: Path) -> None:
    files = lay(tmp_path, "a/one", "a/two")
    overlay = Overlay(files, {"a/one": b"new", "a/two": None, "./b/deep/three": b"3"})
    assert overlay.read("a/one") == b"new"
    assert overlay.read("a/../a/one") == b"new"
    assert overlay.read("a/two") is None
    assert overlay.read("b/deep/three") == b"3"
    assert overlay.names("a") == ["one"]
    assert overlay.names("") == ["a", "b"]
    assert overlay.names("b") == ["deep"]
    assert overlay.has_folder("b/deep")
    assert overlay.has_folder("a")
    assert not overlay.has_folder("c")
    assert Overlay(overlay, {"a/one": None}).names("a") == []
