"""Rule `golden-acceptance`: a forced acceptance length is the golden one (root), or nobody forces one (e2e)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..checkout.recipes import find_script
from ..derive.acceptance import Acceptance, acceptable, figure_for, stated_acceptance
from ..derive.claim_facts import RunFacts, script_at
from ..derive.claim_speculation import golden_of
from ..derive.evals import AGENTIC
from ..schema.engines import Engine, engine_of
from ..schema.errors import Place
from ..schema.results import Finding, Severity
from ..schema.units import number
from .judged import JudgedKey, facts_before, facts_now, judged_keys, row_place
from .model import Rule, Subject

SYNTHETIC = ("SYNTHETIC_ACCEPTANCE", "SYNTHETIC_ACCEPTANCE_LENGTH", "SYNTHETIC_ACCEPTANCE_RATE")
_HAND_WRITTEN = re.compile(
    r"(?<![\w$])(SYNTHETIC_ACCEPTANCE_LENGTH|SGLANG_SIMULATE_ACC_LEN"
    r"|TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS)=[\"']?\d"
    r"|(?<![\w-])--?(spec-decode-acceptance-(?:length|rate))[= ]+[\"']?\d|"
    r"(synthetic_acceptance_length)[\"']?\s*[:=]\s*\d"
)
_CODE = (".sh", ".py", ".slurm")


def judge(subject: Subject) -> Iterator[Finding]:
    """By layout: root wants it present, right and for throughput only; e2e wants none written by hand."""
    if subject.after.layout.e2e:
        yield from _by_hand(subject)
        return
    for key in judged_keys(subject):
        told: set[tuple[str, str]] = set()
        for run in facts_now(subject, key.key).runs:
            for place, message, hint, text in _wrong(subject, run):
                if (str(place), message) not in told and not _was_so(subject, key, run, message):
                    told.add((str(place), message))
                    yield RULE.finding(place, message, hint, text=text)


# e2e: never by hand


def _by_hand(subject: Subject) -> Iterator[Finding]:
    hint = "drop it: the harness forces the golden AL by itself, for throughput runs only"
    for key in judged_keys(subject):
        for item, index, row in key.rows():
            for block, settings in ((name, block.settings) for name, block in row.blocks.items()):
                for position, setting in enumerate(settings):
                    if setting.partition("=")[0] in SYNTHETIC:
                        place = row_place(subject, key.key, item, index, block, "additional-settings", position)
                        if subject.judges(place.path, place.line):
                            yield RULE.finding(place, f"the row writes {setting} by hand", hint, text=setting)
        yield from _in_recipes(subject, key, hint)
    for path in subject.change.other_files:
        if path.endswith(_CODE):
            yield from _in_code(subject, path, hint)


def _in_recipes(subject: Subject, key: JudgedKey, hint: str) -> Iterator[Finding]:
    told = set()
    for run in facts_now(subject, key.key).runs:
        engine = engine_of(run.entry.framework)
        for figure in run.stated.acceptances(engine) if engine is not None else ():
            name = figure.knob.rpartition(".")[2]
            place = next((shipped.place for setting, shipped in run.settings if _same(setting, name)), run.place)
            if place is not None and str(place) not in told and subject.judges(place.path, place.line):
                told.add(str(place))
                yield RULE.finding(place, f"the recipe writes {figure.knob} {figure.value} by hand", hint, text=name)


def _same(setting: str, name: str) -> bool:
    return setting.replace("_", "-").lower() == name.replace("_", "-").lower()


def _in_code(subject: Subject, path: str, hint: str) -> Iterator[Finding]:
    data = subject.after.read(path)
    if data is None or b"test" in path.encode():
        return
    for index, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        match = _HAND_WRITTEN.search(line.partition("#")[0])
        if match and subject.judges(path, index):
            name = next(group for group in match.groups() if group)
            yield RULE.finding(Place(path, index), f"{name} is written by hand", hint, text=match[0])


# root: present, right, for throughput only


def _wrong(subject: Subject, run: RunFacts) -> Iterator[tuple[Place, str, str, str]]:
    engine = engine_of(run.entry.framework)
    count = run.draft_tokens
    if engine is None or not run.speculates or not count or run.place is None:
        return
    for figure in run.acceptances:
        if figure.length(count) > count + 1:
            length = number(figure.length(count))
            most = f"{count} draft tokens accept {count + 1} at most"
            message = f"{figure.knob} {figure.value} is an AL of {length}, but {most}"
            yield (
                _place(subject, run, figure),
                message,
                f"an AL is at most draft tokens + 1 = {count + 1}",
                str(figure.value),
            )
            return
    if run.item.scenario != AGENTIC:
        return
    golden = golden_of(subject.after, run, count)
    if not golden:
        return
    wanted = " or ".join(str(length) for length in golden)
    if not run.acceptances:
        if run.point.row.multinode or "SYNTHETIC_ACCEPTANCE" in str(run.settings):
            return
        knob = engine.acceptance[0]
        message = f"the recipe speculates with {count} draft tokens but forces no acceptance length"
        right = figure_for(knob.relation, golden[0], count)
        yield (
            run.place,
            message,
            f"write {knob.knob}: {right}, the golden AL {wanted}; leave it out where EVAL_ONLY is true",
            "",
        )
    for figure in run.acceptances:
        if not acceptable(figure, golden, count):
            length = number(figure.length(count))
            golden_one = f"the golden AL at {count} draft tokens is {wanted}"
            message = f"{figure.knob} is {figure.value}, an AL of {length}; {golden_one}"
            right = figure_for(figure.relation, golden[0], count)
            yield _place(subject, run, figure), message, f"write {right}", str(figure.value)
    yield from _in_evals(subject, run, engine)


def _place(subject: Subject, run: RunFacts, figure: Acceptance) -> Place:
    """Where the figure stands: in the row's own settings, or in the recipe."""
    name = figure.knob.rpartition(".")[2]
    if name in SYNTHETIC:
        for index, row in enumerate(run.item.rows):
            for block, worker in row.blocks.items() if row == run.point.row else ():
                for position, setting in enumerate(worker.settings):
                    if setting.partition("=")[0] == name:
                        return row_place(
                            subject, run.entry.key, run.item, index, block, "additional-settings", position
                        )
    found = next((shipped.place for setting, shipped in run.settings if _same(setting, name)), run.place)
    assert found is not None
    return found


