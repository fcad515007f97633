"""Rule `eval-coverage`: a kernel path that the branch turns on is evaluated at some point."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from ..derive.claim_facts import RunFacts
from ..derive.evals import EvaluatedPoint, evaluated_points
from ..schema.arguments import whole
from ..schema.errors import BenchscribeError
from ..schema.master import Entry, Point
from ..schema.results import Finding, Fix, Severity
from ..schema.yaml_text import plain
from .coverage import names
from .judged import JudgedKey, facts_before, facts_now, judged_keys
from .model import SPEC_PATCH, OwnEntry, Rule, Subject

# What moves data, names things or only sizes them is no kernel path.
_NO_KERNEL = re.compile(
    r"offload|transfer|connector|lmcache|hicache|mooncake|cache[-_]size|hashseed|log|metric|timeout|port|host|path"
    r"|dir|model|"
    r"router|alloc|served|trust|parser|chat|acceptance|mmap|omp|thread|nccl|ucx|capture[-_]sizes|bs$|^conc$|seed|name$|"
    r"^(?:tp|pp|dp|ep)-size$|parallel[-_]size|speculative|draft|method$",
    re.IGNORECASE,
)

Path = tuple[str, str]


TWIN_FIELDS = ("image", "model", "runner", "framework", "precision")


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per key with points whose kernel path no evaluated point has."""
    for key in judged_keys(subject):
        runs = [run for run in facts_now(subject, key.key).runs if run.known]
        evaluated = _evaluated(subject, key)
        if not runs or not evaluated:
            continue
        covered = [run for run in runs if _is_evaluated(run, evaluated)]
        if not covered:
            continue
        sized = _sized(runs)
        paths = {path for run in covered for path in _kernel_paths(run, sized)}
        old = _old_paths(subject, key, sized)
        dark = [
            (
                run,
                [path for path in _kernel_paths(run, sized) if path not in paths and (path, _point(run)) not in old],
            )
            for run in runs
        ]
        dark = [(run, news) for run, news in dark if news]
        if dark:
            yield _finding(subject, key, dark, covered)


def _evaluated(subject: Subject, key: JudgedKey) -> list[EvaluatedPoint]:
    """The points evaluated by every own entry that names the key; without one, as an entry of its own would."""
    found: list[EvaluatedPoint] = []
    naming = [own for own in subject.own if names(own, key.key)]
    if not naming:
        return evaluated_points([key.after], subject.after.layout.name)
    for own in subject.own:
        entries = _entries(subject, own)
        scenarios = own.entry.scenario_type if own.entry is not None and own.entry.scenario_type else None
        arguments = (scenarios,) if scenarios else ()
        found += evaluated_points(entries, subject.after.layout.name, own.flags, *arguments)
    return [one for one in found if one.entry.key == key.key or _twin(one.entry, key.after)]


def _entries(subject: Subject, own: OwnEntry) -> list[Entry]:
    found = []
    for name in subject.after.keys:
        if names(own, name):
            try:
                entry = subject.after.entry(name)
            except BenchscribeError:
                continue
            if entry is not None:
                found.append(entry)
    return found


def _twin(one: Entry, other: Entry) -> bool:
    """Whether a second key runs the same thing: same model, runner, framework, precision and image."""
    return all(one.data.get(field) == other.data.get(field) for field in TWIN_FIELDS)


def _is_evaluated(run: RunFacts, evaluated: Sequence[EvaluatedPoint]) -> bool:
    return any(
        one.item.scenario == run.item.scenario
        and one.point.row.identity == run.point.row.identity
        and one.point.concurrency == run.point.concurrency
        and one.item.lengths == run.item.lengths
        for one in evaluated
    )


def _sized(runs: Sequence[RunFacts]) -> frozenset[str]:
    """The names that hold a number other than 0 and 1 at some point: a 1 is a size there, not a switch."""
    return frozenset(name for run in runs for name, value in _leaves(run) if whole(value) not in (None, 0, 1))


def _leaves(run: RunFacts) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in run.stated.last_names if _may_be_kernel(name))


@lru_cache(maxsize=1024)
def _may_be_kernel(name: str) -> bool:
    return bool(name) and not _NO_KERNEL.search(name)


def _kernel_paths(run: RunFacts, sized: frozenset[str]) -> list[Path]:
    """What the point turns on that differs in kind: switches that are on and words, never sizes."""
    return [(name, shown) for name, value in _leaves(run) if name not in sized and (shown := _kind(value))]


