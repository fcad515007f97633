"""Registering the merge driver with git, and taking exactly that back: one config section, two attribute lines."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from ..checkout.changelog_text import FILE_NAME
from ..checkout.git import Git
from ..schema.errors import SystemFailure
from .durable import write_new

DRIVER = "benchscribe"
SECTION = f"merge.{DRIVER}"
TITLE = "Benchscribe: entries appended by both sides stand one behind the other"
# A pattern without a slash matches in every folder, so in both layouts.
LINES = (
    "# Written by `benchscribe merge-driver install`; `benchscribe merge-driver uninstall` removes both lines.",
    f"{FILE_NAME} merge={DRIVER}",
)


@dataclass(frozen=True, slots=True)
class Registration:
    """Where the driver is registered: for one repository, all of its work trees, or for the user."""

    scope: str
    attributes: Path

    @classmethod
    def find(cls, git: Git, *, everywhere: bool) -> Registration:
        """The repository's own files, or (`everywhere`) the user's."""
        if everywhere:
            return cls("--global", _user_attributes(git))
        return cls("--local", git.git_path("info/attributes"))


def driver_command() -> str:
    """What git runs, as a line of shell; git's own merge where Benchscribe is no longer there.

    The driver is started as a file, with `-I -S`: without the interpreter's `site` and the import hooks of an
    editable install it takes half the time, and no PYTHONPATH or other virtual environment gets in its way.
    """
    start = Path(__file__).with_name("merge_driver_start.py").resolve()
    python, file = (shlex.quote(str(path)).replace("%", "%%") for path in (Path(sys.executable), start))
    ours = f"{python} -I -S {file} %O %A %B %L %P"
    gits = "git merge-file --quiet --marker-size=%L -L HEAD -L ancestor -L theirs -- %A %O %B"
    return f"if [ -x {python} ] && [ -f {file} ]; then {ours}; else {gits}; fi"


def install(git: Git, registration: Registration) -> bool:
    """Register the driver; whether anything changed. Other settings and attributes stay as they are."""
    wanted = {f"{SECTION}.name": TITLE, f"{SECTION}.driver": driver_command()}
    text = _read(registration.attributes)  # before anything is written: an unreadable file leaves nothing half done
    changed = False
    for name, value in wanted.items():
        if _setting(git, registration.scope, name) != [value]:
            git.run("config", registration.scope, "--replace-all", name, value)
            changed = True
    if LINES[1] not in text.split("\n"):
        _write(registration.attributes, with_lines(text))
        changed = True
    return changed


def uninstall(git: Git, registration: Registration) -> bool:
    """Take the registration back; whether there was anything. A file that only held our lines goes."""
    changed = False
    if _setting(git, registration.scope, f"{SECTION}.driver") or _setting(git, registration.scope, f"{SECTION}.name"):
        git.run("config", registration.scope, "--remove-section", SECTION)
        changed = True
    text = _read(registration.attributes)
    rest = without_lines(text)
    if rest != text:
        changed = True
        _write(registration.attributes, rest)
    return changed


def effective(git: Git, path: str) -> str:
    """The merge driver git would use for a path, `unspecified` where none is named."""
    answer = git.run("check-attr", "-z", "merge", "--", path).split(b"\0")
    return answer[2].decode("utf-8", "replace") if len(answer) > 2 else ""


def with_lines(text: str) -> str:
    """The attributes with our two lines at the end; a file without a last line end stays one."""
    if not text:
        return "\n".join(LINES) + "\n"
    if text.endswith("\n"):
        return text + "\n".join(LINES) + "\n"
    return text + "\n" + "\n".join(LINES)


def without_lines(text: str) -> str:
    """The attributes as they were before `with_lines`; lines that others added since stay."""
    lines = text.split("\n")
    kept = [line for line in lines if line not in LINES]
    return text if len(kept) == len(lines) else "\n".join(kept)


def _setting(git: Git, scope: str, name: str) -> list[str]:
    answer = git.try_run("config", scope, "--null", "--get-all", name)
    return answer.stdout.decode("utf-8", "replace").split("\0")[:-1]


def _user_attributes(git: Git) -> Path:
    """The user's attributes file: the configured one, else git's default place for it."""
    answer = git.try_run("config", "--global", "--type=path", "--get", "core.attributesFile")
    named = answer.stdout.decode("utf-8", "surrogateescape").strip()
    if named:
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "git" / "attributes"


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise SystemFailure(f"{path} cannot be read: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    """Put the text in place by a rename; an empty file goes. A link is followed."""
    path = path.resolve()
    try:
        if not text:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.benchscribe-{os.getpid()}")
        write_new(temporary, text.encode("utf-8", "surrogateescape"))
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    except OSError as error:
        raise SystemFailure(f"{path} cannot be written: {error.strerror}") from None
