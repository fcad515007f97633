"""The spec's problems at the fields of the Edit step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...schema.strict import show_path
from ..form import COMMON_FIELDS, MULTI_NODE_FIELDS
from ..widgets.field import Field
from ..widgets.overrides import Overrides
from ..widgets.search_space import SearchSpace

if TYPE_CHECKING:
    from .edit import EditScreen


def show_errors(screen: EditScreen) -> None:
    """Every problem at its field; what has no field of its own is only on the right."""
    problems = screen.bench.outcome.problems if screen.bench.outcome is not None else ()
    for field, path in _field_paths(screen):
        texts = [f"{one.what}{f'; {one.hint}' if one.hint else ''}" for one in problems if _is_at(one.field, path)]
        field.fail(" · ".join(texts[:2]))
    _show_row_errors(screen, problems)
    _show_rule_errors(screen, problems)


def _show_row_errors(screen: EditScreen, problems: Iterable[Any]) -> None:
    space = screen.query_one(SearchSpace)
    item = screen.item
    if item is None or not space.editor.display:
        return
    head = show_path((*screen.form.item_path(item), "search-space", space.editor.row_index))
    names = {"conc-list": "conc", "conc-start": "conc", "conc-end": "conc", "kv-offload-backend": "backend"}
    texts: dict[str, list[str]] = {}
    for one in problems:
        if _is_at(one.field, head):
            name = one.field.removeprefix(head).lstrip(".").partition(".")[0].partition("[")[0]
            # Beside the field there is room for what is wrong; the way out stands on the right.
            about_backend = name == "kv-offloading" and "kv-offload-backend" in one.what
            texts.setdefault("backend" if about_backend else names.get(name, name or "conc"), []).append(one.what)
        elif ".offload" in one.field:
            texts.setdefault("tier", []).append(f"{one.what}; {one.hint}" if one.hint else one.what)
    for field in space.editor.query(Field):
        # What cannot be read as concurrencies is said better by the field itself.
        if field.field_name != "conc" or space.editor.reads_concurrencies:
            field.fail(" · ".join(texts.get(field.field_name, [])[:2]))


def _show_rule_errors(screen: EditScreen, problems: Iterable[Any]) -> None:
    editor = screen.query_one(Overrides).editor
    if not editor.display or not editor.rule_index:
        return
    head = show_path((*screen.form.path, "recipe", "points", editor.rule_index - 1))
    texts: dict[str, list[str]] = {}
    for one in problems:
        if _is_at(one.field, head):
            name = one.field.removeprefix(head).lstrip(".").partition(".")[0].partition("[")[0]
            text = f"{one.what}; {one.hint}" if one.hint and name == "offload" else one.what
            texts.setdefault("conc" if name in ("match", "") else name, []).append(text)
    for field in editor.query(Field):
        field.fail(" · ".join(texts.get(field.field_name, [])[:2]))


def _field_paths(screen: EditScreen) -> Iterator[tuple[Field, str]]:
    form = screen.form
    for name in (*COMMON_FIELDS, *MULTI_NODE_FIELDS):
        yield screen.field(name), show_path((*form.path, "set", name))
    yield screen.field("config-key"), show_path((*form.path, "config-key"))
    if (item := screen.item) is not None:
        yield screen.field("dram-utilization"), show_path((*form.item_path(item), "dram-utilization"))


def _is_at(field: str, path: str) -> bool:
    """Whether a problem's field is the one at `path` or below it."""
    return field == path or field.startswith((f"{path}.", f"{path}["))
