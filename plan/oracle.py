"""The checkout's own verdict: its validator and its matrix generator, run on the state that is judged."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..checkout.throwaway import Throwaway, throwaway
from ..checks.model import Subject
from ..schema.results import Finding, Severity

RULE = "upstream"
TIMEOUT = 300  # seconds; a matrix of the whole changelog's configs takes a few
SHOWN_LINES = 12
SETTING_HINT = (
    'name it in the settings: [tool.benchscribe.upstream] commands = ["utils/validate.py --base {base} --head {head}"]'
)
_REFS = ("--changelog-file", "{changelog}", "--base-ref", "{base}", "--head-ref", "{head}")
# What a checkout may hold, below its project root: what it is called here, where it stands, and its arguments.
# A checkout with other ones names them: `[tool.benchscribe.upstream] commands`.
_PROGRAMS = (
    ("the changelog validator", "utils/validate_perf_changelog.py", _REFS),
    ("the changelog validator", "infx/changelog/validate.py", _REFS),
    ("the changelog's matrix", "utils/process_changelog.py", _REFS),
    ("the changelog's matrix", "infx/changelog/process.py", _REFS),
)
_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")
_LINE = re.compile(r"\bline (\d+)\b|\.yaml:(\d+)\b")


@dataclass(frozen=True, slots=True)
class Program:
    """One of the checkout's own programs: its name for people, path below the project root, and arguments."""

    name: str
    path: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one program said: its exit code (None: it could not be run), and its last words."""

    program: Program
    code: int | None
    words: str


def programs(subject: Subject, commands: Sequence[str] = ()) -> list[Program]:
    """The programs that this checkout holds, at the state that is judged; `commands` are its settings' own."""
    layout = subject.after.layout
    if commands:
        return [Program("the checkout's check", *_split(command)) for command in commands]
    known = [Program(*one) for one in _PROGRAMS]
    keys = tuple(dict.fromkeys(key for own in subject.own for key in own.keys))
    generator = layout.below(layout.generator)
    if generator is not None and keys:
        masters = [layout.below(master) or master for master in layout.masters if subject.after.read(master)]
        arguments = ("test-config", "--config-files", *masters, "--config-keys", *keys)
        known.append(Program("the matrix generator", generator, arguments))
    return [program for program in known if subject.after.read(layout.at(program.path)) is not None]


def _split(command: str) -> tuple[str, tuple[str, ...]]:
    path, *arguments = shlex.split(command)
    return path, tuple(arguments)


def ask_upstream(subject: Subject, commands: Sequence[str] = ()) -> tuple[list[Verdict], list[Finding]]:
    """Run them on a throwaway commit of the state; what each said, and the refusals as findings."""
    found = programs(subject, commands)
    if not found:
        message = "not judged: this checkout holds no validator and no matrix generator that is known here"
        return [], [Finding(RULE, Severity.INFO, subject.changelog_path, 0, message, SETTING_HINT)]
    with throwaway(subject.checkout, subject.files) as state:
        verdicts = [_run(subject, state, program) for program in found]
    return verdicts, [finding for verdict in verdicts for finding in _finding(subject, verdict)]


def _run(subject: Subject, state: Throwaway, program: Program) -> Verdict:
    layout = subject.after.layout
    values = {"changelog": Path(layout.changelog).name, "base": state.base, "head": state.head}
    arguments = [_filled(argument, values) for argument in program.arguments]
    if not (state.root / layout.project_root / program.path).is_file():
        return Verdict(program, None, "this checkout does not hold that file")
    python = shutil.which("python3") or sys.executable
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(state.root / layout.project_root)}
    try:
        answer = subprocess.run(
            [python, program.path, *arguments],
            cwd=state.root / layout.project_root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Verdict(program, None, f"it did not end within {TIMEOUT} seconds")
    except OSError as error:
        return Verdict(program, None, f"it could not be started: {error.strerror or error}")
    said = (answer.stderr or answer.stdout).decode("utf-8", "replace").strip()
    if missing := _MISSING_MODULE.search(said):
        return Verdict(program, None, f"it needs the Python module {missing[1]}, which {python} does not have")
    if answer.returncode == 2 and said.startswith("usage:"):
        return Verdict(program, None, f"it takes other arguments: {said.splitlines()[-1]}")
    return Verdict(program, answer.returncode, said)


def _filled(argument: str, values: dict[str, str]) -> str:
    """The argument with `{changelog}`, `{base}` and `{head}` filled in; other braces are left alone."""
    for name, value in values.items():
        argument = argument.replace(f"{{{name}}}", value)
    return argument


def _finding(subject: Subject, verdict: Verdict) -> Iterator[Finding]:
    path, program = subject.changelog_path, verdict.program
    if verdict.code is None:
        message = f"not judged: {program.name} ({program.path}) gave no verdict: {verdict.words}"
        yield Finding(RULE, Severity.INFO, path, 0, message, SETTING_HINT)
    elif verdict.code:
        words = " ".join(_last(verdict.words.split("\n"))) or f"exit code {verdict.code}"
        message = f"{program.name} ({program.path}) refuses this state: {words}"
        hint = "this is what CI will say; it ran on the state as it lies here, uncommitted files included"
        yield Finding(RULE, Severity.ERROR, path, _line(subject, verdict.words), message, hint)


def _last(lines: Sequence[str]) -> list[str]:
    """What to quote: the end of what was said, of a Python trace its last line."""
    said = [line.strip() for line in lines if line.strip()]
    return said[-1:] if any(line.startswith("Traceback (most recent") for line in said) else said[-SHOWN_LINES:]


def _line(subject: Subject, words: str) -> int:
    """The line a refusal names, where the changelog has one of that number; else that of the own entry."""
    match = _LINE.search(words) if Path(subject.changelog_path).name in words else None
    number = int(match[1] or match[2]) if match else 0
    if 0 < number <= subject.changelog.count(b"\n"):
        return number
    return subject.own[0].line if subject.own else 0
