"""The checkout's config keys as rows to pick from: what each is, filled in as entries get read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.fuzzy import Matcher

from ..derive.naming import read_key, siblings, sku_of
from ..schema.image import parse_image
from ..schema.master import Entry

FACETS = ("scenario", "framework", "sku", "precision", "model")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One key. What its name does not say is empty until its entry is read."""

    key: str
    model: str = ""
    precision: str = ""
    sku: str = ""
    framework: str = ""
    tag: str = ""
    scenario: str = ""
    points: int = 0
    image: str = ""

    @property
    def words(self) -> str:
        """Everything one may search for."""
        return " ".join(
            (self.key, self.model, self.precision, self.sku, self.framework, self.image, self.scenario)
        ).lower()


def row_by_name(key: str) -> KeyRow:
    """What a key's name alone says."""
    parts = read_key(key)
    if parts is None:
        return KeyRow(key)
    scenario = "agentic" if parts.agentic else ""
    return KeyRow(key, parts.model_prefix, parts.precision, parts.sku, parts.framework, scenario=scenario)


def row_of(entry: Entry) -> KeyRow:
    """What an entry says."""
    scenarios = [name.removesuffix("-coding").removesuffix("-seq-len") for name in entry.scenarios]
    points = sum(len(row.concurrencies) for _, row in entry.rows())
    return KeyRow(
        entry.key,
        entry.model_prefix,
        entry.precision,
        sku_of(entry.runner),
        entry.framework,
        _tag(entry.image),
        "+".join(scenarios),
        points,
        entry.image,
    )


def _tag(image: str) -> str:
    try:
        found = parse_image(image)
    except ValueError:
        return image
    return str(getattr(found, "tag", "") or getattr(found, "digest", "") or image)


def found(rows: Iterable[KeyRow], query: str, facets: dict[str, str]) -> list[KeyRow]:
    """The rows that fit every word and every facet; the best matches first, ties in the files' order."""
    words = query.lower().split()
    fitting = [row for row in rows if all(getattr(row, name) == value for name, value in facets.items() if value)]
    if not words:
        return fitting
    # Letter by letter only where a word stands nowhere as it is: "glm" is also in "sgLang-…-Mtp".
    guessed = {word for word in words if not any(word in row.words for row in fitting)}
    scored = []
    for place, row in enumerate(fitting):
        scores = [_score(word, row, word in guessed) for word in words]
        if all(scores):
            scored.append((-sum(scores), place, row))
    return [row for _, _, row in sorted(scored, key=lambda one: one[:2])]


def _score(word: str, row: KeyRow, is_guessed: bool) -> float:
    """How well a word fits: as a part of the text, or letter by letter within the key."""
    if is_guessed:
        return Matcher(word).match(row.key)
    if word in row.key.lower():
        return 3.0
    if word in row.words:
        return 2.0
    return 0.0


def ranked_siblings(name: str, keys: Sequence[str]) -> dict[str, str]:
    """For a new key's name: the keys it could start from, nearest first, each with what the two share."""
    if read_key(name) is None:
        return {}
    return {one.key: one.reason for one in siblings(name, (Entry(key, {}) for key in keys))}
