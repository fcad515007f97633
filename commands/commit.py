"""`benchscribe commit`: exactly our files, with a message in both languages."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..checkout.checkout import Checkout
from ..checks.registry import errors, judge
from ..checks.settings import read_settings
from ..checks.subject import read_subject
from ..plan import Plan
from ..plan.committing import CommitPlan, make_commit, plan_commit, plan_commit_of
from ..plan.messages import LONGEST_SUBJECT
from ..schema.counting import plural
from ..schema.errors import UsageError
from ..writers.git_commit import Committed, asks_for_signoff
from .output import Printer, finding_lines, say
from .recovery import settle_interrupted


def run(repo: Path, *, base: str, yes: bool, signoff: bool, subject: str, check: bool) -> int:
    """Commit the branch's recognised change. Exit code 1: the check has errors; 0 also with nothing to commit."""
    _require_subject(subject)
    checkout = Checkout.open(repo, base=base)
    settle_interrupted(checkout, dry_run=False)
    plan = plan_commit(checkout)
    if plan.nothing_to_do:
        Printer().line(("Nothing to commit: no config, recipe or changelog differs from HEAD.", "head"))
        _name_left(plan)
        return 0
    if not check:
        say("⚠ NOT CHECKED (--no-check): errors that the check would find are committed too")
    elif not _passes(checkout):
        return 1
    return _commit(plan, subject, signoff=signoff, ask=not yes and _is_terminal())


def commit_plan(plan: Plan, *, subject: str = "", signoff: bool = False, ask: bool = False, stream: Any = None) -> int:
    """Commit the files of a plan that has just been written; the exit code. The report goes to `stream` (stdout).

    Raises StateError or SystemFailure where no commit could be made; the files stay written, and the message
    says how to go on.
    """
    _require_subject(subject)
    found = plan_commit_of(plan)
    if found.nothing_to_do:
        Printer(stream).line(("Nothing to commit: HEAD already holds these files.", "head"))
        return 0
    return _commit(found, subject, signoff=signoff, ask=ask, stream=stream)


def _require_subject(subject: str) -> None:
    if subject != subject.strip() or any(ord(sign) < 32 or ord(sign) == 127 for sign in subject):
        raise UsageError("a subject is one line without blanks around it", hint="-m 'perf(agentx): …'")


def _passes(checkout: Checkout) -> bool:
    """Whether the check has no errors; every finding is shown."""
    found = judge(read_subject(checkout), read_settings(checkout.after))
    finding_lines(Printer(sys.stderr), found)
    if errors(found):
        say(
            f"Not committed: the check has {plural(len(errors(found)), 'error')}. Mend them, or commit with --no-check."
        )
    return not errors(found)


def _commit(plan: CommitPlan, subject: str, *, signoff: bool, ask: bool, stream: Any = None) -> int:
    plan = plan.with_subject(subject) if subject else plan
    for notice in plan.notices:
        say(f"⚠ {notice}")
    why = asks_for_signoff(plan.git)
    if why and not signoff:
        say(f"signed off: {why}")
    if ask:
        from .commit_prompts import ask_message

        asked = ask_message(plan)
        if asked is None:
            say("Cancelled: nothing was committed or staged.")
            return 0
        plan = replace(plan, text=asked)
    if len(plan.subject) > LONGEST_SUBJECT:
        say(f"⚠ the subject has {len(plan.subject)} characters; {LONGEST_SUBJECT} are shown everywhere")
    made = make_commit(plan, signoff=signoff or bool(why), show=say)
    _report(Printer(stream), plan, made)
    return 0


def _report(printer: Printer, plan: CommitPlan, made: Committed) -> None:
    size = plural(made.files, "file")
    if made.insertions or made.deletions:
        size += f", +{made.insertions} −{made.deletions}"
    printer.line((f"Committed {made.commit[:10]}", "head"), f"  {made.summary}  ({size})")
    for path in plan.paths:
        printer.line(f"  {path}")
    for path in made.added:
        say(f"⚠ a hook put {path} into the commit too")
    for path in made.rewritten:
        say(f"⚠ a hook changed {path} after it was staged; the commit holds it as it was before")
    _name_left(plan)


def _name_left(plan: CommitPlan) -> None:
    for path in plan.left_staged:
        say(f"left staged, not committed: {_on_one_line(path)}")
    for path in plan.left_dirty:
        if path not in plan.left_staged:
            say(f"left as it is: {_on_one_line(path)}")


def _on_one_line(path: str) -> str:
    return path.replace("\n", "\\n")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
