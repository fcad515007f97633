"""Rule `recipe-concurrency`: a multi-node row and its recipe name the same concurrencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..checkout.snapshot import RecipeFile, Snapshot
from ..schema.master import Entry, Item, Row
from ..schema.recipe import Variant
from ..schema.results import Finding, Severity
from .judged import JudgedKey, judged_keys, row_place
from .model import Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per row whose concurrencies are not those that its recipe names (source: FACTS §6)."""
    for key in judged_keys(subject):
        for item, index, row in key.rows():
            for reference in row.recipe_references if row.multinode else ():
                stated = _stated(subject.after, reference)
                if stated is None or _agree(key.after, row, reference, stated[1].concurrencies):
                    continue
                if subject.everything or not _was_so(subject, key, row, reference, stated[1]):
                    yield _finding(subject, key, item, index, row, *stated)


def _stated(snapshot: Snapshot, reference: str) -> tuple[RecipeFile, Variant] | None:
    """The recipe's variant where it names its concurrencies, else None."""
    named = snapshot.named_variant(reference)
    if named is None:
        return None
    benchmark = named[1].data.get("benchmark")
    states_them = isinstance(benchmark, Mapping) and "concurrencies" in benchmark
    return named if states_them and named[1].concurrencies else None


def _agree(entry: Entry, row: Row, reference: str, stated: tuple[int, ...]) -> bool:
    """The row alone, or together with the rows that share its recipe."""
    if set(row.concurrencies) == set(stated):
        return True
    sharing = [other for _, other in entry.rows() if reference in other.recipe_references]
    together = {number for other in sharing for number in other.concurrencies}
    return len(sharing) > 1 and together == set(stated)


def _was_so(subject: Subject, key: JudgedKey, row: Row, reference: str, now: Variant) -> bool:
    if key.before is None:
        return False
    same = any(
        other.recipe_references == row.recipe_references and other.concurrencies == row.concurrencies
        for _, other in key.before.rows()
    )
    old = _stated(subject.before, reference)
    return same and old is not None and old[1].concurrencies == now.concurrencies


def _finding(
    subject: Subject, key: JudgedKey, item: Item, index: int, row: Row, recipe: RecipeFile, variant: Variant
) -> Finding:
    where = recipe.recipe.place(("benchmark", "concurrencies"), variant)
    field = "conc-list" if "conc-list" in row.data else "conc-start"
    ours, theirs = _shown(row.concurrencies), _shown(variant.concurrencies)
    message = f"the row's concurrency is {ours}, but its recipe runs {theirs} ({where})"
    hint = f"write {field}: [{theirs}] if the recipe is right, or correct benchmark.concurrencies at {where}"
    return RULE.finding(row_place(subject, key.key, item, index, field), message, hint, text=ours)


def _shown(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in numbers)


RULE = Rule(
    id="recipe-concurrency",
    severity=Severity.ERROR,
    title="a multi-node row and its recipe name the same concurrencies",
    explanation=(
        "A multi-node recipe that states benchmark.concurrencies runs those, whatever the row says; the row's "
        "conc-list "
        "is the label of the results. Where they differ, the label and the run differ. Rows that share one recipe are "
        "taken together; a recipe that names no concurrencies is not judged."
    ),
    example_before='conc-list: [2048]   # the recipe has concurrencies: "1536"',
    example_after="conc-list: [1536]",
    judge=judge,
)
