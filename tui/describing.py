"""Opening a branch that was made by hand as a spec, so that its entry can be seen and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan.branch import read_branch
from ..plan.specifying import specify
from ..schema.errors import BenchscribeError
from .model import SpecModel
from .planning import WatchedCheckout

if TYPE_CHECKING:
    from .app import BenchscribeApp


def describe_branch(app: BenchscribeApp) -> None:
    """Read what the branch changed into a spec and show its entry; a branch without a change is told."""
    app.run_worker(lambda: _read(app), thread=True, exclusive=True, group="describe")


def _read(app: BenchscribeApp) -> None:
    try:
        branch = read_branch(WatchedCheckout.open(app.checkout.git_root, base=app.base))
        text, left = specify(branch)
    except BenchscribeError as error:
        app.call_from_thread(_refuse, app, error)
        return
    app.call_from_thread(_open, app, text, left)


def _refuse(app: BenchscribeApp, error: BenchscribeError) -> None:
    app.notify(str(error), title="The branch cannot be described", severity="error", markup=False)


def _open(app: BenchscribeApp, text: str, left: tuple[str, ...]) -> None:
    model = SpecModel.read(text)
    if model.is_empty:
        app.notify("This branch changes no config key yet, so there is nothing to describe.", markup=False)
        return
    app.begin(model)
    app.go("changelog")
    for path in left:
        app.notify(f"{path} stays as it is: a spec cannot express it", markup=False)