def _in_evals(subject: Subject, run: RunFacts, engine: Engine) -> Iterator[tuple[Place, str, str, str]]:
    """A script that forces the figure in accuracy evals too."""
    row = run.point.row
    if row.recipe_references or row.multinode or not run.acceptances:
        return
    path = find_script(subject.after, run.entry, run.item, row)
    if not isinstance(path, str):
        return
    facts = script_at(subject.after, path).per_concurrency(run.point.concurrency, eval_only=True)
    arguments = {name: flag.value for name, flag in (facts.server.flags if facts.server else {}).items()}
    environment = {name: fact.value for name, fact in facts.exports.items()}
    for figure in stated_acceptance(engine, arguments, environment):
        message = f"{figure.knob} is forced where EVAL_ONLY is true as well, so evals do not verify the drafts"
        yield (
            _place(subject, run, figure),
            message,
            "force it for throughput only: leave it out where EVAL_ONLY is true",
            str(figure.value),
        )


def _was_so(subject: Subject, key: JudgedKey, run: RunFacts, message: str) -> bool:
    """Whether the same row was as wrong at the base; one more concurrency of it is no new fault."""
    if subject.everything or key.before is None:
        return False
    for other in facts_before(subject, key.key).runs:
        if other.point.row.identity != run.point.row.identity:
            continue
        if other.draft_tokens != run.draft_tokens or other.acceptances != run.acceptances:
            continue
        if other.point.concurrency == run.point.concurrency and other.settings == run.settings:
            return True
        if any(text == message for _, text, _, _ in _wrong(subject, other)):
            return True
    return False


RULE = Rule(
    id="golden-acceptance",
    severity=Severity.ERROR,
    title="a forced acceptance length is the golden one, and in e2e nobody forces one by hand",
    explanation=(
        "In the root layout an agentic speculative recipe forces the golden acceptance length of its draft tokens, in "
        "its engine's own figure (AL, AL - 1, or the rate (AL - 1) / draft tokens), for throughput runs only: "
        "EVAL_ONLY "
        "leaves it out. Any curve that may be meant counts. In e2e the harness picks it, and a hand-written value in "
        "recipe, config or launcher is rejected. An AL can never exceed draft tokens + 1."
    ),
    example_before="spec-decode-acceptance-length: 3.10   # 3 draft tokens, golden AL 2.99",
    example_after="spec-decode-acceptance-length: 2.99",
    judge=judge,
)
