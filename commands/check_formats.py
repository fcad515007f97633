"""Findings for machines: JSON (DESIGN, "The command line"), GitHub's annotations, SARIF 2.1.0."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .. import __version__
from ..checkout.changes import read_if_readable
from ..checks.model import Rule, Subject
from ..checks.registry import rules
from ..schema.errors import BenchscribeError
from ..schema.results import Edit, Finding, Severity
from .output import finding_json, print_json

if TYPE_CHECKING:
    from ..plan.diff import FileChange

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
STATES = {2: "usage", 3: "state", 4: "system"}


def print_report(subject: Subject, findings: Sequence[Finding]) -> None:
    """The stable JSON. `files` are the changed ones; `entry` holds the branch's own entries as they stand."""
    counts = list(_changed(subject))
    print_json(
        {
            "ok": not any(finding.severity is Severity.ERROR for finding in findings),
            "base": subject.checkout.base.commit,
            "files": [{"path": one.path, "added": one.added, "removed": one.removed} for one in counts],
            "derived": [],
            "lines": [],
            "entry": "\n".join(own.data.decode("utf-8", "backslashreplace") for own in subject.own),
            "findings": [report(finding) for finding in findings],
        }
    )


def _changed(subject: Subject) -> Iterator[FileChange]:
    """The files that differ from the base; what cannot be read counts without lines."""
    from ..plan.diff import FileChange, line_counts

    for path in sorted(subject.files):
        before, was_readable = read_if_readable(subject.checkout.at_base, path)
        after, is_readable = read_if_readable(subject.after.read, path)
        if not (was_readable and is_readable):
            yield FileChange(path, 0, 0)
        elif before != after:
            yield line_counts(Edit(path, before, after))


def report(finding: Finding) -> dict[str, Any]:
    """One finding as JSON: as everywhere, with the offending text and the fix."""
    fix = finding.fix
    shown = None if fix is None else {"action": fix.action, "arguments": _jsonable(fix.arguments)}
    return {**finding_json(finding), "text": finding.text, "fix": shown}


def _jsonable(value: Any) -> Any:
    """Data of a fix in JSON's own types; numbers that remember a spelling become plain ones."""
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def error_finding(error: BenchscribeError) -> Finding:
    """An error that ended the run, as a finding."""
    path, line = (error.where.path, error.where.line) if error.where is not None else ("", 0)
    return Finding(STATES.get(error.exit_code, "error"), Severity.ERROR, path, line, error.what, error.hint)


def print_error(error: BenchscribeError, output_format: str) -> None:
    """The report of a run that could not judge."""
    finding = error_finding(error)
    if output_format == "sarif":
        print_json(sarif([finding], [], successful=False))
        return
    if output_format == "github":
        print_annotations([finding])
        return
    empty: dict[str, Any] = {"ok": False, "base": "", "files": [], "derived": [], "lines": [], "entry": ""}
    print_json({**empty, "findings": [report(finding)]})


def print_annotations(findings: Sequence[Finding]) -> None:
    """One workflow command per finding, for the log of a GitHub action."""
    for finding in findings:
        parts = [f"file={_property(finding.path)}"] if finding.path else []
        parts += [f"line={finding.line}"] if finding.line else []
        parts.append(f"title={_property(finding.rule)}")
        message = "\n".join(filter(None, (finding.message, finding.hint)))
        sys.stdout.write(f"::{COMMANDS[finding.severity]} {','.join(parts)}::{_data(message)}\n")


def _data(text: str) -> str:
    # A path may hold bytes that are no UTF-8; the log takes none of them.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def print_sarif(subject: Subject, findings: Sequence[Finding]) -> None:
    """A SARIF 2.1.0 log with one run."""
    texts: dict[str, list[str]] = {}
    for path in {finding.path for finding in findings if finding.path}:
        data = subject.after.read(path)
        texts[path] = (data or b"").decode("utf-8", "replace").split("\n")
    print_json(sarif(findings, rules(), texts))


def sarif(
    findings: Sequence[Finding],
    known: Sequence[Rule],
    texts: dict[str, list[str]] | None = None,
    *,
    successful: bool = True,
) -> dict[str, Any]:
    """The log as data. `texts` are the files' lines, for the columns."""
    index = {rule.id: number for number, rule in enumerate(known)}
    run = {
        "tool": {
            "driver": {
                "name": "benchscribe",
                "version": __version__,
                "rules": [_sarif_rule(rule) for rule in known],
            }
        },
        "invocations": [{"executionSuccessful": successful}],
        # A column counts UTF-16 units for most viewers; ours are Unicode characters, so that is said.
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(finding, index, texts or {}) for finding in findings],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.explanation},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _sarif_result(finding: Finding, index: dict[str, int], texts: dict[str, list[str]]) -> dict[str, Any]:
    message = "\n".join(filter(None, (finding.message, finding.hint)))
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": LEVELS[finding.severity],
        "message": {"text": message},
    }
    if finding.rule in index:
        result["ruleIndex"] = index[finding.rule]
    if finding.path:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.path, safe="/", errors="surrogateescape")}}
        if finding.line:
            place["region"] = _region(finding, texts.get(finding.path, []))
        result["locations"] = [{"physicalLocation": place}]
    return result


def _region(finding: Finding, lines: Sequence[str]) -> dict[str, int]:
    region = {"startLine": finding.line}
    line = lines[finding.line - 1] if finding.line <= len(lines) else ""
    at = line.find(finding.text) if finding.text else -1
    if at >= 0:
        region |= {"startColumn": at + 1, "endColumn": at + 1 + len(finding.text)}
    return region
