"""`benchscribe --from-spec FILE|-`: plan a spec, show it, write it."""

from __future__ import annotations

import sys
from pathlib import Path

from ..checkout.checkout import Checkout
from ..plan import Plan, apply_plan, judged, make_plan
from ..schema.errors import BenchscribeError, Place, SpecError, SystemFailure, UsageError
from ..schema.spec_reader import SpecReading, read_spec
from .output import Printer, plan_json, plan_text, print_json
from .recovery import settle_interrupted


def run(
    spec_path: str,
    repo: Path,
    *,
    base: str,
    number: int | None,
    dry_run: bool,
    output_format: str,
    commit: bool = False,
    signoff: bool = False,
) -> int:
    """Plan and, unless `dry_run`, write; with `commit`, commit what was written. Returns the exit code of DESIGN."""
    shown = "<stdin>" if spec_path == "-" else spec_path
    try:
        plan = _planned(spec_path, shown, repo, base, number, dry_run)
        written = [] if dry_run or plan.blocked else apply_plan(plan)
    except BenchscribeError as error:
        if output_format == "json":
            print_json(_error_json(error, shown))
        raise
    if output_format == "json":
        print_json(plan_json(plan))
    else:
        plan_text(Printer(), plan, done=_outcome(plan, written, dry_run, commit))
    if plan.blocked:
        return 1
    return _commit(plan, output_format, signoff) if commit and not dry_run else 0


def _commit(plan: Plan, output_format: str, signoff: bool) -> int:
    """A failed commit leaves the files written; its message says how to go on."""
    from .commit import commit_plan

    return commit_plan(plan, signoff=signoff, stream=sys.stderr if output_format == "json" else None)


def _planned(spec_path: str, shown: str, repo: Path, base: str, number: int | None, dry_run: bool) -> Plan:
    reading = read(spec_path, shown)
    checkout = Checkout.open(repo, base=base)
    settle_interrupted(checkout, dry_run=dry_run)
    return judged(make_plan(reading, checkout, number=number))


def _outcome(plan: Plan, written: list[str], dry_run: bool, commit: bool) -> str:
    if plan.blocked:
        return "Blocked by the errors above; nothing was written."
    if plan.nothing_to_do:
        return "Nothing to do: every file already is as wanted."
    count = len(plan.edits)
    files = f"{count} file{'' if count == 1 else 's'}"
    if dry_run:
        return f"Dry run: {files} would be written."
    following = "" if commit else " Next: benchscribe commit"
    return f"Wrote {len(written)} file{'' if len(written) == 1 else 's'}.{following}"


def read(spec_path: str, shown: str) -> SpecReading:
    """The spec from a file or, for `-`, from standard input."""
    try:
        data = sys.stdin.buffer.read() if spec_path == "-" else Path(spec_path).read_bytes()
    except FileNotFoundError:
        raise UsageError("there is no such spec file", where=Place(shown)) from None
    except IsADirectoryError:
        raise UsageError("is a directory, not a spec file", where=Place(shown)) from None
    except OSError as error:
        raise SystemFailure(f"cannot be read: {error.strerror}", where=Place(shown)) from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError("a spec is UTF-8; this byte is not", where=Place(shown, line)) from None
    return read_spec(text, shown)


def _error_json(error: BenchscribeError, shown: str) -> dict[str, object]:
    """The JSON of a run that could not make a plan: each problem a finding."""
    if isinstance(error, SpecError):
        findings = [
            {
                "rule": "spec",
                "severity": "error",
                "path": problem.place.path,
                "line": problem.place.line,
                "message": f"{problem.field}: {problem.what}" if problem.field else problem.what,
                "hint": problem.hint,
            }
            for problem in error.problems
        ]
    else:
        place = error.where or Place(shown if error.exit_code == 2 else "")
        findings = [
            {
                "rule": {2: "usage", 3: "state", 4: "system"}.get(error.exit_code, "error"),
                "severity": "error",
                "path": place.path,
                "line": place.line,
                "message": error.what,
                "hint": error.hint,
            }
        ]
    return {
        "ok": False,
        "base": "",
        "files": [],
        "derived": [],
        "lines": [],
        "entry": "",
        "findings": findings,
    }
