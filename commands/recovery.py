"""What a command does about a write that an earlier run did not finish."""

from __future__ import annotations

from ..checkout.checkout import Checkout
from ..plan import interrupted, recover
from .output import say


def settle_interrupted(checkout: Checkout, *, dry_run: bool) -> None:
    """Finish or undo an interrupted write and say so; a dry run, which writes nothing, only says it is there."""
    if dry_run:
        if interrupted(checkout.git):
            say("an earlier write was interrupted; the next writing command will finish or undo it")
    elif done := recover(checkout.git):
        say(done)
