"""What a commit and a pull request say: a conventional English subject, its Chinese twin, lines in both languages."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ..derive.change import Change, KeyChange
from ..derive.wording import Arms, Phrase, listed
from ..schema.image import image_or_none
from ..schema.results import Line
from ..schema.spec import Spec, Title

LONGEST_SUBJECT = 72
WIDTH = 72
_SCOPES: dict[tuple[str, ...], str] = {("agentic-coding",): "agentx", ("fixed-seq-len",): "fixed-seq"}


@dataclass(frozen=True, slots=True)
class Subject:
    """The conventional prefix (`perf(agentx)`) and the words behind it, in both languages."""

    prefix: str
    words: Phrase

    @property
    def en(self) -> str:
        return f"{self.prefix}: {self.words.en}"

    @property
    def zh(self) -> str:
        return f"{self.prefix}：{self.words.zh}"


@dataclass(frozen=True, slots=True)
class Message:
    """A message for commit and pull request. `lines` are told in both languages, `notes` only as they are."""

    subject: str
    subject_zh: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The commit message: subject, English lines, then the Chinese subject and lines."""
        parts = [self.subject]
        english = [line.en for line in self.lines] + list(self.notes)
        if english:
            parts.append("\n".join(_bullet(line) for line in english))
        chinese = [self.subject_zh] if self.subject_zh else []
        chinese += [f"- {line.zh}" for line in self.lines]
        if chinese:
            parts.append("\n".join(chinese))
        return "\n\n".join(parts) + "\n"

    @property
    def title(self) -> str:
        """The pull request's title: `<English> / <中文>`."""
        return f"{self.subject} / {self.subject_zh}" if self.subject_zh else self.subject


