"""Where a checkout keeps what: the layouts `root` and `e2e` (source: FACTS §1), recognised by their files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..schema.errors import StateError
from .files import Files

CHANGELOG = "perf-changelog.yaml"
MASTER_ENDING = "-master.yaml"
E2E_FOLDER = "inferencex-e2e"
_MASTERS = ("configs/amd-master.yaml", "configs/nvidia-master.yaml")
_FLAGS = ("append-only", "evals-only", "all-evals", "eval-min-prefill-ep")
# What has another path in each layout, below the project root: (root, e2e).
_MOVED = (
    ("golden_al_distribution", "infx/golden_al_distribution"),
    ("utils/matrix_logic/generate_sweep_configs.py", "infx/matrix/generate.py"),
    ("MODELS.md", "docs/MODELS.md"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """One layout at one place. All paths are relative to the git root, with `/`.

    `name` is `root` or `e2e`; `project_root` is empty where the project is the whole repository.
    """

    name: str
    project_root: str
    masters: tuple[str, ...]

    def at(self, path: str) -> str:
        """A path below the project root, seen from the git root."""
        return f"{self.project_root}/{path}" if self.project_root else path

    def below(self, path: str) -> str | None:
        """A path from the git root, seen from the project root; None when it stands outside."""
        if not self.project_root:
            return path
        start = f"{self.project_root}/"
        return path.removeprefix(start) if path.startswith(start) else None

    @property
    def e2e(self) -> bool:
        return self.name == "e2e"

    @property
    def changelog(self) -> str:
        return self.at(CHANGELOG)

    @property
    def runners(self) -> str:
        return self.at("configs/runners.yaml")

    @property
    def archive(self) -> str:
        """The folder of retired entries, empty where they are deleted instead."""
        return "" if self.e2e else self.at("configs/deprecated")

    @property
    def curves(self) -> str:
        return self.at(_MOVED[0][self.e2e])

    @property
    def generator(self) -> str:
        return self.at(_MOVED[1][self.e2e])

    @property
    def models_page(self) -> str:
        return self.at(_MOVED[2][self.e2e])

    @property
    def single_node_recipes(self) -> str:
        return self.at("benchmarks/single_node")

    @property
    def multi_node_recipes(self) -> str:
        """The root of `CONFIG_FILE=recipes/…`."""
        return self.at("benchmarks/multi_node/srt-slurm-recipes")

    @property
    def recipe_roots(self) -> tuple[str, ...]:
        return self.single_node_recipes, self.multi_node_recipes

    @property
    def changelog_flags(self) -> tuple[str, ...]:
        return (*_FLAGS, "no-evals") if self.e2e else _FLAGS

    @property
    def bash_recipes(self) -> bool:
        """Whether single-node recipes are bash scripts named by convention."""
        return not self.e2e


def find_layout(files: Files, directory: str = "") -> Layout:
    """The layout of the checkout that holds `directory` (relative to the git root).

    The nearest folder upwards that has the files counts, then the git root, then a folder right below it.
    Raises StateError that names what was looked for, or the candidates when there are several.
    """
    for folder in _upwards(directory):
        if found := layout_at(files, folder):
            return found
    below = [folder for folder in files.names("") if not folder.startswith(".") and files.has_folder(folder)]
    found_below = [found for folder in below if (found := layout_at(files, folder))]
    if len(found_below) > 1:
        names = ", ".join(found.project_root for found in found_below)
        raise StateError(f"several checkouts stand here: {names}", hint="go into one of them, or name it with --repo")
    if found_below:
        return found_below[0]
    raise StateError(
        f"no benchmark checkout: neither the git root nor a folder in it has both {CHANGELOG} and "
        f"a master config ({' or '.join(_MASTERS)})",
        hint="go to an InferenceX-like checkout, or name one with --repo",
    )


def layout_at(files: Files, folder: str) -> Layout | None:
    """The layout whose project root is `folder`, None where its files are not there."""
    start = f"{folder}/" if folder else ""
    listed = [f"configs/{name}" for name in files.names(f"{start}configs") if name.endswith(MASTER_ENDING)]
    if not listed or CHANGELOG not in files.names(folder):
        return None
    masters = dict.fromkeys([*_MASTERS, *listed])
    return Layout(_kind(files, folder), folder, tuple(start + master for master in masters))


def _kind(files: Files, folder: str) -> str:
    here = files.names(folder)
    if "infx" in here:
        return "e2e"
    if "golden_al_distribution" in here or "utils" in here:
        return "root"
    return "e2e" if folder else "root"


def layout_of_base(files: Files, now: Layout) -> Layout:
    """The layout at the base, which may be another; `now` itself where the base has no checkout yet."""
    for folder in dict.fromkeys((now.project_root, "", E2E_FOLDER)):
        if found := layout_at(files, folder):
            return found
    try:
        return find_layout(files)
    except StateError:
        return now


def map_path(path: str, source: Layout, target: Layout) -> str:
    """Where the file at `path` in `source` stands in `target`; a path outside the project stays."""
    below = source.below(path)
    if below is None:
        return path
    for pair in _MOVED:
        old, new = pair[source.e2e], pair[target.e2e]
        if below == old or below.startswith(f"{old}/"):
            below = new + below.removeprefix(old)
            break
    return target.at(below)


def _upwards(directory: str) -> Iterator[str]:
    parts = [part for part in directory.split("/") if part not in ("", ".")]
    for length in range(len(parts), -1, -1):
        yield "/".join(parts[:length])