def _kind(value: Any) -> str:
    """A value that says how, not how much; empty for sizes, for what is off, and for what is not decided."""
    if isinstance(value, bool):
        return "true" if value else ""
    text = str(value).strip() if value is not None else ""
    if text.lower() in ("", "0", "false", "off", "no", "none"):
        return ""
    if text == "1" or text.lower() in ("true", "on", "yes"):
        return "true"
    if whole(text) is not None or re.fullmatch(r"[\d.,\s\[\]x-]+", text) or len(text) > 80 or "/" in text:
        return ""
    return text


def _point(run: RunFacts) -> tuple[Any, ...]:
    return run.item.identity, run.point.row.identity, run.point.concurrency


def _old_paths(subject: Subject, key: JudgedKey, sized: frozenset[str]) -> set[tuple[Path, tuple[Any, ...]]]:
    """The kernel paths that the very same points already had at the base."""
    if subject.everything or key.before is None:
        return set()
    return {(path, _point(run)) for run in facts_before(subject, key.key).runs for path in _kernel_paths(run, sized)}


def _finding(
    subject: Subject, key: JudgedKey, dark: list[tuple[RunFacts, list[Path]]], covered: list[RunFacts]
) -> Finding:
    run, news = dark[0]
    shown = ", ".join(_shown(*path) for path in dict.fromkeys(path for _, paths in dark for path in paths))
    points = _listed([str(one.point) for one, _ in dark])
    evaluated = _listed([str(one.point) for one in covered])
    message = (
        f"{shown} runs at {points} only, but the accuracy eval runs at {evaluated}: this kernel path is never evaluated"
    )
    name = news[0][0]
    place = next((shipped.place for setting, shipped in run.settings if setting == name), run.place)
    place = place or subject.place(key.key)
    new_key = f"{key.key}-eval"
    hint = (
        f"add a second key, {new_key}, with exactly these points and name it in an entry of its own marked "
        "evals-only: true; or mark the entry all-evals: true"
    )
    return RULE.finding(place, message, hint, fix=_fix(key, new_key, [one for one, _ in dark]), text=name)


def _shown(name: str, value: str) -> str:
    """A switch as recipes write it: variables are `1`, arguments `true`."""
    return f"{name}=1" if value == "true" and name.isupper() else f"{name}={value}"


def _listed(words: Sequence[str], most: int = 4) -> str:
    different = list(dict.fromkeys(words))
    more = f" and {len(different) - most} more" if len(different) > most else ""
    return ", ".join(different[:most]) + more


def _fix(key: JudgedKey, new_key: str, dark: list[RunFacts]) -> Fix:
    """The second key with just those points, and the companion entry (source: FACTS §7)."""
    scenarios: dict[str, Any] = dict.fromkeys(key.after.scenarios)
    for name in dict.fromkeys(run.item.scenario for run in dark):
        own = [run for run in dark if run.item.scenario == name]
        item: dict[str, Any] = {"search-space": _rows([run.point for run in own])}
        if len(key.after.scenarios[name]) > 1:
            item = {"item": own[0].item.index, **item}
        scenarios[name] = item
    # A copy starts from what the work tree holds, so what the branch changes is said again.
    before = key.before.data if key.before is not None else key.after.data
    news = {name: plain(key.after.data[name]) for name in TWIN_FIELDS if before.get(name) != key.after.data.get(name)}
    change = {"config-key": new_key, "like": key.key, **({"set": news} if news else {}), "scenarios": scenarios}
    entries = [{"keys": [key.key]}, {"keys": [new_key], "evals-only": True}]
    return Fix(SPEC_PATCH, {"patch": {"changes": [change], "changelog": entries}})


def _rows(points: list[Point]) -> list[dict[str, Any]]:
    rows: list[tuple[dict[str, Any], list[int]]] = []
    for point in points:
        data = {name: plain(value) for name, value in point.row.data.items() if not name.startswith("conc-")}
        same = next((concurrencies for other, concurrencies in rows if other == data), None)
        if same is None:
            rows.append((data, [point.concurrency]))
        elif point.concurrency not in same:
            same.append(point.concurrency)
    return [{**data, "conc-list": concurrencies} for data, concurrencies in rows]


RULE = Rule(
    id="eval-coverage",
    severity=Severity.WARNING,
    title="a kernel path that the branch turns on is evaluated at some point",
    explanation=(
        "Only some points get an accuracy eval, mostly those at the highest concurrency. An argument or variable that "
        "differs in kind (a switch, a backend), not in size, and that only the other points set is a kernel path "
        "nobody "
        "evaluates; a sign-off was refused for it. The cure is a second key with exactly those points, in an entry of "
        "its own marked evals-only (or all-evals)."
    ),
    example_before="override_tp4_c1: { … env: { ATOM_MONO_ENABLE: '1' } }   # the eval runs at C48, where it is '0'",
    example_after="- config-keys: [<key>-eval]   # just C1 and C2\n  evals-only: true",
    judge=judge,
)
