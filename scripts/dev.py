"""What `./dev` does: a virtual environment in `.venv`, made anew only when it should hold something else."""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "benchscribe-stamp"
# The root is the package, whatever its folder is called. Tools that look for `benchscribe` find it here.
NAMED_ROOT = VENV / "named" / "benchscribe"

USAGE = """\
./dev demo [ARGUMENT …]   the main job on the embedded demo checkout (benchscribe --demo)
./dev test [ARGUMENT …]   the tests (pytest on all cores)
./dev check               lint, format, types, import order
./dev setup               the virtual environment alone
"""


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev", usage=USAGE, add_help=False)
    parser.add_argument("command", choices=["demo", "test", "check", "setup"])
    command, rest = parser.parse_args(arguments[:1]).command, list(arguments[1:])
    try:
        prepare()
    except SetupError as error:
        say(str(error))
        return 4
    except KeyboardInterrupt:
        say("stopped; the next run starts the set-up again")
        return 130
    if command == "demo":
        run([PYTHON, "-P", "-m", "benchscribe", "--demo", *rest])
    if command == "test":
        os.chdir(ROOT)
        run([PYTHON, "-P", "-m", "pytest", "-n", "auto", *rest])
    return check() if command == "check" else 0


def run(command: Sequence[str | Path]) -> NoReturn:
    """Become the command, so that its signals, terminal and exit code are its own."""
    words = [str(word) for word in command]
    sys.stdout.flush()
    os.execve(words[0], words, clean_environment())


def check() -> int:
    """Every check, even after one that failed: the author wants to know all."""
    tools: dict[str, list[str | Path]] = {
        "lint": [PYTHON, "-m", "ruff", "check", "."],
        "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
        "types": [PYTHON, "-P", "-m", "mypy", "-p", "benchscribe"],
        "import order": [VENV / "bin" / "lint-imports"],
    }
    search = str(NAMED_ROOT.parent)
    environment = clean_environment() | {"MYPYPATH": search, "PYTHONPATH": search}
    failed = []
    for name, command in tools.items():
        print(f"== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"dev: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def clean_environment() -> dict[str, str]:
    """The caller's environment without what would bend another Python's idea of where its packages are."""
    bent = {"PYTHONHOME", "PYTHONPATH", "PYTHONSAFEPATH", "__PYVENV_LAUNCHER__"}
    return {name: value for name, value in os.environ.items() if name not in bent}


def prepare() -> None:
    """Bring `.venv` up to date. Touches neither network nor disk when it is."""
    wanted = fingerprint()
    if is_ready(wanted):
        return
    with only_one_at_a_time():
        if not is_ready(wanted):
            build(wanted)


def fingerprint() -> str:
    """What decides the environment's contents: the build and project tables, and where the checkout is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tables = [project["build-system"], project["project"], project["tool"]["setuptools"]]
    content = json.dumps([tables, str(ROOT)], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def is_ready(wanted: str) -> bool:
    # A Python that was upgraded away leaves a dangling link, which is not executable.
    return os.access(PYTHON, os.X_OK) and STAMP.is_file() and STAMP.read_text() == wanted


@contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Hold a lock on the checkout's folder itself: nothing to clean up, released by the kernel on a crash."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another ./dev, which is setting up")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def build(wanted: str) -> None:
    """Make the environment anew, by uv where there is one, else by venv and pip."""
    if VENV.exists() and not STAMP.is_file():
        raise SetupError(f"{VENV} was not made by ./dev, so it is left alone: move it away and run again")
    say("setting up .venv: once, and it needs the package index")
    try:
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir()
        STAMP.write_text("unfinished")  # so that a build that was interrupted is ours to remove
        install()
        NAMED_ROOT.parent.mkdir()
        NAMED_ROOT.symlink_to(ROOT, target_is_directory=True)
        STAMP.write_text(wanted)
    except OSError as error:
        raise SetupError(f"{VENV} cannot be written: {error}") from error


def install() -> None:
    """Python, the package in place (editable) and everything its tests need, into the new `.venv`."""
    # Inside an activated .venv the running Python is about to go: only what it was made from stays.
    base = getattr(sys, "_base_executable", sys.executable)
    uv = shutil.which("uv")
    if uv:
        try:
            call([uv, "venv", "--quiet", "--allow-existing", "--python", base, VENV])
            call([uv, "pip", "install", "--quiet", "--python", PYTHON, "--editable", ".[dev]"])
            return
        except SetupError as error:
            say(f"uv could not do it, so pip has to: {error}")
    if not can_make_environments(base):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SetupError(
            f"{base} cannot make virtual environments with pip. Install one of: python{version}-venv "
            "(Debian, Ubuntu), or uv (https://docs.astral.sh/uv/), which needs no root"
        )
    call([base, "-m", "venv", VENV])
    call([PYTHON, "-m", "pip", "install", "--quiet", "--no-input", "--editable", ".[dev]"])


def can_make_environments(python: str) -> bool:
    """Whether it has venv and ensurepip, which Debian keeps in a package of their own."""
    probe = [python, "-c", "import venv, ensurepip"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def call(command: Sequence[str | Path]) -> None:
    """Run one step of the set-up; its own words are shown only when it fails."""
    quiet = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    step = subprocess.run(
        command,
        cwd=ROOT,
        env=clean_environment() | quiet,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if step.returncode:
        words = " ".join(str(word) for word in command)
        raise SetupError(
            f"this step failed (exit {step.returncode}):\n  {words}\n{step.stdout.strip()}\n"
            "The set-up needs the package index once; run the same command again when it can be reached."
        )


def say(text: str) -> None:
    print(f"dev: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