def _bullet(text: str) -> str:
    """One line of the body, wrapped as commit messages are; names and links are never broken."""
    return textwrap.fill(
        text, WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def message_of(
    change: Change, lines: Sequence[Line], *, notes: Sequence[str] = (), title: Title | None = None, fallback: Subject
) -> Message:
    """The message for a change: the author's title, else a derived one, `fallback` where no key changed."""
    if title is not None:
        return Message(str(title.en), str(title.zh or ""), tuple(lines), tuple(notes))
    subject = subject_of(change) or fallback
    return Message(subject.en, subject.zh, tuple(lines), tuple(notes))


def in_order(lines: Sequence[Line], order: Sequence[str]) -> tuple[Line, ...]:
    """The lines named by their ids first, in that order; the others stay as they were behind them."""
    ranks = {name: rank for rank, name in reversed(list(enumerate(order)))}
    return tuple(sorted(lines, key=lambda line: ranks.get(line.id, len(order))))


def spec_lines(lines: Sequence[Line], spec: Spec) -> list[Line]:
    """The derived lines that the spec does not omit, then its notes; one without Chinese says the English twice."""
    omitted = {name for entry in spec.changelog for name in entry.omit}
    lines = in_order(lines, [name for entry in spec.changelog for name in entry.order])
    notes = [note for entry in spec.changelog for note in entry.notes]
    told = [Line("note", str(note.en), str(note.zh or note.en)) for note in notes]
    return [line for line in lines if line.id not in omitted] + told


def subject_of(change: Change) -> Subject | None:
    """The derived subject, at most 72 characters in English; None where no config key changed."""
    if not change.keys:
        return None
    prefix = f"{_type(change)}{_scope(change)}"
    for words in _candidates(change):
        subject = Subject(prefix, words)
        if len(subject.en) <= LONGEST_SUBJECT:
            return subject
    return Subject(prefix, _count("change", "更改", len(change.keys)))


def _type(change: Change) -> str:
    """`feat` for keys, arms or points that are new, `chore` where things only go, else `perf`."""
    if any(key.before is None for key in change.keys):
        return "feat"
    if all(key.after is None for key in change.keys):
        return "chore"
    return "feat" if any(row.added for _, _, row in change.rows()) else "perf"


def _scope(change: Change) -> str:
    scenarios = {scenario for key in change.keys for scenario in key.scenarios}
    scope = _SCOPES.get(tuple(sorted(scenarios)), "")
    return f"({scope})" if scope else ""


def _candidates(change: Change) -> Iterator[Phrase]:
    """Ways to say it, the fullest first."""
    if len(change.keys) == 1:
        yield from _one_key(change.keys[0])
        return
    added = [key for key in change.keys if key.before is None]
    removed = [key for key in change.keys if key.after is None]
    kept = [key for key in change.keys if key.before is not None and key.after is not None]
    if len(kept) == len(change.keys):
        yield from _several_kept(kept)
        return
    groups = (("add", "新增", added), ("remove", "移除", removed), ("retune", "重新调优", kept))
    said = [(verb, zh, keys) for verb, zh, keys in groups if keys]
    family = _family([key.key for key in change.keys]) if len(said) == 1 else ""
    for name in dict.fromkeys((family, "")):
        yield listed([_count(verb, zh, len(keys), name) for verb, zh, keys in said])


def _one_key(key: KeyChange) -> Iterator[Phrase]:
    name = key.key
    if key.before is None:
        yield Phrase(f"add {name}", f"新增 {name}")
        return
    if key.after is None:
        yield Phrase(f"remove {name}", f"移除 {name}")
        return
    tag = _new_tag(key)
    if tag and not _more_than_image(key):
        yield Phrase(f"update {name} to {tag}", f"将 {name} 更新到 {tag}")
        yield Phrase(f"update the image of {name}", f"更新 {name} 的镜像")
    elif tag:
        for short in (name, re.sub(r"(-agentic)?(-mtp)?$", "", name)):
            yield Phrase(f"retune {short} on {tag}", f"基于 {tag} 重新调优 {short}")
    elif points := _only_points(key):
        yield Phrase(f"extend {name} by {points.en}", f"扩展 {name}：{points.zh}")
        count = sum(len(row.added) for item in key.items for row in item.rows)
        yield Phrase(f"extend {name} by {count} points", f"扩展 {name}：新增 {count} 个点")
        yield Phrase(f"extend {name}", f"扩展 {name}")
    yield Phrase(f"retune {name}", f"重新调优 {name}")


def _several_kept(keys: Sequence[KeyChange]) -> Iterator[Phrase]:
    tags = {_new_tag(key) for key in keys}
    tag = next(iter(tags)) if len(tags) == 1 else ""
    only_images = all(_new_tag(key) and not _more_than_image(key) for key in keys)
    for family in dict.fromkeys((_family([key.key for key in keys]), "")):
        verb, zh = ("update", "更新") if only_images else ("retune", "重新调优")
        words = _count(verb, zh, len(keys), family)
        if tag:
            yield words + Phrase(f" {'to' if only_images else 'on'} {tag}", f"，镜像 {tag}")
        yield words


def _count(verb: str, zh: str, count: int, family: str = "") -> Phrase:
    en = f"{verb} {count} {family or 'config'} key{'s' if count != 1 else ''}"
    return Phrase(en, f"{zh} {count} 个 {family} key" if family else f"{zh} {count} 个配置 key")


def _family(keys: Sequence[str]) -> str:
    """What the keys' names have in common, in whole parts: `glm5.2-fp4-mi355x`."""
    parts = zip(*(key.split("-") for key in keys), strict=False)
    return "-".join(same[0] for same in takewhile(lambda part: len(set(part)) == 1, parts))


def _new_tag(key: KeyChange) -> str:
    """The tag (or the digest, cut) of a new image, empty where the image stays."""
    image = next((field for field in key.fields if field.name == "image"), None)
    found = image_or_none(image.after) if image is not None else None
    if found is None:
        return ""
    return found.tag or found.digest[: len("sha256:") + 12]


def _more_than_image(key: KeyChange) -> bool:
    """Whether anything besides the image changed: fields, items, or recipe settings that are no image."""
    fields = any(field.name != "image" for field in key.fields)
    settings = any(
        image_or_none(now if now is not None else was) is None
        for point in key.points
        if not point.new
        for _, was, now in point.differences
    )
    return fields or settings or any(item.changed for item in key.items)


def _only_points(key: KeyChange) -> Phrase | None:
    """The points that are new, where nothing else of the key changed."""
    if key.fields or any(item.differences for item in key.items):
        return None
    rows = [(item, row) for item in key.items for row in item.rows]
    if any(row.after is None or row.differences or row.dropped for _, row in rows):
        return None
    if any(point.differences for point in key.points if not point.new):
        return None
    added = [(item.item, point) for item, row in rows for point in row.added]
    return Arms([(item.item, row.row) for item, row in rows]).points(added) if added else None
