"""What every rule is given, and what every rule is: a pure function from a `Subject` to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..checkout.changelog_text import has_conflict_markers
from ..checkout.checkout import Checkout
from ..checkout.line_changes import added_line_numbers
from ..checkout.snapshot import Snapshot
from ..derive.change import Change
from ..derive.figures import CheckoutFigures
from ..schema.changelog import Entry
from ..schema.errors import BenchscribeError, Place
from ..schema.results import SPEC_PATCH as SPEC_PATCH
from ..schema.results import Finding, Fix, Severity
from ..schema.yaml_text import Path

# The actions of a `Fix`. `check --fix` applies all but the last, which is offered and left to the author.
RESEAT, LINK, ENTRY, FINAL_NEWLINE, SEPARATORS = "reseat", "link", "entry", "final-newline", "separators"
SAFE_ACTIONS = (RESEAT, LINK, ENTRY, FINAL_NEWLINE, SEPARATORS)


@dataclass(frozen=True)
class OwnEntry:
    """One changelog entry of the branch's own.

    `entry` is what it says (None where it does not parse), `data` its bytes, `line` its `- config-keys:` line
    in the file. `at_tail` is False for one that stands before an old entry.
    """

    entry: Entry | None
    data: bytes
    line: int
    at_tail: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """The config keys it names, wildcards included."""
        return self.entry.config_keys if self.entry is not None else ()

    @property
    def description(self) -> tuple[str, ...]:
        """Its lines of prose."""
        return self.entry.description if self.entry is not None else ()

    @property
    def flags(self) -> dict[str, bool | int]:
        """The flags that are on."""
        return {name: value for name, value in self.entry.flags if value} if self.entry is not None else {}

    def line_at(self, *path: str | int) -> int:
        """The line, in the file, of a part of the entry: `line_at("description", 2)`; as deep as it goes."""
        from ..schema.yaml_text import place_of

        place = place_of(self._node, (0, *path), "")
        return self.line + max(place.line, 1) - 1

    @cached_property
    def _node(self) -> Any:
        from ..schema.yaml_text import compose

        try:
            return compose(self.data.decode("utf-8", "replace"))
        except BenchscribeError:
            return None


@dataclass(frozen=True)
class Subject:
    """A branch or a plan, as the rules see it. Paths are relative to the git root, in the layout of `after`.

    `files` are the changed paths. `base_changelog` are the bytes the changelog has to start with, `changelog`
    those it has. `everything` asks for old debts too; `planned` are the paths a plan writes, None where a
    branch is judged, `planned_lines` those of master configs in it, as a plan may write one key of many.
    `figures` are those of `after`. `trouble` is why the configs could not be compared; `change` is empty then.
    """

    checkout: Checkout
    before: Snapshot
    after: Snapshot
    change: Change
    figures: CheckoutFigures
    files: frozenset[str]
    base_changelog: bytes
    changelog: bytes
    own: tuple[OwnEntry, ...]
    pull_request: int | None = None
    everything: bool = False
    planned: frozenset[str] | None = None
    planned_lines: Mapping[str, tuple[range, ...]] = field(default_factory=dict)
    trouble: BenchscribeError | None = None
    _added: dict[str, frozenset[int]] = field(default_factory=dict, repr=False, compare=False)
    _lines: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def changelog_path(self) -> str:
        return self.after.layout.changelog

    @cached_property
    def has_conflict(self) -> bool:
        """Whether conflict markers stand in the changelog: both sides' entries do then, and none can be judged."""
        if self.changelog == self.base_changelog:
            return False
        is_whole = self.base_changelog.endswith(b"\n") and self.changelog.startswith(self.base_changelog)
        history = self.base_changelog if is_whole else b""
        return has_conflict_markers(history) or has_conflict_markers(self.changelog[len(history) :])

    def place(self, key: str, path: Path = ()) -> Place:
        """Where a config key, or a field of its entry, stands now."""
        return self.after.place(key, path)

    def added_lines(self, path: str) -> frozenset[int]:
        """The lines, from 1, of the file at `path` that the branch adds or rewrites."""
        if path not in self._added:
            self._added[path] = self._find_added(path)
        return self._added[path]

    def lines(self, path: str) -> list[str]:
        """The lines of the file at `path`, without their line feeds; none where it is not there."""
        if path not in self._lines:
            self._lines[path] = (self.after.read(path) or b"").decode("utf-8", "replace").split("\n")
        return self._lines[path]

    def judged_lines(self, path: str) -> Iterator[tuple[int, str]]:
        """The numbered lines that are the branch's business: those it adds or rewrites, else all."""
        lines = self.lines(path)
        if self.everything:
            return iter(enumerate(lines, 1))
        return ((number, lines[number - 1]) for number in sorted(self.added_lines(path)))

    def _find_added(self, path: str) -> frozenset[int]:
        if path not in self.files:
            return frozenset()
        before = self.checkout.at_base(path) or b""
        return added_line_numbers(before, self.after.read(path) or b"")

    def is_asked_for(self, finding: Finding) -> bool:
        """Whether a finding is about what is judged: of a plan, what it writes itself and no neighbour."""
        if self.planned is None:
            return True
        lines = self.planned_lines.get(finding.path)
        is_touched = lines is None or not finding.line or any(finding.line in some for some in lines)
        return finding.path in self.planned and is_touched

    def judges(self, path: str, line: int) -> bool:
        """Whether a line is the branch's business: it adds or rewrites it, or old debts are asked for too."""
        return self.everything or line in self.added_lines(path)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `title` is a line, `explanation` a paragraph; the examples are short texts, wrong and right."""

    id: str
    severity: Severity
    title: str
    explanation: str
    example_before: str
    example_after: str
    judge: Callable[[Subject], Iterable[Finding]]

    def finding(
        self,
        place: Place,
        message: str,
        hint: str = "",
        *,
        fix: Fix | None = None,
        text: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule at a place; `text` is the offending part of the line."""
        return Finding(self.id, severity or self.severity, place.path, place.line, message, hint, fix, text)
