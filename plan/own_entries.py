"""The branch's own changelog entries when two lines of work meet: a three-way merge of entries, not of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..checkout.changelog_text import body_of, number_of

Entries = tuple[bytes, ...]


def merge_own(ancestor: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]) -> Entries:
    """Ours, with what theirs made of the ancestor's entries: added at the end, changed in place, taken away.

    An entry that both sides changed stays as ours has it.
    """
    result = list(ours)
    for block in theirs:
        if block in result or block in ancestor:
            continue
        # An entry that theirs still holds as it was is no older version of another one.
        old = version_in([one for one in ancestor if one not in theirs], block)
        mine = version_in([one for one in result if one not in theirs], block)
        if mine is None:
            result.append(block)
        elif mine == old or (old is None and number_of(mine) is None):
            result[result.index(mine)] = block
    # Two entries of one pull request have one number: what stood there already is no version of another.
    new = [block for block in theirs if block not in ancestor]
    gone = [block for block in ancestor if block not in theirs and version_in(new, block) is None]
    return tuple(block for block in result if block not in gone)


def updated(entries: Sequence[bytes], newer: Sequence[bytes], kept: Sequence[bytes] = ()) -> Entries:
    """The entries with newer versions in place of older ones; those that are no version of any at the end.

    `kept` are entries that stand beside the newer ones as they were: those have no newer version.
    """
    result = list(entries)
    for block in newer:
        old = version_in([one for one in result if one not in kept and one not in newer], block)
        if old is None:
            result.append(block)
        else:
            result[result.index(old)] = block
    return tuple(result)


def version_in(blocks: Sequence[bytes], block: bytes) -> bytes | None:
    """The entry of which `block` is another version: the same but for the link, else with the same number
    (and the same keys, where two have it), else with the same keys where one of the two has no number yet."""
    for is_version in (_is_same_but_for_link, _has_same_number_and_keys, _has_same_number, _names_same_keys):
        for other in blocks:
            if is_version(other, block):
                return other
    return None


def fields_of(block: bytes) -> frozenset[str]:
    """The names of an entry's fields, as they stand at its indent."""
    names = re.findall(rb"^(?:- |  )([a-z][a-z-]*):", block, re.MULTILINE)
    return frozenset(name.decode("ascii") for name in names)


def _is_same_but_for_link(one: bytes, other: bytes) -> bool:
    return body_of(one) == body_of(other)


def _has_same_number(one: bytes, other: bytes) -> bool:
    number = number_of(one)
    return number is not None and number == number_of(other)


def _has_same_number_and_keys(one: bytes, other: bytes) -> bool:
    return _has_same_number(one, other) and _keys(one) == _keys(other)


def _names_same_keys(one: bytes, other: bytes) -> bool:
    has_placeholder = number_of(one) is None or number_of(other) is None
    return has_placeholder and _keys(one) == _keys(other)


def _keys(block: bytes) -> tuple[bytes, ...]:
    """The items of the entry's `config-keys` field, as they stand there."""
    keys: list[bytes] = []
    for line in block.split(b"\n")[1:]:
        if not line.lstrip().startswith(b"-"):
            break
        keys.append(line.strip())
    return tuple(keys)
