"""What a plan is made of: edits, derived values, changelog lines, findings. All immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Edit:
    """One file's bytes before and after.

    `path` is relative to the git root, with `/`. `before` is None for a file that does not exist yet,
    `after` is None for one that goes.
    """

    path: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a derived value: its name, its value as shown, and where it was read (path:line, or empty)."""

    name: str
    value: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Derived(Generic[T]):
    """A value the tool worked out, with the reason in words and numbers, and what it was worked out from."""

    name: str
    value: T
    reason: str
    inputs: tuple[Input, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One derived changelog line. `id` is stable, so that a spec's `omit` and the TUI can name it."""

    id: str
    en: str
    zh: str


class Severity(StrEnum):
    """How much a finding matters: an error blocks, a warning asks, an info only tells."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


# The action of a fix whose arguments hold a patch of the spec.
SPEC_PATCH = "spec-patch"


@dataclass(frozen=True, slots=True)
class Fix:
    """The way out of a finding as data: an action of the changelog writer, or a patch of the spec."""

    action: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: `path` relative to the git root, `line` from 1 (0: the file as a whole).

    `text` is the offending part of that line, as it stands there (empty: the whole line).
    """

    rule: str
    severity: Severity
    path: str
    line: int
    message: str
    hint: str = ""
    fix: Fix | None = None
    text: str = ""
