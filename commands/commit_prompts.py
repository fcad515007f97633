"""Asking for the commit's message on a terminal: as it is, another subject, or the whole of it in an editor."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from ..checkout.git import Git
from ..plan.committing import CommitPlan
from ..schema.errors import SystemFailure
from ..schema.visible import visible
from ..writers.git_commit import comment_sign, without_comments
from .output import Printer

COMMIT, SUBJECT, EDITOR, CANCEL = "commit", "subject", "editor", "cancel"


def ask_message(plan: CommitPlan) -> str | None:
    """The message to commit with, None where the author would rather not."""
    import questionary

    text = plan.text
    while True:
        _preview(plan, text)
        choices = [
            questionary.Choice("Commit", COMMIT),
            questionary.Choice("Edit the subject", SUBJECT),
            questionary.Choice("Edit the message in your editor", EDITOR),
            questionary.Choice("Cancel", CANCEL),
        ]
        answer = questionary.select("Commit these files with this message?", choices).ask()
        if answer == COMMIT:
            return text
        if answer == SUBJECT:
            first = text.partition("\n")[0]
            subject = questionary.text("Subject", default=first, validate=_is_subject).ask()
            text = text if subject is None else subject.strip() + text[len(first) :]
        elif answer == EDITOR:
            text = edited(plan.git, text) or text
        else:
            return None


def _is_subject(text: str) -> bool | str:
    return bool(text.strip()) or "A commit needs a subject"


def _preview(plan: CommitPlan, text: str) -> None:
    printer = Printer()
    printer.line()
    for line in text.rstrip("\n").split("\n"):
        printer.line("  ", visible(line))
    printer.line()
    for path in plan.paths:
        printer.line("  ", (path, "added"))


def edited(git: Git, text: str) -> str:
    """The message as it comes back from git's editor, comments out; empty where all of it was deleted.

    Raises SystemFailure when the editor fails.
    """
    sign = comment_sign(git, text)
    note = f"{sign} Lines that start with '{sign}' are left out; an empty message keeps the old one.\n"
    editor = git.text("var", "GIT_EDITOR")
    with tempfile.TemporaryDirectory(prefix="benchscribe-") as folder:
        file = Path(folder) / "COMMIT_EDITMSG"
        file.write_text(f"{text}\n{note}", encoding="utf-8")
        done = subprocess.run(["sh", "-c", f'{editor} "$@"', editor, str(file)], env=dict(os.environ), check=False)
        if done.returncode:
            raise SystemFailure(
                f"the editor {editor!r} failed", hint="nothing was committed; set another: git config core.editor"
            )
        return without_comments(git, file.read_text(encoding="utf-8", errors="replace"), sign)
