"""The app's plan: made anew whenever the spec changes, beside the typing, and shown by the step in view."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual import work
from textual.message import Message
from textual.worker import Worker, get_current_worker

from ..plan import Plan
from .disk import DiskWatch
from .key_order import KeyOrderApp
from .model import SpecModel
from .planning import Outcome, WatchedCheckout, judge_plan, plan_spec

if TYPE_CHECKING:
    from .screens.step import StepScreen

# Python runs one thread at a time: where planning is slow it waits for a pause, so that it never holds up typing.
SLOW_PLAN = 0.06
SLOWEST_PACE = 0.05
# Values and findings come into sight together where both are there within this, in seconds.
ONE_REFRESH = 0.06


class ReplanningApp(KeyOrderApp):
    """Holds a spec and the plan of it. `outcome` is the newest, `good_outcome` the last that has a plan."""

    class Planned(Message):
        """A plan, or what stands in its way, has come back from the worker."""

        def __init__(self, outcome: Outcome) -> None:
            super().__init__()
            self.outcome = outcome

    def __init__(self, checkout: WatchedCheckout) -> None:
        super().__init__()
        self.checkout = checkout
        self.disk = DiskWatch(checkout)
        self.model = SpecModel()
        self.outcome: Outcome | None = None
        self.good_outcome: Outcome | None = None
        self.latencies: list[float] = []
        self.finding_latencies: list[float] = []
        self.least_pause = 0.0
        self.key_time = 0.0
        self._typed_at = 0.0
        self._pace = 0.0
        self._judging = 0.0
        self._planning = 0.0

    def replan(self) -> None:
        """Plan what stands in the model; a plan still in the making is given up."""
        if self.model.is_empty:
            self.outcome, self.good_outcome = None, None
            return
        self._plan(self.model.data, self.model.revision)

    @work(thread=True, exclusive=True, group="plan", exit_on_error=True)
    def _plan(self, data: Mapping[str, Any], revision: int) -> None:
        worker = get_current_worker()
        if not self._is_still(worker, max(self._pace, self.least_pause)):
            return
        outcome = plan_spec(data, revision, self.checkout, lambda: worker.is_cancelled)
        if outcome is None or worker.is_cancelled:
            return
        # The first plan reads everything; what is slow is slow twice.
        usual, self._planning = min(outcome.seconds, self._planning), outcome.seconds
        self._pace = min(usual, SLOWEST_PACE) if usual > SLOW_PLAN else 0.0
        if outcome.plan is None or outcome.seconds + self._judging > ONE_REFRESH:
            self.post_message(self.Planned(outcome))
        started = time.perf_counter()
        judged = judge_plan(outcome, self.checkout, lambda: worker.is_cancelled)
        if judged is not None and not worker.is_cancelled:
            self._judging = time.perf_counter() - started
            self.post_message(self.Planned(judged))

    @staticmethod
    def _is_still(worker: Worker[Any], seconds: float) -> bool:
        """Wait for a pause in the typing; False where the next key came first."""
        until = time.perf_counter() + seconds
        while not worker.is_cancelled and time.perf_counter() < until:
            time.sleep(0.005)
        return not worker.is_cancelled

    def on_replanning_app_planned(self, message: Planned) -> None:
        outcome = message.outcome
        if outcome.revision != self.model.revision or not self.is_running:
            return
        if outcome.judged is None and self.good_outcome is not None:
            outcome = outcome.after(self.good_outcome)
        self.outcome = outcome
        if outcome.plan is not None:
            self.good_outcome = outcome
            self.disk.watch(outcome.plan)
        if (step := self.step) is not None:
            step.show_outcome()
        if self._typed_at:
            self.call_after_refresh(self._time, self._typed_at, outcome)

    def _time(self, typed_at: float, outcome: Outcome) -> None:
        """How long a key took, in seconds: to its values and bytes, and to its findings."""
        taken = time.perf_counter() - typed_at
        if len(self.latencies) == len(self.finding_latencies):
            self.latencies.append(taken)
        if (outcome.plan is None or outcome.judged is not None) and typed_at == self._typed_at:
            self.finding_latencies.append(taken)
            self._typed_at = 0.0

    @property
    def good(self) -> Plan | None:
        """The last plan that could be made."""
        return self.good_outcome.plan if self.good_outcome is not None else None

    @property
    def is_planned(self) -> bool:
        """Whether the outcome at hand is that of the spec as it stands."""
        return self.outcome is not None and self.outcome.revision == self.model.revision

    @property
    def step(self) -> StepScreen | None:
        """The step in view, below any dialog."""
        from .screens.step import StepScreen

        steps = [screen for screen in self.screen_stack if isinstance(screen, StepScreen) and screen.is_mounted]
        return steps[-1] if steps else None
