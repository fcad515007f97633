"""Planning beside the typing: the newest spec only, on one checkout that keeps what it has read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..checkout.checkout import Checkout
from ..checkout.snapshot import Snapshot
from ..plan import Plan, make_plan
from ..schema.errors import BenchscribeError, Problem, SpecError
from ..schema.results import Finding, Severity
from ..schema.spec_reader import read_spec_data
from .spec_text import read_back

SPEC_NAME = "spec"
GRAVITY = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Cancelled(Exception):
    """A newer spec is waiting."""


class WatchedCheckout(Checkout):
    """A checkout that planning can be called away from, between any two of its questions.

    Only the thread that asked to be watched is called away; the screens ask the same checkout meanwhile.
    """

    _is_cancelled: Callable[[], bool] | None = None
    _watched_thread = 0
    _after: Snapshot

    def _check(self) -> None:
        if self._is_cancelled is not None and threading.get_ident() == self._watched_thread and self._is_cancelled():
            raise Cancelled

    @property
    def after(self) -> Snapshot:
        self._check()
        return self._after

    @after.setter
    def after(self, snapshot: Snapshot) -> None:
        self._after = snapshot

    def with_overlay(self, changes: Mapping[str, bytes | None]) -> Checkout:
        self._check()
        return super().with_overlay(changes)

    @contextmanager
    def watched(self, is_cancelled: Callable[[], bool]) -> Iterator[None]:
        """Inside, this thread gives up as soon as `is_cancelled` says so."""
        self._watched_thread, self._is_cancelled = threading.get_ident(), is_cancelled
        try:
            yield
        finally:
            self._is_cancelled = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What planning one revision came to: a plan, the spec's problems, or an error of the checkout."""

    revision: int
    plan: Plan | None
    problems: tuple[Problem, ...] = ()
    error: BenchscribeError | None = None
    seconds: float = 0.0
    judged: tuple[Finding, ...] | None = None
    expected: tuple[Finding, ...] = ()

    def after(self, earlier: Outcome) -> Outcome:
        """This outcome, not judged yet, with the findings of an earlier one in view until it is."""
        return replace(self, expected=earlier.expected if earlier.judged is None else earlier.judged)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The plan's own findings and, once they are judged, those of the rules; the gravest first."""
        own = self.plan.findings if self.plan is not None else ()
        found = self.judged if self.judged is not None else self.expected
        if self.judged is not None or self.expected:
            # What a rule judges, it judges better than the plan's own quick look.
            from ..checks.registry import rule_names

            own = tuple(one for one in own if one.rule not in rule_names())
        judged = [one for one in found if one not in own]
        return tuple(sorted((*own, *judged), key=lambda one: GRAVITY[one.severity]))

    @property
    def blocked(self) -> bool:
        """Whether an error forbids writing."""
        return self.plan is None or any(one.severity is Severity.ERROR for one in self.findings)


_one_at_a_time = threading.Lock()


def plan_spec(
    data: Mapping[str, Any], revision: int, checkout: WatchedCheckout, is_cancelled: Callable[[], bool]
) -> Outcome | None:
    """Plan a spec's data, as its text would be read; None where a newer one came in between. Runs in a thread of its own."""
    with _one_at_a_time:
        if is_cancelled():
            return None
        started = time.perf_counter()
        try:
            with checkout.watched(is_cancelled):
                outcome = _plan(data, checkout)
        except Cancelled:
            return None
    plan, problems, error = outcome
    return Outcome(revision, plan, problems, error, time.perf_counter() - started)


def _plan(
    data: Mapping[str, Any], checkout: Checkout
) -> tuple[Plan | None, tuple[Problem, ...], BenchscribeError | None]:
    try:
        return make_plan(read_spec_data(read_back(data), SPEC_NAME), checkout), (), None
    except SpecError as error:
        return None, error.problems, None
    except BenchscribeError as error:
        return None, (), error


def judge_plan(outcome: Outcome, checkout: WatchedCheckout, is_cancelled: Callable[[], bool]) -> Outcome | None:
    """The outcome with what the rules say of its plan; None where a newer spec came in between."""
    from ..plan.judging import rule_findings

    plan = outcome.plan
    if plan is None:
        return None
    with _one_at_a_time:
        if is_cancelled():
            return None
        try:
            with checkout.watched(is_cancelled):
                found = rule_findings(plan)
        except Cancelled:
            return None
        except BenchscribeError as error:
            place = error.where
            found = [
                Finding(
                    "check",
                    Severity.INFO,
                    place.path if place else "",
                    place.line if place else 0,
                    error.what,
                    error.hint,
                )
            ]
    return replace(outcome, judged=tuple(found))
