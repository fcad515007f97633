"""Image references in every form the checkouts use."""

from __future__ import annotations

import pytest

from benchscribe.schema.image import image_or_none, parse_image

DIGEST = "sha256:" + "0a" * 32


def test_tag_digest_and_registry_are_told_apart() -> None:
    image = parse_image(f"registry.example.com:5000/team/engine:v1.2_rc@{DIGEST}")
    assert (image.registry, image.repository, image.tag, image.digest) == (
        "registry.example.com:5000",
        "team/engine",
        "v1.2_rc",
        DIGEST,
    )


def test_enroots_hash_behind_the_registry_is_kept() -> None:
    image = parse_image("ghcr.io#team/engine:v1")
    assert (image.registry, image.separator, str(image)) == ("ghcr.io", "#", "ghcr.io#team/engine:v1")
    assert image.same_image(parse_image("ghcr.io/team/engine:v1"))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("team/engine:nightly 2026", "blank"),
        ("team/engine@sha256:abc", "digest"),
        ("team/engine:", "tag"),
        (":v1", "repository"),
        ("team//engine:v1", "repository"),
    ],
)
def test_the_part_that_is_wrong_is_named(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        parse_image(text)


def test_a_bare_word_is_a_launchers_alias_not_an_image() -> None:
    assert image_or_none("dsv4-container") is None
    assert image_or_none("team/engine:v1") is not None
