"""The public pull requests of `shared/cases` as git checkouts: base on main, the change on a branch."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from upstream_checkout import git

CHANGELOG = """\
- config-keys:
    - first-key
  description:
    - "One."
  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/1

- config-keys:
    - second-key
  description:
    - "Two."
  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/2
  
- config-keys:
    - third-key
  description:
    - "Three."
  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/3
"""
KEPT_KEY = """\
first-key:
  image: lmsysorg/sglang:v1
  model: a/b
  model-prefix: c
  runner: {runner}
  precision: fp8
  framework: sglang
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - {{ tp: 8, conc-list: [1] }}
"""


@dataclass(frozen=True)
class Block:
    """One config key's or recipe's text before and after; None where it is absent."""

    file: str
    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Case:
    """One pull request."""

    name: str
    configs: tuple[Block, ...]
    recipes: tuple[Block, ...]
    other_files: tuple[str, ...]
    changelog: str


@cache
def cases(shared: Path) -> tuple[Case, ...]:
    """All of them, by number."""
    return tuple(_case(path) for path in sorted((shared / "cases").glob("*.yaml")))


def _case(path: Path) -> Case:
    data = data_of(path.read_text())
    return Case(
        path.stem,
        tuple(Block(one["file"], one["key"], one["before"], one["after"]) for one in data["configs"]),
        tuple(Block(one["file"], "", one["before"], one["after"]) for one in data["recipes"]),
        tuple(data.get("other_files") or ()),
        str(data["changelog"]),
    )


def build(shared: Path, case: Case, directory: Path, *, entry: bool = False) -> Path:
    """A git checkout standing on the case's branch; `entry` also appends the entry that people merged."""
    root = shared / "upstream" / "root"
    (directory / "configs").mkdir(parents=True)
    shutil.copy(root / "configs/runners.yaml", directory / "configs/runners.yaml")
    shutil.copytree(root / "golden_al_distribution", directory / "golden_al_distribution")
    for path in directory.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (directory / "perf-changelog.yaml").write_text(CHANGELOG)
    _write(directory, case, "before")
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", "base")
    git(directory, "checkout", "-qb", "work")
    _write(directory, case, "after")
    if entry:
        text = case.changelog.strip("\n ") + "\n"
        (directory / "perf-changelog.yaml").write_text(CHANGELOG + "\n" + text)
    return directory


def _write(directory: Path, case: Case, side: str) -> None:
    for name, runner in (("amd", "mi355x"), ("nvidia", "b200")):
        file = f"configs/{name}-master.yaml"
        blocks = [getattr(one, side) for one in case.configs if one.file == file]
        kept = KEPT_KEY.format(runner=runner)
        texts = [kept if name == "amd" else kept.replace("first-key", "other-key")]
        texts += [text if text.endswith("\n") else text + "\n" for text in blocks if text is not None]
        (directory / file).write_text("\n".join(texts))
    for recipe in case.recipes:
        path = directory / recipe.file
        text = getattr(recipe, side)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def data_of(text: str) -> Any:
    """The data of a YAML text, as the checkouts' own Python reads it."""
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
