"""Text on its way to a terminal: shown, never obeyed."""

from __future__ import annotations


def visible(text: str) -> str:
    """The text with control characters and direction marks as escapes, so that it cannot steer a terminal."""
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    code = ord(character)
    steering = (code < 32 and character not in "\n\t") or 127 <= code < 160
    hidden = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 or character in "\u200e\u200f\u061c\ufeff"
    lone = 0xD800 <= code <= 0xDFFF
    return ascii(character).strip("'") if steering or hidden or lone else character
