"""YAML text as data that remembers how it was written, and as nodes that know where they stand.

Scalars are read as YAML 1.1, as the checkouts' own Python reads them. Values carry their spelling
(`0.60`, `'16'`, `[1, 2]`), so that what an author wrote is what a file gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import Token

from .errors import BenchscribeError, Place

Path: TypeAlias = tuple[str | int, ...]

__all__ = [
    "MappingNode",
    "Node",
    "Path",
    "ScalarNode",
    "SequenceNode",
    "YamlFloat",
    "YamlInt",
    "YamlList",
    "YamlMap",
    "YamlStr",
    "YamlTextError",
    "compose",
    "composed",
    "duplicate_keys",
    "find",
    "load",
    "place_of",
    "plain",
    "reads_as_text",
    "unsafe_nodes",
    "value_of",
    "walk",
]


class YamlTextError(BenchscribeError):
    """The text is not the YAML it should be; `where` has the line and column."""

    exit_code = 3


class YamlStr(str):
    """A string with the spelling it had in its file, quotes included."""

    spelling: str


class YamlInt(int):
    """An integer with its spelling (`2_063_920`)."""

    spelling: str


class YamlFloat(float):
    """A number with its spelling (`0.60`)."""

    spelling: str


class YamlMap(dict[Any, Any]):
    """A mapping that knows whether it was written in flow style (`{ a: 1 }`)."""

    flow: bool = False


class YamlList(list[Any]):
    """A list that knows whether it was written in flow style (`[1, 2]`)."""

    flow: bool = False


class _Recorder(Scanner):
    """A scanner that keeps the tokens the parser took."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.taken: list[Token] = []

    def get_token(self) -> Any:
        token = super().get_token()
        self.taken.append(token)
        return token


def compose(text: str, path: str = "") -> Node | None:
    """The root node of one YAML document, None for an empty one. Errors name `path`, line and column.

    Nodes are only ever read, so a text that is met again (at the base, in the next plan) is not parsed again.
    """
    return composed(text, path)[0]


def composed(text: str, path: str = "") -> tuple[Node | None, Sequence[Token]]:
    """The root node, and the tokens it was made of. Errors as with `compose`."""
    try:
        return _composed(text)
    except RecursionError:
        raise YamlTextError("the YAML is nested too deeply to be read", where=Place(path)) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)
        raise YamlTextError(f"not valid YAML: {error.problem or error.context}", where=place) from None
    except YAMLError as error:
        raise YamlTextError(f"not valid YAML: {error}", where=Place(path)) from None


@lru_cache(maxsize=160)
def _composed(text: str) -> tuple[Node | None, Sequence[Token]]:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    yaml.Scanner = _Recorder
    return yaml.compose(text), yaml.scanner.taken


def load(text: str, path: str = "") -> Any:
    """The data of one YAML document, spellings kept; None for an empty one."""
    node = compose(text, path)
    return None if node is None else value_of(node)


def value_of(node: Node) -> Any:
    """A node's data. Aliases share one object, so that a nest of them costs nothing."""
    return _value(node, {})


def _value(node: Node, seen: dict[int, Any]) -> Any:
    if id(node) in seen:
        return seen[id(node)]
    if isinstance(node, MappingNode):
        mapping = YamlMap()
        mapping.flow = bool(node.flow_style)
        seen[id(node)] = mapping
        _fill(mapping, node, seen)
        return mapping
    if isinstance(node, SequenceNode):
        items = YamlList()
        items.flow = bool(node.flow_style)
        seen[id(node)] = items
        items.extend(_value(item, seen) for item in node.value)
        return items
    assert isinstance(node, ScalarNode)
    return _scalar(node)


def _fill(mapping: YamlMap, node: MappingNode, seen: dict[int, Any]) -> None:
    merged: list[Any] = []
    for key_node, value_node in node.value:
        if str(key_node.tag).endswith(":merge"):
            merged.append(_value(value_node, seen))
        else:
            key = _value(key_node, seen)
            mapping[_hashable(key)] = _value(value_node, seen)
    for source in merged:
        for part in source if isinstance(source, list) else [source]:
            for key, value in part.items():
                mapping.setdefault(key, value)


def _hashable(key: Any) -> Any:
    return key if isinstance(key, (str, int, float, bool, type(None))) else repr(key)


