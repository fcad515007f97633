"""The comment block directly above a place in a YAML text: read, put, replaced, dropped."""

from __future__ import annotations

from collections.abc import Mapping

from ..checkout.blocks import split_blocks
from ..schema.errors import BenchscribeError, Place, StateError, UsageError
from ..schema.yaml_text import Path
from .yaml_layout import Layout, child_at
from .yaml_reader import read_layout


def comment_above(text: str, path: Path, *, file: str = "") -> str | None:
    """The text of the comment block above the place at `path`, without its `#`; None where there is none.

    The block are the comment lines directly above the place's line, whatever their indentation. The path `()`
    is the file: the comment its text starts with. Raises StateError where nothing stands at `path`.
    """
    start, end, _ = _span(text, path, file)
    lines = [line.strip().removeprefix("#").removeprefix(" ") for line in text[start:end].splitlines()]
    return "\n".join(lines) if lines else None


def put_comment(text: str, path: Path, comment: str | None, *, file: str = "") -> str:
    """`text` with `comment` above the place at `path`, a `# ` line for each of its lines; None drops it."""
    return put_comments(text, {path: comment}, file=file)


def put_comments(text: str, comments: Mapping[Path, str | None], *, file: str = "") -> str:
    """`text` with several comments changed at once. Of two paths on one line, the one with a text wins.

    Raises UsageError for two different texts in one place.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    splices: dict[int, tuple[int, str]] = {}
    for path, comment in sorted(comments.items(), key=lambda item: item[1] is not None):
        start, end, indent = _span(text, path, file)
        if comment is None and not path:
            end = _behind_blank_lines(text, start, end)
        lines = [] if comment is None else [f"{indent}# {line}".rstrip() for line in comment.split("\n")]
        block = "".join(line + newline for line in lines)
        if splices.get(start, (end, ""))[1] not in ("", block):
            what = f"{' and '.join(_name(path) for path in comments)}: two texts for the one comment here"
            raise UsageError(what, where=Place(file, text.count("\n", 0, start) + 1), hint="put it all in one comment")
        splices[start] = (end, block)
    for start, (end, block) in sorted(splices.items(), reverse=True):
        text = text[:start] + block + text[end:]
    return text


def _span(text: str, path: Path, file: str) -> tuple[int, int, str]:
    """Start and end of the comment block above a place, and the indentation its lines have or would have."""
    if not path:
        return (*_head(text), "")
    layout, offset = _around(text, path, file)
    child = child_at(layout, path)
    if child is None:
        raise StateError(f"nothing stands at {_name(path)}", where=Place(file), hint="name a key or row of the file")
    line = layout.line_start(child.start)
    before = layout.text[line : child.start]
    start = layout.comment_start(child.start)
    return offset + start, offset + line, before[: len(before) - len(before.lstrip())]


def _around(text: str, path: Path, file: str) -> tuple[Layout, int]:
    """The layout of the entry that holds the place and of the one above, whose end bounds its comment; their offset.

    The whole text is read where the entries cannot be told apart, or an alias needs what stands further up.
    """
    try:
        blocks = split_blocks(text, file)
        number = next(at for at, block in enumerate(blocks) if block.name == path[0])
        start = blocks[number - 1].start if number else 0
        return read_layout(text[start : blocks[number].end], file), start
    except (BenchscribeError, StopIteration):
        return read_layout(text, file), 0


def _name(path: Path) -> str:
    return ".".join(str(step) for step in path) or "file"


def _head(text: str) -> tuple[int, int]:
    """The comment lines a text starts with."""
    start = end = 1 if text.startswith("\ufeff") else 0
    while text.startswith("#", end):
        end = text.find("\n", end) + 1 or len(text)
    return start, end


def _behind_blank_lines(text: str, start: int, end: int) -> int:
    """A file without its head comment does not start with the empty line that set it off."""
    while end > start and end < len(text):
        line_end = text.find("\n", end) + 1 or len(text)
        if text[end:line_end].strip():
            break
        end = line_end
    return end
