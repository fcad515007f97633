"""The strict side of the models: unknown fields refused, every mistake told in the author's words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, WrapValidator
from pydantic_core import ErrorDetails

from .yaml_text import Path, plain


class Strict(BaseModel):
    """A model that refuses unknown fields; field names are written with `-` in YAML."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        # A model that only stands inside another one is built with it, and start-up does not pay for it twice.
        defer_build=True,
        validate_by_name=False,
        validate_by_alias=True,
        alias_generator=lambda name: name.rstrip("_").replace("_", "-"),
    )


def _keep_spelling(value: Any, handler: Any) -> Any:
    """Validate, but keep the author's own object: it knows how it was spelled."""
    handler(value)
    return value


Spelled = WrapValidator(_keep_spelling)


def control_character(text: str, *, lines: bool = False) -> str:
    """The first control character in the text as `\\n` or `\\x1b`, empty where there is none."""
    for character in text:
        code = ord(character)
        steering = code < 32 or 127 <= code < 160 or character in "\u2028\u2029\ufeff\ufffe\uffff"
        # What turns the direction of text lets a reviewer read something else than what is there.
        turning = character in "\u061c\u200e\u200f" or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
        if (steering or turning) and not (lines and character == "\n"):
            return ascii(character).strip("'")
    return ""


def one_line(text: str) -> str:
    """A value that must stand on one line. Raises ValueError naming the character that breaks it."""
    if found := control_character(text):
        raise ValueError(f"holds the control character {found}; it must be one line of plain text")
    if not text.strip():
        raise ValueError("is empty; leave it out or say something")
    return text


def several_lines(text: str) -> str:
    """Text that may run over several lines, without other control characters."""
    if found := control_character(text, lines=True):
        raise ValueError(f"holds the control character {found}; only line breaks are allowed")
    return text


def inside_checkout(path: str) -> str:
    """A path that cannot leave the checkout: relative, without `..`."""
    parts = path.split("/")
    if path.startswith(("/", "~")) or ".." in parts or "\\" in path:
        raise ValueError(f"leaves the checkout: {path!r}; use a path relative to the project root, without '..'")
    return path


OneLine = Annotated[str, AfterValidator(one_line)]
SeveralLines = Annotated[str, AfterValidator(several_lines)]
CheckoutPath = Annotated[str, AfterValidator(one_line), AfterValidator(inside_checkout)]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing wrong with some data: the path to it, what is wrong, what is allowed or was meant."""

    path: Path
    what: str
    hint: str = ""


def mistakes_of(model: type[BaseModel], data: Any, path: Path = ()) -> tuple[Any, list[Mistake]]:
    """The validated model, or None and every mistake in the data."""
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, [_mistake(model, detail, data, path) for detail in error.errors(include_url=False)]


def near(word: str, allowed: Iterable[str]) -> str:
    """`did you mean …?` for a near miss, else the allowed words."""
    words = list(dict.fromkeys(allowed))
    found = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    if found:
        return f"did you mean {found[0]!r}?"
    return f"allowed: {', '.join(words)}" if words else ""


def _mistake(model: type[BaseModel], detail: ErrorDetails, data: Any, path: Path) -> Mistake:
    where = (*path, *detail["loc"])
    given = plain(detail.get("input"))
    context = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            siblings = _fields_at(model, detail["loc"][:-1])
            return Mistake(where, f"unknown field {detail['loc'][-1]!r}", near(str(detail["loc"][-1]), siblings))
        case "missing":
            return Mistake(where[:-1], f"field {detail['loc'][-1]!r} is required")
        case "literal_error" | "enum":
            allowed = [word.strip("' ") for word in str(context["expected"]).replace(" or ", ",").split(",")]
            return Mistake(where, f"{given!r} is not allowed", _allowed_and_near(given, allowed))
        case "value_error" | "assertion_error":
            what, _, hint = str(context["error"]).partition("; ")
            return Mistake(where, what, hint)
        case "too_short":
            return Mistake(where, "is empty", f"at least {context['min_length']} is needed")
        case _:
            message = detail["msg"].removeprefix("Input should be ")
            return Mistake(where, f"{given!r} does not fit", f"should be {message}")


def _allowed_and_near(given: object, allowed: list[str]) -> str:
    meant = difflib.get_close_matches(str(given), allowed, n=1, cutoff=0.6)
    hint = f"allowed: {', '.join(allowed)}"
    return f"{hint}; did you mean {meant[0]!r}?" if meant else hint


def _fields_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The names a mapping at `loc` may have, found by walking the model's annotations."""
    current: Any = model
    for step in loc:
        if isinstance(step, int) or not _is_model(current):
            continue
        for name, info in current.model_fields.items():
            if (info.alias or name) == step:
                current = _model_in(info.annotation)
                break
    return [info.alias or name for name, info in current.model_fields.items()] if _is_model(current) else []


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _model_in(annotation: Any) -> Any:
    """The one model inside `list[Model] | None`, `Annotated[Model, …]`, `dict[str, Model]`."""
    if _is_model(annotation):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_in(argument)
        if _is_model(found):
            return found
    return None


def show_path(path: Iterable[int | str]) -> str:
    """`changes[0].scenarios.agentic-coding.search-space[1].tp`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def merged(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch applied to a mapping: nested mappings merge, null deletes a key, lists are replaced."""
    result: dict[str, Any] = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            below = result.get(key)
            result[key] = merged(below if isinstance(below, Mapping) else {}, value)
        else:
            result[key] = value
    return result
