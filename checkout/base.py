"""The base a branch is compared with (SPEC, "Before and after"): which ref, and where HEAD left it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..schema.errors import StateError
from .git import Git

SETTING = "benchscribe.base"
_REMOTES = ("upstream", "origin")
_MAINS = ("main", "master")


@dataclass(frozen=True, slots=True)
class Base:
    """The commit a branch starts from.

    `ref` is what was asked for or chosen, `name` the short form for people, `tip` the commit the ref
    points to, `commit` the merge base of it and HEAD, `reason` why this one. `ahead` names the main of the
    remote `upstream` where that one has gone on since the chosen default, as on a fork that nobody synchronized.
    """

    ref: str
    name: str
    tip: str
    commit: str
    reason: str
    ahead: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.commit[:10]})"


@dataclass(frozen=True, slots=True)
class _Ref:
    name: str
    commit: str
    target: str
    current: bool
    upstream: str


def find_base(git: Git, ref: str = "") -> Base:
    """The merge base of `ref` and HEAD; without a ref, of the first default that exists.

    Raises StateError: no commit yet, no such ref, no default at all, or no common history.
    """
    if not git.head:
        raise StateError("the branch has no commit yet, so there is no base", hint="commit the checkout's files first")
    if ref:
        return _join(git, ref, ref, git.resolve(ref), "asked for with --base")
    configured = git.setting(SETTING)
    if configured:
        try:
            tip = git.resolve(configured)
        except StateError as error:
            raise StateError(
                f"the configured base {configured!r} does not exist",
                hint=f"git config {SETTING} is set: change or unset it",
            ) from error
        return _join(git, configured, configured, tip, f"set by git config {SETTING}")
    return _default(git)


def _default(git: Git) -> Base:
    refs = {found.name: found for found in _refs(git)}
    current = next((found for found in refs.values() if found.current), None)
    tried = []
    for full, reason in _candidates():
        tried.append(_short(full))
        if full in refs:
            found = refs[full]
            target = found.target if found.target in refs else full
            base = _join(git, full, _short(target), found.commit, _why(reason, current, full))
            return replace(base, ahead=_ahead(git, found, refs))
    if current is not None and current.upstream:
        tried.append(f"{_short(current.upstream)} (the branch's upstream)")
        tip = git.try_run("rev-parse", "--verify", "--quiet", "--end-of-options", current.upstream)
        if tip.returncode == 0:
            commit = tip.stdout.decode("ascii").strip()
            return _join(git, current.upstream, _short(current.upstream), commit, "the branch's upstream")
    else:
        tried.append("the branch's upstream (none is set)")
    raise StateError(
        "no base to compare with was found; tried " + ", ".join(tried),
        hint=f"name one with --base REF, or set it: git config {SETTING} REF",
    )


def _ahead(git: Git, chosen: _Ref, refs: Mapping[str, _Ref]) -> str:
    """The main of `upstream` that holds the chosen ref and more; empty without one."""
    for main in _MAINS:
        other = refs.get(f"refs/remotes/upstream/{main}")
        if other is not None and other.commit != chosen.commit:
            answer = git.try_run("merge-base", "--is-ancestor", chosen.commit, other.commit)
            return _short(other.name) if answer.returncode == 0 else ""
    return ""


def _why(reason: str, current: _Ref | None, full: str) -> str:
    if current is not None and current.name == full:
        return f"{reason}; you are on it, so only what is not committed counts as changed"
    return reason


def _candidates() -> list[tuple[str, str]]:
    """Full ref names in the order of SPEC, each with the reason to give."""
    found = [(f"refs/remotes/{remote}/HEAD", f"default branch of {remote}") for remote in _REMOTES]
    for remote in _REMOTES:
        found += [(f"refs/remotes/{remote}/{main}", f"{main} of {remote}") for main in _MAINS]
    return found + [(f"refs/heads/{main}", f"local {main}, no remote has one") for main in _MAINS]


def _refs(git: Git) -> list[_Ref]:
    patterns = [name for name, _ in _candidates() if name.startswith("refs/remotes/")]
    form = "%(refname)%00%(objectname)%00%(symref)%00%(HEAD)%00%(upstream)"
    listed = git.text("for-each-ref", f"--format={form}", "refs/heads", *patterns)
    found = []
    for line in listed.split("\n"):
        if line:
            name, commit, target, mark, upstream = line.split("\0")
            found.append(_Ref(name, commit, target, mark == "*", upstream))
    return found


def _short(ref: str) -> str:
    return ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")


def _join(git: Git, ref: str, name: str, tip: str, reason: str) -> Base:
    if tip == git.head:
        return Base(ref, name, tip, tip, reason)
    answer = git.try_run("merge-base", tip, git.head)
    commit = answer.stdout.decode("ascii", "replace").strip()
    if answer.returncode == 0 and commit:
        return Base(ref, name, tip, commit, reason)
    if git.shallow:
        raise StateError(
            f"this clone is shallow and does not reach back to where HEAD left {name}",
            hint="deepen it: git fetch --deepen=500, or git fetch --unshallow for all of it",
        )
    raise StateError(f"{name} and HEAD share no history", hint="name another base with --base REF")
