"""Drafts and saved specs, in the user's state directory, never in a checkout: a spec and where its author was.

Files are readable by their owner only. A draft is written beside its final name and renamed, so that a process killed
at any moment leaves the old draft or the new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .schema.errors import SystemFailure

FORMAT = 1
MOST_RECENT = 12
_FIELDS = ("id", "checkout", "branch", "saved_at", "spec", "state")


def state_directory() -> Path:
    """Where drafts live: `$XDG_STATE_HOME/benchscribe` and its like on other systems."""
    from platformdirs import user_state_path

    return user_state_path("benchscribe", appauthor=False)


@dataclass(frozen=True, slots=True)
class Draft:
    """An unfinished spec. `checkout` is the git root, `saved_at` seconds since 1970, `state` the screen's own."""

    id: str
    checkout: str
    branch: str
    spec: str
    saved_at: float = 0.0
    state: Mapping[str, Any] = field(default_factory=dict)


def new_id() -> str:
    """A name no other draft has."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"


class Drafts:
    """The drafts and recent specs of one user."""

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = directory if directory is not None else state_directory()

    def save(self, draft: Draft) -> None:
        """Keep a draft. Raises SystemFailure where the disk refuses."""
        data = {"format": FORMAT, **asdict(draft), "saved_at": draft.saved_at or time.time()}
        self._write(self._folder("drafts") / f"{draft.id}.json", json.dumps(data, ensure_ascii=False, indent=1))

    def drop(self, draft_id: str) -> None:
        """Forget a draft; one that is not there is no mistake."""
        with contextlib.suppress(OSError):
            (self._folder("drafts") / f"{draft_id}.json").unlink(missing_ok=True)

    def of(self, checkout: Path) -> tuple[Draft, ...]:
        """The drafts of one checkout, the newest first. A file that cannot be read as a draft is passed over."""
        folder = self.directory / "drafts"
        found = [draft for path in _json_files(folder) if (draft := _read(path)) and draft.checkout == str(checkout)]
        return tuple(sorted(found, key=lambda draft: draft.saved_at, reverse=True))

    def save_spec(self, name: str, text: str) -> Path:
        """Keep a spec under a name of its own in the state directory; its path. An old one is never replaced."""
        safe = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in name).strip(".-") or "spec"
        folder = self._folder("specs")
        path = folder / f"{safe}.yaml"
        number = 2
        while path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
            path = folder / f"{safe}-{number}.yaml"
            number += 1
        self._write(path, text)
        return path

    def write_spec(self, path: Path, text: str) -> None:
        """Write a spec where the author wants it. Raises SystemFailure where that is not possible."""
        self._write(path, text)

    def remember(self, path: Path, checkout: Path) -> None:
        """Put a spec file at the head of the recent ones."""
        kept = [entry for entry in self._recent() if entry.get("path") != str(path)]
        entries = [{"path": str(path), "checkout": str(checkout), "at": time.time()}, *kept][:MOST_RECENT]
        self._write(self._folder("") / "recent.json", json.dumps(entries, ensure_ascii=False, indent=1))

    def recent(self, checkout: Path) -> tuple[Path, ...]:
        """Spec files used with one checkout that still exist, the newest first."""
        here = [entry for entry in self._recent() if entry.get("checkout") == str(checkout)]
        return tuple(path for entry in here if (path := Path(str(entry.get("path")))).is_file())

    def _recent(self) -> list[dict[str, Any]]:
        try:
            data = json.loads((self.directory / "recent.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []

    def _folder(self, name: str) -> Path:
        folder = self.directory / name if name else self.directory
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SystemFailure(f"{folder} cannot be made: {error.strerror}", hint="drafts need a place") from None
        return folder

    def _write(self, path: Path, text: str) -> None:
        temporary = ""
        try:
            # mkstemp makes files of mode 0600.
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.write(text)
            Path(temporary).replace(path)
        except OSError as error:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            raise SystemFailure(f"{path} cannot be written: {error.strerror}") from None


def _json_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".json" and not path.name.startswith("."))
    except OSError:
        return []


def _read(path: Path) -> Draft | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return None
    kinds: dict[str, Any] = {
        "id": str,
        "checkout": str,
        "branch": str,
        "spec": str,
        "saved_at": (int, float),
        "state": dict,
    }
    if not all(isinstance(data.get(name), kinds[name]) for name in _FIELDS):
        return None
    return Draft(**{name: data[name] for name in _FIELDS})
