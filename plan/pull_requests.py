"""The pull request's text: `<English> / <中文>`, and a body that a reviewer can hold against the diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..derive.change import Change, KeyChange
from ..derive.wording import Arms, Phrase, concurrencies, lengths, value
from ..schema.spec import Spec
from .branch import Branch
from .checklist import ChecklistItem, checklist
from .describing import notes_of
from .messages import Message, Subject, message_of, spec_lines

ABSENT = "–"
MOST_ROWS = 24


@dataclass(frozen=True, slots=True)
class PullRequest:
    """Title and body, both Markdown; `checklist` is the part of the body that others may want as data."""

    title: str
    body: str
    checklist: tuple[ChecklistItem, ...]


def pull_request(
    branch: Branch, *, spec: Spec | None = None, ai_model: str = "", number: int | None = None
) -> PullRequest:
    """The text for a branch as it stands. `spec` gives title, the notes' Chinese and the AI disclosure."""
    message = _message(branch, spec)
    items = tuple(checklist(branch, number))
    disclosure = ai_model or (str(spec.ai_model) if spec is not None and spec.ai_model else "")
    parts = [
        _section("Summary", _english(message)),
        _section("Changes", "\n\n".join(_tables(branch.change))),
        _collapsed("中文", _chinese(message)),
        _collapsed("AI model disclosure", markdown(disclosure)),
        _section("Checklist", "\n".join(_item(one) for one in items)),
    ]
    return PullRequest(message.title, "\n\n".join(part for part in parts if part) + "\n", items)


def _message(branch: Branch, spec: Spec | None) -> Message:
    lines = list(branch.lines())
    fallback = Subject("chore", Phrase("change recipes and configs", "修改 recipe 与配置"))
    if spec is None:
        notes = [str(note.en) for note in notes_of(branch, tuple(lines))]
        return message_of(branch.change, lines, notes=notes, fallback=fallback)
    return message_of(branch.change, spec_lines(lines, spec), title=spec.title, fallback=fallback)


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _collapsed(title: str, text: str) -> str:
    """Blank lines inside, or GitHub shows the Markdown raw."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>" if text else ""


def _english(message: Message) -> str:
    told = [line.en for line in message.lines] + list(message.notes)
    return "\n".join(f"- {markdown(text)}" for text in told) or markdown(message.subject)


def _chinese(message: Message) -> str:
    told = [f"- {markdown(line.zh)}" for line in message.lines]
    head = f"**{markdown(message.subject_zh)}**" if message.subject_zh else ""
    return "\n\n".join(part for part in (head, "\n".join(told)) if part)


def markdown(text: str) -> str:
    """Text as Markdown that shows exactly it: no emphasis, no HTML, nobody mentioned; `#2698` stays a link."""
    escaped = re.sub(r"[\\`*<>\[\]~|]", lambda sign: f"\\{sign[0]}", text)
    # An underscore between letters or digits starts no emphasis, and names read better without the signs.
    escaped = re.sub(r"(?<![^\W_])_+|_+(?![^\W_])", lambda run: "\\_" * len(run[0]), escaped)
    return re.sub(r"(?<![\w/])@(?=\w)", "@<!-- -->", escaped)


def code(text: str) -> str:
    """Text as a code span that may stand in a table."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}".replace("|", "\\|")


def _tables(change: Change) -> Iterator[str]:
    """Per config key: what it was and what it is."""
    for key in change.keys:
        what = " (new)" if key.before is None else " (removed)" if key.after is None else ""
        rows = list(_key_rows(key))
        shown = [f"| {name} | {before} | {after} |" for name, before, after in rows[:MOST_ROWS]]
        more = [f"| … {len(rows) - MOST_ROWS} more | | |"] if len(rows) > MOST_ROWS else []
        yield "\n".join([f"**{code(key.key)}**{what}", "", "| | before | after |", "|---|---|---|", *shown, *more])


def _key_rows(key: KeyChange) -> Iterator[tuple[str, str, str]]:
    for field in key.fields:
        if field.name not in ("model-prefix", "precision") or key.before is not None:
            yield field.name, _cell(field.before), _cell(field.after)
    arms = Arms([(item.item, row.row) for item in key.items for row in item.rows])
    for item in key.items:
        where = f"{lengths(item.item)} " if lengths(item.item) and len(key.items) > 1 else ""
        for difference in item.differences:
            if difference.name not in ("isl", "osl"):
                yield f"{where}{difference.name}", _cell(difference.before), _cell(difference.after)
        for row in item.rows:
            if row.changed or row.before is None or row.after is None:
                name = arms.name(item.item, row.row).en
                before = concurrencies(row.before.concurrencies).en if row.before is not None else ABSENT
                after = concurrencies(row.after.concurrencies).en if row.after is not None else ABSENT
                yield markdown(name), before, after
            for content in row.differences:
                yield (
                    f"{markdown(arms.name(item.item, row.row).en)}: {content.name}",
                    _cell(content.before),
                    _cell(content.after),
                )


def _cell(data: Any) -> str:
    return ABSENT if data is None else code(value(data))


def _item(item: ChecklistItem) -> str:
    what = item.what if item.judged else f"Not judged: {_lowered(item.what)}"
    return f"- [{'x' if item.holds else ' '}] {what} ({markdown(item.how)})"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
