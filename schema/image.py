"""Container image references: `[registry/|registry#]repository[:tag][@digest]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}")
_PART = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_PREFIXES = ("docker://",)


@dataclass(frozen=True, slots=True)
class ImageReference:
    """One image. `separator` is `/` or, as enroot writes it, `#` behind the registry. Empty parts are absent."""

    registry: str
    separator: str
    repository: str
    tag: str
    digest: str

    @property
    def name(self) -> str:
        """The image without tag and digest, as written."""
        return f"{self.registry}{self.separator}{self.repository}"

    @property
    def version(self) -> str:
        """What tells two images of one repository apart: the tag, the digest, or both."""
        return "@".join(part for part in (self.tag, self.digest) if part)

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        digest = f"@{self.digest}" if self.digest else ""
        return f"{self.name}{tag}{digest}"

    def same_image(self, other: ImageReference) -> bool:
        """Whether both name one image, however the registry is set off and the default one left out."""
        return self._normal() == other._normal()

    def _normal(self) -> tuple[str, str, str, str]:
        registry = "" if self.registry in ("docker.io", "index.docker.io") else self.registry
        return registry, self.repository, self.tag, self.digest


def parse_image(text: str) -> ImageReference:
    """Read an image reference. Raises ValueError naming the part that is wrong."""
    rest = text
    for prefix in _PREFIXES:
        rest = rest.removeprefix(prefix)
    if re.search(r"\s", text):
        raise ValueError(f"image {text!r} holds a blank; an image reference has none")
    rest, _, digest = rest.partition("@")
    if digest and not _DIGEST.fullmatch(digest):
        raise ValueError(f"image digest {digest!r} is not sha256: and 64 hexadecimal digits")
    registry, separator, rest = _split_registry(rest)
    repository, colon, tag = rest.partition(":")
    if colon and not _TAG.fullmatch(tag):
        raise ValueError(f"image tag {tag!r} may hold letters, digits, '_', '.', '-' and '+', at most 128 of them")
    if not repository or not all(_PART.fullmatch(part) for part in repository.split("/")):
        raise ValueError(f"image {text!r} has no valid repository, as in rocm/atom-dev:nightly_202610181506")
    return ImageReference(registry, separator, repository, tag, digest)


def _split_registry(text: str) -> tuple[str, str, str]:
    if "#" in text:
        registry, _, rest = text.partition("#")
        return registry, "#", rest
    head, slash, rest = text.partition("/")
    if slash and ("." in head or ":" in head or head == "localhost"):
        return head, "/", rest
    return "", "", text


def image_or_none(text: object) -> ImageReference | None:
    """The image reference that `text` is, or None: a bare word is a launcher's alias, not a reference."""
    if not isinstance(text, str) or not any(sign in text for sign in "/:@#"):
        return None
    try:
        return parse_image(text)
    except ValueError:
        return None
