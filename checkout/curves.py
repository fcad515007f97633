"""Golden acceptance-length curves: what their files say, and which one a recipe is held to (FACTS §5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..schema.arguments import canonical
from ..schema.errors import Place, StateError
from ..schema.yaml_size import require_finite
from ..schema.yaml_text import Node, compose, place_of, value_of

THINKING = "thinking_on"
METHODS = ("mtp", "eagle3", "dspark", "eagle", "dflash", "medusa", "ngram")
# How engines name a method that curves file under another name; SGLang says EAGLE for MTP and EAGLE3 alike.
_NAMED_OTHERWISE = {"nextn": ("mtp",), "eagle": ("mtp", "eagle3", "eagle"), "frozen-kv-mtp": ("mtp",)}
_PRECISION = re.compile(r"-(?:(?:nv|mx|amd)?fp[0-9]+(?:-v[0-9]+)?(?:-preview)?|int[0-9]+|bf16)$")
_MEASURED = re.compile(r"Measured on (?P<model>\S+) \((?P<where>[^)]*)\)")
_DRAFT = re.compile(r"draft: ([^\s,)]+)")
_SAMPLING = re.compile(r"speculative-config: (.*)")
_PAIR = re.compile(r"([A-Za-z_]+)=([^\s|]+)")


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: `values` are AL per number of draft tokens, with their spelling.

    `method`, `draft_model`, `sampling` are what the file's name and header comments say of how it was
    measured; `extra` are words of the file's name behind the method (`gqa`).
    """

    file: str
    model: str
    thinking: str
    values: Mapping[int, float]
    method: str
    draft_model: str
    sampling: Mapping[str, str]
    extra: tuple[str, ...]
    lines: Mapping[int, int] = field(default_factory=dict)

    def place(self, draft_tokens: int) -> Place:
        """Where the value for so many draft tokens stands."""
        return Place(self.file, self.lines.get(draft_tokens, 0))


def starts_with_prefix(name: str, model_prefix: str) -> bool:
    """Whether a curve file's name begins with the model prefix, whole (`dsv4` is not `dsv41flash`)."""
    stem, _, ending = name.rpartition(".")
    whole = stem == model_prefix or stem.startswith((f"{model_prefix}_", f"{model_prefix}-"))
    return bool(model_prefix) and whole and ending in ("yaml", "yml")


def read_curves(text: str, path: str) -> list[Curve]:
    """Every curve in one file. Raises YamlTextError or StateError where it is not what a curve file is."""
    root = compose(text, path)
    require_finite(root, path)
    data = None if root is None else value_of(root)
    if not isinstance(data, Mapping):
        raise StateError("is not a curve file: its top level is not a mapping of models", where=Place(path, 1))
    method, extra, draft, sampling = _header(text, path)
    found = []
    for model, modes in data.items():
        for thinking, values in (modes if isinstance(modes, Mapping) else {}).items():
            numbers = _values(values)
            lines = {count: _line(root, (model, thinking, str(count)), path) for count in numbers}
            found.append(Curve(path, str(model), str(thinking), numbers, method, draft, sampling, extra, lines))
    return found


def _values(data: object) -> dict[int, float]:
    pairs = data.items() if isinstance(data, Mapping) else ()
    numeric = [(count, value) for count, value in pairs if isinstance(count, int) and isinstance(value, (int, float))]
    return {int(count): value for count, value in numeric}


def _line(root: Node | None, path: Sequence[str], file: str) -> int:
    return place_of(root, path, file).line


def _header(text: str, path: str) -> tuple[str, tuple[str, ...], str, dict[str, str]]:
    """Method, further words of the name, draft model and sampling, from the comments and the file's name."""
    comments = "\n".join(line for line in text.splitlines() if line.startswith("#"))
    sampling_line = _SAMPLING.search(comments)
    sampling = dict(_PAIR.findall(sampling_line[1])) if sampling_line else {}
    measured = _MEASURED.search(comments)
    draft = _DRAFT.search(measured["where"]) if measured else None
    words = re.split(r"[_-]", path.rpartition("/")[2].rpartition(".")[0].lower())
    named = next((word for word in words if word in METHODS), "")
    said = sampling.get("method", "") or _said_method(measured["where"] if measured else "")
    behind = words[words.index(named) + 1 :] if named else []
    return named or said.lower(), tuple(behind), draft[1] if draft else "", sampling


def _said_method(where: str) -> str:
    words = re.split(r"[\s,]+", where.lower())
    return next((word for word in words if word in METHODS), "")


def candidates(
    curves: Iterable[Curve],
    model_prefix: str,
    model: str,
    *,
    method: str = "",
    draft_model: str = "",
    sampling: Mapping[str, str] | None = None,
    thinking: str = THINKING,
) -> list[Curve]:
    """The curves a recipe may be held to; several when nothing tells them apart, none when there is no curve.

    `method`, `draft_model` and `sampling` (`draft_sample_method`, …) are what the *recipe's engine* says.
    A row's `spec-decoding` is no method: rows say `mtp` for EAGLE3 and DSpark too.
    """
    found = [curve for curve in curves if curve.thinking == thinking and curve.values]
    found = [curve for curve in found if starts_with_prefix(curve.file.rpartition("/")[2], model_prefix)]
    if method:
        allowed = curve_methods(method)
        found = [curve for curve in found if not curve.method or curve.method in allowed]
    found = _of_model(found, model)
    if draft_model:
        found = _of_draft(found, draft_model)
    if sampling:
        found = _of_sampling(found, sampling)
    return found


def curve_methods(method: str) -> tuple[str, ...]:
    """The names a curve may have for an engine's method: `deepseek_mtp` is mtp, EAGLE may be two things."""
    name = canonical(method.lower())
    if name in _NAMED_OTHERWISE:
        return _NAMED_OTHERWISE[name]
    return ("mtp",) if name.endswith("-mtp") else (name,)


def _of_model(curves: list[Curve], model: str) -> list[Curve]:
    """Without those of a more special checkpoint: a curve of `…-pro-0813` is none of `…-pro`."""
    wanted = _bare(model)
    special = [curve for curve in curves if _bare(curve.model).startswith(f"{wanted}-")]
    fitting = [curve for curve in curves if curve not in special]
    return fitting or curves


def _bare(model: str) -> str:
    """A model's own name: without owner and precision, lower case."""
    name = model.rpartition("/")[2].lower()
    while (shorter := _PRECISION.sub("", name)) != name:
        name = shorter
    return name


def _of_draft(curves: list[Curve], draft_model: str) -> list[Curve]:
    same = [curve for curve in curves if curve.draft_model == draft_model]
    curves = same or curves
    words = set(re.split(r"[^a-z0-9]+", draft_model.lower()))
    named = [curve for curve in curves if _own_words(curve) and set(_own_words(curve)) <= words]
    plain = [curve for curve in curves if not _own_words(curve)]
    return named or plain or curves


def _own_words(curve: Curve) -> tuple[str, ...]:
    """Words of the name that tell drafts apart; those that spell a sampling option out do not."""
    return () if curve.sampling else curve.extra


def _of_sampling(curves: list[Curve], sampling: Mapping[str, str]) -> list[Curve]:
    """Those measured with the recipe's options; `rejection_sample_method: synthetic` stands for any."""
    stated = {key: value for key, value in sampling.items() if value and value != "synthetic"}
    same = [curve for curve in curves if stated and _agrees(curve, stated)]
    return same or curves


def _agrees(curve: Curve, stated: Mapping[str, str]) -> bool:
    return all(curve.sampling.get(key, "") == value for key, value in stated.items() if key != "method")
