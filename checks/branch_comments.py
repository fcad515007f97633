"""The comments that a branch adds to configs and recipes, with what each stands above: shared by their rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .model import Subject

_COMMENT = re.compile(r"(?:^|\s)#(?!!)\s?(.*)$")


@dataclass(frozen=True, slots=True)
class CommentBlock:
    """Comment lines that stand together. `below` is the code line under them, at `below_line`; empty at the end.

    `lines` are (line number, text without `#`), `added` those that the branch adds or rewrites.
    """

    path: str
    lines: tuple[tuple[int, str], ...]
    added: tuple[tuple[int, str], ...]
    below: str
    below_line: int

    @property
    def text(self) -> str:
        return " ".join(text.strip() for _, text in self.lines)


def changed_sources(subject: Subject) -> list[str]:
    """The configs and recipes that the branch changes; with old debts asked for still those."""
    layout = subject.after.layout
    roots = tuple(f"{root}/" for root in layout.recipe_roots)
    endings = (".yaml", ".yml", ".sh")
    found = [
        path for path in subject.files if path in layout.masters or (path.startswith(roots) and path.endswith(endings))
    ]
    return sorted(path for path in found if subject.after.read(path) is not None)


def comment_blocks(subject: Subject, path: str) -> Iterator[CommentBlock]:
    """Every block of whole-line comments in which the branch adds or rewrites a line."""
    lines = subject.lines(path)
    seen = 0
    for number, line in subject.judged_lines(path):
        if number <= seen or not _is_comment_line(line):
            continue
        first = last = number
        while first > 1 and _is_comment_line(lines[first - 2]):
            first -= 1
        while last < len(lines) and _is_comment_line(lines[last]):
            last += 1
        seen = last
        block = tuple((at, lines[at - 1].strip().lstrip("#").strip()) for at in range(first, last + 1))
        added = tuple(pair for pair in block if subject.judges(path, pair[0]))
        yield CommentBlock(path, block, added, lines[last] if last < len(lines) else "", last + 1)


def _is_comment_line(line: str) -> bool:
    stripped = line.strip()
    return stripped.startswith("#") and not stripped.startswith("#!")


def added_comments(subject: Subject, path: str) -> Iterator[tuple[int, str, str]]:
    """Every comment on a line of the branch's, at a line's end too: line number, comment, whole line."""
    for number, line in subject.judged_lines(path):
        match = _COMMENT.search(line)
        if match and not _inside_quotes(line, match.start()):
            yield number, match[1].strip(), line


def _inside_quotes(line: str, position: int) -> bool:
    before = line[:position]
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1
