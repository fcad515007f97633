"""`benchscribe port REF`: another branch's change onto this one, its entry re-derived."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..checkout.checkout import Checkout
from ..plan.diff import line_counts
from ..plan.porting import Porting, apply_port, plan_port
from ..plan.three_way import Side
from ..schema.counting import plural
from .output import Printer, diff_lines, finding_json, finding_lines, print_json
from .recovery import settle_interrupted

CONFLICTS = 3


def run(
    repo: Path, ref: str, *, base: str, number: int | None, prefer: str | None, dry_run: bool, output_format: str
) -> int:
    """Carry the change and return the exit code: 3 where conflicts are left to a person."""
    checkout = Checkout.open(repo, base=base)
    settle_interrupted(checkout, dry_run=dry_run)
    plan = plan_port(checkout, ref, number=number, prefer=Side(prefer) if prefer else None)
    if not dry_run:
        apply_port(plan)
    if output_format == "json":
        print_json(_json(plan))
    else:
        _text(plan, dry_run=dry_run)
    return CONFLICTS if plan.conflicts else 0


def _text(plan: Porting, *, dry_run: bool) -> None:
    printer, messages = Printer(), Printer(sys.stderr)
    printer.line(("port", "head"), f"  {plan.ref} onto {plan.checkout.base}")
    if dry_run:
        diff_lines(printer, plan.edits)
    for path in plan.files:
        printer.line("  ", path)
    if plan.changelog.text:
        printer.line(("Changelog entry", "head"))
        for line in plan.changelog.text.rstrip("\n").split("\n"):
            printer.line("  ", line)
    for what in plan.left:
        messages.line(("⚠ not carried", "warning"), f"  {what}")
    for one in plan.contradicted:
        messages.line(("⚠ contradicted, so not carried", "warning"), f"  {one.text}")
        messages.line("    ", (one.why, "dim"))
    finding_lines(messages, plan.findings)
    for conflict in plan.conflicts:
        messages.line(("✗ conflict", "error"), f"  {conflict}")
    printer.line((_outcome(plan, dry_run), "head"))


def _outcome(plan: Porting, dry_run: bool) -> str:
    if plan.nothing_to_do:
        return "Nothing to do: this branch holds that change already."
    if plan.conflicts:
        count = plural(len(plan.conflicts), "conflict")
        then = f"settle the marked places, git add the files, then: benchscribe port {plan.ref} --prefer ours"
        return f"{count} {'would be ' if dry_run else ''}left to you; {then}, which derives the entry anew."
    files = plural(len(plan.edits), "file")
    return f"Dry run: {files} would be written." if dry_run else f"Ported: wrote {files}."


def _json(plan: Porting) -> dict[str, Any]:
    counts = [line_counts(edit) for edit in plan.edits]
    return {
        "ok": not plan.conflicts,
        "base": plan.checkout.base.commit,
        "files": [{"path": one.path, "added": one.added, "removed": one.removed} for one in counts],
        "lines": [{"id": line.id, "en": line.en, "zh": line.zh} for line in plan.changelog.lines],
        "entry": plan.changelog.text,
        "conflicts": [
            {
                "path": one.path,
                "key": one.what.key,
                "field": one.what.field,
                "ours": one.what.ours,
                "theirs": one.what.theirs,
            }
            for one in plan.conflicts
        ],
        "contradicted": [{"text": one.text, "why": one.why} for one in plan.contradicted],
        "left": list(plan.left),
        "findings": [finding_json(finding) for finding in plan.findings],
    }
