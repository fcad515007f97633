"""What entries name, what changed, and what may have changed without being seen: shared by the changelog's rules."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ..checkout.recipes import find_recipes
from ..checkout.snapshot import Missing
from ..derive.change import ScriptChange
from ..schema.errors import BenchscribeError
from .model import OwnEntry, Subject

# What cannot change how a benchmark runs.
_IDLE_ENDINGS = (".md", ".rst", ".txt", ".toml", ".gitignore", ".gitattributes")
_IDLE_FOLDERS = ("docs/", ".github/", "tests/")


def names(own: OwnEntry, key: str) -> bool:
    """Whether an entry names a config key, by itself or by a wildcard."""
    return any(fnmatchcase(key, name) for name in own.keys)


def named_keys(own: OwnEntry, keys: Iterable[str]) -> list[str]:
    """The config keys an entry names, in the order of the configs."""
    return [key for key in keys if names(own, key)]


def running_files(subject: Subject) -> list[str]:
    """Changed files beside configs, changelog and YAML recipes that may change how something runs."""
    found = []
    for path in subject.change.other_files:
        below = subject.after.layout.below(path) or path
        if not below.endswith(_IDLE_ENDINGS) and not below.startswith(_IDLE_FOLDERS) and "/tests/" not in below:
            found.append(path)
    return found


def may_change_unseen(subject: Subject, key: str) -> bool:
    """Whether something the key runs may have changed without standing in the `Change`.

    So it is where code or scripts changed as well, and where a recipe of the key is not in the checkout.
    """
    scripts = [script for script in subject.change.scripts if key in script.keys]
    changed = any(code_changed(subject, script) for script in scripts)
    return changed or bool(running_files(subject)) or has_unknown_recipe(subject, key)


def code_changed(subject: Subject, script: ScriptChange) -> bool:
    """Whether a bash recipe changed in more than comments and blanks."""
    return _code(subject.checkout.at_base(script.path)) != _code(subject.after.read(script.path))


def _code(data: bytes | None) -> list[bytes]:
    lines = [line.strip() for line in (data or b"").split(b"\n")]
    return [line for line in lines if line and not line.startswith(b"#")]


def has_unknown_recipe(subject: Subject, key: str) -> bool:
    """Whether a recipe of the key, its bash script included, stands outside what this checkout holds."""
    try:
        entry = subject.after.entry(key)
        if entry is None:
            return False
        return any(
            isinstance(recipe, Missing) and not subject.checkout.can_judge(recipe)
            for item, row in entry.rows()
            for recipe in find_recipes(subject.after, entry, item, row) or [_nowhere(subject, key)]
        )
    except BenchscribeError:
        return True


def _nowhere(subject: Subject, key: str) -> Missing:
    """A row that names no recipe runs something that cannot be looked at."""
    return Missing(key, "", f"no recipe of {key} is named in {subject.after.name}")
