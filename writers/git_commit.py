"""The commit: exactly the given files, by `git commit` itself, so that hooks and signing are the repository's."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from ..checkout.git import REPOSITORY_VARIABLES, Git
from ..schema.errors import BenchscribeError, StateError, SystemFailure
from . import git_index

HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
SHA1 = 40
COMMENT_SIGNS = "#;@!$%^&|:"
_GITS_OWN = ("fatal: ", "error: ")


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that was made. `added` are files a hook put in beside ours, `rewritten` ours that differ from
    the commit again, because a hook changed them after they were staged."""

    commit: str
    summary: str
    files: int
    insertions: int
    deletions: int
    added: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()


def commit_files(
    git: Git,
    paths: Sequence[str],
    message: str,
    *,
    signoff: bool,
    show: Callable[[str], None],
    stop: Event | None = None,
) -> Committed:
    """Stage exactly `paths` as they lie in the work tree and commit them; what else is staged stays staged.

    `show` gets what git and the hooks print, line by line; once `stop` is set, git and its hooks are ended. Raises
    StateError where another process holds the index, a hook refuses or it was stopped, SystemFailure where git fails;
    the files stay staged then.
    """
    git_index.wait_for_index(git)
    git_index.stage(git, paths)
    others = sorted(set(git_index.staged(git)) - set(paths))
    _commit(git, message, list(paths) if others else [], signoff=signoff, show=show, stop=stop)
    if others:
        # A hook saw an index of its own; what it added to ours would look staged back to before.
        git_index.as_in_head(git, paths)
    return _result(git, paths)


def conclude(
    git: Git, message: str, *, signoff: bool, show: Callable[[str], None], stop: Event | None = None
) -> Committed:
    """Commit the whole index, as a merge has to be. Raises as `commit_files` does."""
    git_index.wait_for_index(git)
    _commit(git, message, [], signoff=signoff, show=show, stop=stop)
    return _result(git, ())


def _commit(
    git: Git, message: str, only: list[str], *, signoff: bool, show: Callable[[str], None], stop: Event | None
) -> None:
    with tempfile.TemporaryDirectory(prefix="benchscribe-") as folder:
        text = Path(folder) / "message"
        text.write_text(message, encoding="utf-8")
        # `whitespace`: a line of prose that starts with the comment sign is no comment.
        # The message holds Chinese, whatever encoding the repository names for others.
        command = ["git", "-C", str(git.root), "-c", "i18n.commitEncoding=UTF-8", "commit", "--quiet"]
        command += [f"--file={text}", "--cleanup=whitespace"]
        command += ["--signoff"] if signoff else []
        if only:
            named = Path(folder) / "paths"
            named.write_bytes(b"".join(os.fsencode(f":(top,literal){path}") + b"\0" for path in only))
            command += ["--only", f"--pathspec-from-file={named}", "--pathspec-file-nul"]
        code, said = _run_shown(command, show, stop)
    if code and stop is not None and stop.is_set():
        raise StateError("the commit was stopped before it was made")
    if code:
        raise _refused(git, code, said)


def _run_shown(command: list[str], show: Callable[[str], None], stop: Event | None) -> tuple[int, list[str]]:
    """Run a command, its output passed on line by line and kept, until it ends or `stop` is set."""
    environment = {name: value for name, value in os.environ.items() if name not in REPOSITORY_VARIABLES}
    # Messages are read for what went wrong; hooks keep the user's own locale.
    environment["LANGUAGE"] = "C"
    said: list[str] = []
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            # To be stopped together, git and its hooks need a group of their own; else they keep the terminal's.
            process_group=None if stop is None else 0,
        )
    except OSError as error:
        raise SystemFailure(f"git cannot be run: {error.strerror or error}", hint="install git") from None
    if stop is not None:
        Thread(target=_end_when, args=(process, stop), daemon=True).start()
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.decode("utf-8", "replace").rstrip("\r\n"))
            show(said[-1])
    return process.returncode, said


def _end_when(process: subprocess.Popen[bytes], stop: Event) -> None:
    """End a command's whole group once `stop` is set; git takes its locks away on this signal."""
    while process.poll() is None:
        if stop.wait(0.1):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGTERM)
            return


