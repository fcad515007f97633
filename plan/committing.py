"""A commit as a plan: which files it holds, which ones stay as they are, what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event

from ..checkout.changelog_text import link_of, number_of, own_blocks, split
from ..checkout.changes import read_if_readable
from ..checkout.checkout import Checkout
from ..checkout.git import Git, State
from ..derive.change import Change
from ..derive.compare import compare
from ..derive.figures import CheckoutFigures
from ..derive.prose import derived_lines
from ..derive.wording import Phrase
from ..schema.changelog import parse_entry
from ..schema.errors import BenchscribeError, StateError
from ..schema.results import Line
from ..schema.spec import Spec
from ..writers import git_commit, git_index
from ..writers.git_commit import Committed
from .messages import Message, Subject, message_of, spec_lines
from .model import Plan
from .recognised import recipes_of, recognised

_UNDER_WAY = {
    "rebase": "git rebase --continue",
    "am": "git am --continue",
    "cherry-pick": "git cherry-pick --continue",
    "revert": "git revert --continue",
    "bisect": "git bisect reset",
}


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """What will be committed: `paths`, exactly as they lie in the work tree.

    `left_staged` and `left_dirty` stay as they are. `text` is the message, `concludes` a merge under way, which
    takes the whole index. `notices` are what the author should know before.
    """

    git: Git
    paths: tuple[str, ...]
    text: str
    left_staged: tuple[str, ...] = ()
    left_dirty: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    concludes: bool = False

    @property
    def nothing_to_do(self) -> bool:
        return not self.paths and not self.concludes

    @property
    def subject(self) -> str:
        return self.text.partition("\n")[0]

    def with_subject(self, subject: str) -> CommitPlan:
        """The same with another first line."""
        return replace(self, text=subject + self.text[len(self.subject) :])


def plan_commit(checkout: Checkout, *, spec: Spec | None = None) -> CommitPlan:
    """The commit of the branch's recognised change, work tree against HEAD; nothing is staged yet.

    Raises StateError where a merge, rebase or the like must be ended first.
    """
    git = checkout.git
    state = git.state()
    uncommitted = _uncommitted(git, checkout, state)
    change = _change(checkout, uncommitted)
    paths = recognised(checkout, change, uncommitted, git_index.tracked(git, uncommitted))
    return _plan(checkout, state, paths, _change(checkout, paths), spec)


def plan_commit_of(plan: Plan) -> CommitPlan:
    """The commit of a plan that has been written: exactly its files."""
    checkout, git = plan.wanted, plan.checkout.git
    state = git.state()
    uncommitted = _uncommitted(git, checkout, state)
    named = {change.config_key for change in plan.spec.changes} if plan.spec is not None else set()
    mine = Change(plan.change.layout, tuple(key for key in plan.change.keys if key.key in named))
    files = {edit.path for edit in plan.edits} | recipes_of(checkout.after, mine) | {key.file for key in mine.keys}
    files.add(checkout.layout.changelog)
    real = {_real_path(git, path) for path in files}
    paths = tuple(sorted(real & set(uncommitted)))
    return _plan(checkout, state, paths, _change(checkout, paths), plan.spec)


def make_commit(
    plan: CommitPlan, *, signoff: bool, show: Callable[[str], None], stop: Event | None = None
) -> Committed:
    """Stage and commit, until `stop` is set. Raises as `git_commit.commit_files` does; the files stay as written."""
    try:
        if plan.concludes:
            git_index.stage(plan.git, plan.paths)
            return git_commit.conclude(plan.git, plan.text, signoff=signoff, show=show, stop=stop)
        return git_commit.commit_files(plan.git, plan.paths, plan.text, signoff=signoff, show=show, stop=stop)
    except BenchscribeError as error:
        go_on = "the files are written and nothing was committed; then go on with: benchscribe commit"
        raise type(error)(
            error.what, where=error.where, hint=f"{error.hint}\n  {go_on}" if error.hint else go_on
        ) from None


def _plan(checkout: Checkout, state: State, paths: tuple[str, ...], change: Change, spec: Spec | None) -> CommitPlan:
    git = checkout.git
    concludes = state.operation == "merge"
    staged, dirty = set(git_index.staged(git)), set(git_index.unstaged(git))
    text = _merge_message(git) if concludes else _message(checkout, change, paths, spec).text
    return CommitPlan(
        git=git,
        paths=paths,
        text=text,
        left_staged=() if concludes else tuple(sorted(staged - set(paths))),
        left_dirty=tuple(sorted(dirty - set(paths))),
        notices=tuple(_notices(state)),
        concludes=concludes,
    )


def _uncommitted(git: Git, checkout: Checkout, state: State) -> tuple[str, ...]:
    """Every path that differs from HEAD, once it is sure that a commit may be made now."""
    if not git.head:
        raise StateError("the branch has no commit yet", hint="commit the checkout's own files first")
    conflicts = git_index.unmerged(git)
    if conflicts:
        names = ", ".join(list(conflicts)[:5]) + (" …" if len(conflicts) > 5 else "")
        is_ours = checkout.layout.changelog in conflicts
        hint = "benchscribe reseat settles the changelog" if is_ours else "settle them and git add them"
        raise StateError(f"there are unmerged files: {names}", hint=hint)
    operation = "am" if git.git_path("rebase-apply/applying").exists() else state.operation
    if operation in _UNDER_WAY and not _stands_at_an_edit(git, operation):
        hint = f"it makes its own commit: {_UNDER_WAY[operation]}"
        raise StateError(f"a {operation} is under way, and a commit now would get in between", hint=hint)
    return tuple(sorted({*git_index.staged(git), *git_index.unstaged(git)}))


def _stands_at_an_edit(git: Git, operation: str) -> bool:
    """Whether a rebase stopped because the author asked it to, so that new commits have their place here."""
    if operation != "rebase" or git.git_path("CHERRY_PICK_HEAD").exists():
        return False
    folder = git.git_path("rebase-merge")
    return (folder / "amend").exists() or (folder.is_dir() and not (folder / "stopped-sha").exists())


def _notices(state: State) -> list[str]:
    found = []
    if state.operation == "merge":
        found.append("a merge is under way: the commit concludes it, with everything that is staged")
    elif state.operation:
        found.append(
            f"a {state.operation} is under way and stopped for editing: the commit goes in before the rest of it"
        )
    if state.detached and not state.operation:
        found.append("HEAD is detached: no branch will hold the commit; to keep it: git switch -c NAME")
    return found


def _change(checkout: Checkout, paths: Sequence[str]) -> Change:
    """HEAD → HEAD with these files as they are now: what this commit changes, and nothing that stays dirty."""
    head = checkout.at_commit(checkout.git.head)
    after = checkout.after
    if head.layout == after.layout:
        found = {path: read_if_readable(after.read, path) for path in paths}
        after = head.with_changes({path: data for path, (data, is_readable) in found.items() if is_readable})
    try:
        return compare(head, after, frozenset(paths))
    except StateError:
        return Change(checkout.layout.name, ())


def _message(checkout: Checkout, change: Change, paths: Sequence[str], spec: Spec | None) -> Message:
    lines = list(derived_lines(change, CheckoutFigures(checkout.after)))
    notes: list[str] = []
    if spec is not None:
        lines = spec_lines(lines, spec)
    else:
        notes = _new_notes(checkout, lines)
    title = spec.title if spec is not None else None
    fallback = _other_subject(checkout, paths)
    return message_of(change, lines, notes=notes, title=title, fallback=fallback)


def _new_notes(checkout: Checkout, lines: Sequence[Line]) -> list[str]:
    """What the own entry says beyond the derived lines, and did not say at HEAD."""
    told = {text for line in lines for text in (line.en, line.zh)}
    before = {text for block in _own(checkout, head=True) for text in _description(block)}
    found = [text for block in _own(checkout, head=False) for text in _description(block)]
    return [text for text in dict.fromkeys(found) if text not in told and text not in before]


def _description(block: bytes) -> tuple[str, ...]:
    try:
        return parse_entry(block).description
    except BenchscribeError:
        return ()


def _own(checkout: Checkout, *, head: bool) -> list[bytes]:
    """The own entries now or at HEAD; none where the history is damaged."""
    path = checkout.layout.changelog
    snapshot = checkout.at_commit(checkout.git.head) if head else checkout.after
    text = snapshot.read(snapshot.layout.changelog) or b""
    for commit in dict.fromkeys((checkout.base.tip, checkout.base.commit)):
        base = checkout.at_commit(commit)
        history = base.read(base.layout.changelog) or b""
        try:
            return [block.data for block in own_blocks(history, text, path)]
        except StateError:
            continue
    return []


def _other_subject(checkout: Checkout, paths: Sequence[str]) -> Subject:
    """The subject of a commit that changes no key: what became of the changelog, or whose text was edited."""
    changelog = checkout.layout.changelog
    if list(paths) == [changelog]:
        return _changelog_subject(checkout)
    names = [path.rpartition("/")[2] for path in paths if path != changelog]
    if len(names) == 1:
        return Subject("chore", Phrase(f"edit {names[0]}", f"修改 {names[0]}"))
    return Subject(
        "chore", Phrase(f"edit {len(names)} recipe and config files", f"修改 {len(names)} 个 recipe 与配置文件")
    )


def _changelog_subject(checkout: Checkout) -> Subject:
    before, now = _own(checkout, head=True), _own(checkout, head=False)
    if [_but_link(block) for block in before] == [_but_link(block) for block in now] and before != now:
        number = next((number_of(block) for block in now if number_of(block) is not None), None)
        name = f"#{number}" if number is not None else link_of(now[0])
        return Subject("chore(changelog)", Phrase(f"link the entry to {name}", f"将条目链接到 {name}"))
    if (
        not before
        and now
        and split(checkout.at_commit(checkout.git.head).read(checkout.layout.changelog) or b"").blocks
    ):
        return Subject("docs(changelog)", Phrase("describe this change", "说明本次更改"))
    if before == now:
        return Subject("chore(changelog)", Phrase("restore main's history", "恢复 main 的历史记录"))
    return Subject("docs(changelog)", Phrase("reword the entry", "修订条目说明"))


def _but_link(block: bytes) -> bytes:
    return block.replace(link_of(block).encode(), b"")


def _merge_message(git: Git) -> str:
    """The message git prepared for the merge, without its comments."""
    file = git.git_path("MERGE_MSG")
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else "Merge\n"
    return git_commit.without_comments(git, text, git_commit.comment_sign(git, ""))


def _real_path(git: Git, path: str) -> str:
    """Where a written file stands, links followed: git keeps the link and the file apart."""
    root = git.root.resolve()
    place = (root / path).resolve()
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else path
