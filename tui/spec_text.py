"""A spec's data as YAML text: block style outside, one line per search-space row, spellings kept.

What is written reads back to the same data under YAML 1.1 and 1.2 alike. `read_back` gives what reading it would
give without parsing it, since a plan is made at every key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ..schema.yaml_text import YamlList, YamlMap, load, reads_as_text

# Text that is the same unquoted in block and in flow style; YAML reserves a leading `@`.
_PLAIN = re.compile(r"[A-Za-z0-9_./+~=^(][A-Za-z0-9_./+@~=^()$%;:×-]*(?: [A-Za-z0-9_./+@~=^()$%;:×-]+)*")
# What YAML does not take as it stands, beside what JSON escapes anyway.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LINES = ("search-space", "notes")  # lists whose items stand on one line each
_FLOW = ("match",)


def spec_text(data: Mapping[str, Any]) -> str:
    """The whole spec as a YAML document."""
    return "\n".join(_block(data, 0)) + "\n"


def block_text(data: Mapping[str, Any]) -> str:
    """A part of a spec as the lines one would type for it, without the last line end."""
    return "\n".join(_block(data, 0))


def _block(data: Mapping[str, Any], indent: int) -> Iterator[str]:
    for name, value in data.items():
        yield from _entry(f"{' ' * indent}{_scalar(name)}:", str(name), value, indent)


def _entry(head: str, name: str, value: Any, indent: int) -> Iterator[str]:
    if not _is_block(value) or _is_flow(name, value):
        yield f"{head} {flow(value)}"
    elif isinstance(value, Mapping):
        yield head
        yield from _block(value, indent + 2)
    else:
        yield head
        for item in value:
            yield from _item(name, item, indent + 2)


def _item(name: str, item: Any, indent: int) -> Iterator[str]:
    dash = f"{' ' * indent}- "
    if not _is_block(item) or _is_one_line(name, item):
        yield dash + flow(item)
    elif isinstance(item, Mapping):
        lines = list(_block(item, indent + 2))
        yield dash + lines[0][indent + 2 :]
        yield from lines[1:]
    else:
        lines = [line for one in item for line in _item("", one, indent + 2)]
        yield dash + lines[0][indent + 2 :]
        yield from lines[1:]


def _is_one_line(name: str, item: Any) -> bool:
    return (name in _LINES and not _is_multi_node(item)) or bool(getattr(item, "flow", False))


def _is_flow(name: str, value: Any) -> bool:
    if name in _FLOW or getattr(value, "flow", False):
        return True
    if isinstance(value, list) and name not in _LINES:
        return all(not isinstance(item, (Mapping, list)) for item in value) and not hasattr(value, "flow")
    return False


def _is_multi_node(item: Any) -> bool:
    return isinstance(item, Mapping) and any(
        isinstance(item.get(name), Mapping) for name in ("prefill", "decode", "worker")
    )


def flow(value: Any) -> str:
    """One value on one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_scalar(key)}: {flow(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(flow(item) for item in value)}]"
    return _scalar(value)


def read_back(data: Mapping[str, Any]) -> YamlMap:
    """What reading `spec_text(data)` gives, spellings and styles included."""
    return _read_mapping(data, in_flow=False)


def _read_mapping(data: Mapping[str, Any], *, in_flow: bool) -> YamlMap:
    mapping = YamlMap()
    mapping.flow = in_flow
    for name, value in data.items():
        inside = in_flow or not _is_block(value) or _is_flow(str(name), value)
        mapping[_read_scalar(_scalar(name))] = _read(value, str(name), in_flow=inside)
    return mapping


def _read(value: Any, name: str, *, in_flow: bool) -> Any:
    if isinstance(value, Mapping):
        return _read_mapping(value, in_flow=in_flow)
    if not isinstance(value, list):
        return _read_scalar(_scalar(value))
    items = YamlList()
    items.flow = in_flow
    for item in value:
        # Within a list, only the lists that are named stand on one line each.
        inside = in_flow or not _is_block(item) or _is_one_line(name, item)
        items.append(_read(item, "", in_flow=inside))
    return items


@lru_cache(maxsize=4096)
def _read_scalar(spelling: str) -> Any:
    return load(f"[{spelling}]")[0]


def _is_block(value: Any) -> bool:
    return isinstance(value, (Mapping, list)) and bool(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    spelling = getattr(value, "spelling", None)
    if isinstance(value, (int, float)):
        return str(spelling) if spelling else repr(value)
    text = str(value)
    if spelling and _is_kept(str(spelling), text):
        return str(spelling)
    if _PLAIN.fullmatch(text) and not text.endswith(":") and ": " not in text and reads_as_text(text):
        return text
    if reads_as_text(text) or not re.fullmatch(r"[\w.+-]+", text, re.ASCII):
        return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
    return f"'{text}'"


def _is_kept(spelling: str, text: str) -> bool:
    """Whether a string's own quotes can stay: both kinds on one line, or plain where that is plain here too."""
    if "\n" in spelling:
        return False
    if spelling[:1] in ("'", '"'):
        return spelling[-1:] == spelling[:1] and len(spelling) > 1
    return spelling == text and bool(_PLAIN.fullmatch(text)) and not text.endswith(":") and ": " not in text
