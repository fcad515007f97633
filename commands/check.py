"""`benchscribe check`: judge the branch by every rule, and apply the safe fixes where that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..checkout.checkout import Checkout
from ..checks.model import Subject
from ..checks.not_judged import not_judged
from ..checks.registry import judge, rule_names
from ..checks.settings import Settings, read_settings
from ..checks.subject import read_subject
from ..schema.errors import BenchscribeError, UsageError
from ..schema.results import Finding, Severity
from .output import Printer, diff_lines, say


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks of `check`."""

    base: str = ""
    number: int | None = None
    fix: bool = False
    dry_run: bool = False
    everything: bool = False
    upstream: bool = False
    strict: bool = False
    committed: bool = False
    output_format: str = "text"


def run(repo: Path, options: Options) -> int:
    """Judge, print, and return the exit code: 1 with an error, or with a warning under `strict`."""
    try:
        return _run(repo, options)
    except BenchscribeError as error:
        if options.output_format in ("json", "sarif", "github"):
            from .check_formats import print_error

            print_error(error, options.output_format)
        raise


def _run(repo: Path, options: Options) -> int:
    _refuse(options)
    checkout = _open(repo, options)
    settings = read_settings(checkout.after, rule_names())
    subject, findings = _judge(checkout, options, settings)
    _tell_of_line_ends(subject)
    if options.fix:
        subject, findings = _fix(subject, findings, options, settings)
    if options.upstream:
        findings = [*findings, *_upstream(subject, settings)]
    findings = [*findings, *not_judged(subject, findings, settings)]
    if options.output_format == "text" and exit_code(findings, strict=True) == 0:
        from .check_text import clean

        say(clean(subject, findings, sum(not settings.is_off(name) for name in rule_names())))
    _print(subject, findings, options)
    return exit_code(findings, strict=options.strict)


def _tell_of_line_ends(subject: Subject) -> None:
    """Where git itself put the carriage returns, that is what has to be mended, not the files."""
    checkout = subject.checkout
    if b"\r" in subject.changelog and not checkout.committed and checkout.git.setting("core.autocrlf") == "true":
        say(
            "core.autocrlf=true makes git write CRLF into this work tree; what it commits has plain line ends. "
            "Judge that with --committed, or: git config core.autocrlf input, and check the files out anew"
        )


def _refuse(options: Options) -> None:
    if options.dry_run and not options.fix:
        raise UsageError("--dry-run belongs to --fix", hint="check without --fix writes nothing anyway")
    if options.fix and options.committed:
        raise UsageError("--fix writes into the work tree, but --committed judges HEAD", hint="drop one of the two")


def _open(repo: Path, options: Options) -> Checkout:
    """The checkout; before files are read to be fixed, an interrupted write is finished or undone."""
    checkout = Checkout.open(repo, base=options.base, committed=options.committed)
    if options.fix:
        from .recovery import settle_interrupted

        settle_interrupted(checkout, dry_run=options.dry_run)
    return checkout


def _judge(checkout: Checkout, options: Options, settings: Settings) -> tuple[Subject, list[Finding]]:
    subject = read_subject(checkout, number=options.number, everything=options.everything)
    return subject, judge(subject, settings)


def _fix(
    subject: Subject, findings: Sequence[Finding], options: Options, settings: Settings
) -> tuple[Subject, list[Finding]]:
    """Apply the safe fixes, or show them; the branch as it is, or would be, afterwards."""
    from ..plan import apply_edits
    from ..plan.fixing import plan_fixes

    fixing = plan_fixes(subject, findings)
    for text in fixing.remarks:
        say(text)
    if not fixing.edits:
        return subject, list(findings)
    if options.dry_run:
        if options.output_format == "text":
            diff_lines(Printer(), fixing.edits)
        say("dry run: nothing was written; the findings are those left after it")
    else:
        apply_edits(subject.checkout.git, fixing.edits)
        say(f"fixed: {', '.join(edit.path for edit in fixing.edits)}")
    after = subject.checkout.with_overlay({edit.path: edit.after for edit in fixing.edits})
    return _judge(after, options, settings)


def _upstream(subject: Subject, settings: Settings) -> list[Finding]:
    from ..plan.oracle import ask_upstream

    verdicts, refusals = ask_upstream(subject, settings.commands)
    for verdict in verdicts:
        if verdict.code == 0:
            say(f"{verdict.program.name} ({verdict.program.path}) accepts this state")
    return refusals


def _print(subject: Subject, findings: Sequence[Finding], options: Options) -> None:
    if options.output_format == "text":
        from .check_text import print_findings

        print_findings(Printer(), subject, findings)
        return
    from . import check_formats

    if options.output_format == "github":
        check_formats.print_annotations(findings)
        return
    printers = {"json": check_formats.print_report, "sarif": check_formats.print_sarif}
    printers[options.output_format](subject, findings)


def exit_code(findings: Sequence[Finding], *, strict: bool) -> int:
    """1 where something has to be mended, else 0."""
    counted = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return 1 if any(finding.severity in counted for finding in findings) else 0
