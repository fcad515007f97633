"""Rule `recipe-variant`: exactly one variant serves each point, and the branch leaves no variant unused."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.layout import map_path
from ..checkout.snapshot import RecipeFile, Snapshot
from ..schema.errors import BenchscribeError, Place
from ..schema.master import Entry, Item, Point, Row, points_of
from ..schema.recipe import Recipe, block_of, parse_reference
from ..schema.results import Finding, Severity
from ..schema.serving import matches, variants_for
from .judged import JudgedKey, judged_keys, row_place
from .model import Rule, Subject


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per row with points that not exactly one variant serves, and one per variant left unused."""
    keys = judged_keys(subject)
    for key in keys:
        for item, index, row in key.rows():
            yield from _row_findings(subject, key, item, index, row)
    for path in _paths(subject, keys):
        yield from _unused(subject, path)


# Points


def _row_findings(subject: Subject, key: JudgedKey, item: Item, index: int, row: Row) -> Iterator[Finding]:
    if row.multinode:
        return
    for reference in row.recipe_references:
        try:
            found = subject.after.recipe(reference)
            if not isinstance(found, RecipeFile) or not found.recipe.layered:
                continue
            wrong = [
                (point, serving) for point in points_of(row) if len(serving := _serving(found, key.after, point)) != 1
            ]
        except BenchscribeError:
            continue
        wrong = [pair for pair in wrong if subject.everything or not _was_so(subject, key, reference, *pair)]
        if wrong:
            yield _row_finding(subject, key, item, index, found, wrong)


def _serving(found: RecipeFile, entry: Entry, point: Point) -> list[str]:
    return [variant.name for variant in variants_for(found.recipe, point, entry.framework, found.variant_name)]


def _was_so(subject: Subject, key: JudgedKey, reference: str, point: Point, serving: list[str]) -> bool:
    """Whether the same point was served as wrongly at the base."""
    if key.before is None:
        return False
    rows = [
        row
        for _, row in key.before.rows()
        if row.identity == point.row.identity and point.concurrency in row.concurrencies
    ]
    try:
        found = subject.before.recipe(reference)
        return (
            bool(rows)
            and isinstance(found, RecipeFile)
            and _serving(found, key.before, Point(rows[0], point.concurrency)) == serving
        )
    except BenchscribeError:
        return False


def _row_finding(
    subject: Subject,
    key: JudgedKey,
    item: Item,
    index: int,
    found: RecipeFile,
    wrong: list[tuple[Point, list[str]]],
) -> Finding:
    point, serving = wrong[0]
    others = f" (and C{', C'.join(str(other.concurrency) for other, _ in wrong[1:])} of the row)" if wrong[1:] else ""
    if serving:
        what = f"{len(serving)} variants of {found.path} serve {point}{others}: {', '.join(serving)}; exactly one must"
        hint = "make them differ in what they serve, or drop all but one"
    else:
        what = f"no variant of {found.path} serves {point}{others}; exactly one must"
        hint = _nearest(found, key.after, point)
    return RULE.finding(row_place(subject, key.key, item, index), what, hint, text=f"C{point.concurrency}")


def _nearest(found: RecipeFile, entry: Entry, point: Point) -> str:
    """Which variant comes nearest to serving the point, and what is wrong with it."""
    variants = found.variants
    if not variants:
        return f"{found.path} has no {found.variant_name or 'variant'}; add one for the point"
    reasons = {variant.name: matches(variant, point, entry.framework) for variant in variants}
    name = min(reasons, key=lambda one: len(reasons[one]))
    return f"add a variant for it, or mend the nearest: {name or 'the recipe'}: {'; '.join(reasons[name])}"


# Variants


def _paths(subject: Subject, keys: tuple[JudgedKey, ...]) -> list[str]:
    """The recipes that the branch changes, or whose rows it changes."""
    found = {change.path: None for change in subject.change.recipes if change.after is not None}
    for key in keys:
        for entry, snapshot in ((key.after, subject.after), (key.before, subject.before)):
            for _, row in entry.rows() if entry is not None else ():
                for reference in row.recipe_references:
                    found[map_path(snapshot.recipe(reference).path, snapshot.layout, subject.after.layout)] = None
    for change in subject.change.keys:
        if change.after is None and change.before is not None:
            for _, row in change.before.rows():
                for reference in row.recipe_references:
                    path = subject.before.recipe(reference).path
                    found[map_path(path, subject.before.layout, subject.after.layout)] = None
    return list(found)


def _unused(subject: Subject, path: str) -> Iterator[Finding]:
    recipe = _recipe(subject.after, path)
    if recipe is None or not recipe.layered:
        return
    old_path = map_path(path, subject.after.layout, subject.before.layout)
    old = _recipe(subject.before, old_path)
    try:
        used = _used(subject.after, path, recipe)
        used_before = _used(subject.before, old_path, old) if old is not None else frozenset()
        names = [variant.name for variant in recipe.variants if variant.block_name != "base"]
        known = {variant.name for variant in old.variants} if old is not None else set()
    except BenchscribeError:
        return
    if used is None or used_before is None:
        return
    for name in names:
        if name not in used and (subject.everything or name not in known or name in used_before):
            place = _block_place(recipe, name)
            why = "no longer serves any point" if name in used_before else "serves no point"
            message = f"{name} {why} of a config key that names {path}"
            yield RULE.finding(place, message, "drop the variant, or add the point it is for", text=block_of(name))


def _recipe(snapshot: Snapshot, path: str) -> Recipe | None:
    try:
        return snapshot.recipe_file(path)
    except BenchscribeError:
        return None


def _block_place(recipe: Recipe, name: str) -> Place:
    return recipe.place((block_of(name),))


def _used(snapshot: Snapshot, path: str, recipe: Recipe) -> frozenset[str] | None:
    """The variants that some row names or some point runs; None where rows name it in a way that is not followed."""
    used: set[str] = set()
    file = path.rpartition("/")[2]
    for key, place in snapshot.keys.items():
        if file not in snapshot.master_text(place.file)[place.block.start : place.block.end]:
            continue
        entry = snapshot.entry(key)
        for _, row in entry.rows() if entry is not None else ():
            for reference in row.recipe_references:
                if snapshot.recipe(reference).path != path:
                    continue
                named = parse_reference(reference).variant
                if row.multinode and not named:
                    return None
                used |= {named} if row.multinode else _run_by(recipe, row, entry, named)
    return frozenset(used | {f"{name}[0]" for name in used if f"{name}[0]" in {v.name for v in recipe.variants}})


def _run_by(recipe: Recipe, row: Row, entry: Entry | None, named: str) -> set[str]:
    framework = entry.framework if entry is not None else ""
    return {variant.name for point in points_of(row) for variant in variants_for(recipe, point, framework, named)}


RULE = Rule(
    id="recipe-variant",
    severity=Severity.ERROR,
    title="exactly one variant serves each point, and none is left unused",
    explanation=(
        "A single-node point runs the one variant of its srt-recipe that matches it: engine, GPUs, CONC, KV "
        "offloading, "
        "DP attention, expert parallelism, decode context parallelism and speculation. None or several is an error, "
        "and "
        "so is a variant that the branch adds for no point, or whose last point it drops."
    ),
    example_before="- { tp: 4, conc-list: [1, 2], srt-recipe: … }   # no variant with gpus: 4 and CONC: '1'",
    example_after="override_tp4_c1:\n  roles: { agg: { gpus: 4 } }\n  benchmark: { env: { CONC: '1' } }",
    judge=judge,
)