def _scalar(node: ScalarNode) -> Any:
    """One scalar as YAML 1.1 reads it, with its spelling as written."""
    kind = str(node.tag).rpartition(":")[2]
    text = node.value
    try:
        if kind == "null":
            return None
        # A bare `y` or `n` is text to PyYAML, whatever YAML 1.1 says.
        if kind == "bool" and text.lower() not in ("y", "n"):
            return text.lower() in ("yes", "true", "on")
        if kind == "int":
            return _spelled(YamlInt(_whole_number(text)), text)
        if kind == "float" and ("." in text or "inf" in text.lower()):
            return _spelled(YamlFloat(_real_number(text)), text)
    except ValueError:
        pass
    return _spelled(YamlStr(text), _source(node))


def _spelled(value: Any, spelling: str) -> Any:
    value.spelling = spelling
    return value


def _source(node: ScalarNode) -> str:
    buffer = node.start_mark.buffer
    if buffer is None:
        return str(node.value)
    return str(buffer[node.start_mark.index : node.end_mark.index])


def _whole_number(text: str) -> int:
    digits = text.replace("_", "")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    if ":" in digits:
        total = 0
        for part in digits.split(":"):
            total = total * 60 + int(part)
        return sign * total
    if digits.startswith("0b"):
        return sign * int(digits[2:], 2)
    if digits.startswith("0x"):
        return sign * int(digits[2:], 16)
    if digits.startswith("0") and digits != "0":
        return sign * int(digits.removeprefix("0o"), 8)
    return sign * int(digits)


def _real_number(text: str) -> float:
    digits = text.replace("_", "").lower()
    if ":" in digits:
        raise ValueError(text)
    return float(digits.replace(".inf", "inf").replace(".nan", "nan"))


def plain(value: Any) -> Any:
    """The same data in plain Python types, without spellings or styles."""
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, YamlStr):
        return str(value)
    if isinstance(value, YamlInt):
        return int(value)
    if isinstance(value, YamlFloat):
        return float(value)
    return value


@cache
def _resolver(version: tuple[int, int]) -> VersionedResolver:
    return VersionedResolver(version)


def reads_as_text(text: str) -> bool:
    """Whether the unquoted word is a string to every YAML reader, 1.1 and 1.2 alike."""
    for version in ((1, 1), (1, 2)):
        tag = _resolver(version).resolve(ScalarNode, text, (True, False))
        if not str(tag).endswith(":str"):
            return False
    return True


def find(root: Node | None, path: Sequence[str | int]) -> tuple[Node | None, Node | None]:
    """The key node and the value node at `path`; both None where there is nothing."""
    key: Node | None = None
    node = root
    for step in path:
        key, node = _child(node, step)
        if node is None:
            return None, None
    return key, node


def _child(node: Node | None, step: str | int) -> tuple[Node | None, Node | None]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key, value
    if isinstance(node, SequenceNode) and isinstance(step, int) and -1 < step < len(node.value):
        return node.value[step], node.value[step]
    return None, None


def place_of(root: Node | None, path: Sequence[str | int], file: str) -> Place:
    """Where `path` stands, or the deepest part of it that exists."""
    for length in range(len(path), -1, -1):
        key, node = find(root, path[:length])
        spot = key or node
        if spot is not None:
            return Place(file, spot.start_mark.line + 1, spot.start_mark.column + 1)
    return Place(file, 1, 1)


def walk(node: Node | None, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every node below `node` with its path, itself first; an aliased node once per place it is first met."""
    seen: set[int] = set()
    stack: list[tuple[Path, Node]] = [] if node is None else [(path, node)]
    while stack:
        here, current = stack.pop()
        yield here, current
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, MappingNode):
            stack.extend(((*here, key.value), value) for key, value in reversed(current.value))
        elif isinstance(current, SequenceNode):
            stack.extend(((*here, index), item) for index, item in reversed(list(enumerate(current.value))))


def duplicate_keys(root: Node | None) -> list[tuple[Path, Node]]:
    """The second and later occurrences of a key in one mapping: path and key node."""
    found = []
    for path, node in walk(root):
        if isinstance(node, MappingNode):
            seen: set[str] = set()
            for key, _ in node.value:
                if str(key.value) in seen:
                    found.append(((*path, key.value), key))
                seen.add(str(key.value))
    return found


def unsafe_nodes(root: Node | None) -> list[tuple[Path, Node, str]]:
    """Anchors (and so aliases) and explicit tags: path, node and which of `anchor` or `tag` it is."""
    found = []
    for path, node in walk(root):
        if node.anchor:
            found.append((path, node, "anchor"))
        if not str(node.tag).startswith("tag:yaml.org,2002:") or _source_starts(node, "!"):
            found.append((path, node, "tag"))
    return found


def _source_starts(node: Node, sign: str) -> bool:
    buffer = node.start_mark.buffer
    return buffer is not None and buffer[node.start_mark.index : node.start_mark.index + 1] == sign
