"""`benchscribe reseat`: main's history back in place, the branch's own entries at the true tail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..checkout.changelog_text import link_of, number_of
from ..checkout.checkout import Checkout
from ..plan.diff import line_counts
from ..plan.reseating import Reseating, apply_reseat, plan_reseat
from .output import Printer, diff_lines, finding_json, finding_lines, print_json
from .recovery import settle_interrupted

MOST_NAMED = 3


def run(repo: Path, *, base: str, number: int | None, dry_run: bool, output_format: str) -> int:
    """Reseat and return the exit code: 0 also where nothing was to be done."""
    checkout = Checkout.open(repo, base=base)
    settle_interrupted(checkout, dry_run=dry_run)
    plan = plan_reseat(checkout, base_ref=base, number=number)
    if not dry_run:
        apply_reseat(plan)
    if output_format == "json":
        print_json(_json(plan))
    else:
        _text(plan, dry_run=dry_run)
    return 0


def _text(plan: Reseating, *, dry_run: bool) -> None:
    printer = Printer()
    printer.line(("onto", "head"), f"  the changelog of {plan.main}")
    if dry_run:
        diff_lines(printer, plan.edits)
    for block in plan.moved:
        printer.line(("own", "head"), f"  {_name(block)}")
    for block in plan.on_main[:MOST_NAMED]:
        printer.line(("on main already", "dim"), f"  {_name(block)}")
    if len(plan.on_main) > MOST_NAMED:
        printer.line(("on main already", "dim"), f"  and {len(plan.on_main) - MOST_NAMED} more")
    messages = Printer(sys.stderr)
    for item in plan.left_out:
        messages.line(("⚠ left out", "warning"), f"  {plan.path}: {item}")
    finding_lines(messages, plan.findings)
    printer.line((_outcome(plan, dry_run), "head"))


def _name(block: bytes) -> str:
    """An entry as people know it: its keys and its link."""
    lines = block.decode("utf-8", "replace").split("\n")[1:]
    keys = []
    for line in lines:
        if not line.lstrip().startswith("-"):
            break
        keys.append(line.strip(" -"))
    link = f"#{number_of(block)}" if number_of(block) is not None else link_of(block) or "no link"
    return f"{', '.join(keys)} ({link})"


def _outcome(plan: Reseating, dry_run: bool) -> str:
    if plan.nothing_to_do:
        return "Nothing to do: main's history stands, and this branch's own entries stand at its tail."
    count = len(plan.moved)
    entries = f"{count} own entr{'y' if count == 1 else 'ies'}"
    if dry_run:
        return f"Dry run: {entries} would stand behind the history of {plan.main}."
    staged = "; the conflict is settled and staged" if plan.resolved else ""
    return f"Reseated: {entries} behind the history of {plan.main}{staged}."


def _json(plan: Reseating) -> dict[str, Any]:
    files = [line_counts(edit) for edit in plan.edits]
    return {
        "ok": True,
        "base": plan.checkout.base.commit,
        "main": plan.main,
        "files": [{"path": one.path, "added": one.added, "removed": one.removed} for one in files],
        "entry": b"\n".join(plan.moved).decode("utf-8", "replace"),
        "own": [_name(block) for block in plan.moved],
        "on_main": [_name(block) for block in plan.on_main],
        "left_out": [{"line": item.line, "what": item.what} for item in plan.left_out],
        "staged": list(plan.resolved),
        "findings": [finding_json(finding) for finding in plan.findings],
    }
