"""Writing a plan: all of its files or none."""

from __future__ import annotations

from collections.abc import Sequence

from ..checkout.git import Git
from ..schema.errors import BenchscribeError
from ..schema.results import Edit
from .model import Plan


class Blocked(BenchscribeError):
    """The plan has findings of severity error, so nothing was written."""

    exit_code = 1


def recover(git: Git) -> str:
    """Finish or undo a write that was interrupted; what was done, empty where there was nothing."""
    from ..writers import transaction

    found = transaction.recover(root=git.root, state_dir=git.own_folder)
    return str(found) if found is not None else ""


def interrupted(git: Git) -> bool:
    """Whether a write was interrupted; looks only."""
    if not git.own_folder.is_dir():
        return False
    from ..writers import transaction

    return transaction.pending(git.own_folder)


def apply_plan(plan: Plan) -> list[str]:
    """Write the plan's files and return their paths, relative to the git root.

    Raises Blocked for a plan with errors, StateError where a file changed since the plan was made, SystemFailure
    where the system refuses; in each case every file is as it was.
    """
    if plan.blocked:
        raise Blocked("the plan has errors; nothing was written", hint="see the findings above")
    return apply_edits(plan.checkout.git, plan.edits)


def apply_edits(git: Git, edits: Sequence[Edit]) -> list[str]:
    """Write some edits, all or none; raises as `apply_plan` does."""
    from ..writers import transaction

    return transaction.apply(edits, root=git.root, state_dir=git.own_folder)
