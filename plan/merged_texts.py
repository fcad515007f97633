"""Three-way merge of one file's text: as git does it where that reads as the right data, else field by field.

A conflict is left in git's usual form, with markers around exactly the fields that both sides changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..checkout.blocks import Block, split_blocks
from ..checkout.git import Git
from ..derive.pairing import pair_for_writer
from ..schema.errors import BenchscribeError, StateError
from ..schema.yaml_text import Path, load
from ..writers.merge_file import merge_files
from ..writers.yaml_blocks import insert_block_after, remove_block
from ..writers.yaml_edit import RewriteMismatch, rewrite
from ..writers.yaml_pairing import by_likeness, same
from .three_way import ABSENT, DataMerge, FieldConflict, Side

Labels = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TextConflict:
    """What truly conflicts: the config key (empty in a recipe or script) and the field, or how many places."""

    key: str
    field: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        where = f"{self.key}: {self.field}" if self.key and self.field else self.key or self.field
        return f"{where} (ours {self.ours}, theirs {self.theirs})" if self.ours or self.theirs else where


@dataclass(frozen=True, slots=True)
class MergedText:
    """`text` is what to write, markers included; `settled` the same with one side's value in each conflict."""

    text: str
    settled: str
    conflicts: tuple[TextConflict, ...] = ()


@dataclass(frozen=True, slots=True)
class TextMerger:
    """How texts are merged: git for the lines, the labels of markers, whose value stands in a conflict."""

    git: Git
    labels: Labels
    prefer: Side | None = None

    def plain(self, ancestor: str, ours: str, theirs: str) -> MergedText:
        """Lines alone, as git merges them: scripts and whatever is no YAML mapping."""
        if theirs in (ancestor, ours):
            return MergedText(ours, ours)
        if ours == ancestor:
            return MergedText(theirs, theirs)
        merged = merge_files(self.git, *(_bytes(text) for text in (ours, ancestor, theirs)), labels=self.labels)
        if merged is None:
            return MergedText(ours, ours, (TextConflict("", "a binary file, ours stays", "", ""),))
        text = merged.data.decode("utf-8", "surrogateescape")
        if not merged.conflicts:
            return MergedText(text, text)
        if self.prefer is not None:
            chosen = theirs if self.prefer is Side.THEIRS else ours
            return MergedText(chosen, chosen)
        places = f"{merged.conflicts} place{'s' if merged.conflicts > 1 else ''}"
        return MergedText(text, ours, (TextConflict("", places, "", ""),))

    def document(self, ancestor: str, ours: str, theirs: str, file: str) -> MergedText:
        """A YAML mapping: a recipe, or one entry of a master config."""
        if theirs in (ancestor, ours) or ours == ancestor:
            return self.plain(ancestor, ours, theirs)
        try:
            sides = [load(text, file) if text.strip() else {} for text in (ancestor, ours, theirs)]
        except BenchscribeError:
            return self.plain(ancestor, ours, theirs)
        wanted = DataMerge(self.prefer or Side.OURS)
        data = wanted.merge(*sides)
        conflicts = [] if self.prefer is not None else wanted.conflicts
        by_lines = self.plain(ancestor, ours, theirs)
        if not by_lines.conflicts and not conflicts and _reads_as(by_lines.text, data, file):
            return by_lines
        try:
            settled = rewrite(ours, data, pair=_pair, file=file)
            if not conflicts:
                return MergedText(settled, settled)
            return self._marked(sides, settled, conflicts, file)
        except (RewriteMismatch, StateError):
            return by_lines

    def _marked(self, sides: list[Any], settled: str, conflicts: list[FieldConflict], file: str) -> MergedText:
        """Markers around exactly the fields in conflict: the three texts differ in nothing else."""
        texts = {
            side: rewrite(settled, DataMerge(side).merge(*sides), pair=_pair, file=file)
            for side in (Side.ANCESTOR, Side.THEIRS)
        }
        ours, ancestor, theirs = (_bytes(text) for text in (settled, texts[Side.ANCESTOR], texts[Side.THEIRS]))
        merged = merge_files(self.git, ours, ancestor, theirs, labels=self.labels)
        text = merged.data.decode("utf-8", "surrogateescape") if merged is not None else settled
        return MergedText(text, settled, tuple(_named(conflict) for conflict in conflicts))

    def master(self, ancestor: str, ours: str, theirs: str, file: str) -> MergedText:
        """A master config: entry by entry, so that neighbours never get into each other's way."""
        if theirs in (ancestor, ours) or ours == ancestor:
            return self.plain(ancestor, ours, theirs)
        old, new = _blocks(ancestor, file), _blocks(theirs, file)
        settled, conflicts, marked = ours, [], {}
        for name in dict.fromkeys((*new, *old)):
            was, now = _text(ancestor, old.get(name)), _text(theirs, new.get(name))
            mine = _text(settled, _blocks(settled, file).get(name))
            if was == now or mine == now:
                continue
            if mine is None and was is None and now is not None:
                settled = _inserted(settled, now, _before(list(new), name), file)
            elif now is None and mine == was:
                settled = remove_block(settled, name, file=file)
            elif now is None or mine is None:
                gone = ("the entry goes", "it changed") if mine is None else ("it changed", "the entry goes")
                conflicts.append(TextConflict(name, "", *gone))
            else:
                found = self.document(was or "", mine, now, file)
                settled = settled.replace(mine, found.settled, 1)
                conflicts += [replace(one, key=name, field=_below(one.field, name)) for one in found.conflicts]
                marked[found.settled] = found.text
        text = settled
        for plain, with_markers in marked.items():
            text = text.replace(plain, with_markers, 1)
        return MergedText(text, settled, tuple(conflicts))


def _blocks(text: str, file: str) -> dict[str, Block]:
    return {block.name: block for block in split_blocks(text, file)}


def _text(text: str, block: Block | None) -> str | None:
    """An entry's lines with the comment block above it."""
    return None if block is None else text[block.comment_start : block.end]


def _before(names: list[str], name: str) -> list[str]:
    """The keys that stand before one in its file, the nearest first."""
    return list(reversed(names[: names.index(name)])) if name in names else []


def _inserted(text: str, block: str, neighbours: list[str], file: str) -> str:
    """A new entry behind the nearest of its neighbours that is here, else behind the last one."""
    here = _blocks(text, file)
    after = next((name for name in neighbours if name in here), None) or next(reversed(here), None)
    return insert_block_after(text, after, block, file=file) if after is not None else text + block


def _pair(path: Path, before: list[Any], after: list[Any]) -> list[int | None]:
    found = pair_for_writer(path, before, after)
    return by_likeness(path, before, after) if found is None else found


def _reads_as(text: str, data: Any, file: str) -> bool:
    try:
        return same(load(text, file), data)
    except BenchscribeError:
        return False


def _named(conflict: FieldConflict) -> TextConflict:
    return TextConflict("", conflict.field, _shown(conflict.ours), _shown(conflict.theirs))


def _shown(value: Any) -> str:
    text = "nothing" if value is ABSENT else str(getattr(value, "spelling", value))
    return text if len(text) < 60 else text[:57] + "…"


def _below(field: str, key: str) -> str:
    return field.removeprefix(key).lstrip(".")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
