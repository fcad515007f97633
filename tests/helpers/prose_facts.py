"""Derived lines taken apart again, by patterns of their own: figures and identifiers, arms and points, settings."""

from __future__ import annotations

import re
from collections import Counter

# A name or figure: something with a digit, a slash, an underscore or a dash in it, or in capitals.
_WORD = re.compile(r"[A-Za-z0-9_{\[][A-Za-z0-9_./:@+#=%{}\[\]-]*")
_NAMED = re.compile(r"[0-9_/=]|[a-z]-[a-z]|^[A-Z]{2,}|[a-z][A-Z]")
# English words that a dash or their capitals make look like names, and what stands for them in Chinese.
_PROSE = {"multi-node", "DRAM", "KV", "DP", "GPU"}


def identifiers(text: str) -> Counter[str]:
    """Figures and identifiers of a line, however often each stands there."""
    # `NAME=1` and `NAME 为 1` say the same.
    words = (word.rstrip(".:") for found in _WORD.findall(text) for word in found.split("="))
    return Counter(word for word in words if word and _NAMED.search(word) and word not in _PROSE)


def sentences_differ(english: str, chinese: str) -> Counter[str]:
    """Figures and identifiers that only one of the two languages has."""
    one, two = identifiers(english), identifiers(chinese)
    return (one - two) + (two - one)


def arms_and_points(words: str) -> list[tuple[str, set[int]]]:
    """`TP4 with LMCache 0.5.1 DRAM offload at C1 and C2; TP8 C4` as topologies with their concurrencies."""
    found = []
    for part in words.split("; "):
        points = {int(value) for value in re.findall(r"\bC(\d+)\b", part)}
        name = re.split(r"(?: at)? C\d", part)[0]
        found.append((bare(name), points))
    return found


def bare(name: str) -> str:
    """An arm's topology alone: without offload, speculation and sequence lengths."""
    name = re.sub(r" (?:with|and) \S+(?: \S+)? DRAM offload$| without KV offload$", "", name)
    name = re.sub(r" \((?:no KV offload|\S+ offload|no speculation|mtp|draft_model)\)", "", name)
    return re.sub(r"^\d+k\d+k ", "", name).strip()


_PLACE = re.compile(r" (?:at|on) (?:every |the |\d+×|aggregated |\d+k\d+k |\d+P\d+D|D?[TE]+P\d).*$")
_VERBS = ("set", "change", "drop", "add")


def settings(words: str) -> list[tuple[str, str | None, str | None]]:
    """`Set A=1 and b to 2; drop C (was 3) at TP4 C1.` as (name, old, new) of each setting it tells of."""
    words = re.sub(r"^(?:Prefill|Decode|Prefill and decode): ", "", words.rstrip("."))
    found: list[tuple[str, str | None, str | None]] = []
    for clause in re.split(r"; (?![^(]*\))", words):
        verb, _, rest = clause.partition(" ")
        if verb.lower() not in _VERBS:
            # A further value of the setting told just before: `0.90 at every other point`.
            found.append((found[-1][0], None, _PLACE.sub("", clause)))
            continue
        rest = _PLACE.sub("", re.sub(r" \([^()]* (?:was|were) .*\)$", "", rest))
        for piece in re.split(r", (?![^{\[]*[}\]])| and (?=[\w.-]+(?: to | from |=| \(was))", rest):
            piece = re.sub(r"^(?:the |prefill and decode |prefill |decode )", "", piece)
            found += _setting(verb.lower(), piece)
    return found


def _setting(verb: str, piece: str) -> list[tuple[str, str | None, str | None]]:
    if changed := re.fullmatch(r"(.+) from (.+) to (.+)", piece):
        return [(changed[1], changed[2], changed[3])]
    if dropped := re.fullmatch(r"(\S+) \(was (.+)\)", piece):
        return [(dropped[1], dropped[2], None)]
    if assigned := re.fullmatch(r"([^\s=]+)=(.*)", piece):
        return [(assigned[1], None, assigned[2])]
    if stated := re.fullmatch(r"(\S+) to (.+)", piece):
        return [(stated[1], None, stated[2])]
    if verb in ("add", "drop") and piece.startswith("--"):
        return [(piece, "true" if verb == "drop" else None, "true" if verb == "add" else None)]
    return [("?", None, piece)]
