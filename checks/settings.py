"""A checkout's settings of the rules: `[tool.benchscribe]` of pyproject.toml, or `.benchscribe.toml` (same tables).

[tool.benchscribe.severity]
image-tag = "error"              # error, warning, info or off

[[tool.benchscribe.ignore]]
rule = "memory-tier"
path = "configs/amd-master.yaml" # optional; * wildcards
text = "glm5.2-fp4"              # optional: what the message or the line must hold
reason = "measured by hand, see #4300"
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from ..checkout.snapshot import Snapshot
from ..schema.errors import Place, UsageError
from ..schema.results import Finding, Severity

OFF = "off"
FILES = (".benchscribe.toml", "pyproject.toml")
SEVERITIES = (*(severity.value for severity in Severity), OFF)


@dataclass(frozen=True, slots=True)
class Ignore:
    """Findings that are not wanted, with the reason."""

    rule: str
    reason: str
    path: str = "*"
    text: str = ""

    def covers(self, finding: Finding) -> bool:
        return (
            fnmatchcase(finding.rule, self.rule)
            and fnmatchcase(finding.path, self.path)
            and (self.text in finding.message or self.text in finding.text)
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """Severity by rule id (`off` too), what is ignored, and the checkout's own commands for `--upstream`."""

    severity: Mapping[str, str] = field(default_factory=dict)
    ignores: tuple[Ignore, ...] = ()
    commands: tuple[str, ...] = ()

    def is_off(self, rule: str) -> bool:
        return self.severity.get(rule) == OFF

    def applied(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that are left, with the severities asked for; infos stay infos."""
        kept = []
        for finding in findings:
            if any(ignore.covers(finding) for ignore in self.ignores):
                continue
            wanted = self.severity.get(finding.rule)
            if wanted and finding.severity is not Severity.INFO:
                finding = replace(finding, severity=Severity(wanted))
            kept.append(finding)
        return kept


def read_settings(snapshot: Snapshot, rules: Collection[str] = ()) -> Settings:
    """The settings a checkout carries at its git root or project root; the first file that has them counts.

    `rules` are the ids there are. Raises UsageError with the file and what is wrong in it.
    """
    for folder in dict.fromkeys(("", snapshot.layout.project_root)):
        for name in FILES:
            path = f"{folder}/{name}" if folder else name
            table = _table(snapshot, path)
            if table is not None:
                return _settings(table, path, rules)
    return Settings()


def _table(snapshot: Snapshot, path: str) -> dict[str, Any] | None:
    """The file's table of settings, None where it has none."""
    data = snapshot.read(path)
    # Most pyproject.toml have nothing to say here, and parsing one costs more than looking.
    if data is None or (path.endswith("pyproject.toml") and b"benchscribe" not in data):
        return None
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"is not valid TOML: {error}", where=Place(path)) from None
    tool = document.get("tool", {})
    if not isinstance(tool, dict):
        raise _wrong(path, "tool is a table of tables", "write the settings under [tool.benchscribe]")
    table = tool.get("benchscribe")
    if table is None and not path.endswith("pyproject.toml"):
        return document
    return table if isinstance(table, dict) or table is None else {"benchscribe": table}


def _settings(table: dict[str, Any], path: str, rules: Collection[str]) -> Settings:
    for name in table:
        if name not in ("severity", "ignore", "upstream"):
            raise _wrong(path, f"no setting {name!r}", "allowed: severity, ignore, upstream")
    severity = table.get("severity", {})
    if not isinstance(severity, dict):
        raise _wrong(path, "severity is a table of rule ids", 'for example image-tag = "error"')
    for name, value in severity.items():
        _require_rule(name, path, rules)
        if value not in SEVERITIES:
            raise _wrong(path, f"severity of {name}: {value!r}", f"allowed: {', '.join(SEVERITIES)}")
    ignores = table.get("ignore", [])
    if not isinstance(ignores, list):
        raise _wrong(path, "ignore is a list of tables", "write [[tool.benchscribe.ignore]]")
    commands = _commands(table.get("upstream", {}), path)
    return Settings(dict(severity), tuple(_ignore(one, path, rules) for one in ignores), commands)


def _commands(table: object, path: str) -> tuple[str, ...]:
    example = 'for example commands = ["utils/validate.py --base {base}"]'
    commands = table.get("commands", []) if isinstance(table, dict) and set(table) <= {"commands"} else None
    if not isinstance(commands, list) or not all(isinstance(one, str) and one.strip() for one in commands):
        raise _wrong(path, "upstream holds commands, a list of texts", example)
    for command in commands:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise _wrong(path, f"the command {command!r} cannot be split into words: {error}", example) from None
        if not words or words[0].startswith(("/", "-")) or ".." in words[0].split("/"):
            raise _wrong(path, f"the command {command!r} names no program below the project root", example)
    return tuple(commands)


def _ignore(table: object, path: str, rules: Collection[str]) -> Ignore:
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise _wrong(path, "an ignore is a table of texts", "fields: rule, reason; optional: path, text")
    strange = [name for name in table if name not in ("rule", "reason", "path", "text")]
    if strange:
        raise _wrong(path, f"an ignore has no field {strange[0]!r}", "allowed: rule, reason, path, text")
    if not table.get("rule") or not table.get("reason", "").strip():
        raise _wrong(path, "an ignore needs a rule and a reason", 'for example reason = "measured, see #4300"')
    _require_rule(table["rule"], path, rules)
    return Ignore(table["rule"], table["reason"], table.get("path", "*"), table.get("text", ""))


def _require_rule(name: str, path: str, rules: Collection[str]) -> None:
    """Refuse an id that no rule has; a wildcard has to match one."""
    if rules and not any(fnmatchcase(rule, name) for rule in rules):
        near = get_close_matches(name, rules, 1)
        hint = f"did you mean {near[0]}?" if near else "`benchscribe rules` lists them"
        raise _wrong(path, f"no rule {name!r}", hint)


def _wrong(path: str, what: str, hint: str) -> UsageError:
    return UsageError(what, where=Place(path), hint=hint)
