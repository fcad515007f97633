"""One variant's own block while it is edited: what stands in the block, over what the base gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from ..schema.recipe import deep_merge
from ..schema.yaml_text import Path, YamlList, YamlMap, plain

Order = tuple[tuple[str, ...], tuple[str, ...]]
_ABSENT = object()


def _at(data: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(data, Mapping) or step not in data:
            return _ABSENT
        data = data[step]
    return data


class VariantBlock:
    """What editing needs to know of a block. `set` lays one value, or a merge patch of values, at a path."""

    def __init__(self, base: Mapping[str, Any], data: Any, name: str, new: bool) -> None:
        self.base = base
        self.data: dict[Any, Any] = deepcopy(data) if isinstance(data, dict) else YamlMap()
        self.name = name
        self.new = new

    def effective(self) -> dict[str, Any]:
        """The variant's content, base merged in."""
        return deep_merge(self.base, self.data)  # type: ignore[no-any-return]

    def set(self, path: Path, value: Any, order: Order = ((), ())) -> None:
        """Make the variant read `value` at `path`: null deletes, mappings merge.

        `order` are sibling names that stand before and behind a key that is new here.
        """
        if isinstance(value, Mapping) and isinstance(self._current(path), Mapping):
            for key, below in value.items():
                self.set((*path, key), below)
        elif value is None:
            if _at(self.effective(), path) is not _ABSENT:
                self._delete(path)
        elif plain(self._current(path)) != plain(value):
            self._write(path, value, order)

    def _current(self, path: Path) -> Any:
        value = _at(self.effective(), path)
        return None if value is _ABSENT else value

    def _delete(self, path: Path) -> None:
        raise NotImplementedError

    def _write(self, path: Path, value: Any, order: Order) -> None:
        raise NotImplementedError

    def tidy(self) -> None:
        """Take empty mappings out of a new block: nothing is stated that says nothing."""
        if self.new:
            _prune(self.data)


def _prune(data: dict[Any, Any]) -> None:
    for key, value in list(data.items()):
        if isinstance(value, dict):
            _prune(value)
            if not value:
                del data[key]


def _parent(data: dict[Any, Any], path: Path, base: Any = None) -> dict[Any, Any]:
    """The mapping that holds the path's last step, made where it is not there.

    A mapping in place of another value, such as a null that deletes, does not bring back what `base` has there.
    """
    for step in path[:-1]:
        below = data.get(step)
        base = base.get(step) if isinstance(base, Mapping) else None
        if not isinstance(below, dict):
            hidden = base if step in data and isinstance(base, Mapping) else {}
            below = data[step] = YamlMap(dict.fromkeys(hidden))
        data = below
    return data


def _put(parent: dict[Any, Any], name: Any, value: Any, order: Order) -> None:
    """A key in place, or a new one behind the last of those before it, else before the first of those behind it."""
    earlier, later = order
    if name in parent or not (set(earlier) | set(later)) & set(parent):
        parent[name] = value
        return
    names = list(parent)
    before = [names.index(one) for one in earlier if one in parent]
    behind = [names.index(one) for one in later if one in parent]
    position = max(before) + 1 if before else min(behind)
    items = list(parent.items())
    items.insert(position, (name, value))
    parent.clear()
    parent.update(items)


class OwnBlock(VariantBlock):
    """An `override_…` block."""

    def __init__(self, base: Mapping[str, Any], data: Any, name: str = "", *, new: bool) -> None:
        super().__init__(base, data, name, new)

    def _delete(self, path: Path) -> None:
        parent = _at(self.data, path[:-1])
        if isinstance(parent, dict):
            parent.pop(path[-1], None)
        if _at(self.base, path) is not _ABSENT:
            _parent(self.data, path)[path[-1]] = None

    def _write(self, path: Path, value: Any, order: Order) -> None:
        _put(_parent(self.data, path, self.base), path[-1], value, order)


class ZipBlock(VariantBlock):
    """One place of a `zip_override_…` block, whose lists hold one value per variant."""

    def __init__(self, base: Mapping[str, Any], data: Any, name: str, index: int, size: int) -> None:
        super().__init__(base, data, name, new=False)
        self.index = index
        self.size = size

    def effective(self) -> dict[str, Any]:
        return deep_merge(self.base, _share(self.data, self.index))  # type: ignore[no-any-return]

    def _delete(self, path: Path) -> None:
        self._write(path, None, ((), ()))

    def _write(self, path: Path, value: Any, order: Order) -> None:
        if (found := self._zipped_above(path)) is not None:
            self._write_within(found, path, value, order)
            return
        parent = _parent(self.data, path, self.base)
        old = parent.get(path[-1], _ABSENT)
        if isinstance(old, list):
            values = [old[place if len(old) > 1 else 0] for place in range(self.size)]
        else:
            inherited = _at(self.base, path) if old is _ABSENT else old
            values = [None if inherited is _ABSENT else inherited] * self.size
        values[self.index] = value
        if (
            not isinstance(old, list)
            and not isinstance(value, list)
            and all(plain(one) == plain(value) for one in values)
        ):
            _put(parent, path[-1], value, order)
            return
        written = YamlList(values)
        written.flow = getattr(old, "flow", True)
        _put(parent, path[-1], written, order)

    def _zipped_above(self, path: Path) -> int | None:
        """How many steps of the path lead to a list that holds one mapping per variant, if any does."""
        for length in range(1, len(path)):
            if isinstance(_at(self.data, path[:length]), list):
                return length
        return None

    def _write_within(self, length: int, path: Path, value: Any, order: Order) -> None:
        """Write below a list of mappings, into this variant's own one."""
        own = OwnBlock(_at(self.base, path[:length]), _share(_at(self.data, path[:length]), self.index), new=False)
        own._write(path[length:], value, order)
        self._write(path[:length], own.data, order=((), ()))

    @staticmethod
    def without(data: Any, indices: Sequence[int]) -> Any:
        """The block with some places taken out of all its lists."""
        if isinstance(data, list) and len(data) > 1:
            kept = YamlList(value for index, value in enumerate(data) if index not in indices)
            kept.flow = getattr(data, "flow", False)
            return kept
        if isinstance(data, Mapping):
            result = YamlMap()
            result.flow = getattr(data, "flow", False)
            for key, value in data.items():
                result[key] = ZipBlock.without(value, indices)
            return result
        return data


def _share(value: Any, index: int) -> Any:
    if isinstance(value, list):
        return value[index if len(value) > 1 else 0] if value else None
    if isinstance(value, Mapping):
        return {key: _share(item, index) for key, item in value.items()}
    return value
