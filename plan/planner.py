"""Making a plan from a spec: every step between the author's decisions and the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..checkout.blocks import split_blocks
from ..checkout.changes import changed_files
from ..checkout.checkout import Checkout
from ..checkout.snapshot import Snapshot
from ..derive.compare import compare
from ..derive.figures import CheckoutFigures
from ..schema.errors import UsageError
from ..schema.master import Entry, Row
from ..schema.master_rules import entry_mistakes
from ..schema.recipe import parse_reference
from ..schema.results import Derived
from ..schema.spec import KeyChange, Spec
from ..schema.spec_reader import SpecReading, layout_mistakes
from ..schema.strict import Mistake, inside_checkout
from ..schema.yaml_text import Path, YamlFloat, load
from .anchors import ensure_reads_as, has_anchors
from .changelog import plan_changelog
from .entries import AutoItem, WantedEntry, want
from .findings import given_up_findings, plan_findings, restored_findings
from .model import Plan
from .recipe_files import recipe_file_mistakes, write_recipe_file
from .recipe_stage import Recipes, work_out_recipes
from .texts import Texts, write_entry
from .values import derived_values, relative_values, sizing_values


@dataclass(slots=True)
class _Work:
    """A plan in the making."""

    reading: SpecReading
    spec: Spec
    checkout: Checkout
    entries: dict[str, WantedEntry] = field(default_factory=dict)
    recipes: Recipes = field(default_factory=Recipes)
    mistakes: list[Mistake] = field(default_factory=list)
    derived: list[Derived[Any]] = field(default_factory=list)


def make_plan(reading: SpecReading, checkout: Checkout, *, number: int | None = None) -> Plan:
    """The plan for a spec on a checkout; nothing is written.

    Raises SpecError with every mistake of the spec, StateError where the checkout cannot be written to.
    """
    _refuse_early(reading, checkout)
    spec = reading.require()
    work = _Work(reading, spec, checkout)
    for index, change in enumerate(spec.changes):
        _want_entry(work, change, ("changes", index))
    work.mistakes += recipe_file_mistakes(checkout, spec.changes)
    reading.refuse(work.mistakes)
    work.recipes = work_out_recipes(checkout, spec.changes, work.entries)
    reading.refuse([*work.mistakes, *work.recipes.mistakes])
    _derive_utilizations(work)
    _judge_entries(work)
    reading.refuse(work.mistakes)
    texts = _write_texts(work)
    reading.refuse([*work.mistakes, *texts.mistakes])
    return _finish(work, texts, number)


def _refuse_early(reading: SpecReading, checkout: Checkout) -> None:
    """Every mistake that can be seen before anything is worked out, the checkout's word on keys included."""
    found: list[Mistake] = []
    changes = reading.data.get("changes")
    if isinstance(changes, list):
        usable = all(isinstance(change, dict) for change in changes)
        found += list(layout_mistakes(reading.data, checkout.layout.name)) if usable else []
        for index, change in enumerate(changes):
            if isinstance(change, dict):
                found += _key_mistakes(change, checkout, ("changes", index))
    reading.refuse(found)


def _key_mistakes(change: dict[str, Any], checkout: Checkout, path: Path) -> Iterator[Mistake]:
    key = change.get("config-key")
    if not isinstance(key, str) or "*" in key:
        return
    exists = key in checkout.after.keys
    new = "like" in change or "entry" in change
    if new and key in checkout.before.keys:
        field_name = "like" if "like" in change else "entry"
        hint = f"drop {field_name} and say what changes"
        yield Mistake((*path, field_name), f"{str(key)!r} exists at the base, so it cannot be new", hint)
    if not new and not exists and not (change.get("remove") is True and key in checkout.before.keys):
        yield Mistake((*path, "config-key"), f"no config key {str(key)!r}", _nearest(checkout, key))
    for name in ("like", "after"):
        other = change.get(name)
        # A new key may start as a copy of one that this branch retires.
        at_base = (name == "like" or exists) and other in checkout.before.keys
        if isinstance(other, str) and other not in checkout.after.keys and not at_base:
            yield Mistake((*path, name), f"no config key {str(other)!r}", _nearest(checkout, other))


def _nearest(checkout: Checkout, key: str) -> str:
    near = checkout.after.near_keys(key)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {len(checkout.after.keys)} keys, none like it"


