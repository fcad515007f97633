"""The changelog entry: its fields, its canonical text, and a tolerant reading of what people wrote.

An entry has, in this order, `config-keys`, `scenario-type` (optional), `description`, `pr-link`, then flags
(source: FACTS §2). Importing this module costs nothing: YAML is loaded by the functions that read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    from .yaml_text import MappingNode

PULL_REQUESTS = "https://github.com/SemiAnalysisAI/InferenceX/pull/"
PLACEHOLDER = "XXX"
SCENARIO_TYPES = ("fixed-seq-len", "agentic-coding")
LISTS = ("config-keys", "scenario-type", "description")
EVAL_FLAGS = ("evals-only", "all-evals", "no-evals", "eval-min-prefill-ep")
FLAGS = ("append-only", *EVAL_FLAGS)
FIELDS = ("config-keys", "scenario-type", "description", "pr-link", *FLAGS)

_CANONICAL_LINK = re.compile(re.escape(PULL_REQUESTS) + r"([1-9][0-9]*)")
_NUMBERED_LINK = re.compile(r"\s*" + re.escape(PULL_REQUESTS) + r"([1-9][0-9]*)(?:[/?#]\S*)?\s*", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._*/+-]*")
_PLAIN_LINK = re.compile(r"https?://[A-Za-z0-9._~/?=&%+-]+|XXX")
# Not printable to every YAML reader, or invisible, or able to reorder what a reviewer sees.
_ESCAPED = re.compile(
    '[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff"\\\\]'
    "|[\U0001fffe\U0001ffff\U0010fffe\U0010ffff]"
)
_UNCARRIED = re.compile("[\x00-\x1f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One changelog entry.

    `flags` are (name, value) pairs, switches as bool, `eval-min-prefill-ep` as int ≥ 1. `unknown` keeps, as
    plain data, the fields no entry may have, so that nothing a person wrote is lost unnoticed.
    """

    config_keys: tuple[str, ...]
    description: tuple[str, ...]
    pr_link: str
    scenario_type: tuple[str, ...] = ()
    flags: tuple[tuple[str, bool | int], ...] = ()
    unknown: tuple[tuple[str, object], ...] = ()

    def flag(self, name: str) -> bool | int | None:
        """The flag's value, None where the entry does not state it."""
        return dict(self.flags).get(name)


@dataclass(frozen=True, slots=True)
class EntryProblem:
    """One mistake in an entry; `line` counts from 1 at its `- config-keys:` line."""

    line: int
    field: str
    what: str
    hint: str = ""


def pull_request_link(number: int | None) -> str:
    """The canonical link, or the placeholder link (`…/pull/XXX`) while there is no number."""
    if number is None:
        return PULL_REQUESTS + PLACEHOLDER
    if number < 1:
        raise UsageError(f"{number} is not the number of a pull request", hint="allowed: a whole number from 1")
    return f"{PULL_REQUESTS}{number}"


def link_number(link: str) -> int | None:
    """The number a link carries, `…/pull/2305/changes` included; None for placeholders and other places."""
    match = _NUMBERED_LINK.fullmatch(link)
    return int(match[1]) if match else None


def is_placeholder(link: str) -> bool:
    """Whether the link is one of the two accepted placeholders: `XXX`, or the canonical URL ending in it."""
    return link in (PLACEHOLDER, PULL_REQUESTS + PLACEHOLDER)


def is_accepted_link(link: str) -> bool:
    """Whether the merge helper takes the link: canonical, or an accepted placeholder (FACTS §2)."""
    return is_placeholder(link) or _CANONICAL_LINK.fullmatch(link) is not None


def render(entry: Entry) -> str:
    """The entry's canonical text: it starts with `- config-keys:` and ends in one line end.

    List items are indented by four, keys by two; descriptions are double-quoted on one line however long.
    Raises UsageError for what one line cannot carry and for what no entry may have.
    """
    _check_renderable(entry)
    lines = ["- config-keys:", *(f"    - {_word(key, 'config-keys')}" for key in entry.config_keys)]
    if entry.scenario_type:
        lines += [
            "  scenario-type:",
            *(f"    - {_word(name, 'scenario-type')}" for name in entry.scenario_type),
        ]
    lines += ["  description:", *(f"    - {quoted(text, 'description')}" for text in entry.description)]
    link = entry.pr_link
    lines.append(f"  pr-link: {link if _PLAIN_LINK.fullmatch(link) else quoted(link, 'pr-link')}")
    for name, value in sorted(entry.flags, key=lambda flag: FLAGS.index(flag[0])):
        lines.append(f"  {name}: {str(value).lower()}")
    return "\n".join(lines) + "\n"


def _check_renderable(entry: Entry) -> None:
    for name, items in (("config-keys", entry.config_keys), ("description", entry.description)):
        if not items:
            raise UsageError(f"a changelog entry needs at least one item in `{name}`")
    names = [name for name, _ in (*entry.flags, *entry.unknown)]
    strange = [name for name in names if name not in FLAGS]
    if strange:
        hint = f"allowed behind pr-link: {', '.join(FLAGS)}"
        raise UsageError(f"a changelog entry has no field `{strange[0]}`", hint=hint)
    if len(names) > len(set(names)):
        raise UsageError("a changelog entry states a flag twice")


def quoted(text: str, field: str = "text") -> str:
    """The text as a double-quoted YAML scalar on one line, or UsageError for what needs a second line."""
    bad = _UNCARRIED.search(text)
    if bad:
        what = f"`{field}`: character U+{ord(bad[0]):04X} at position {bad.start() + 1} cannot stand in one line"
        hint = "write one line of text; further lines are further items" if bad[0] in "\n\r" else "remove it"
        raise UsageError(what, hint=hint)
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _word(text: str, field: str) -> str:
    from .yaml_text import reads_as_text

    return text if _PLAIN_WORD.fullmatch(text) and reads_as_text(text) else quoted(text, field)


