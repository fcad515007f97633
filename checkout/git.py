"""Git, asked through its own command: hardened environment, checked refs, few processes.

Every call costs some milliseconds, so what opens a repository is one call, and files of a commit all come
through one `git cat-file --batch` process.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..schema.errors import StateError, SystemFailure

# What git hands to its hooks names *their* repository; asked about another one, it would mislead git.
REPOSITORY_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_NAMESPACE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
)
# A file system monitor named in the repository's configuration would be run as a program.
_SETTINGS = ("--no-pager", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false")
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OPERATIONS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


@dataclass(frozen=True, slots=True)
class State:
    """Where HEAD stands: `branch` is empty when detached, `operation` is empty when none is under way."""

    branch: str
    head: str
    operation: str

    @property
    def detached(self) -> bool:
        return not self.branch

    @property
    def unborn(self) -> bool:
        """Whether the branch has no commit yet."""
        return not self.head


class Git:
    """One repository's work tree. Make it with `Git.open`."""

    def __init__(self, root: Path, folder: Path, own_folder: Path, head: str, shallow: bool) -> None:
        self.root = root
        self.folder = folder
        self.own_folder = own_folder
        self.head = head
        self.shallow = shallow
        self._objects: _Objects | None = None

    @classmethod
    def open(cls, directory: Path) -> Git:
        """The repository whose work tree holds `directory`.

        Raises StateError where there is none or git refuses it, SystemFailure where git itself is missing.
        """
        if not directory.is_dir():
            raise StateError(f"{directory} is not a directory", hint="name a directory inside the checkout")
        questions = ("--show-toplevel", "--absolute-git-dir", "--git-path", "benchscribe")
        answer = _run(directory, "rev-parse", *questions, "--is-shallow-repository", "HEAD^{commit}")
        lines = answer.stdout.decode("utf-8", "surrogateescape").splitlines()
        if len(lines) < 4:
            raise _not_opened(directory, answer.stderr)
        root, folder, own_folder, shallow, *rest = lines
        head = rest[0] if rest and _OBJECT.fullmatch(rest[0]) else ""
        own = Path(os.path.normpath(directory.resolve() / own_folder))
        return cls(Path(root), Path(folder), own, head, shallow == "true")

    def run(self, *arguments: str, data: bytes | None = None) -> bytes:
        """The output of one git command. Raises SystemFailure with git's own words when it fails."""
        answer = self.try_run(*arguments, data=data)
        if answer.returncode:
            raise SystemFailure(f"git {arguments[0]} failed: {_words(answer.stderr)}")
        return answer.stdout

    def text(self, *arguments: str) -> str:
        """As `run`, decoded, without the last line end."""
        return self.run(*arguments).decode("utf-8", "surrogateescape").removesuffix("\n")

    def try_run(self, *arguments: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """One git command whose failure is an answer too."""
        return _run(self.root, *arguments, data=data)

    def resolve(self, ref: str) -> str:
        """The commit that `ref` names. Raises StateError for a name that is unsafe or unknown."""
        check_ref(ref)
        answer = self.try_run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        commit = answer.stdout.decode("ascii", "replace").strip()
        if answer.returncode or not _OBJECT.fullmatch(commit):
            raise StateError(f"no commit is named {ref!r} here", hint="fetch it, or name another one with --base")
        return commit

    def show(self, commit: str, path: str) -> bytes | None:
        """A file's bytes at `commit` (a full object name), links inside it followed; None without one."""
        kind, content = self._object(f"{commit}:{path}")
        return content if kind == "blob" else None

    def kind(self, commit: str, path: str) -> str:
        """`blob`, `tree` or, where nothing stands at `path`, empty."""
        return self._object(f"{commit}:{path}")[0]

    def names(self, commit: str, folder: str) -> list[str]:
        """The names directly in `folder` at `commit`; none where it is not there."""
        kind, content = self._object(f"{commit}:{folder}")
        return sorted(_tree_names(content, len(commit) // 2)) if kind == "tree" else []

    def _object(self, name: str) -> tuple[str, bytes]:
        if "\n" in name or "\0" in name:
            return "", b""
        if self._objects is None:
            self._objects = _Objects(self.root)
        return self._objects.get(name)

    def git_path(self, name: str) -> Path:
        """Where git keeps `name` for this work tree (linked work trees have their own)."""
        if name == "benchscribe":
            return self.own_folder
        return self.root / self.text("rev-parse", "--git-path", name)

    def state(self) -> State:
        """Branch, HEAD and any merge, rebase, cherry-pick, revert or bisection under way, as they are now."""
        answer = self.try_run("symbolic-ref", "--quiet", "--short", "HEAD")
        branch = answer.stdout.decode("utf-8", "replace").strip() if answer.returncode == 0 else ""
        under_way = (name for file, name in _OPERATIONS if (self.folder / file).exists())
        return State(branch, self.head, next(under_way, ""))

    def setting(self, name: str) -> str:
        """A value of the git configuration, empty where it is not set."""
        answer = self.try_run("config", "--get", name)
        return answer.stdout.decode("utf-8", "replace").strip() if answer.returncode == 0 else ""

    def close(self) -> None:
        """End the process that reads objects; the next read starts another."""
        if self._objects is not None:
            self._objects.close()
            self._objects = None


class _Objects:
    """One `git cat-file --batch` process: answers come in the order asked, so one thread at a time."""

    def __init__(self, root: Path) -> None:
        command = ["git", "-C", str(root), *_SETTINGS, "cat-file", "--batch", "--follow-symlinks"]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
        except OSError as error:
            raise _git_missing(error) from None
        self._lock = threading.Lock()
        self.close = weakref.finalize(self, _end, self._process)

    def get(self, name: str) -> tuple[str, bytes]:
        """Kind and content of one object; an empty kind where there is none."""
        with self._lock:
            source, sink = self._process.stdout, self._process.stdin
            assert source is not None and sink is not None
            try:
                sink.write(os.fsencode(name) + b"\n")
                sink.flush()
                return _read_object(source)
            except (OSError, ValueError) as error:
                raise SystemFailure(f"git cat-file stopped while it read {name}: {error}") from None


def _read_object(source: IO[bytes]) -> tuple[str, bytes]:
    header = source.readline()
    if not header.endswith(b"\n"):
        raise OSError("no answer")
    words = header.split()
    kind, size = words[-2:] if len(words) > 1 else (b"", b"")
    if words and words[-1] in (b"missing", b"ambiguous"):
        return "", b""
    content = source.read(int(size) + 1)
    if len(content) != int(size) + 1:
        raise OSError("the answer broke off")
    # Of a link that leads nowhere here git says only `symlink`, `dangling`, `loop` or `notdir` and a size.
    return (str(kind, "ascii") if len(words) == 3 else ""), content[:-1]


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()


def _tree_names(content: bytes, length: int) -> list[str]:
    """The names in a tree object: `<mode> <name>\\0` and an object name of `length` bytes, over and over."""
    names = []
    position = 0
    while position < len(content):
        end = content.index(b"\0", position)
        names.append(os.fsdecode(content[position:end].partition(b" ")[2]))
        position = end + 1 + length
    return names


def check_ref(ref: str) -> None:
    """Refuse a name that git could read as an option, or that no ref can have. Raises StateError."""
    if not ref or ref.startswith("-") or any(ord(sign) < 32 or ord(sign) == 127 for sign in ref):
        raise StateError(
            f"{ref!r} cannot name a commit",
            hint="write a branch, tag or commit, as in upstream/main or 1a2b3c4",
        )


def _environment() -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in REPOSITORY_VARIABLES}
    environment.update(GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", LC_ALL="C")
    return environment


def _run(directory: Path, *arguments: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(directory), *_SETTINGS, *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=False, env=_environment(), input=data or b"")
    except OSError as error:
        raise _git_missing(error) from None


def _git_missing(error: OSError) -> SystemFailure:
    return SystemFailure(f"git cannot be run: {error.strerror or error}", hint="install git 2.30 or newer")


def _not_opened(directory: Path, stderr: bytes) -> StateError:
    words = _words(stderr)
    if "dubious ownership" in words or "safe.directory" in words:
        return StateError(
            f"git refuses {directory}: it belongs to another user",
            hint=f"if you trust it: git config --global --add safe.directory {directory.resolve()}",
        )
    if "must be run in a work tree" in words:
        return StateError(
            f"{directory} is in a git repository but not in its work tree", hint="go to a work tree of it"
        )
    if "not a git repository" in words:
        return StateError(f"{directory} is not in a git work tree", hint="go to a checkout, or name one with --repo")
    return StateError(f"git cannot open {directory}: {words}")


def _words(stderr: bytes) -> str:
    """What git said, without its prefixes; its hints are for its own commands."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    said = [line.removeprefix("fatal: ").removeprefix("error: ") for line in lines if not line.startswith("hint:")]
    return "; ".join(line.strip() for line in said if line.strip()) or "it gave no reason"