def _want_entry(work: _Work, change: KeyChange, path: Path) -> None:
    key = change.config_key
    before = work.checkout.entry(key)
    sibling = change.like or ""
    start = work.checkout.entry(sibling) or work.checkout.entry_at_base(sibling)
    origin = work.checkout.entry_at_base(key) or start
    wanted = want(change, before, start, origin, path)
    wanted.mistakes += _reference_mistakes(change, path)
    if change.entry is not None and before is None and _relative(work.checkout, wanted) is None:
        wanted.mistakes.append(Mistake((*path, "entry"), "no relative to stand behind", "say after: <key>"))
    work.entries[key] = wanted
    work.mistakes += wanted.mistakes


def _reference_mistakes(change: KeyChange, path: Path) -> Iterator[Mistake]:
    """Recipes of rows that stand outside the checkout."""
    for scenario, items in change.scenarios.items():
        for number, item in enumerate(items or ()):
            rows: Sequence[Any] = item.search_space or ()  # validated, but still the author's own mappings
            for place, row in enumerate(rows):
                for reference in Row(row).recipe_references:
                    try:
                        inside_checkout(parse_reference(reference).path)
                    except ValueError as error:
                        what, _, hint = str(error).partition("; ")
                        at: Path = (*path, "scenarios", scenario, number, "search-space", place)
                        yield Mistake(at, what, hint)


def _relative(checkout: Checkout, wanted: WantedEntry) -> str | None:
    """The key a new entry stands behind by default: its nearest relative in the master of its SKU."""
    from ..derive.naming import siblings

    keys = [key for key in checkout.after.keys if key != wanted.key]
    found = siblings(wanted.key, [Entry(key, {}) for key in keys])
    return found[0].key if found else (keys[-1] if keys else None)


def _derive_utilizations(work: _Work) -> None:
    """`dram-utilization: auto`, from the tiers of the recipes as they will be."""
    for wanted in work.entries.values():
        if not wanted.autos:
            continue
        overlay = _overlay(work)
        figures = CheckoutFigures(overlay)
        for auto in wanted.autos:
            try:
                _fill_auto(work, wanted, auto, figures)
            except UsageError as error:
                work.mistakes.append(Mistake(auto.spec_path, error.what, error.hint))


def _fill_auto(work: _Work, wanted: WantedEntry, auto: AutoItem, figures: CheckoutFigures) -> None:
    entry = wanted.entry
    item = entry.scenarios[auto.scenario][auto.index]
    derived = figures.utilization(entry, item, auto.scenario_item.step)
    value = YamlFloat(derived.value)
    value.spelling = str(derived.value)
    data = wanted.item_data(auto.scenario, auto.index)
    old = wanted.before.scenarios.get(auto.scenario, ()) if wanted.before is not None else ()
    kept = old[auto.index].dram_utilization if auto.index < len(old) else None
    data["dram-utilization"] = kept if kept == value else value
    work.derived.append(derived)


def _overlay(work: _Work) -> Snapshot:
    """The checkout with the wanted recipes laid over it, enough to read tiers from."""
    return work.checkout.after.with_changes({edit.path: edit.after for edit in _recipe_texts(work).edits()})


def _recipe_texts(work: _Work) -> Texts:
    assert work.recipes.texts is not None  # mistakes were refused
    return work.recipes.texts


def _judge_entries(work: _Work) -> None:
    """The rules of FACTS §3 over whole wanted entries; what was already wrong before is not the spec's mistake."""
    layout = work.checkout.layout.name
    for change, wanted in zip(work.spec.changes, work.entries.values(), strict=True):
        if wanted.data is None or _names_images_alone(change):
            continue
        debts = {(m.what, m.path[-1:]) for m in entry_mistakes(wanted.before, layout)} if wanted.before else set()
        for mistake in entry_mistakes(wanted.entry, layout):
            if (mistake.what, mistake.path[-1:]) not in debts:
                place = _in_spec(change, mistake.path)
                work.mistakes.append(Mistake((*wanted.spec_path, *place), mistake.what, mistake.hint))


def _names_images_alone(change: KeyChange) -> bool:
    """Whether the change is of fields that no other field hangs on, and that the spec's own model has judged."""
    whole = change.like is not None or change.entry is not None
    return not whole and not change.scenarios and set(change.top_fields) <= {"image", "model"}


def _in_spec(change: KeyChange, path: Path) -> Path:
    """Where the spec says what stands at `path` of the entry."""
    if change.entry is not None:
        return ("entry", *path)
    if path[:1] != ("scenarios",) or len(path) < 3:
        named = path[:1] == ("scenarios",) and any(path[1:] in ((), (name,)) for name in change.scenarios)
        return path if named else ("set", *path) if path and path[0] in change.top_fields else ()
    _, scenario, index = path[:3]
    items = change.scenarios.get(scenario)  # type: ignore[call-overload]
    if not items:
        return ()
    number = next((at for at, item in enumerate(items) if item.item == index), 0)
    return ("scenarios", scenario, number, *path[3:])


