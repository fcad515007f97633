"""Git's merge driver for the changelog: `python -m benchscribe.writers.merge_driver %O %A %B %L %P`.

Git hands over three files, wants the result in the second, and takes the exit code: 0 clean, up to 127
conflicts, above that a failure. Standard library only on this path: a rebase starts it once per commit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ..schema.errors import BenchscribeError
from .changelog_merge import carry, merge, relink

FAILED = 129  # git: a driver that could not do its work; up to 128 counts conflicts
CONFLICT = (
    "a side changed old lines, and git could not merge them;"
    " `benchscribe reseat` takes main's history and puts this branch's own entries behind it"
)
USAGE = "usage: merge_driver ANCESTOR OURS THEIRS MARKER-SIZE PATH (git's %O %A %B %L %P)"


def run(
    ancestor_path: str,
    ours_path: str,
    theirs_path: str,
    marker_size: int,
    path_name: str,
    environ: Mapping[str, str],
) -> int:
    """Merge the three files into `ours_path` and return git's exit code.

    Two sides that only appended never conflict. Anything else is `git merge-file`'s to decide. Where that
    conflicts and the branch only appended or set links, its entries still go behind main's and its links are
    set there; else the conflict stays, with a message on stderr.
    """
    ancestor, ours, theirs = (Path(path).read_bytes() for path in (ancestor_path, ours_path, theirs_path))
    main, branch = (theirs, ours) if is_theirs_main(environ) else (ours, theirs)
    merged, code = _attempt(merge, ancestor, main, branch), 0
    if merged is None:
        code = _merge_file(ancestor_path, ours_path, theirs_path, marker_size, environ)
        ways = (carry, relink) if 0 < code < FAILED else ()
        found = (_attempt(way, ancestor, main, branch) for way in ways)
        merged = next((data for data in found if data is not None), None)
    if merged is not None:
        Path(ours_path).write_bytes(merged)
        return 0
    if 0 < code < FAILED:
        print(f"benchscribe: {path_name}: {CONFLICT}", file=sys.stderr)
    return code


def _attempt(
    way: Callable[[bytes, bytes, bytes], bytes | None], ancestor: bytes, main: bytes, branch: bytes
) -> bytes | None:
    try:
        return way(ancestor, main, branch)
    except BenchscribeError:  # main's side does not end in a list: git's own merge shows it best
        return None


def is_theirs_main(environ: Mapping[str, str]) -> bool:
    """Whether `%B` is main's side.

    In a `git merge` (which sets `GITHEAD_<commit>`) it is, unless HEAD is the base branch itself and takes a
    branch in; there it still is when what comes in is that base's own remote tip, as in a pull. Rebase,
    cherry-pick, revert and am build on main: there `%A` is main's.
    """
    commits = [name.removeprefix("GITHEAD_") for name in environ if name.startswith("GITHEAD_")]
    if not commits:
        return False
    bases = _base_branches(environ)
    head = _git(environ, "symbolic-ref", "--quiet", "--short", "HEAD")
    if head not in bases:
        return True
    tips = _git(environ, "for-each-ref", "--format=%(objectname) %(refname:lstrip=3)", "refs/remotes").splitlines()
    return any(tip == f"{commit} {head}" for tip in tips for commit in commits)


def _base_branches(environ: Mapping[str, str]) -> list[str]:
    """Names a base branch has here: the configured one, those of the remotes' HEADs, else main, master."""
    configured = _git(environ, "config", "--get", "benchscribe.base")
    if configured:
        return [configured, configured.partition("/")[2]]
    heads = _git(
        environ,
        "for-each-ref",
        "--format=%(symref:lstrip=3)",
        "refs/remotes/upstream/HEAD",
        "refs/remotes/origin/HEAD",
    )
    return heads.split() or ["main", "master"]


def _git(environ: Mapping[str, str], *arguments: str) -> str:
    """What git prints, empty where it fails."""
    import subprocess

    done = subprocess.run(["git", *arguments], env=dict(environ), capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _merge_file(ancestor: str, ours: str, theirs: str, marker_size: int, environ: Mapping[str, str]) -> int:
    """Git's own merge of the three files, into `ours`; the number of conflicts, or FAILED."""
    import subprocess

    names = [name for variable, name in environ.items() if variable.startswith("GITHEAD_")]
    labels = ["-L", "HEAD", "-L", "ancestor", "-L", names[0] if len(names) == 1 else "theirs"]
    size = f"--marker-size={marker_size}"
    command = ["git", "merge-file", "--quiet", size, *labels, "--", ours, ancestor, theirs]
    code = subprocess.run(command, env=dict(environ), check=False).returncode
    return code if 0 <= code < 128 else FAILED


def main(arguments: list[str], environ: Mapping[str, str]) -> int:
    """The driver as git starts it: `%O %A %B %L %P`. Whatever goes wrong must not look like a result."""
    if len(arguments) != 5 or not arguments[3].isdecimal():
        print(USAGE, file=sys.stderr)
        return FAILED
    ancestor, ours, theirs, marker_size, path_name = arguments
    try:
        return run(ancestor, ours, theirs, int(marker_size), path_name, environ)
    except OSError as error:
        print(f"benchscribe: {error}", file=sys.stderr)
        return FAILED
    except Exception:
        import traceback

        traceback.print_exc()
        return _merge_file(ancestor, ours, theirs, int(marker_size), environ)


if __name__ == "__main__":
    import os

    raise SystemExit(main(sys.argv[1:], os.environ))
