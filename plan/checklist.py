"""The checklist of a pull request: what the check vouches for, what it could not judge, and nothing that is vacuous."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..checkout.recipes import find_recipes
from ..checkout.snapshot import Missing, RecipeFile
from ..checks.coverage import named_keys
from ..checks.judged import facts_now, judged_keys
from ..checks.model import Subject
from ..checks.not_judged import BEGINNING, is_not_judged, unread_recipe
from ..checks.offloading import offloading_rows
from ..checks.registry import errors, judge, rule_names
from ..checks.settings import read_settings
from ..checks.subject import read_subject
from ..derive.claim_facts import RunFacts, facts_for
from ..derive.claim_speculation import golden_of
from ..derive.claims import Judgement, Kind, Verdict, judge_line
from ..derive.evals import AGENTIC
from ..schema.errors import BenchscribeError
from ..schema.master import Entry, Item, Row
from ..schema.results import Finding, Severity
from .branch import Branch

# What a line says of these can be borne out by a recipe alone.
_OF_RECIPES = (Kind.DRAFT_TOKENS, Kind.ACCEPTANCE, Kind.SETTING, Kind.MEMORY)


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One promise, whether it holds, and how that was found out, or what stands against it.

    `judged` is False where it could not be found out, and `how` says why; nothing holds then.
    """

    what: str
    holds: bool
    how: str
    judged: bool = True


class Grounds:
    """What the promises are judged by: the branch as the rules see it, its rows, and its points."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @cached_property
    def rows(self) -> tuple[tuple[Entry, Item, Row], ...]:
        """Every row of a changed key as it now is."""
        return tuple((key.after, item, row) for key in judged_keys(self.subject) for item, _, row in key.rows())

    @cached_property
    def runs(self) -> tuple[RunFacts, ...]:
        """Every point of a changed key, with what its recipe sets."""
        return tuple(run for key in judged_keys(self.subject) for run in facts_now(self.subject, key.key).runs)

    @cached_property
    def speculating(self) -> tuple[RunFacts, ...]:
        """The points that run speculative decoding and are held to a golden acceptance length."""
        return tuple(run for run in self.runs if run.speculates and run.item.scenario == AGENTIC)

    @cached_property
    def claims(self) -> tuple[Judgement, ...]:
        """Every claim of the branch's own entries."""
        found: list[Judgement] = []
        for own in self.subject.own:
            keys = tuple(named_keys(own, {**self.subject.after.keys, **self.subject.before.keys}))
            before, after = facts_for(self.subject.before, keys), facts_for(self.subject.after, keys)
            for line in own.description:
                found += judge_line(line, before, after)
        return tuple(found)

    @property
    def append_only(self) -> bool:
        return any("append-only" in own.flags for own in self.subject.own)

    def unread(self, entry: Entry, item: Item, row: Row) -> str:
        """Why a row's recipe could not be read, empty where it was."""
        found = unread_recipe(self.subject.after, entry, item, row)
        return found.why if found is not None else ""


# What keeps a promise from being judged


def _nothing(grounds: Grounds) -> Iterator[str]:
    yield from ()


def _unread_recipes(grounds: Grounds) -> Iterator[str]:
    for entry, item, row in grounds.rows:
        if why := grounds.unread(entry, item, row):
            yield why


def _unread_behind_claims(grounds: Grounds) -> Iterator[str]:
    if any(one.verdict is Verdict.UNKNOWN and one.claim.kind in _OF_RECIPES for one in grounds.claims):
        yield from _unread_recipes(grounds)


def _unsized_tiers(grounds: Grounds) -> Iterator[str]:
    for key in judged_keys(grounds.subject):
        facts = facts_now(grounds.subject, key.key)
        known = {id(one.run): one for one in offloading_rows(facts)}
        for run in facts.runs:
            row = run.point.row
            if row.kv_offloading != "dram":
                continue
            if why := grounds.unread(run.entry, run.item, row):
                yield why
            elif id(run) not in known:
                yield f"the DRAM that {row} of {key.key} may take is not known"
            elif known[id(run)].total is None:
                yield f"the size of the tier of {row} is not stated"


def _unknown_acceptances(grounds: Grounds) -> Iterator[str]:
    if grounds.subject.after.layout.e2e:
        return
    for run in grounds.speculating:
        if why := grounds.unread(run.entry, run.item, run.point.row):
            yield why
        elif run.draft_tokens is None:
            yield f"the draft tokens of {run.point} are not known"
        elif run.draft_tokens and not golden_of(grounds.subject.after, run, run.draft_tokens):
            yield f"there is no golden curve for {run.entry.model_prefix} at {run.draft_tokens} draft tokens"


# Whether there is anything to promise


def _always(grounds: Grounds) -> bool:
    return True


def _has_entry(grounds: Grounds) -> bool:
    return bool(grounds.subject.own)


def _has_claims(grounds: Grounds) -> bool:
    return bool(grounds.claims)


def _has_append_only(grounds: Grounds) -> bool:
    return grounds.append_only


def _runs_recipes(grounds: Grounds) -> bool:
    """Whether a row's recipe is YAML, or not there: a bash script has no variants to match."""
    for entry, item, row in grounds.rows:
        try:
            recipes = find_recipes(grounds.subject.after, entry, item, row)
        except BenchscribeError:
            return True
        if not recipes or any(isinstance(recipe, (RecipeFile, Missing)) for recipe in recipes):
            return True
    return False


