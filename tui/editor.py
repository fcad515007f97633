"""Opening a file in the user's editor, at a line, without a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from ..checkout.line_changes import line_before

if TYPE_CHECKING:
    from .app import BenchscribeApp


def editor_command() -> list[str]:
    """The editor's command as words: `$VISUAL`, `$EDITOR`, else what there is; empty without any."""
    for name in ("VISUAL", "EDITOR"):
        words = shlex.split(os.environ.get(name, ""))
        if words:
            return words
    found = next((found for name in ("nano", "vim", "vi") if (found := shutil.which(name))), "")
    return [found] if found else []


def open_in_editor(app: BenchscribeApp, place: str) -> None:
    """Suspend the app and open `path:line` (relative to the git root, or absolute); reload what changed is offered after."""
    words = editor_command()
    if not words:
        app.notify("Set $EDITOR to open files from here.", severity="warning")
        return
    path, line = _split(place)
    target = app.checkout.git_root / path
    line = _line_on_disk(app, path, target, line)
    position = [f"+{line}"] if line else []
    try:
        with app.suspend():
            subprocess.run([*words, *position, str(target)], check=False)
    except SuspendNotSupported:
        app.notify("This terminal cannot be handed to an editor.", severity="warning")
    except OSError as error:
        app.notify(f"{words[0]}: {error.strerror}", title="The editor does not start", severity="error", markup=False)
    app._look_at_disk()


def _line_on_disk(app: BenchscribeApp, path: str, target: Path, line: int) -> int:
    """The line in the file as it lies there; places are those of the file as it will be."""
    edit = next((one for one in app.good.edits if one.path == path), None) if app.good is not None else None
    if not line or edit is None or edit.before is None or edit.after is None:
        return line
    try:
        is_written = target.read_bytes() != edit.before
    except OSError:
        return line
    return line if is_written else line_before(edit.before, edit.after, line)


def _split(place: str) -> tuple[str, int]:
    path, _, rest = place.partition(":")
    number = rest.partition(":")[0]
    return path, int(number) if number.isdecimal() else 0
