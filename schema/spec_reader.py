"""Reading a spec: text in, a `Spec` out that knows where each of its fields stands, or every mistake at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import Place, Problem, SpecError
from .master_rules import row_mistakes
from .spec import Spec
from .strict import Mistake, control_character, mistakes_of, show_path
from .yaml_text import (
    MappingNode,
    Node,
    Path,
    YamlTextError,
    compose,
    duplicate_keys,
    place_of,
    unsafe_nodes,
    value_of,
)

MAXIMUM_BYTES = 1_000_000
EVAL_FLAGS = ("evals-only", "all-evals", "no-evals", "eval-min-prefill-ep")
E2E_ONLY_FLAGS = ("no-evals",)


@dataclass(frozen=True, slots=True)
class SpecReading:
    """A spec as read: `spec` is None where its fields do not fit; `mistakes` holds all that was found.

    Without a `root`, as there is no file behind it, mistakes are told with their fields alone.
    """

    path: str
    data: Any
    root: Node | None
    spec: Spec | None
    mistakes: tuple[Mistake, ...]

    def problem(self, mistake: Mistake) -> Problem:
        """A mistake with the place it stands at in the spec."""
        steps = self._written(mistake.path)
        place = Place(self.path) if self.root is None else place_of(self.root, steps, self.path)
        return Problem(place, show_path(steps), mistake.what, mistake.hint)

    def line_of(self, path: Path) -> int:
        """The line, from 1, at which the field stands; 0 where there is no file."""
        return 0 if self.root is None else place_of(self.root, self._written(path), self.path).line

    def refuse(self, more: Iterable[Mistake] = ()) -> None:
        """Raise SpecError with every mistake, if there is one."""
        mistakes = dict.fromkeys((*self.mistakes, *more))
        if mistakes:
            raise SpecError([self.problem(mistake) for mistake in mistakes])

    def require(self) -> Spec:
        """The spec; raises SpecError where it has mistakes."""
        self.refuse()
        assert self.spec is not None
        return self.spec

    def _written(self, path: Path) -> Path:
        """The path as the author wrote it: where one mapping stands for a list of one, there is no index."""
        steps: list[int | str] = []
        here = self.data
        for step in path:
            if isinstance(step, int) and isinstance(here, Mapping):
                continue
            steps.append(step)
            here = _below(here, step)
        return tuple(steps)


def _below(data: Any, step: int | str) -> Any:
    if isinstance(data, Mapping):
        return data.get(step)
    return data[step] if isinstance(data, list) and isinstance(step, int) and step < len(data) else None


def read_spec(text: str, path: str) -> SpecReading:
    """Read a spec in YAML or JSON.

    Raises SpecError where the text cannot be read at all; mistakes in its fields are collected in the reading,
    so that what the checkout has to say can be added before all of them are shown.
    """
    root = _compose(text, path)
    if root is None:
        raise SpecError([Problem(Place(path, 1, 1), "", "the spec is empty", "start with `benchscribe: 1`")])
    if not isinstance(root, MappingNode):
        raise SpecError([Problem(Place(path, 1, 1), "", "a spec is a mapping", "start with `benchscribe: 1`")])
    unsafe = list(_unsafe(root, text, path))
    if unsafe:
        raise SpecError(unsafe)
    return read_spec_data(value_of(root), path, root)


def read_spec_data(data: Mapping[str, Any], path: str, root: Node | None = None) -> SpecReading:
    """Read a spec from its data; `root` is the node tree it came from, if there is one."""
    spec, mistakes = mistakes_of(Spec, data)
    mistakes += _cross_mistakes(data)
    return SpecReading(path, data, root, spec, tuple(dict.fromkeys(mistakes)))


def _compose(text: str, path: str) -> Node | None:
    if len(text.encode("utf-8", "replace")) > MAXIMUM_BYTES:
        raise SpecError([Problem(Place(path), "", f"the spec is larger than {MAXIMUM_BYTES:,} bytes")])
    try:
        return compose(text.removeprefix("\ufeff"), path)
    except YamlTextError as error:
        if text.lstrip().startswith("{"):
            return _compose_json(text, path)
        raise SpecError([Problem(error.where or Place(path), "", error.what)]) from None


def _compose_json(text: str, path: str) -> Node | None:
    """JSON that YAML cannot read as it stands, such as one indented with tabs."""
    try:
        return compose(json.dumps(json.loads(text), ensure_ascii=False, indent=1), path)
    except json.JSONDecodeError as error:
        place = Place(path, error.lineno, error.colno)
        raise SpecError([Problem(place, "", f"not valid JSON: {error.msg}")]) from None


def _unsafe(root: Node, text: str, path: str) -> Iterator[Problem]:
    for steps, node, kind in unsafe_nodes(root):
        place = Place(path, node.start_mark.line + 1, node.start_mark.column + 1)
        hint = "write the value out" if kind == "anchor" else "leave the tag out; quote the value if it is text"
        yield Problem(place, show_path(steps), f"a spec has no YAML {kind}s", hint)
    for steps, node in duplicate_keys(root):
        place = Place(path, node.start_mark.line + 1, node.start_mark.column + 1)
        yield Problem(place, show_path(steps), f"key {steps[-1]!r} stands twice", "keep one of them")


def _cross_mistakes(data: Mapping[str, Any]) -> list[Mistake]:
    """What single fields cannot say: which of them go together."""
    found: list[Mistake] = []
    changes = data.get("changes")
    seen: set[str] = set()
    for index, change in enumerate(changes if isinstance(changes, list) else []):
        if isinstance(change, Mapping):
            path: Path = ("changes", index)
            found += _change_mistakes(change, path)
            key = str(change.get("config-key"))
            if key in seen:
                found.append(Mistake((*path, "config-key"), f"{key!r} is changed twice", "put it all in one change"))
            seen.add(key)
    changelog = data.get("changelog")
    entries = changelog if isinstance(changelog, list) else [changelog]
    for index, entry in enumerate(entries):
        if isinstance(entry, Mapping):
            found += _flag_mistakes(entry, ("changelog", index))
    found += _companion_mistakes(entries)
    return found


def _change_mistakes(change: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    if "like" in change and "entry" in change:
        yield Mistake((*path, "like"), "like and entry exclude each other", "keep one of them")
    if change.get("remove") is True:
        for name in change:
            if name not in ("config-key", "remove", "archive"):
                yield Mistake((*path, name), f"remove excludes {name}", "a key that goes needs nothing else")
    elif change.get("archive") is True:
        yield Mistake((*path, "archive"), "archive goes with remove: true")
    if "after" in change and "entry" not in change and "like" not in change:
        yield Mistake((*path, "after"), "after says where a new key stands", "it goes with entry or like")
    for steps, row in _rows(change, path):
        yield from row_mistakes(row, steps, shapes=False)
    yield from _null_fields(change, path)
    yield from _control_characters(change, path)


def _null_fields(change: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    fields = change.get("set")
    for name, value in fields.items() if isinstance(fields, Mapping) else ():
        if value is None and name not in ("disagg", "router", "kv-p2p-transfer"):
            hint = "null removes an optional field: disagg, router, kv-p2p-transfer"
            yield Mistake((*path, "set", name), f"field {name!r} is required", hint)


def _rows(change: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    scenarios = change.get("scenarios")
    for name, items in scenarios.items() if isinstance(scenarios, Mapping) else ():
        for index, item in enumerate(items if isinstance(items, list) else [items]):
            rows = item.get("search-space") if isinstance(item, Mapping) else None
            for number, row in enumerate(rows if isinstance(rows, list) else []):
                yield (*path, "scenarios", name, index, "search-space", number), row


def _control_characters(data: Any, path: Path) -> Iterator[Mistake]:
    """No value of a change may break the line it is written on; comments alone may have several lines."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if found := control_character(str(key)):
                yield Mistake((*path, key), f"the name holds the control character {found}")
            if key != "comments":
                yield from _control_characters(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _control_characters(value, (*path, index))
    elif isinstance(data, str) and (found := control_character(data)):
        yield Mistake(path, f"holds the control character {found}", "it must be one line of plain text")


def _flag_mistakes(entry: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    named = [name for name in EVAL_FLAGS if entry.get(name)]
    if entry.get("append-only") is True:
        for name in named:
            yield Mistake((*path, name), f"append-only excludes {name}", "keep one of the two flags")
    elif "no-evals" in named:
        for name in named:
            if name != "no-evals":
                yield Mistake((*path, name), f"no-evals excludes {name}", "keep one of the two flags")


def _companion_mistakes(entries: list[Any]) -> Iterator[Mistake]:
    listed = [entry for entry in entries if isinstance(entry, Mapping)]
    for index, entry in enumerate(listed):
        path: Path = ("changelog", index)
        if len(listed) > 1 and not entry.get("keys"):
            yield Mistake(path, "one of several entries names its keys", "add keys: […]")
        if len(listed) > 1 and entry.get("append-only") is True:
            yield Mistake((*path, "append-only"), "an append-only entry stands alone in its pull request")


def layout_mistakes(data: Mapping[str, Any], layout: str) -> Iterator[Mistake]:
    """What the checkout's layout does not know (source: FACTS §1, §2; SPEC)."""
    for index, change in enumerate(data["changes"]):
        if layout == "root" and "recipe" in change:
            hint = "in the root layout recipes are bash scripts; edit them by hand, or use recipes: for YAML ones"
            yield Mistake(("changes", index, "recipe"), "recipe needs the e2e layout", hint)
        if layout == "e2e" and change.get("archive"):
            hint = "retired entries of the e2e layout are deleted; drop archive"
            yield Mistake(("changes", index, "archive"), "the e2e layout has no archive", hint)
    changelog = data.get("changelog")
    entries = changelog if isinstance(changelog, list) else [changelog]
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            continue
        if layout == "e2e" and entry.get("language") == "both":
            yield Mistake(("changelog", index, "language"), "entries of the e2e layout are English only", "allowed: en")
        if layout == "root":
            for name in E2E_ONLY_FLAGS:
                if entry.get(name):
                    yield Mistake(("changelog", index, name), f"flag {name} is of the e2e layout")
    if layout == "e2e" and sum(not (isinstance(entry, Mapping) and entry.get("evals-only")) for entry in entries) > 1:
        hint = "a companion for an extra eval key is marked evals-only: true"
        yield Mistake(("changelog", 1), "a pull request of the e2e layout has one entry", hint)
