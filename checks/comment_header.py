"""Rule `comment-header`: the branch adds no header block above a config key, an override or a section."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..schema.errors import Place
from ..schema.results import Finding, Fix, Severity
from .branch_comments import CommentBlock, changed_sources, comment_blocks
from .model import SPEC_PATCH, Rule, Subject

_KEY = re.compile(r"^([\w.][\w.-]*):\s*(?:#.*)?$")
_SECTION = re.compile(r"^\s+([\w-]+):\s*(?:#.*)?$")


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per block that the branch adds to. A one-line reason above a field or row is none."""
    for path in changed_sources(subject):
        if path.endswith(".sh"):
            continue
        for block in comment_blocks(subject, path):
            what = _stands_above(subject, block)
            if what and _is_header(block, what):
                line, text = block.added[0]
                name = block.below.strip().partition(":")[0]
                message = f"{_lines(block)} above {what} {name} {_does(block)}"
                hint = "drop it; a short reason belongs on the exact line that it explains, history into the changelog"
                yield RULE.finding(
                    Place(path, line), message, hint, fix=_fix(subject, block, what, name), text=text[:120]
                )


def _stands_above(subject: Subject, block: CommentBlock) -> str:
    """What stands below a block: `config key`, `override`, `section`, or empty for a field, a row or anything else."""
    if match := _KEY.match(block.below):
        if block.path in subject.after.layout.masters:
            return "config key"
        return "override" if match[1].startswith(("override_", "zip_override_")) else "section"
    return "section" if _SECTION.match(block.below) else ""


def _is_header(block: CommentBlock, what: str) -> bool:
    """Above keys and overrides two lines are a header, one where it restates; above sections it must restate."""
    if what == "section":
        return len(block.lines) > 1 and _restates(block)
    return len(block.lines) > 1 or _restates(block)


def _restates(block: CommentBlock) -> bool:
    """Whether the comment says what the config says: topologies, concurrencies, settings, images."""
    # A hundred patterns, imported only where there is a block to hold against them.
    from ..derive.claim_patterns import claims_in

    return bool([claim for claim in claims_in(block.text) if claim.kind != "phrase"])


def _lines(block: CommentBlock) -> str:
    return "a comment" if len(block.lines) == 1 else f"a comment block of {len(block.lines)} lines"


def _does(block: CommentBlock) -> str:
    return "restates what stands below it" if _restates(block) else "is a header"


def _fix(subject: Subject, block: CommentBlock, what: str, name: str) -> Fix | None:
    """The comment as the spec drops it; only where all of it is the branch's own."""
    if block.added != block.lines:
        return None
    if what == "config key":
        return Fix(SPEC_PATCH, {"patch": {"changes": [{"config-key": name, "comments": {"key": None}}]}})
    keys = next((change.keys for change in subject.change.recipes if change.path == block.path), ())
    if what != "override" or not keys:
        return None
    return Fix(SPEC_PATCH, {"patch": {"changes": [{"config-key": keys[0], "recipe": {"comments": {name: None}}}]}})


RULE = Rule(
    id="comment-header",
    severity=Severity.WARNING,
    title="no header block above a config key, an override or a section",
    explanation=(
        "Blocks that retell topology, draft depths and settings above a key or an override go stale with the next "
        "change, and reviewers ask to drop them. A short reason on the exact line, or above the field or row it "
        "explains, is welcome. Only lines that the branch adds or rewrites are judged."
    ),
    example_before="# TP4 C1, MTP with 5 draft tokens,\n# graphs up to 2\noverride_tp4_c1:",
    example_after="override_tp4_c1:",
    judge=judge,
)
