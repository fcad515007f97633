"""Rule `changelog-behind`: the base has gained entries since the branch left it."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.changelog_text import split
from ..checkout.layout import map_path
from ..schema.errors import Place
from ..schema.results import Finding, Severity
from .model import Rule, Subject

AHEAD = "on a fork, say once which main counts: git config benchscribe.base upstream/main (or --base)"


def judge(subject: Subject) -> Iterator[Finding]:
    """An info where the base's tip has a longer changelog and the branch has an entry to bring, and one where
    the real repository has gone on since the fork's own main."""
    checkout, path = subject.checkout, subject.changelog_path
    base = checkout.base
    if not subject.own:
        return
    if base.ahead:
        place = Place(path, subject.own[0].line)
        yield RULE.finding(place, f"{base.ahead} is further on than {base.name}, which this is held against", AHEAD)
    if base.tip == base.commit:
        return
    tip = checkout.at_commit(base.tip)
    data = tip.read(map_path(path, checkout.layout, tip.layout)) or b""
    if data == subject.base_changelog or subject.changelog.startswith(data):
        return
    gained = len(split(data).blocks) - len(split(subject.base_changelog).blocks)
    what = f"has gained {gained} entr{'y' if gained == 1 else 'ies'}" if gained > 0 else "has another changelog"
    message = f"{base.name} {what} since this branch left it, so merging will conflict at the end of this file"
    hint = "merge or rebase first; `benchscribe reseat` then puts this branch's entries behind them"
    yield RULE.finding(Place(path, subject.own[0].line), message, hint)


RULE = Rule(
    id="changelog-behind",
    severity=Severity.INFO,
    title="the base has gained entries since the branch left it",
    explanation=(
        "Every merged pull request moves the changelog's tail, and GitHub's server ignores merge drivers: "
        "two branches that both append conflict there. The branch itself is made conflict-free before it is "
        "pushed, by taking the base's bytes and appending its own entry again."
    ),
    example_before="(main has #2700, the branch appends behind #2699)",
    example_after="(the branch's entry stands behind #2700)",
    judge=judge,
)
