"""One search-space row as fields, with its concurrencies shown as points while one types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import ItemGrid
from textual.message import Message
from textual.widgets import Static

from ...schema.master import Row
from ...schema.points import parse_concurrencies
from ...schema.yaml_text import YamlMap, YamlStr
from ..rows import concurrency_text, with_concurrencies
from .field import ChoiceInput, Field
from .fields_editor import FieldsEditor
from .yaml_area import YamlArea

NUMBERS = ("tp", "dcp-size", "ep", "pp", "pcp-size")
YES_NO = (("no", "false"), ("yes", "true"))
DEFAULTS: Mapping[str, str] = {"dcp-size": "1", "ep": "1", "pp": "1", "pcp-size": "1", "dp-attn": "false"}


class RowEditor(FieldsEditor):
    """The fields of one row; multi-node rows are edited as YAML beside their concurrencies."""

    class Changed(Message):
        """The row as it now should read; `name` is the field that was changed."""

        def __init__(self, row: dict[str, Any], name: str) -> None:
            super().__init__()
            self.row = row
            self.name = name

    class TierChanged(Message):
        """The tier's size as typed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="row-editor")
        self.row_index = 0
        self.backends: list[str] = []
        self.with_tier = False
        self._row: dict[str, Any] = {}
        self._old_points: tuple[int, ...] = ()

    def compose(self) -> ComposeResult:
        yield Field("conc", label="concurrency", placeholder="1 2 4 8   16-48/8   4..64", classes="wide")
        yield Static("", id="row-chips", markup=False)
        with ItemGrid(min_column_width=30, id="row-fields"):
            yield Field("tp")
            yield Field("dcp-size")
            yield Field("kv-offloading", label="kv", options=[("none", "none"), ("dram", "dram")])
            yield Field("backend", placeholder="name version", classes="backend")
            yield Field("tier", placeholder="none; 64 GiB per rank", classes="tier")
            yield Field("spec-decoding", label="spec", options=[(one, one) for one in ("none", "mtp", "draft_model")])
            yield Field("ep")
            yield Field("dp-attn", options=YES_NO)
            yield Field("pp")
            yield Field("pcp-size")
            yield Field("router", placeholder="name version", classes="router")
        yield YamlArea("row", label="the row in YAML")

    def on_mount(self) -> None:
        self.border_title = "Row"

    def focus_first(self) -> None:
        """The concurrencies come first: they are what changes most."""
        self.field("conc").focus()
        self.scroll_visible(animate=False)

    def fill(self, row: Mapping[str, Any], old: Mapping[str, Any] | None, tier: str) -> None:
        """Show a row; `old` is what it was."""
        self._row = dict(row)
        self._old_points = Row(old).concurrencies if old is not None else ()
        view = Row(row)
        single = not view.multinode
        agentic = "kv-offloading" in row or "kv-offload-backend" in row
        conc = self.field("conc")
        if not self._types_same_points(conc.text, row):
            conc.fill(concurrency_text(row))
            conc.fail("")
        self._show_chips(conc.text)
        for name in (*NUMBERS, "dp-attn"):
            field = self.field(name)
            # A field being emptied to be typed anew does not spring back to its default.
            if not (field.text.strip() == "" and field.answer.has_focus and name not in row):
                field.fill(_text(row.get(name, DEFAULTS.get(name, ""))))
            field.display = single
        self.field("spec-decoding").fill(view.spec_decoding)
        self.field("kv-offloading").fill(view.kv_offloading)
        self.field("kv-offloading").display = agentic
        backend = self.field("backend")
        if backend.text.strip() != f"{view.backend} {view.backend_version}".strip():
            backend.fill(f"{view.backend} {view.backend_version}".strip())
        backend.query_one(ChoiceInput).choices = self.backends
        backend.display = agentic and view.kv_offloading == "dram"
        self.field("tier").display = self.with_tier and view.kv_offloading == "dram"
        if self.field("tier").text.strip() != tier:
            self.field("tier").fill(tier)
        router = row.get("router")
        self.field("router").fill(
            " ".join(_text(one) for one in router.values()) if isinstance(router, Mapping) else ""
        )
        self.field("router").display = isinstance(router, Mapping)
        area = self.query_one(YamlArea)
        area.display = not single
        if not single:
            area.fill(YamlMap({name: value for name, value in row.items() if not name.startswith("conc-")}))

    def _types_same_points(self, text: str, row: Mapping[str, Any]) -> bool:
        """Whether what is typed already means the row's points: then it stays as typed."""
        try:
            return bool(text.strip()) and parse_concurrencies(text) == Row(row).concurrencies
        except ValueError:
            return text == concurrency_text(row)

    @property
    def reads_concurrencies(self) -> bool:
        """Whether what is typed can be read as concurrencies."""
        try:
            parse_concurrencies(self.field("conc").text)
        except ValueError:
            return False
        return True

    def _show_chips(self, text: str) -> None:
        from .search_space import chips

        try:
            points = parse_concurrencies(text)
            self.field("conc").fail("")
        except ValueError as error:
            self.field("conc").fail(str(error))
            points = ()
        self.query_one("#row-chips", Static).update(chips(points, self._old_points))

    @on(Field.Changed)
    def _changed(self, event: Field.Changed) -> None:
        event.stop()
        name, text = event.field.field_name, event.text
        if name == "tier":
            self.post_message(self.TierChanged(text))
            return
        row = dict(self._row)
        if name == "conc":
            row = self._with_concurrencies(row, text)
        elif name in ("backend", "router"):
            _put_pair(row, "kv-offload-backend" if name == "backend" else name, text)
        elif name == "kv-offloading":
            row[name] = text
            if text == "none":
                row.pop("kv-offload-backend", None)
        elif name == "dp-attn":
            _put_default(row, name, text == "true", default=False)
        elif name == "spec-decoding":
            _put_default(row, name, text, default="none")
        else:
            value = int(text) if text.strip().isdecimal() else text.strip()
            _put_default(row, name, value, default=1 if name != "tp" else None)
        self._row = row
        self.post_message(self.Changed(row, name))

    def _with_concurrencies(self, row: dict[str, Any], text: str) -> dict[str, Any]:
        """Text that cannot be read goes into the spec as it is, so that it is neither lost nor written."""
        self._show_chips(text)
        try:
            return with_concurrencies(row, text)
        except ValueError:
            return {**{name: value for name, value in row.items() if not name.startswith("conc-")}, "conc-list": text}

    @on(YamlArea.Changed)
    def _yaml_changed(self, event: YamlArea.Changed) -> None:
        event.stop()
        if isinstance(event.value, Mapping):
            kept = {name: value for name, value in self._row.items() if name.startswith("conc-")}
            self._row = {**event.value, **kept}
            self.post_message(self.Changed(self._row, "yaml"))


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _put_default(row: dict[str, Any], name: str, value: Any, *, default: Any) -> None:
    """A stated default stays stated, an unstated one stays unstated."""
    if (value == default and name not in row) or value == "":
        row.pop(name, None)
    else:
        row[name] = value


def _put_pair(row: dict[str, Any], name: str, text: str) -> None:
    """`name version` as the two fields of a component; the version stays text."""
    head, _, version = text.strip().partition(" ")
    if not head:
        row.pop(name, None)
        return
    pair = YamlMap({"name": head})
    if version.strip():
        # Versions stand in double quotes in every master config.
        quoted = YamlStr(version.strip())
        quoted.spelling = json.dumps(version.strip(), ensure_ascii=False)
        pair["version"] = quoted
    pair.flow = True
    row[name] = pair