def parse_entry(text: str | bytes) -> Entry:
    """One entry's block as data, whatever its style. Strange fields are kept, wrong types read as meant.

    Raises YamlTextError (exit 3) where the block is no YAML or no single entry.
    """
    fields = _fields_of(_root(text))
    lists = {name: _texts(fields.get(name)) for name in LISTS}
    flags = tuple((name, fields[name]) for name in FLAGS if isinstance(fields.get(name), int))
    known = {*LISTS, "pr-link", *(name for name, _ in flags)}
    return Entry(
        config_keys=lists["config-keys"],
        description=lists["description"],
        pr_link=_text(fields.get("pr-link")),
        scenario_type=lists["scenario-type"],
        flags=flags,
        unknown=tuple((name, value) for name, value in fields.items() if name not in known),
    )


def entry_problems(text: str | bytes, flags: Sequence[str] = FLAGS) -> tuple[EntryProblem, ...]:
    """What is wrong with one entry's block, by line: syntax, fields, types, flags.

    `flags` are those the layout knows (`root` has no `no-evals`). Says nothing about the link's value, nor
    whether keys exist: that takes a checkout.
    """
    from .yaml_text import YamlTextError

    try:
        root = _root(text)
    except YamlTextError as error:
        line = error.where.line if error.where else 1
        return (EntryProblem(line, "", error.what, error.hint),)
    found = [*_field_problems(root, flags), *_type_problems(root), *_flag_conflicts(root)]
    return tuple(sorted(found, key=lambda problem: problem.line))


def _root(text: str | bytes) -> MappingNode:
    from .errors import Place
    from .yaml_text import MappingNode, SequenceNode, YamlTextError, compose

    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            place = Place("", error.object.count(b"\n", 0, error.start) + 1)
            raise YamlTextError("not UTF-8", where=place) from None
    node = compose(text)
    if isinstance(node, SequenceNode) and len(node.value) == 1 and isinstance(node.value[0], MappingNode):
        return node.value[0]
    raise YamlTextError("not one changelog entry", where=Place("", 1), hint="an entry starts with `- config-keys:`")


def _fields_of(root: MappingNode) -> Mapping[str, Any]:
    from .yaml_text import plain, value_of

    fields = {str(name): value for name, value in value_of(root).items()}
    return {name: value if name in (*LISTS, "pr-link") else plain(value) for name, value in fields.items()}


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(_text(item) for item in value) if isinstance(value, list) else (_text(value),)


def _text(value: object) -> str:
    if isinstance(value, dict):  # an unquoted `Image: new` in a list is meant as prose
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items())
    if isinstance(value, str):
        return str(value)
    return "" if value is None else str(getattr(value, "spelling", value))


def _field_problems(root: MappingNode, flags: Sequence[str]) -> Iterator[EntryProblem]:
    from difflib import get_close_matches

    allowed = [name for name in FIELDS if name not in FLAGS or name in flags]
    seen: set[str] = set()
    latest = -1
    for key, _ in root.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in seen:
            yield EntryProblem(line, name, f"`{name}` stands twice", "keep one of them")
        elif name not in allowed:
            near = get_close_matches(name, allowed, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"allowed: {', '.join(allowed)}"
            yield EntryProblem(line, name, f"`{name}` is no field of a changelog entry", hint)
        else:
            place = min(FIELDS.index(name), FIELDS.index(FLAGS[0]))
            if place < latest:
                yield EntryProblem(
                    line, name, f"`{name}` is out of order", f"the order: {', '.join(FIELDS[:4])}, flags"
                )
            latest = max(latest, place)
        seen.add(name)
    for name in ("config-keys", "description", "pr-link"):
        if name not in seen:
            yield EntryProblem(1, name, f"`{name}` is missing")


def _type_problems(root: MappingNode) -> Iterator[EntryProblem]:
    from .yaml_text import value_of

    for key, node in root.value:
        name, line, value = str(key.value), node.start_mark.line + 1, value_of(node)
        if name in LISTS:
            yield from _list_problems(name, line, value)
        elif name == "pr-link" and not isinstance(value, str):
            yield EntryProblem(line, name, "`pr-link` is a link", f"for example {PULL_REQUESTS}{PLACEHOLDER}")
        elif name == "eval-min-prefill-ep":
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                yield EntryProblem(line, name, f"`{name}` is a whole number from 1")
        elif name in FLAGS and not isinstance(value, bool):
            yield EntryProblem(line, name, f"`{name}` is true or false")


def _list_problems(name: str, line: int, value: object) -> Iterator[EntryProblem]:
    if not isinstance(value, list) or not value:
        yield EntryProblem(line, name, f"`{name}` is a list with at least one item")
        return
    for item in value:
        if not isinstance(item, str):
            yield EntryProblem(line, name, f"`{name}` holds text, not {item!r}", "put it in double quotes")
        elif name == "scenario-type" and item not in SCENARIO_TYPES:
            yield EntryProblem(line, name, f"no scenario type `{item}`", f"allowed: {', '.join(SCENARIO_TYPES)}")


def _flag_conflicts(root: MappingNode) -> Iterator[EntryProblem]:
    from .yaml_text import value_of

    lines = {str(key.value): key.start_mark.line + 1 for key, node in root.value if value_of(node)}
    for ruler in ("append-only", "no-evals"):
        for name in EVAL_FLAGS:
            if name in lines and ruler in lines and name != ruler:
                yield EntryProblem(lines[name], name, f"`{ruler}` excludes `{name}`", "keep one of the two flags")