def _write_texts(work: _Work) -> Texts:
    written = _recipe_texts(work)
    texts = Texts(work.checkout.after)
    # What goes may be what a new key starts from or stands behind, so it goes last.
    for change in sorted(work.spec.changes, key=lambda change: change.remove):
        wanted = work.entries[change.config_key]
        after = _behind(work, change)
        write_entry(texts, wanted, change, _entry_text(work.checkout, change.like or after), after)
    _check_masters(work, texts)
    texts.wanted.update(written.wanted)
    texts.mistakes += written.mistakes
    for index, change in enumerate(work.spec.changes):
        for number, recipe_file in enumerate(change.recipes):
            path = work.checkout.after.recipe(recipe_file.file).path
            write_recipe_file(texts, recipe_file, path, ("changes", index, "recipes", number))
    return texts


def _check_masters(work: _Work, texts: Texts) -> None:
    """Entries are written one by one; in a file with anchors, one may have reached another."""
    after = work.checkout.after
    for file, text in texts.wanted.items():
        if text is None or file not in after.layout.masters or not _ties_entries(after.master_text(file), text, file):
            continue
        data = load(after.master_text(file), file)
        changed = {key: entry.data for key, entry in work.entries.items() if _master_of(work, key) == file}
        wanted = {key: value for key, value in {**data, **changed}.items() if value is not None}
        ensure_reads_as(text, wanted, file)


def _ties_entries(old: str, new: str, file: str) -> bool:
    """Whether an entry that differs has an anchor or an alias on either side; one without cannot reach another."""
    before, after = _entry_texts(old, file), _entry_texts(new, file)
    differing = (name for name in {*before, *after} if before.get(name) != after.get(name))
    return any(has_anchors(text) for name in differing for text in (before.get(name, ""), after.get(name, "")))


def _entry_texts(text: str, file: str) -> dict[str, str]:
    return {block.name: text[block.start : block.end] for block in split_blocks(text, file)}


def _master_of(work: _Work, key: str) -> str:
    known = work.checkout.after.keys
    if key in known:
        return known[key].file
    change = next(change for change in work.spec.changes if change.config_key == key)
    behind = _behind(work, change)
    return known[behind].file if behind else ""


def _behind(work: _Work, change: KeyChange) -> str:
    """The key that a new one stands behind, empty for one that is there."""
    known = work.checkout.after.keys
    if change.remove or change.config_key in known:
        return ""
    asked = change.after or change.like or ""
    return asked if asked in known else _relative(work.checkout, work.entries[change.config_key]) or ""


def _entry_text(checkout: Checkout, key: str) -> str:
    """An entry's lines as they stand now, at the base where it is gone; empty for no key."""
    for snapshot in (checkout.after, checkout.before):
        if place := snapshot.keys.get(key):
            return snapshot.master_text(place.file)[place.block.start : place.block.end]
    return ""


def _finish(work: _Work, texts: Texts, number: int | None) -> Plan:
    """Everything behind the bytes of config and recipe: the change, its prose, the changelog, the findings."""
    edits = texts.edits()
    overlay = {edit.path: edit.after for edit in edits}
    wanted = work.checkout.with_overlay(overlay)
    files = changed_files(work.checkout, overlay)
    change = compare(work.checkout.before, wanted.after, files)
    asked_number = number if number is not None else work.spec.pr
    changelog = plan_changelog(work.checkout, wanted, change, work.spec.changelog, asked_number)
    work.reading.refuse(changelog.mistakes)
    if changelog.edit is not None:
        edits = (*edits, changelog.edit)
        wanted = wanted.with_overlay({changelog.edit.path: changelog.edit.after})
    flags = work.spec.changelog[0].flags if len(work.spec.changelog) == 1 else ()
    sizing = (value for recipe in work.recipes.wanted.values() for value in sizing_values(recipe))
    new = [key for key, one in work.entries.items() if one.before is None and one.data is not None]
    relatives = (value for key in new for value in relative_values(key, work.checkout.after))
    derived = (*work.derived, *relatives, *derived_values(change, wanted.after, flags), *sizing)
    findings = (
        *plan_findings(work.reading, work.checkout, wanted, change, changelog.unknown_ids),
        *given_up_findings(work.checkout.layout.changelog, changelog.given_up),
        *restored_findings(work.checkout.layout.changelog, changelog.restored),
    )
    return Plan(
        spec=work.spec,
        checkout=work.checkout,
        wanted=wanted,
        edits=edits,
        change=change,
        derived=derived,
        lines=changelog.lines,
        entry=changelog.text,
        findings=findings,
        pull_request=changelog.number,
    )
