"""The changelog part of the spec as a form: flags, notes, omitted lines, number and title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .model import SpecModel

FLAGS = ("append-only", "evals-only", "all-evals", "no-evals")


def entries(model: SpecModel) -> list[dict[str, Any]]:
    """What the spec says of its entries; one without a word where it says nothing."""
    given = model.data.get("changelog")
    found = given if isinstance(given, list) else [given]
    return [dict(one) if isinstance(one, Mapping) else {} for one in found] or [{}]


def set_entry(model: SpecModel, index: int, entry: Mapping[str, Any], run: str = "") -> None:
    """One entry's wishes anew; an entry without any is left out of the spec."""
    order = ("keys", "scenario-type", *FLAGS, "eval-min-prefill-ep", "notes", "omit", "order", "language")
    kept = {name: value for name, value in entry.items() if value not in (None, "", [], False, {})}
    kept = {name: kept[name] for name in (*order, *kept) if name in kept}
    with model.editing(run) as data:
        every = entries(model)
        while len(every) <= index:
            every.append({})
        every[index] = kept
        data.pop("changelog", None)
        if len(every) > 1:
            data["changelog"] = every
        elif every[0]:
            data["changelog"] = every[0]


def toggle_omit(model: SpecModel, line_id: str, index: int = 0) -> None:
    """A derived line out of the entry, or in again."""
    entry = entries(model)[index]
    omitted = [str(one) for one in entry.get("omit") or []]
    entry["omit"] = [one for one in omitted if one != line_id] if line_id in omitted else [*omitted, line_id]
    set_entry(model, index, entry)


def move_line(model: SpecModel, line_id: str, step: int, ids: Sequence[str], index: int = 0) -> None:
    """A derived line up or down among those in view; only as much of the order is kept as says so."""
    at = ids.index(line_id) if line_id in ids else -1
    if at < 0 or not 0 <= at + step < len(ids):
        return
    order = list(ids)
    order[at], order[at + step] = order[at + step], order[at]
    entry = entries(model)[index]
    entry["order"] = order[: max(at, at + step, len(entry.get("order") or []) - 1) + 1]
    set_entry(model, index, entry)


def notes(entry: Mapping[str, Any]) -> list[dict[str, str]]:
    """The author's lines as `en` and `zh`."""
    found = []
    for note in entry.get("notes") or []:
        if isinstance(note, Mapping):
            found.append({"en": str(note.get("en") or ""), "zh": str(note.get("zh") or "")})
        else:
            found.append({"en": str(note), "zh": ""})
    return found


def set_notes(model: SpecModel, index: int, lines: list[dict[str, str]], run: str = "") -> None:
    """The author's lines anew; one without Chinese is written as plain text."""
    entry = entries(model)[index]
    entry["notes"] = [{"en": line["en"], "zh": line["zh"]} if line["zh"] else line["en"] for line in lines]
    set_entry(model, index, entry, run)


def set_top(model: SpecModel, name: str, value: Any) -> None:
    """`pr`, `ai-model` or `title`: in place at the head of the spec, out of it where there is nothing to say."""
    with model.editing(f"top {name}") as data:
        old = dict(data)
        if value in (None, "", {}):
            old.pop(name, None)
        else:
            old[name] = value
        order = ("benchscribe", "title", "pr", "ai-model", "changes", "changelog")
        data.clear()
        data.update({key: old[key] for key in (*order, *old) if key in old})
