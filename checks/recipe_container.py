"""Rule `recipe-container`: an image that a recipe states is the image of the config entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..checkout.snapshot import RecipeFile, Snapshot
from ..schema.errors import BenchscribeError
from ..schema.image import image_or_none
from ..schema.recipe import Variant
from ..schema.results import Finding, Fix, Severity
from ..schema.yaml_text import Path
from .judged import JudgedKey, judged_keys
from .model import SPEC_PATCH, Rule, Subject

# Where recipes state the engine's image. `frontend.container_image` is the router's and may differ.
_CONTAINERS: tuple[Path, ...] = (("model", "container"), ("identity", "container", "image"))


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per stated container that is another image; launcher aliases (bare words) are not judged."""
    seen = set()
    for key in judged_keys(subject):
        for reference in _references(key):
            for recipe, variant, path, stated in _stated(subject.after, reference):
                place = recipe.recipe.place(path, variant)
                if (place, stated, key.after.image) in seen or not _differs(stated, key.after.image):
                    continue
                seen.add((place, stated, key.after.image))
                if subject.everything or not _was_so(subject, key, reference, path, stated):
                    yield _finding(subject, key, recipe, variant, path, stated)


def _references(key: JudgedKey) -> list[str]:
    return list(dict.fromkeys(reference for _, row in key.after.rows() for reference in row.recipe_references))


def _stated(snapshot: Snapshot, reference: str) -> Iterator[tuple[RecipeFile, Variant, Path, str]]:
    try:
        found = snapshot.recipe(reference)
        if not isinstance(found, RecipeFile):
            return
        variants = found.variants
    except BenchscribeError:
        return
    for variant in variants:
        for path in _CONTAINERS:
            value = _at(variant.data, path)
            if isinstance(value, str) and image_or_none(value) is not None:
                yield found, variant, path, value


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data.get(step) if isinstance(data, Mapping) else None
    return data


def _differs(stated: str, image: str) -> bool:
    one, other = image_or_none(stated), image_or_none(image)
    return one is not None and other is not None and not one.same_image(other)


def _was_so(subject: Subject, key: JudgedKey, reference: str, path: Path, stated: str) -> bool:
    """Whether the base had the very same two images side by side."""
    if key.before is None or key.before.image != key.after.image:
        return False
    return any(where == path and text == stated for _, _, where, text in _stated(subject.before, reference))


def _finding(
    subject: Subject, key: JudgedKey, recipe: RecipeFile, variant: Variant, path: Path, stated: str
) -> Finding:
    image = key.after.image
    where = subject.place(key.key, ("image",))
    message = f"the recipe's container is {stated}, but the image of {key.key} is {image} ({where})"
    patch: dict[str, Any] = {}
    below = patch
    steps = (variant.block_name, *path) if variant.block_name else path
    for step in steps[:-1]:
        below = below.setdefault(str(step), {})
    below[str(steps[-1])] = image
    fix = Fix(
        SPEC_PATCH,
        {"patch": {"changes": [{"config-key": key.key, "recipes": [{"file": recipe.path, "patch": patch}]}]}},
    )
    hint = f"write {image} in the recipe, or set the entry's image to the recipe's"
    return RULE.finding(recipe.recipe.place(path, variant), message, hint, fix=fix, text=stated)


RULE = Rule(
    id="recipe-container",
    severity=Severity.ERROR,
    title="an image that a recipe states is the config entry's image",
    explanation=(
        "Where a recipe states its container as an image reference it is what really runs, so it must be the image of "
        "the entry that names the recipe, whose tag the results are filed under. A bare word is a launcher's alias and "
        "not judged, and a router's container_image may differ."
    ),
    example_before="model:\n  container: vllm/vllm-openai:v0.24.0   # the entry has image: vllm/vllm-openai:v0.25.0",
    example_after="model:\n  container: vllm/vllm-openai:v0.25.0",
    judge=judge,
)
