"""One rule as fields: which points, the engine-neutral knobs, and arguments and environment as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import ItemGrid
from textual.message import Message
from textual.widgets import Select

from ...schema.master import Row
from ...schema.points import parse_concurrencies
from ...schema.yaml_text import YamlList, YamlMap, plain
from ..rows import arm_match, read_tier, scalar, tier_text
from ..text import content
from .field import ChoiceSelect, Field
from .fields_editor import FieldsEditor
from .yaml_area import YamlArea

AREAS = ("env", "args", "bench-env", "patch")
KNOBS = ("draft-tokens", "admission", "graphs")
ROLE = ("roles", "agg")
AS_WRITTEN = "as written"


class RuleEditor(FieldsEditor):
    """Edits base's patch or one rule."""

    class Changed(Message):
        """The rule (or base's patch) as it now should read; `name` is the field that was changed."""

        def __init__(self, data: dict[str, Any], name: str) -> None:
            super().__init__()
            self.data = data
            self.name = name

    def __init__(self) -> None:
        super().__init__(id="rule-editor")
        self.rule_index = 0
        self._data: dict[str, Any] = {}
        self._arms: list[tuple[str, dict[str, Any]]] = []

    def compose(self) -> ComposeResult:
        with ItemGrid(min_column_width=34, id="rule-fields"):
            yield ChoiceSelect([("all points", 0)], allow_blank=False, compact=True, id="rule-arm")
            yield Field("conc", label="points", placeholder="all; or 1 2, 16-48/8")
            yield Field("draft-tokens", label="draft tokens")
            yield Field("admission", choices=("1x", "2x"), placeholder="1x, 2x or a number")
            yield Field("graphs", choices=("auto",), placeholder="auto, or 1 2 4 8")
            yield Field("offload", label="tier", placeholder="none; 64 GiB per rank")
        yield YamlArea("env", label="environment", environment=True, placeholder="NAME=value, one a line")
        yield YamlArea("args", label="engine arguments", placeholder="name: value, one a line; nested YAML is fine")
        yield YamlArea("bench-env", label="benchmark environment", environment=True, placeholder="NAME=value")
        yield YamlArea(
            "patch", label="anything else", placeholder="as frontend: { container_image: … }; null takes a key out"
        )

    def area(self, name: str) -> YamlArea:
        """One text area by name."""
        return next(area for area in self.query(YamlArea) if area.field_name == name)

    def focus_first(self) -> None:
        if self.rule_index == 0:
            self.area("env").query_one("TextArea").focus()
        else:
            self.field("conc").focus()
        self.scroll_visible(animate=False)

    def fill_base(self, patch: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Show the patch of the recipe's base; `now` is what the file's base says."""
        self._data = deepcopy(dict(patch))
        self.border_title = "Base: what holds at every point"
        self.query_one("#rule-fields").display = False
        role = _at(patch, ROLE)
        self.area("env").fill(role.get("env"))
        self.area("args").fill(role.get("args"))
        self.area("bench-env").fill(_at(patch, ("benchmark",)).get("env"))
        self.area("patch").fill(_rest(patch))
        self._tell_base(now)

    def _tell_base(self, now: Mapping[str, Any]) -> None:
        """Under each area what base has there without the patch; nothing for a rule."""
        role = _at(now, ROLE)
        self.area("env").tell(role.get("env"))
        self.area("args").tell(role.get("args"))
        self.area("bench-env").tell(_at(now, ("benchmark",)).get("env"))
        rest = _rest(now)
        # What is changed most often comes first.
        order = [name for name in ("frontend", *rest) if name in rest]
        self.area("patch").tell({name: rest[name] for name in order})

    def fill_rule(self, rule: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
        """Show one rule over these rows."""
        self._data = deepcopy(dict(rule))
        self.border_title = f"Rule {self.rule_index}"
        self.query_one("#rule-fields").display = True
        self._fill_arms(rule, rows)
        given = rule.get("match")
        match = given if isinstance(given, Mapping) else {}
        conc = match.get("conc")
        self._fill_text(
            "conc", " ".join(map(str, conc)) if isinstance(conc, list) else "" if conc is None else str(conc)
        )
        self._fill_text("draft-tokens", _text(rule.get("draft-tokens")))
        self._fill_text("admission", _text(rule.get("admission")))
        graphs = rule.get("graphs")
        self._fill_text("graphs", " ".join(map(str, graphs)) if isinstance(graphs, list) else _text(graphs))
        self._fill_text("offload", tier_text(rule.get("offload")) if rule.get("offload") else "")
        for name in AREAS:
            self.area(name).fill(rule.get(name))
        self._tell_base({})

    def _fill_text(self, name: str, text: str) -> None:
        """Put a text in, unless what is typed means the same."""
        field = self.field(name)
        if field.text == text:
            return
        try:
            if name == "conc" and parse_concurrencies(field.text) == parse_concurrencies(text):
                return
        except ValueError:
            pass
        if name == "offload" and plain(read_tier(field.text)) == plain(read_tier(text)):
            return
        field.fill(text)
        field.fail("")

    def _fill_arms(self, rule: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
        match = {name: value for name, value in dict(rule.get("match") or {}).items() if name != "conc"}
        arms: list[tuple[str, dict[str, Any]]] = [("all points", {})]
        for row in rows:
            found = arm_match(row, rows)
            view = Row(row)
            name = f"{view}" + (f" · {view.backend or view.kv_offloading}" if view.kv_offloading != "none" else "")
            if all(plain(found) != plain(known) for _, known in arms):
                arms.append((name, found))
        at = next((at for at, (_, known) in enumerate(arms) if plain(known) == plain(match)), None)
        if at is None:
            words = ", ".join(f"{name} {value}" for name, value in match.items())
            arms.append((f"{AS_WRITTEN}: {words}", match))
            at = len(arms) - 1
        select = self.query_one("#rule-arm", Select)
        with select.prevent(Select.Changed):
            if arms != self._arms:
                select.set_options([(content(name), index) for index, (name, _) in enumerate(arms)])
            select.value = at
        self._arms = arms

    # What the author does

    @on(Select.Changed, "#rule-arm")
    def _arm_changed(self, event: Select.Changed) -> None:
        event.stop()
        if not isinstance(event.value, int) or event.value >= len(self._arms):
            return
        conc = dict(self._data.get("match") or {}).get("conc")
        now = {name: value for name, value in dict(self._data.get("match") or {}).items() if name != "conc"}
        if plain(now) == plain(self._arms[event.value][1]):
            return
        match = dict(self._arms[event.value][1])
        if conc is not None:
            match["conc"] = conc
        self._set("match", match)

    @on(Field.Changed)
    def _field_changed(self, event: Field.Changed) -> None:
        event.stop()
        name, text = event.field.field_name, event.text.strip()
        if name == "conc":
            self._set_concurrencies(event.field, text)
        elif name == "graphs":
            self._set("graphs", _graphs(text))
        elif name == "offload":
            self._set("offload", read_tier(text))
        else:
            self._set(name, scalar(text) if text else None)

    def _set_concurrencies(self, field: Field, text: str) -> None:
        match = {name: value for name, value in dict(self._data.get("match") or {}).items() if name != "conc"}
        try:
            points = parse_concurrencies(text)
            field.fail("")
        except ValueError as error:
            field.fail(str(error))
            match["conc"] = text
            self._set("match", match)
            return
        if points:
            match["conc"] = points[0] if len(points) == 1 else list(points)
        self._set("match", match)

    @on(YamlArea.Changed)
    def _area_changed(self, event: YamlArea.Changed) -> None:
        event.stop()
        name = event.area.field_name
        if self.rule_index:
            self._set(name, event.value or None)
        elif not isinstance(event.value, str):
            # Text that is no mapping waits here, with its mistake under it: in base's patch it would read as data.
            self._data = _base_with(self._data, name, event.value)
            self.post_message(self.Changed(self._data, name))

    def _set(self, name: str, value: Any) -> None:
        data = dict(self._data)
        data.pop(name, None)
        if value is not None or name == "match":
            data[name] = value
        order = ("match", *KNOBS, "dcp-size", "offload", "args", "env", "bench-env", "patch")
        self._data = {key: data[key] for key in (*order, *data) if key in data}
        self.post_message(self.Changed(self._data, name))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _graphs(text: str) -> Any:
    if not text or text == "auto":
        return text or None
    try:
        sizes = YamlList(parse_concurrencies(text))
    except ValueError:
        return text
    sizes.flow = True
    return sizes


def _at(data: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any]:
    for step in path:
        below = data.get(step)
        data = below if isinstance(below, Mapping) else {}
    return data


def _rest(patch: Mapping[str, Any]) -> Any:
    """What base's patch says beside arguments and environments."""
    rest = deepcopy(dict(patch))
    if isinstance(rest.get("roles"), Mapping) and isinstance(rest["roles"].get("agg"), Mapping):
        agg = {name: value for name, value in rest["roles"]["agg"].items() if name not in ("env", "args")}
        roles = (
            {**rest["roles"], "agg": agg}
            if agg
            else {name: value for name, value in rest["roles"].items() if name != "agg"}
        )
        rest["roles"] = YamlMap(roles)
    if isinstance(rest.get("benchmark"), Mapping):
        rest["benchmark"] = YamlMap({name: value for name, value in rest["benchmark"].items() if name != "env"})
    return YamlMap({name: value for name, value in rest.items() if value != {}})


def _base_with(patch: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Base's patch with one of the four areas anew."""
    parts = {
        "patch": _rest(patch),
        "args": _at(patch, ROLE).get("args"),
        "env": _at(patch, ROLE).get("env"),
        "bench-env": _at(patch, ("benchmark",)).get("env"),
    }
    parts[name] = value
    result = deepcopy(dict(parts["patch"] or {}))
    for area in ("args", "env"):
        if parts[area]:
            roles = result.setdefault("roles", YamlMap())
            roles.setdefault("agg", YamlMap())[area] = parts[area]
    if parts["bench-env"]:
        result.setdefault("benchmark", YamlMap())["env"] = parts["bench-env"]
    return result
