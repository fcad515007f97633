"""Lines about the launchers' tables: what a server of a model runs with, flag by flag."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...schema.yaml_text import plain
from ..change import RecipeChange
from ..settings import flattened
from ..wording import Phrase, count, listed, value
from .told import Told, changed, slug

FIELDS_PER_SENTENCE = 6
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")


@dataclass(frozen=True, slots=True)
class Part:
    """One flag, variable or plain value that differs in one field of a model; None where it is not there."""

    name: str
    before: str | None
    after: str | None


def table_lines(tables: Sequence[RecipeChange]) -> Iterator[Told]:
    """What changed in each table; models in which the same changed share a line."""
    for table in tables:
        file = table.path.rpartition("/")[2]
        if table.before is None or table.after is None:
            verb, zh = ("add", "新增") if table.before is None else ("remove", "移除")
            yield Told(f"model-table:{slug(file)}", Phrase(f"{verb} {table.path}", f"{zh} {table.path}"))
            continue
        old, new = table.before.data, table.after.data
        added, gone = [one for one in new if one not in old], [one for one in old if one not in new]
        for moved, verb, zh in ((added, "add", "新增"), (gone, "remove", "移除")):
            if moved:
                models = listed([Phrase.same(str(name)) for name in moved])
                joint = "to" if verb == "add" else "from"
                words = Phrase(f"{verb} {models.en} {joint} {file}", f"{zh} {models.zh}（{file}）")
                yield Told(f"model-table:{slug(str(moved[0]))}", words)
        yield from _changed_models(file, old, new)


def _changed_models(file: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Told]:
    fields: dict[tuple[str, tuple[Part, ...]], list[str]] = {}
    for model in new:
        if model in old:
            for name, parts in _fields(old[model], new[model]):
                fields.setdefault((name, parts), []).append(str(model))
    by_models: dict[tuple[str, ...], dict[tuple[Part, ...], list[str]]] = {}
    for (name, parts), models in fields.items():
        by_models.setdefault(tuple(models), {}).setdefault(parts, []).append(name)
    for alike, changes in by_models.items():
        clauses = [_clause(names, parts) for parts, names in changes.items()]
        head = listed([Phrase.same(model) for model in alike])
        for start in range(0, len(clauses), FIELDS_PER_SENTENCE):
            told = clauses[start : start + FIELDS_PER_SENTENCE]
            words = Phrase("; ".join(one.en for one in told), "；".join(one.zh for one in told))
            full = Phrase(f"{head.en} in {file}: {words.en}", f"{head.zh}（{file}）：{words.zh}")
            yield Told(f"model-table:{slug(alike[0])}", full)


def _fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """The fields of one model that differ; texts of flags and of assignments are compared part by part."""
    before, after = dict(_flat(old)), dict(_flat(new))
    for name in dict.fromkeys((*after, *before)):
        one, two = before.get(name), after.get(name)
        if one != two:
            parts = tuple(_parts(name, one, two))
            if parts:
                yield name, parts


def _flat(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, leaf in data.items():
        if isinstance(leaf, Mapping):
            yield from flattened(leaf, str(key))
        else:
            yield str(key), plain(leaf)


def _parts(name: str, before: Any, after: Any) -> Iterator[Part]:
    old, new = _opened(before), _opened(after)
    if old is None or new is None:
        yield Part("", _shown(name, before), _shown(name, after))
        return
    for part in dict.fromkeys((*new, *old)):
        if old.get(part) != new.get(part):
            yield Part(part, old.get(part), new.get(part))


def _opened(text: Any) -> dict[str, str] | None:
    """Flags or assignments of a text by name, None for any other value; nothing of an empty or absent one."""
    if text is None or text == "":
        return {}
    try:
        words = shlex.split(text) if isinstance(text, str) else []
    except ValueError:
        return None
    if words and all(_ASSIGNMENT.fullmatch(word) for word in words):
        return {name: f"={rest}" for name, _, rest in (word.partition("=") for word in words)}
    if not words or not words[0].startswith("--"):
        return None
    flags: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("--"):
            flags[word] = []
        else:
            flags[next(reversed(flags))].append(word)
    return {flag: " ".join(values) for flag, values in flags.items()}


def _shown(name: str, data: Any) -> str | None:
    if data is None or data == "":
        return None
    whole = data if isinstance(data, int) and not isinstance(data, bool) else None
    return count(whole) if whole is not None and re.search(r"tokens?$|model_len$", name) else value(data)


def _clause(names: Sequence[str], parts: Sequence[Part]) -> Phrase:
    """`prefill_flags and decode_flags add --moe-backend aiter, change --block-size from 1 to 16`."""
    fields = listed([Phrase.same(name) for name in names])
    if len(parts) == 1 and not parts[0].name:
        return changed(fields.en, parts[0].before, parts[0].after, zh=fields.zh)
    verbs: dict[str, list[Phrase]] = {}
    for part in parts:
        if part.before is None:
            verbs.setdefault("add", []).append(Phrase.same(_joined(part.name, part.after)))
        elif part.after is None:
            verbs.setdefault("drop", []).append(Phrase.same(_joined(part.name, part.before)))
        else:
            one, two = part.before.removeprefix("="), part.after.removeprefix("=")
            verbs.setdefault("change", []).append(
                Phrase(f"{part.name} from {one} to {two}", f"{part.name} 从 {one} 改为 {two}")
            )
    words = {"add": ("add", "新增"), "drop": ("drop", "移除"), "change": ("change", "将")}
    told = [Phrase(words[verb][0], words[verb][1]) + Phrase.same(" ") + listed(found) for verb, found in verbs.items()]
    return Phrase(
        f"{', '.join(one.en for one in told)} in {fields.en}", f"{fields.zh} {'，'.join(one.zh for one in told)}"
    )


def _joined(name: str, data: str | None) -> str:
    data = data or ""
    return f"{name}{data}" if data.startswith("=") else f"{name} {data}".strip()
