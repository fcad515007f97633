"""Rule `mutable-tag`: an image that the branch sets cannot change under the same name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..schema.image import image_or_none
from ..schema.results import Finding, Severity
from .judged import judged_keys
from .model import Rule, Subject

_MOVING = re.compile(
    r"(?:^|[-_.])(?:latest|edge|stable|rolling)(?:$|[-_.])|^(?:nightly|dev|main|master|head|test|release)$",
    re.IGNORECASE,
)


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per new or changed image whose tag moves, or that has neither tag nor digest."""
    for key in judged_keys(subject):
        same = key.before is not None and key.before.image == key.after.image
        image = image_or_none(key.after.image)
        if not key.after.image or (image is not None and image.digest) or (same and not subject.everything):
            continue
        if image is None or not image.tag:
            name = image or key.after.image
            why = f"image {name} has neither tag nor digest, so it is whatever latest is that day"
        elif _MOVING.search(image.tag):
            why = f"the tag {image.tag} moves: another day it is another image"
        else:
            continue
        hint = "pin it: a dated or versioned tag, or @sha256:…"
        yield RULE.finding(
            subject.place(key.key, ("image",)),
            why,
            hint,
            text=image.tag if image is not None and image.tag else key.after.image,
        )


RULE = Rule(
    id="mutable-tag",
    severity=Severity.WARNING,
    title="an image is pinned by a tag that stays, or a digest",
    explanation=(
        "Results are filed under an image's name, so the name has to mean one image for good. latest, edge, stable, a "
        "bare nightly, dev or main, and no tag at all move on; a dated nightly, a version or a digest does not."
    ),
    example_before="image: vllm/vllm-openai:latest",
    example_after="image: vllm/vllm-openai:v0.25.1",
    judge=judge,
)
