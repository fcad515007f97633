"""The comment block above a whole top-level entry: put, replaced, dropped."""

from __future__ import annotations

from ..checkout.blocks import find_block
from ..schema.errors import Place, StateError


def put_block_comment(text: str, name: str, comment: str | None, *, file: str = "") -> str:
    """`text` with `comment` directly above the entry `name`, a `# ` line for each of its lines; None drops it."""
    block = find_block(text, name, file)
    if block is None:
        raise StateError(f"there is no entry {name!r}", where=Place(file))
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [] if comment is None else [f"# {line}".rstrip() + newline for line in comment.split("\n")]
    return text[: block.comment_start] + "".join(lines) + text[block.start :]
