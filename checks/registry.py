"""Every rule by its module, in the order in which `benchscribe rules` lists them, and the judging by all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module

from ..checkout.checkout import Checkout
from ..derive.change import Change
from ..schema.errors import BenchscribeError
from ..schema.results import Edit, Finding, Severity
from .model import Rule, Subject
from .settings import Settings, read_settings
from .subject import plan_subject

# Each module exposes `RULE`. A module is named for its rule: `changelog-link` stands in `changelog_link.py`.
CHANGELOG_RULES = (
    "changelog_bytes",
    "changelog_history",
    "changelog_tail",
    "changelog_separators",
    "changelog_fields",
    "changelog_style",
    "changelog_link",
    "changelog_one_entry",
    "changelog_english",
    "changelog_keys",
    "changelog_coverage",
    "changelog_unchanged",
    "changelog_scenario",
    "changelog_append_only",
    "changelog_behind",
    "config_readable",
)
PROSE_RULES = ("prose_image", "prose_points", "prose_settings", "prose_speculation", "prose_memory")
RECIPE_RULES = (
    "recipe_variant",
    "recipe_container",
    "recipe_concurrency",
    "recipe_topology",
    "recipe_missing",
    "node_gpus",
    "dram_budget",
    "dram_oversize",
    "offload_connector",
    "golden_acceptance",
    "harness_variable",
    "eval_coverage",
    "comment_header",
    "comment_provenance",
    "stale_comment",
    "mutable_tag",
    "foreign_image",
    "retired_model",
)


HISTORY_RULES = (
    "changelog_bytes",
    "changelog_history",
    "changelog_tail",
    "changelog_separators",
    "changelog_behind",
)
# What hangs on rows, recipes and runners alone: a change of nothing but images cannot break it.
POINT_RULES = (
    "recipe_variant",
    "recipe_concurrency",
    "recipe_topology",
    "node_gpus",
    "dram_budget",
    "dram_oversize",
    "offload_connector",
    "golden_acceptance",
    "harness_variable",
    "eval_coverage",
)


@cache
def rules(*, leave_out: frozenset[str] = frozenset()) -> tuple[Rule, ...]:
    """Every rule, but for the modules left out; they are imported when they are first asked for."""
    names = [name for name in (*CHANGELOG_RULES, *PROSE_RULES, *RECIPE_RULES) if name not in leave_out]
    return tuple(import_module(f".{name}", __package__).RULE for name in names)


def rule_names() -> tuple[str, ...]:
    """The ids of every rule, without importing one."""
    return tuple(name.replace("_", "-") for name in (*CHANGELOG_RULES, *PROSE_RULES, *RECIPE_RULES))


def judge(
    subject: Subject, settings: Settings | None = None, *, leave_out: frozenset[str] = frozenset()
) -> list[Finding]:
    """The findings of every rule, by path and line, with the checkout's settings applied.

    A rule that cannot judge, because something it reads is broken, says so as an info.
    """
    settings = settings or Settings()
    found: list[Finding] = []
    for one in rules(leave_out=leave_out):
        if settings.is_off(one.id):
            continue
        for finding in _judged(one, subject):
            if subject.is_asked_for(finding) and finding not in found:
                found.append(finding)
    return sorted(settings.applied(found), key=_order)


def _judged(one: Rule, subject: Subject) -> Iterator[Finding]:
    try:
        yield from one.judge(subject)
    except BenchscribeError as error:
        path = error.where.path if error.where is not None else ""
        line = error.where.line if error.where is not None else 0
        message = f"not judged: {error.what}"
        yield Finding(one.id, Severity.INFO, path or subject.changelog_path, line, message, error.hint)


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.path, finding.line, finding.rule, finding.message


def judge_plan(
    wanted: Checkout, change: Change, edits: Sequence[Edit], *, number: int | None = None, prose: bool = True
) -> list[Finding]:
    """The findings about what a plan writes, by the checkout's own settings.

    `wanted` is the checkout with the edits laid over it, `change` is base → wanted. `prose` is false where every line
    of the entry was derived from that change: such a line has nothing to contradict.
    """
    subject = plan_subject(wanted, change, edits, number=number)
    # A plan cannot be made but from the base's exact bytes with whole entries behind them.
    leave_out: tuple[str, ...] = (*HISTORY_RULES, *(() if prose else PROSE_RULES))
    if _changes_images_alone(change):
        leave_out = (*leave_out, *POINT_RULES)
    return judge(subject, read_settings(wanted.after), leave_out=frozenset(leave_out))


def _changes_images_alone(change: Change) -> bool:
    if change.recipes or change.scripts:
        return False
    kept = all(key.before is not None and key.after is not None for key in change.keys)
    return kept and all(
        {field.name for field in key.fields} <= {"image"} and not any(item.changed for item in key.items)
        for key in change.keys
    )


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """Those of severity error."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]
