"""Rule `foreign-image`: vLLM and SGLang entries on established SKUs use the engines' own repositories."""

from __future__ import annotations

from collections.abc import Iterator

from ..checkout.recipes import sku_of
from ..schema.image import image_or_none
from ..schema.results import Finding, Severity
from .judged import judged_keys
from .model import Rule, Subject

# Source: FACTS §3, "Engine-first custom".
ESTABLISHED = ("h100", "h200", "b200", "b300", "gb200", "gb300", "mi300x", "mi325x", "mi355x")
UPSTREAM = {"vllm": "vllm", "sglang": "lmsysorg"}


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per new or changed image from elsewhere."""
    for key in judged_keys(subject):
        entry = key.after
        owner = UPSTREAM.get(entry.framework)
        image = image_or_none(entry.image)
        old = key.before
        same = old is not None and (old.image, old.framework) == (entry.image, entry.framework)
        if owner is None or image is None or sku_of(entry.runner) not in ESTABLISHED:
            continue
        if image.repository.startswith(f"{owner}/") or (same and not subject.everything):
            continue
        message = f"image {image.name} is not of {owner}/, the upstream repository of {entry.framework}"
        hint = f"use an image of {owner}/… on {sku_of(entry.runner)}, or say in the pull request why it cannot be"
        yield RULE.finding(subject.place(key.key, ("image",)), message, hint, text=image.name)


RULE = Rule(
    id="foreign-image",
    severity=Severity.WARNING,
    title="vLLM and SGLang entries on established SKUs use vllm/… and lmsysorg/… images",
    explanation=(
        "On H100, H200, B200, B300, GB200, GB300, MI300X, MI325X and MI355X the entries of framework vllm and sglang "
        "measure the engines as released, so their images come from vllm/… and lmsysorg/…; anything else is asked "
        "about."
    ),
    example_before="framework: vllm\nimage: rocm/vllm-dev:nightly_20260801",
    example_after="framework: vllm\nimage: vllm/vllm-openai-rocm:v0.25.1",
    judge=judge,
)
