"""The branch's own changelog entries: keys, scope, prose, flags and link, and the bytes they make."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..checkout.changelog_text import ensure_writable
from ..checkout.checkout import Checkout
from ..derive.change import Change, KeyChange
from ..derive.compare import compare
from ..derive.figures import CheckoutFigures
from ..derive.prose import derived_lines
from ..schema.changelog import Entry, link_number, parse_entry, pull_request_link, quoted, render
from ..schema.errors import BenchscribeError, Place, StateError
from ..schema.results import Edit, Line
from ..schema.spec import ChangelogChange
from ..schema.strict import Mistake
from ..schema.yaml_text import Path
from ..writers.changelog import own_entries, replace_own
from .messages import in_order

SCENARIO_ORDER = ("fixed-seq-len", "agentic-coding")


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Something that the present entries say and the new ones do not; `note` is the line that would keep it."""

    what: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Changelog:
    """The changelog as planned: the edit (None where the bytes stay), the entries' text, the derived lines.

    `given_up` is what the branch's present entries hold beside their prose and the new ones do not: flags, entries.
    `restored` are derived lines that those do not have and the new ones do.
    `unknown_ids` are fields (`omit`, `order`) with what they name and no derived line is called.
    """

    edit: Edit | None
    text: str
    lines: tuple[Line, ...]
    number: int | None
    mistakes: tuple[Mistake, ...]
    unknown_ids: tuple[tuple[str, str], ...]
    given_up: tuple[GivenUp, ...] = ()
    restored: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Bytes:
    """The changelog at the base and in the work tree, checked to be fit for writing."""

    path: str
    base: bytes
    now: bytes
    own: tuple[bytes, ...]

    @property
    def own_number(self) -> int | None:
        """The pull-request number that the branch's own entry carries, None without one."""
        for block in self.own:
            try:
                number = link_number(parse_entry(block).pr_link)
            except BenchscribeError:
                continue
            if number is not None:
                return number
        return None


def read_bytes(checkout: Checkout) -> Bytes:
    """Both sides of the changelog. Raises StateError where it may not be written to, naming line and way out."""
    path = checkout.layout.changelog
    now = checkout.read(path)
    if now is None:
        raise StateError("the changelog is not there", where=Place(path))
    base = checkout.at_base(path)
    if base is None:
        raise StateError(
            "the changelog is not there at the base", where=Place(path), hint="name another base: --base REF"
        )
    ensure_writable(now, path)
    return Bytes(path, base, now, own_entries(base, now, path))


def plan_changelog(
    checkout: Checkout, wanted: Checkout, change: Change, asked: Sequence[ChangelogChange], number: int | None
) -> Changelog:
    """The entries that the whole branch needs, base → wanted. `number` wins over the one an own entry carries."""
    both = read_bytes(checkout)
    number = number if number is not None else both.own_number
    figures = CheckoutFigures(wanted.after)
    entries: list[Entry] = []
    lines: list[Line] = []
    mistakes: list[Mistake] = []
    unknown: list[tuple[str, str]] = []
    for index, one in enumerate(asked):
        keys, wrong = _keys(change, wanted, one, ("changelog", index))
        mistakes += wrong
        covered = _covered(change, one, keys)
        derived = in_order(derived_lines(change, figures, covered, one.flags), one.order)
        lines += [line for line in derived if line not in lines]
        known = {line.id for line in derived}
        named = [*(("omit", name) for name in one.omit), *(("order", name) for name in one.order)]
        unknown += [(field, name) for field, name in named if name not in known]
        description = _description(one, derived)
        if keys and description:
            scope = _scenario_type(change, one, covered)
            entries.append(Entry(tuple(keys), description, pull_request_link(number), scope, one.flags))
        elif keys and one.keys is not None:
            what = "nothing follows from the change that this entry could say"
            mistakes.append(Mistake(("changelog", index), what, "say it in notes"))
    if not entries:
        text = "".join(block.decode("utf-8") for block in both.own)
        return Changelog(None, text, tuple(lines), number, tuple(mistakes), tuple(unknown))
    after = replace_own(both.base, both.now, entries, both.path)
    edit = Edit(both.path, both.now, after) if after != both.now else None
    text = "\n".join(render(entry) for entry in entries)
    if edit is None:
        return Changelog(edit, text, tuple(lines), number, tuple(mistakes), tuple(unknown))
    own = read_own(checkout, both.own[: len(entries)])
    given_up = (*_given_up(both, entries), *_own_words(own, text))
    restored = tuple(_restored(own, text))
    return Changelog(edit, text, tuple(lines), number, tuple(mistakes), tuple(unknown), given_up, restored)


