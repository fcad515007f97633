"""What is installed: every room, its data and nothing else; and the script that sets up a machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NOT_PRODUCT = (".*", "build", "dist", "*.egg-info", "__pycache__")


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_every_package_is_listed() -> None:
    listed = PROJECT["tool"]["setuptools"]["packages"]
    folders = [path.parent.relative_to(ROOT).parts for path in ROOT.rglob("__init__.py")]
    ours = [parts for parts in folders if not {"build", "tests"} & set(parts) and ".venv" not in parts]
    assert sorted(listed) == sorted(".".join(("benchscribe", *parts)) for parts in ours)


def test_every_dependency_has_its_reason_beside_it() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = PROJECT["project"]
    dependencies = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    assert len(dependencies) > 10
    for dependency in dependencies:
        assert re.search(rf'^ +"{re.escape(dependency)}", +# \w.{{8,}}$', text, re.M), dependency


# --- the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the work tree, built in a copy: a build leaves files behind, and takes up older ones."""
    present = version("setuptools")
    if int(present.split(".")[0]) < 77:
        pytest.skip(f"building the wheel takes setuptools 77; here is {present}: use ./dev test")
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "copy", ignore=shutil.ignore_patterns(*NOT_PRODUCT))
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    done = run([sys.executable, "-c", build, str(folder)], cwd=folder / "copy")
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_the_rooms_and_their_data_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    packages = PROJECT["tool"]["setuptools"]["packages"]
    rooms = [ROOT.joinpath(*package.split(".")[1:]) for package in packages]
    modules = {path for room in rooms for path in room.glob("*.py")}
    data = {path for path in (ROOT / "demo").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    styles = set((ROOT / "tui").rglob("*.tcss"))
    wanted = {f"benchscribe/{path.relative_to(ROOT).as_posix()}" for path in modules | data | styles}
    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert "benchscribe/demo/checkout/inferencex-e2e/perf-changelog.yaml" in names


def test_wheel_has_the_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entry_points,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "benchscribe = benchscribe.__main__:main" in archive.read(entry_points).decode()


def test_demo_works_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(installed)], check=True)
    program = "from benchscribe.demo.sample import create, prepared_spec; print(create()); print(prepared_spec())"
    environment = os.environ | {"PYTHONPATH": str(installed), "TMPDIR": str(tmp_path)}
    done = run([sys.executable, "-P", "-c", program], env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    root, spec = map(Path, done.stdout.splitlines())
    assert spec == installed / "benchscribe" / "demo" / "retune.yaml"
    changelog = Path("inferencex-e2e", "perf-changelog.yaml")
    assert (root / changelog).read_bytes() == (ROOT / "demo" / "checkout" / changelog).read_bytes()
    assert not list(root.rglob("*.pyc"))


# --- ./dev


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A checkout in a folder whose name has a blank, with as much as ./dev needs to start."""
    checkout = tmp_path / "a checkout"
    (checkout / "scripts").mkdir(parents=True)
    for name in ("dev", "scripts/dev.py", "pyproject.toml"):
        shutil.copy(ROOT / name, checkout / name)
    return checkout


def dev(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    return run(["/bin/sh", str(checkout / "dev"), *arguments], env=inherited | environment)


def tool(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


OLD = 'case "$1" in --version) echo Python 3.9.2;; *) exit 1;; esac'


def test_dev_says_when_python_is_too_old(copied: Path, tmp_path: Path) -> None:
    tool(tmp_path / "bin", "python3", OLD)
    tool(tmp_path / "bin", "dirname", 'exec /usr/bin/dirname "$@"')
    done = dev(copied, "test", PATH=str(tmp_path / "bin"))
    assert done.returncode == 3
    assert "Python 3.11 or newer is needed; here is: Python 3.9.2." in done.stderr
    assert "PYTHON=/path/to/python3.11" in done.stderr
    assert not (copied / ".venv").exists()


def test_dev_takes_a_newer_python_under_its_own_name(copied: Path, tmp_path: Path) -> None:
    tool(tmp_path / "bin", "python3", OLD)
    tool(tmp_path / "bin", "python3.11", f'exec "{sys.executable}" "$@"')
    tool(tmp_path / "bin", "dirname", 'exec /usr/bin/dirname "$@"')
    done = dev(copied, "dance", PATH=str(tmp_path / "bin"))
    assert done.returncode == 2
    assert "./dev test" in done.stderr and "dance" in done.stderr


def test_dev_leaves_an_environment_of_somebody_else_alone(copied: Path) -> None:
    (copied / ".venv").mkdir()
    (copied / ".venv" / "mine").write_text("kept")
    done = dev(copied, "setup", PYTHON=sys.executable)
    assert done.returncode == 4
    assert "was not made by ./dev" in done.stderr
    assert (copied / ".venv" / "mine").read_text() == "kept"


def test_dev_reports_a_failed_setup_and_begins_anew_the_next_time(copied: Path, tmp_path: Path) -> None:
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PYTHON": sys.executable}
    tool(tmp_path / "bin", "uv", "echo no network; exit 1")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    for _ in range(2):
        done = dev(copied, "setup", PATH=path, **offline)
        assert done.returncode == 4
        assert "uv could not do it" in done.stderr and "this step failed" in done.stderr
        assert "run the same command again" in done.stderr