def _refused(git: Git, code: int, said: Sequence[str]) -> BenchscribeError:
    """Why git made no commit, and what to do; git's own words and the hooks' have been shown already."""
    gits = [line for line in said if line.startswith(_GITS_OWN)]
    words = "; ".join(line.partition(": ")[2] for line in gits) or "it gave no reason"
    whole = "\n".join(said)
    if git_index.is_locked(whole):
        return git_index.locked(git)
    if any(sign in whole for sign in ("failed to sign", "gpg failed", "signing key", "signingkey")):
        hint = "give git a key (git config user.signingKey KEY), or commit without: git -c commit.gpgSign=false commit"
        return SystemFailure(f"the commit could not be signed: {words}", hint=hint)
    if "tell me who you are" in whole or "empty ident" in whole:
        hint = "git config user.name NAME, git config user.email ADDRESS"
        return StateError("git does not know who the author is", hint=hint)
    hooks = [name for name in HOOKS if _is_hook(git, name)]
    if code == 1 and hooks and not gits:
        hint = "mend what it says, or see the hook itself: " + str(git.git_path("hooks"))
        return StateError(f"a hook of the repository refused the commit ({' or '.join(hooks)})", hint=hint)
    return SystemFailure(f"git commit failed: {words}")


def _is_hook(git: Git, name: str) -> bool:
    return os.access(git.git_path("hooks") / name, os.X_OK)


def _result(git: Git, paths: Sequence[str]) -> Committed:
    commit = git.text("rev-parse", "--verify", "HEAD")
    # Of a merge, what it brought to this branch: without a second commit named, git lists only evil parts.
    is_merge = git.try_run("rev-parse", "--verify", "--quiet", f"{commit}^2").returncode == 0
    sides = (f"{commit}^1", commit) if is_merge else (commit,)
    listed = git.run("diff-tree", "--root", "--no-commit-id", "--name-only", "--no-renames", "-r", "-z", *sides)
    inside = {name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name}
    summary, insertions, deletions = _read_commit(git, commit)
    return Committed(
        commit=commit,
        summary=summary,
        files=len(inside),
        insertions=insertions,
        deletions=deletions,
        added=tuple(sorted(inside - set(paths))) if paths else (),
        rewritten=tuple(path for path in git_index.unstaged(git) if path in set(paths)),
    )


def _read_commit(git: Git, commit: str) -> tuple[str, int, int]:
    """A commit's summary and how many lines it adds and removes (0 and 0 where that is not known)."""
    if len(commit) > SHA1:  # GitPython reads repositories with SHA-1 names only
        return git.text("show", "--no-patch", "--format=%s", commit), 0, 0
    from git import Repo

    with Repo(git.root) as repository:
        made = repository.commit(commit)
        total = made.stats.total
        return str(made.summary), int(total["insertions"]), int(total["deletions"])


def comment_sign(git: Git, text: str) -> str:
    """The sign that starts a comment in a message: `core.commentChar`; of `auto`, the first that is free."""
    wanted = git.setting("core.commentChar") or "#"
    if wanted != "auto":
        return wanted
    taken = {line[0] for line in text.split("\n") if line}
    return next((sign for sign in COMMENT_SIGNS if sign not in taken), "#")


def without_comments(git: Git, text: str, sign: str) -> str:
    """A message as the author left it in an editor: comments out, blank lines tidied, as git does it."""
    setting = f"core.commentChar={sign}"
    data = git.run("-c", setting, "stripspace", "--strip-comments", data=text.encode("utf-8"))
    return data.decode("utf-8", "replace")


def asks_for_signoff(git: Git) -> str:
    """Why commits here are to be signed off, empty where nothing asks for it."""
    for name in ("benchscribe.signoff", "format.signOff"):
        answer = git.try_run("config", "--type=bool", "--get", name)
        if answer.stdout.strip() == b"true":
            return f"git config {name}"
    names = (".github/dco.yml", "DCO", "DCO.md", "DCO.txt")
    return next((f"{name} asks for it" for name in names if (git.root / name).is_file()), "")
