"""`benchscribe describe`: the entry for what the branch changed, printed, written, or as a spec."""

from __future__ import annotations

import sys
from pathlib import Path

from ..checkout.checkout import Checkout
from ..plan import apply_edits
from ..plan.branch import read_branch
from ..plan.describing import Description, describe
from ..plan.diff import line_counts
from ..plan.specifying import specify
from .output import Printer, derived_json, print_json, say
from .recovery import settle_interrupted


def run(repo: Path, *, base: str, number: int | None, write: bool, language: str, output_format: str) -> int:
    """Print the entry (text), its JSON, or a spec; with `write` put it at the changelog's tail."""
    checkout = Checkout.open(repo, base=base)
    if write:
        settle_interrupted(checkout, dry_run=False)
    branch = read_branch(checkout)
    if output_format == "spec":
        text, left = specify(branch)
        if branch.change.keys:
            sys.stdout.write(text)
        else:
            say("this branch changes no config key, so there is nothing that a spec could say")
        for path in left:
            say(f"not in the spec, left as it is: {path}")
        return 0
    described = describe(branch, number=number, language=language)
    if write:
        apply_edits(checkout.git, described.edits)
    if output_format == "json":
        print_json(_json(described))
    else:
        _text(described, write)
    return 0


def _text(described: Description, write: bool) -> None:
    changelog = described.changelog
    for path in described.untold:
        say(f"{path} changed in nothing that can be read as a setting: what it does now is yours to tell")
    if not changelog.text:
        say("this branch changes no config key or YAML recipe that an entry could tell of")
        return
    printer = Printer()
    for line in changelog.text.rstrip("\n").split("\n"):
        printer.line(line)
    for text in described.replaced:
        say(f"the present entry also says, and the new one does not: {text}")
    if write:
        edit = changelog.edit
        say("the entry already says this; nothing to do" if edit is None else f"wrote {edit.path}")


def _json(described: Description) -> dict[str, object]:
    counts = [line_counts(edit) for edit in described.edits]
    return {
        "ok": True,
        "base": described.branch.checkout.base.commit,
        "files": [{"path": one.path, "added": one.added, "removed": one.removed} for one in counts],
        "derived": [derived_json(one) for one in described.derived],
        "lines": [{"id": line.id, "en": line.en, "zh": line.zh} for line in described.lines],
        "entry": described.changelog.text,
        "findings": [],
    }
