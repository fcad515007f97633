"""Hardware facts of runners, from either form of `configs/runners.yaml` (source: FACTS §1).

The file can be large, so it is cut into lines first and only the one block asked for is parsed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import Place, StateError
from .yaml_text import find, load, plain

# Which heading holds the facts, and whether its keys are labels (`cluster:<id>`) or ids.
_HEADINGS = ("hardware", "clusters")
_DRAM = "available-cpu-dram-mib"
_GPUS = "gpus-per-node"
_CLUSTER = "cluster:"
_HEADING = re.compile(r"""^(['"]?)([A-Za-z0-9_-]+)\1[ ]*:(.*)$""")
_CHILD = re.compile(r"""^([ ]+)(?:"([^"]+)"|'([^']+)'|([^\s#'"{\[-][^#]*?))[ ]*:(?=\s|$)""")


@dataclass(frozen=True, slots=True)
class Hardware:
    """One kind of node. DRAM in MiB (None where the file does not say), GPUs per node."""

    id: str
    dram_mib: int | None
    gpus_per_node: int
    place: Place

    def require_dram(self) -> int:
        """The node's DRAM in MiB. Raises StateError where the file does not state it."""
        if self.dram_mib is None:
            raise StateError(
                f"{self.id} states no {_DRAM}, so no DRAM budget can be worked out",
                where=self.place,
                hint=f"state {_DRAM} there, or give dram-utilization as a number",
            )
        return self.dram_mib


class UnknownRunner(StateError):
    """A runner label for which no hardware facts are stated."""

    def __init__(self, label: str, known: tuple[str, ...], path: str) -> None:
        self.label = label
        self.known = known
        self.near = _nearest(label, known)
        meant = f"; did you mean {self.near}?" if self.near else ""
        listed = ", ".join(known) or "none"
        super().__init__(
            f"no hardware is stated for runner {label!r}{meant}",
            where=Place(path),
            hint=f"available: {listed}",
        )


def _nearest(label: str, known: tuple[str, ...]) -> str:
    bare = {name.removeprefix(_CLUSTER): name for name in reversed(known)}
    wanted = label.removeprefix(_CLUSTER)
    found = difflib.get_close_matches(wanted, list(bare), 1, 0.7)
    starting = sorted(name for name in bare if name.startswith(f"{wanted}-"))
    name = found[0] if found else next(iter(starting), "")
    return bare.get(name, "")


@dataclass(frozen=True, slots=True)
class _Block:
    """One key's lines below a heading; `line` counts from 1."""

    line: int
    text: str


class Runners:
    """What a runners file says. Nothing is parsed before it is asked for."""

    def __init__(self, text: str, path: str = "configs/runners.yaml") -> None:
        self._path = path
        self._lines = text.splitlines(keepends=True)
        self._sections = _sections(self._lines)
        self._heading = next((name for name in _HEADINGS if name in self._sections), "")
        self._blocks = self._children(self._heading) if self._heading else {}

    @property
    def form(self) -> str:
        """`hardware` (layout root), `clusters` (e2e), or empty where neither heading is there."""
        return self._heading

    @property
    def known(self) -> tuple[str, ...]:
        """The runner labels that have hardware facts, as a config's `runner` names them."""
        prefix = _CLUSTER if self._heading == "clusters" else ""
        return tuple(prefix + name for name in self._blocks)

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label under `labels:`, those without hardware facts included."""
        return tuple(self._children("labels"))

    def hardware(self, label: str) -> Hardware:
        """The facts of `label`. Raises UnknownRunner naming the available ones and the near miss."""
        name = label.removeprefix(_CLUSTER) if self._heading == "clusters" else label
        block = self._blocks.get(name)
        if block is None:
            raise UnknownRunner(label, self.known, self._path)
        data = self._data(name, block)
        gpus = _whole(data.get(_GPUS))
        place = Place(self._path, block.line)
        if gpus is None:
            raise StateError(f"{name} states no whole number of {_GPUS}", where=place)
        return Hardware(name, _whole(data.get(_DRAM)), gpus, place)

    def _data(self, name: str, block: _Block) -> Mapping[Any, Any]:
        # Empty lines in front keep the line numbers of the parser's messages those of the file.
        loaded = load("\n" * (block.line - 1) + block.text, self._path)
        data = loaded.get(name) if isinstance(loaded, Mapping) else None
        if not isinstance(data, Mapping):
            raise StateError(f"{name} is not a mapping of hardware facts", where=Place(self._path, block.line))
        return data

    def _children(self, heading: str) -> dict[str, _Block]:
        if heading not in self._sections:
            return {}
        start, end = self._sections[heading]
        found = _children(self._lines, start + 1, end)
        return found if found is not None else self._parsed_children(heading, start, end)

    def _parsed_children(self, heading: str, start: int, end: int) -> dict[str, _Block]:
        """The same for a section in another style: parsed as a whole, written out again key by key."""
        from json import dumps

        from .yaml_text import MappingNode, compose

        text = "\n" * start + "".join(self._lines[start:end])
        root = compose(text, self._path)
        _, section = find(root, (heading,))
        if not isinstance(section, MappingNode):
            return {}
        data = plain(load(text, self._path))[heading]
        lines = {str(key.value): key.start_mark.line + 1 for key, _ in section.value}
        return {str(name): _Block(lines.get(str(name), 1), dumps({str(name): data[name]})) for name in data}


def _sections(lines: list[str]) -> dict[str, tuple[int, int]]:
    """The top-level headings, each with its first line and the line behind its last, counted from 0."""
    starts = [(match[2], index) for index, line in enumerate(lines) if (match := _HEADING.match(line))]
    ends = [index for _, index in starts[1:]] + [len(lines)]
    return {name: (start, end) for (name, start), end in zip(starts, ends, strict=False)}


def _children(lines: list[str], start: int, end: int) -> dict[str, _Block] | None:
    """The keys at the first indentation below a heading, None where the section is in another style."""
    found: dict[str, tuple[int, list[str]]] = {}
    indent = ""
    current: list[str] | None = None
    heading = lines[start - 1].partition(":")[2].partition("#")[0].strip()
    if heading:
        return None
    for index in range(start, end):
        line = lines[index]
        match = _CHILD.match(line)
        if match and (not indent or match[1] == indent):
            indent = match[1]
            current = [line]
            found[match[2] or match[3] or match[4]] = (index + 1, current)
        elif current is not None:
            current.append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            return None
    return {name: _Block(line, "".join(text)) for name, (line, text) in found.items()}


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