def _given_up(both: Bytes, entries: Sequence[Entry]) -> Iterator[GivenUp]:
    """What is lost when these entries take the place of the present ones."""
    flags = {name for entry in entries for name, _ in entry.flags}
    for number, block in enumerate(both.own):
        try:
            present = parse_entry(block)
        except BenchscribeError:
            yield GivenUp(
                f"the entry for {block.splitlines()[0].decode('utf-8', 'replace')!r}, which could not be read"
            )
            continue
        if number >= len(entries):
            yield GivenUp(f"the entry for {', '.join(present.config_keys)}: {'; '.join(present.description)}")
        yield from (GivenUp(name) for name, _ in present.flags if name not in flags)


def _own_words(own: Sequence[OwnText], text: str) -> Iterator[GivenUp]:
    """Lines that a person wrote into the present entries and the new ones do not have."""
    for line in (line for entry in own for line in entry.words):
        if quoted(line, "description") not in text:
            yield GivenUp(f"the line {line!r}", line)


def _restored(own: Sequence[OwnText], text: str) -> Iterator[Line]:
    """Derived lines that present entries do not have, though they have others, and the new ones do."""
    for entry in own:
        if entry.told:
            yield from (line for line in entry.untold if quoted(line.en, "description") in text)


@dataclass(frozen=True, slots=True)
class OwnText:
    """One present entry: the lines a person wrote, and of those derived from the branch which it has and which not.

    `told` are in the entry's order; `order` are their ids where that is not the order in which lines are derived.
    """

    words: tuple[str, ...]
    told: tuple[Line, ...]
    untold: tuple[Line, ...]
    order: tuple[str, ...] = ()


def read_own(checkout: Checkout, blocks: Sequence[bytes]) -> list[OwnText]:
    """The branch's present entries, held against what is derived from it; those that cannot be read are left out."""
    if not blocks:
        return []
    present = compare(checkout.before, checkout.after, checkout.changed_paths)
    figures = CheckoutFigures(checkout.after)
    found: list[OwnText] = []
    for block in blocks:
        try:
            entry = parse_entry(block)
        except BenchscribeError:
            continue
        derived = derived_lines(present, figures, None, entry.flags)
        known = {words: line for line in derived for words in (line.en, line.zh)}
        told = tuple(dict.fromkeys(known[text] for text in entry.description if text in known))
        untold = tuple(line for line in derived if line not in told)
        words = tuple(text for text in entry.description if text not in known)
        usual = tuple(line for line in derived if line in told)
        found.append(OwnText(words, told, untold, tuple(line.id for line in told) if told != usual else ()))
    return found


def _keys(change: Change, wanted: Checkout, asked: ChangelogChange, path: Path) -> tuple[list[str], list[Mistake]]:
    """The keys an entry names: those asked for, else every changed key that still exists."""
    if asked.keys is None:
        return [one.key for one in change.remaining], []
    known = wanted.after.keys
    mistakes = []
    if not asked.keys:
        mistakes.append(Mistake((*path, "keys"), "is empty", "leave keys out: every changed key is named by default"))
    for index, key in enumerate(asked.keys):
        if key not in known and not fnmatch.filter(known, key):
            nearest = ", ".join(wanted.after.near_keys(key))
            hint = f"did you mean {nearest}?" if nearest else "keys must exist after the change"
            mistakes.append(Mistake((*path, "keys", index), f"no config key matches {str(key)!r}", hint))
    return [*dict.fromkeys(str(key) for key in asked.keys)], mistakes


def _covered(change: Change, asked: ChangelogChange, keys: Sequence[str]) -> list[str]:
    """The changed keys one entry speaks for; an entry without keys of its own speaks for all, removed ones too."""
    if asked.keys is None:
        return [one.key for one in change.keys]
    return [one.key for one in change.keys if any(fnmatch.fnmatchcase(one.key, key) for key in keys)]


def _description(asked: ChangelogChange, derived: Sequence[Line]) -> tuple[str, ...]:
    """Derived lines that are not omitted, then the author's notes; both languages where that is asked for."""
    kept = [line for line in derived if line.id not in asked.omit]
    english = [line.en for line in kept] + [note.en for note in asked.notes]
    if asked.language == "en":
        return tuple(english)
    chinese = [line.zh for line in kept] + [note.zh or note.en for note in asked.notes]
    return tuple(dict.fromkeys((*english, *chinese)))


def _scenario_type(change: Change, asked: ChangelogChange, covered: Sequence[str]) -> tuple[str, ...]:
    """The scenarios that changed, unless others are asked for."""
    if asked.scenario_type is not None:
        return tuple(dict.fromkeys(asked.scenario_type))
    changes: list[KeyChange] = [one for one in change.remaining if one.key in covered]
    found = {scenario for one in changes for scenario in one.scenarios}
    return tuple(name for name in SCENARIO_ORDER if name in found)
