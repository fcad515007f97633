"""Rule `recipe-missing`: the recipe that a row names is there, wherever its folder is."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.recipes import find_recipes
from ..checkout.snapshot import Missing, RecipeFile
from ..schema.errors import BenchscribeError
from ..schema.master import Item, Row
from ..schema.results import Finding, Severity
from .judged import JudgedKey, judged_keys, row_place
from .model import Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per missing recipe of a key. Recipes kept outside the checkout are not judged."""
    for key in judged_keys(subject):
        seen = set()
        for item, index, row in key.rows():
            for missing in _missing(subject, key, item, row):
                if missing.path not in seen:
                    seen.add(missing.path)
                    yield _finding(subject, key, item, index, row, missing)
            yield from _named_variant(subject, key, item, index, row)


def _missing(subject: Subject, key: JudgedKey, item: Item, row: Row) -> Iterator[Missing]:
    try:
        found = find_recipes(subject.after, key.after, item, row)
    except BenchscribeError:
        return
    for recipe in found:
        if not isinstance(recipe, Missing) or not subject.checkout.can_judge(recipe):
            continue
        if subject.everything or not _was_missing(subject, key, row, recipe):
            yield recipe


def _was_missing(subject: Subject, key: JudgedKey, row: Row, missing: Missing) -> bool:
    """Whether the base already missed the same file: for this key, or for any key whose row was moved here."""
    if subject.before.read(subject.checkout.path_at_base(missing.path)) is not None:
        return False
    masters = [subject.before.master_text(file) for file in subject.before.layout.masters]
    if any(reference in text for reference in row.recipe_references for text in masters):
        return True
    if key.before is None:
        return False
    for item, old in key.before.rows():
        for recipe in find_recipes(subject.before, key.before, item, old):
            if isinstance(recipe, Missing) and recipe.path == subject.checkout.path_at_base(missing.path):
                return True
    return False


def _finding(subject: Subject, key: JudgedKey, item: Item, index: int, row: Row, missing: Missing) -> Finding:
    script = missing.path.endswith(".sh")
    # A launcher may map a key to another script, so a name that convention alone gives is only a warning.
    severity = Severity.WARNING if script else Severity.ERROR
    hint = (
        "add the script, or name the row's spec-decoding and framework as it is called"
        if script
        else "add the recipe, or name one that is there"
    )
    text = next(
        (
            reference
            for reference in row.recipe_references
            if missing.path.endswith(reference.partition(":")[0].rpartition("/")[2])
        ),
        "",
    )
    place = row_place(subject, key.key, item, index)
    return RULE.finding(place, f"row {row} of {key.key}: {missing.reason}", hint, text=text, severity=severity)


def _named_variant(subject: Subject, key: JudgedKey, item: Item, index: int, row: Row) -> Iterator[Finding]:
    """A reference that names a variant its file does not have."""
    for reference in row.recipe_references:
        try:
            found = subject.after.recipe(reference)
            if not isinstance(found, RecipeFile) or not found.variant_name or not found.recipe.layered:
                continue
            names = [variant.name for variant in found.recipe.variants]
        except BenchscribeError:
            continue
        if found.variant_name in names or any(name == f"{found.variant_name}[0]" for name in names):
            continue
        known = key.before is not None and any(reference in other.recipe_references for _, other in key.before.rows())
        if subject.everything or not known or found.path in subject.files:
            message = f"{found.path} has no variant {found.variant_name}"
            hint = f"it has {', '.join(names[:6])}" if names else "it has no override block"
            yield RULE.finding(row_place(subject, key.key, item, index), message, hint, text=found.variant_name)


RULE = Rule(
    id="recipe-missing",
    severity=Severity.ERROR,
    title="the recipe that a row names is there",
    explanation=(
        "A row's srt-recipe or CONFIG_FILE must name a file, and a variant in it, that this checkout holds; a root "
        "row's "
        "script must be there under one of its two conventional names (a warning, since launchers may map names). "
        "It is "
        "judged only where the folder that should hold it exists at the base: recipes kept elsewhere are not judged."
    ),
    example_before="srt-recipe: recipes/glm5.2/agentic.yml",
    example_after="srt-recipe: recipes/glm5.2/agentic.yaml",
    judge=judge,
)
