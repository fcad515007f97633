"""Claims about images: full references, bare tags, digests and versions, against what entries and recipes name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..schema.image import image_or_none
from .claim_facts import KeyFacts
from .claim_patterns import Claim
from .claim_verdict import Judgement, contradicted, supported, unknown
from .claim_words import Side
from .stated import Shipped

_LEADS_TO_IMAGE = re.compile(r"\s*(?:to|->|→|=>)\s+[\"'`]?[\w./-]+[:@_-]")
_NAMED_IMAGE = re.compile(
    r"(?<![\w-])image(?:\s+\w+){0,3}\s*[:：]?\s*[\"'`]*$|镜像\s*\S{0,6}\s*[\"'`]*$", re.IGNORECASE
)
_OTHER_IMAGE = re.compile(r"router|sidecar|client|proxy|frontend|eval|base image|built|路由", re.IGNORECASE)
_VERSION_TAG = re.compile(r"v?\d+\.\d+")


@dataclass(frozen=True, slots=True)
class _Named:
    """An image as somebody names it, parts that are not named empty; a digest may be cut short."""

    repository: str
    tag: str
    digest: str


def judge_image(claim: Claim, before: KeyFacts, after: KeyFacts) -> Judgement:
    """SUPPORTED by any image of that side; CONTRADICTED where it can only mean the entry's own image."""
    named = _named(claim)
    leads = _LEADS_TO_IMAGE.match(claim.clause.behind) is not None
    old = leads or claim.clause.side is Side.BEFORE or claim.clause.opened_by_from
    facts = before if old else after
    if _any_matches(claim, named, facts.images):
        return supported(claim)
    if not claim.firm or (old and not (leads or claim.clause.paired)):
        return supported(claim) if _any_matches(claim, named, before.images) else unknown(claim)
    if ".." in claim.text or claim.clause.behind[:1] == "…":
        return unknown(claim)
    if not facts.images or _OTHER_IMAGE.search(claim.clause.text) or not _comparable(claim, named, facts):
        return unknown(claim)
    if _any_matches(claim, named, facts.other_images):
        return supported(claim)
    shipped = _nearest(named, facts.images)
    told = "the base had" if old else "the config ships"
    return contradicted(claim, f"{told} {shipped.value}", shipped.place, _right(claim, shipped))


def _right(claim: Claim, shipped: Shipped) -> str:
    image = image_or_none(shipped.value)
    parts = {"reference": str(shipped.value)} if image is None else {
        "reference": str(shipped.value), "tag": str(image.tag), "version": str(image.tag), "digest": image.digest
    }  # fmt: skip
    return parts.get(claim.name, "")


def _named(claim: Claim) -> _Named:
    text = claim.values[0]
    if claim.name == "digest":
        return _Named("", "", text)
    if claim.name in ("tag", "version"):
        return _Named("", text, "")
    rest, _, digest = text.partition("@")
    head, _, tail = rest.replace("#", "/").rpartition("/")
    name, _, tag = tail.partition(":")
    return _Named(f"{head}/{name}", tag, digest)


def _any_matches(claim: Claim, named: _Named, images: Iterable[Shipped]) -> bool:
    return any(_matches(claim, named, shipped) for shipped in images)


def _matches(claim: Claim, named: _Named, shipped: Shipped) -> bool:
    image = image_or_none(shipped.value)
    if image is None:
        return str(shipped.value) == claim.values[0]
    if named.repository and not _same_repository(named.repository, str(image.name)):
        return False
    if named.digest and not image.digest.startswith(named.digest):
        return False
    if claim.name == "version":
        return re.match(re.escape(named.tag) + r"(?!\d)", image.tag) is not None
    if claim.name == "tag":
        return named.tag in image.tag
    return not named.tag or named.tag == image.tag


def _same_repository(stated: str, shipped: str) -> bool:
    one, other = stated.replace("#", "/"), shipped.replace("#", "/")
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _comparable(claim: Claim, named: _Named, facts: KeyFacts) -> bool:
    """Whether the claim must mean an entry's own image: one of its repository or shape, or named as the image."""
    images = [image for shipped in facts.images if (image := image_or_none(shipped.value)) is not None]
    introduced = _NAMED_IMAGE.search(claim.clause.before) or (
        claim.clause.target and "image" in claim.clause.before.lower()
    )
    if claim.name == "digest":
        return bool(images) and all(image.digest for image in images)
    if claim.name == "version":
        return any(_VERSION_TAG.match(image.tag) for image in images)
    if claim.name == "tag":
        return bool(introduced) or any(_shape(image.tag) == _shape(named.tag) for image in images)
    if any(_same_repository(named.repository, str(image.name)) for image in images):
        return True
    return bool(introduced)


def _shape(tag: str) -> str:
    """A tag with its digits blanked, hexadecimal hashes included: `nightly_#`."""
    return re.sub(r"\d+", "#", re.sub(r"(?<=[-_])[0-9a-f]{7,64}(?![\w])", "#", tag))


def _nearest(named: _Named, images: list[Shipped]) -> Shipped:
    for shipped in images:
        image = image_or_none(shipped.value)
        if image is not None and named.repository and _same_repository(named.repository, str(image.name)):
            return shipped
    return images[0]
