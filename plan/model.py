"""`Plan`: what every face shows and applies. Making one writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..checkout.checkout import Checkout
from ..derive.change import Change
from ..schema.results import Derived, Edit, Finding, Line, Severity
from ..schema.spec import Spec
from .diff import FileChange, line_counts


@dataclass(frozen=True, slots=True)
class Plan:
    """The edits, and why they are what they are.

    `checkout` is the state planned from, `wanted` the same with the edits laid over it; `entry` the changelog
    text that will stand behind the base's bytes, empty where there is none.
    """

    spec: Spec | None
    checkout: Checkout
    wanted: Checkout
    edits: tuple[Edit, ...]
    change: Change
    derived: tuple[Derived[Any], ...]
    lines: tuple[Line, ...]
    entry: str
    findings: tuple[Finding, ...]
    pull_request: int | None = None

    @property
    def nothing_to_do(self) -> bool:
        """Whether every file already is as wanted."""
        return not self.edits

    @property
    def blocked(self) -> bool:
        """Whether a finding forbids writing."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def files(self) -> tuple[FileChange, ...]:
        """Lines added and removed per file."""
        return tuple(line_counts(edit) for edit in self.edits)