def _offloads(grounds: Grounds) -> bool:
    return any(row.kv_offloading == "dram" for _, _, row in grounds.rows)


def _forces_acceptance(grounds: Grounds) -> bool:
    return not grounds.subject.after.layout.e2e and bool(grounds.speculating)


def _leaves_acceptance(grounds: Grounds) -> bool:
    return grounds.subject.after.layout.e2e and bool(grounds.speculating)


def _told_claims(grounds: Grounds) -> str:
    total, found = len(grounds.claims), sum(one.verdict is Verdict.SUPPORTED for one in grounds.claims)
    rest = f", {total - found} left to the reader" if total > found else ""
    return f"{found} of {_count(total, 'claim')} borne out by config and recipe{rest}"


@dataclass(frozen=True, slots=True)
class Promise:
    """What the check can vouch for: the rules (by the start of their names) that would speak against it, and how
    they look. `{base}` and `{tip}` stand for the base's name and its tip.

    `applies` says whether there is anything to promise, `unknown` what kept it from being judged.
    """

    what: str
    rules: tuple[str, ...]
    how: str | Callable[[Grounds], str]
    applies: Callable[[Grounds], bool] = _always
    unknown: Callable[[Grounds], Iterator[str]] = _nothing


PROMISES = (
    Promise(
        "The changelog's history is byte for byte that of {base}",
        ("changelog-history", "changelog-bytes"),
        "compared byte by byte with {tip}",
    ),
    Promise(
        "The entry stands at the true tail, set off by exactly one empty line",
        ("changelog-tail", "changelog-separators"),
        "read from the bytes behind {base}'s",
        _has_entry,
    ),
    Promise(
        "The entry names every changed config key, and none that did not change",
        ("changelog-coverage", "changelog-unchanged", "changelog-keys"),
        "compared with the keys whose data differ from {base}",
        _has_entry,
    ),
    Promise(
        "The entry's fields, flags and link are those the merge helper takes",
        ("changelog-fields", "changelog-link"),
        "parsed, and held against the layout's fields",
        _has_entry,
    ),
    Promise(
        "append-only is true: every old point stays exactly as it was, under one unchanged image",
        ("changelog-append-only",),
        "the points of both states compared one by one",
        _has_append_only,
        _unread_recipes,
    ),
    Promise(
        "Images, numbers and flags in the prose are those that the change ships",
        ("prose-",),
        _told_claims,
        _has_claims,
        _unread_behind_claims,
    ),
    Promise(
        "Every point runs exactly one recipe variant, with the config's image",
        ("recipe-", "config-"),
        "points and variants matched one by one",
        _runs_recipes,
        _unread_recipes,
    ),
    Promise(
        "The DRAM budget covers every KV offload tier",
        ("dram-",),
        "worked out from tiers, utilization and the runner's DRAM",
        _offloads,
        _unsized_tiers,
    ),
    Promise(
        "Acceptance lengths are the golden ones",
        ("golden-",),
        "compared with the checkout's curves",
        _forces_acceptance,
        _unknown_acceptances,
    ),
    Promise(
        "No acceptance length is written by hand",
        ("golden-",),
        "looked for in rows, recipes and changed code",
        _leaves_acceptance,
        _unread_recipes,
    ),
)


def checklist(branch: Branch, number: int | None) -> Iterator[ChecklistItem]:
    """Every promise that the branch gives occasion for, and the check as a whole."""
    checkout = branch.checkout
    subject, settings = read_subject(checkout, number=number), read_settings(checkout.after)
    findings = judge(subject, settings)
    grounds = Grounds(subject)
    names = {"base": checkout.base.name, "tip": checkout.base.tip[:10]}
    known = [name for name in rule_names() if not settings.is_off(name)]
    for promise in PROMISES:
        if any(name.startswith(promise.rules) for name in known):
            yield from _items(promise, grounds, findings, names)
    wrong = errors(findings)
    warnings = sum(finding.severity is Severity.WARNING for finding in findings)
    how = f"{len(known)} rules, {_count(len(wrong), 'error')}, {_count(warnings, 'warning')}"
    yield ChecklistItem("`benchscribe check` has no errors", not wrong, how)


def _items(
    promise: Promise, grounds: Grounds, findings: Sequence[Finding], names: dict[str, str]
) -> Iterator[ChecklistItem]:
    """The promise as it turned out: broken, not judged, or kept; nothing where there is nothing to promise."""
    about = [finding for finding in findings if finding.rule.startswith(promise.rules)]
    what = promise.what.format(**names)
    if against := errors(about):
        yield ChecklistItem(what, False, _against(against))
        return
    if not promise.applies(grounds):
        return
    unknown = [finding.message.removeprefix(BEGINNING) for finding in about if is_not_judged(finding)]
    unknown = list(dict.fromkeys([*unknown, *promise.unknown(grounds)]))
    if unknown:
        more = f", and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        yield ChecklistItem(what, False, unknown[0] + more, judged=False)
        return
    how = promise.how if isinstance(promise.how, str) else promise.how(grounds)
    yield ChecklistItem(what, True, how.format(**names))


def _against(findings: Sequence[Finding]) -> str:
    """The first thing that stands against a promise."""
    first = findings[0]
    place = f"{first.path}:{first.line}" if first.line else first.path
    return f"{place}: {first.message}" + (f" (and {len(findings) - 1} more)" if len(findings) > 1 else "")


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
