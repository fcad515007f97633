"""Lines about what rows carry besides their arm and points: backend versions, routers, settings, recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...schema.master import Row, points_of
from ..change import Difference, KeyChange
from ..wording import BACKENDS, ROLES, Arms, Phrase, Where
from .told import FIELD_WORDS, Told, changed, slug

# Settings of a multi-node row that say which recipe runs and on how many nodes.
PLUMBING = ("CONFIG_FILE=", "PREFILL_NODES=", "DECODE_NODES=")


def contents_lines(change: KeyChange, arms: Arms) -> Iterator[Told]:
    """What rows carry besides their arm and points, told once for all rows that share it.

    Of a new row only what no other line says: its router, transfer engine and settings of its own.
    """
    found: dict[str, tuple[Phrase, str, list[Where]]] = {}
    every: list[Where] = []
    for item in change.items:
        for row in item.rows:
            if row.after is None or item.after is None:
                continue
            points = [(item.after, point) for point in points_of(row.after)]
            every += points
            for difference in row.differences if row.before is not None else _stated(row.after):
                for stem, words in _content(difference.name, difference.before, difference.after):
                    found.setdefault(words.en, (words, stem, []))[2].extend(points)
    for words, stem, points in found.values():
        if len(points) < len(every):
            place = arms.place(points, every, short=change.before is None)
            yield Told(stem, Phrase(words.en + place.en, f"{place.zh}：{words.zh}"))
        elif len({point.row.identity for _, point in every}) > 1:
            yield Told(stem, words + Phrase(" on every arm", "（所有组）"))
        else:
            yield Told(stem, words)


def _stated(row: Row) -> Iterator[Difference]:
    """What a new row states of its own; which recipe and how many nodes it runs on is part of its arm."""
    for name in ("router", "kv-p2p-transfer"):
        if name in row.data:
            yield Difference(name, None, row.data[name])
    for name, block in row.blocks.items():
        own = [text for text in block.settings if not text.startswith(PLUMBING)]
        yield Difference(f"{name} additional-settings", [], own)


def _content(name: str, before: Any, after: Any) -> Iterator[tuple[str, Phrase]]:
    if name == "kv-offload-backend":
        yield "backend", _backend(before, after)
    elif name.endswith("additional-settings"):
        yield from _settings(name.split()[0], before, after)
    else:
        en, zh = FIELD_WORDS.get(name, (name, name))
        yield slug(name), changed(en, component(before), component(after), zh=zh)


def component(data: Any) -> Any:
    """A router as people write it: name and version."""
    if isinstance(data, Mapping) and set(data) <= {"name", "version"}:
        return " ".join(str(data[field]) for field in ("name", "version") if field in data)
    return data


def _backend(before: Any, after: Any) -> Phrase:
    old, new = _version(before), _version(after)
    row = Row({"kv-offload-backend": after or before})
    title = BACKENDS.get(row.backend, row.backend)
    if old and new:
        return Phrase(f"move {title} from {old} to {new}", f"将 {title} 从 {old} 改为 {new}")
    return changed(f"the {title} version", old or None, new or None, zh=f"{title} 版本")


def _version(backend: Any) -> str:
    return Row({"kv-offload-backend": backend}).backend_version


def _settings(block: str, before: list[str], after: list[str]) -> Iterator[tuple[str, Phrase]]:
    """`additional-settings` compared as the `NAME=value` they are."""
    old, new = _assigned(before), _assigned(after)
    for name in dict.fromkeys((*new, *old)):
        if old.get(name) != new.get(name):
            stem = f"setting:{slug(name)}"
            if name == "CONFIG_FILE" and name in old and name in new:
                yield (
                    stem,
                    Phrase(
                        f"run {block} from {new[name]} in place of {old[name]}",
                        f"{block} 改用 {new[name]}，取代 {old[name]}",
                    ),
                )
            else:
                yield stem, _setting(block, name, old.get(name), new.get(name))


def _setting(block: str, name: str, before: str | None, after: str | None) -> Phrase:
    """`set decode NAME=value`; the block is not said twice where the name begins with it."""
    role = "" if name.startswith(f"{block.upper()}_") else f"{block} "
    named = Phrase(role + name, f"{ROLES.get(block, block)} {name}" if role else name)
    if before is None:
        return Phrase(f"set {named.en}={after}", f"设置 {named.zh}={after}")
    return changed(named.en, before, after, zh=named.zh)


def _assigned(settings: list[str]) -> dict[str, str]:
    return {name: rest if sign else name for name, sign, rest in (text.partition("=") for text in settings)}
