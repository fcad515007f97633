"""The spec: one description of a change, for every mode (source: SPEC.md). Strict models, no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from .image import parse_image
from .master_rules import Positive, Router, RowFields
from .strict import CheckoutPath, OneLine, SeveralLines, Spelled, Strict
from .units import Size, parse_size
from .yaml_text import plain

CONFIG_KEY = r"[A-Za-z0-9][A-Za-z0-9._-]*"


def _config_key(text: str) -> str:
    if "*" in text:
        raise ValueError("a config key has no '*'; name one key")
    if not re.fullmatch(CONFIG_KEY, text):
        raise ValueError("a config key holds letters, digits, '.', '-' and '_' only")
    return text


def _image(text: str) -> str:
    parse_image(text)
    return text


def _size(value: object) -> Size:
    if isinstance(value, Size):
        return value
    return parse_size(str(value))


def _admission(value: object) -> object:
    if isinstance(value, str):
        if value not in ("1x", "2x"):
            raise ValueError(f"admission {str(value)!r} is not known; allowed: 1x, 2x or a number of requests")
    elif isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("admission is 1x, 2x or a number of requests; a number counts from 1")
    return value


def _as_list(value: object) -> object:
    return value if isinstance(value, list) or value is None else [value]


def _utilization(value: object) -> object:
    if value is None:
        return value
    allowed = "allowed: auto, or a number more than 0 and at most 1"
    if value == "auto":
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{plain(value)!r} is no utilization; {allowed}")
    if not 0 < value <= 1:
        raise ValueError(f"utilization {getattr(value, 'spelling', value)} is out of range; {allowed}")
    return value


def _which_item(value: object) -> object:
    if value == "new" or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise ValueError(f"{plain(value)!r} names no item; allowed: an index from 0, or new")


def _pull_request(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        hint = "give the number; while there is none, leave pr out and the XXX placeholder is written"
        raise ValueError(f"{plain(value)!r} is no pull-request number; {hint}")
    return value


def _graphs(value: object) -> object:
    if value == "auto" or (isinstance(value, list) and value and all(_is_count(size) for size in value)):
        return value
    raise ValueError(f"{plain(value)!r} are no graph sizes; allowed: auto, or a list of batch sizes")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _mapping(value: object) -> Any:
    if not isinstance(value, dict):
        raise ValueError("is not a mapping; write fields below it")
    return value


ConfigKey = Annotated[str, AfterValidator(_config_key)]
Anything = Annotated[Any, BeforeValidator(_mapping), WithJsonSchema({"type": "object"})]
_COUNT = {"type": "integer", "minimum": 1}
SizeText = Annotated[
    Size, BeforeValidator(_size), WithJsonSchema({"type": "string", "examples": ["256 GiB", "1000 GB"]})
]


def _one_of(*schemas: dict[str, Any]) -> WithJsonSchema:
    """What an editor is told of a field that takes several kinds of values."""
    return WithJsonSchema({"anyOf": list(schemas)})


Language = Literal["en", "both"]


class Title(Strict):
    """Commit subject and pull-request title in both languages."""

    en: OneLine
    zh: OneLine | None = None


class Note(Strict):
    """A line of the author's own."""

    en: OneLine
    zh: OneLine | None = None


def _note(value: object) -> object:
    return {"en": value} if isinstance(value, str) else value


class TopFields(Strict):
    """`set`: top-level fields of the master entry; null removes an optional one."""

    image: Annotated[Annotated[str, AfterValidator(_image)], Spelled] | None = None
    model: Annotated[OneLine, Spelled] | None = None
    model_prefix: Annotated[OneLine, Spelled] | None = None
    runner: Annotated[OneLine, Spelled] | None = None
    precision: Annotated[OneLine, Spelled] | None = None
    framework: Annotated[OneLine, Spelled] | None = None
    multinode: bool | None = None
    disagg: bool | None = None
    router: Annotated[Router, Spelled] | None = None
    kv_p2p_transfer: Annotated[OneLine, Spelled] | None = None


Rows = Annotated[Annotated[list[RowFields], Field(min_length=1)], Spelled]


class ScenarioItem(Strict):
    """The wanted state of one item of a scenario: `item`, or isl and osl, say which."""

    item: Annotated[Any, AfterValidator(_which_item), _one_of({"type": "integer", "minimum": 0}, {"const": "new"})] = (
        None
    )
    isl: Positive | None = None
    osl: Positive | None = None
    remove: bool = False
    require_power: bool | None = None
    dram_utilization: Annotated[
        Any,
        AfterValidator(_utilization),
        _one_of({"const": "auto"}, {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "null"}),
    ] = None
    dram_step: Annotated[Annotated[float, Field(gt=0, lt=1)], Spelled] | None = None
    search_space: Rows | None = None

    @property
    def removes(self) -> bool:
        """Whether the item goes: `remove: true`, or null for its search space."""
        return self.remove or ("search_space" in self.model_fields_set and self.search_space is None)

    @property
    def step(self) -> Decimal:
        """The granularity for `dram-utilization: auto`; 0.01 unless asked otherwise."""
        value = self.dram_step
        return Decimal("0.01") if value is None else Decimal(str(getattr(value, "spelling", value)))


class Offload(Strict):
    """The size of a KV offload tier, with its scope."""

    per_rank: SizeText | None = None
    per_server: SizeText | None = None


class Rule(Strict):
    """One rule over points: later rules win."""

    match: Annotated[dict[str, Any], Spelled] = Field(default_factory=dict)
    draft_tokens: Annotated[int, Field(ge=0)] | None = None
    admission: Annotated[Any, BeforeValidator(_admission), _one_of({"enum": ["1x", "2x"]}, _COUNT)] = None
    graphs: Annotated[
        Any, AfterValidator(_graphs), _one_of({"const": "auto"}, {"type": "array", "items": _COUNT, "minItems": 1})
    ] = None
    dcp_size: Positive | None = None
    offload: Offload | None = None
    args: Anything = Field(default_factory=dict)
    env: Anything = Field(default_factory=dict)
    bench_env: Anything = Field(default_factory=dict)
    patch: Anything = Field(default_factory=dict)


Comments = dict[str, SeveralLines | None]


class RecipeChange(Strict):
    """The wanted state of one schema-2 recipe: its base, and one variant per point."""

    file: CheckoutPath | None = None
    base: Anything = Field(default_factory=dict)
    points: list[Rule] = Field(default_factory=list)
    comments: Comments = Field(default_factory=dict)


class RecipeFileChange(Strict):
    """Any YAML recipe as a whole: patched, created or removed."""

    file: CheckoutPath
    patch: Anything = None
    create: Anything = None
    remove: bool = False
    comments: Comments = Field(default_factory=dict)


ScenarioItems = Annotated[
    list[ScenarioItem], BeforeValidator(_as_list, json_schema_input_type=ScenarioItem | list[ScenarioItem])
]


class KeyChange(Strict):
    """What is wanted of one config key."""

    config_key: ConfigKey
    like: ConfigKey | None = None
    entry: Anything = None
    after: ConfigKey | None = None
    remove: bool = False
    archive: bool = False
    set_: TopFields = Field(default_factory=TopFields)
    scenarios: dict[Literal["fixed-seq-len", "agentic-coding"], ScenarioItems | None] = Field(default_factory=dict)
    comments: Comments = Field(default_factory=dict)
    recipe: RecipeChange | None = None
    recipes: list[RecipeFileChange] = Field(default_factory=list)

    @property
    def top_fields(self) -> Mapping[str, Any]:
        """The fields `set` names, under their names in the file, with the author's spelling."""
        names = {name: info.alias or name for name, info in TopFields.model_fields.items()}
        return {names[name]: getattr(self.set_, name) for name in names if name in self.set_.model_fields_set}


class ChangelogChange(Strict):
    """The entry this change wants: keys, scope, flags, the author's notes."""

    keys: list[OneLine] | None = None
    scenario_type: list[Literal["fixed-seq-len", "agentic-coding"]] | None = None
    append_only: bool = False
    evals_only: bool = False
    all_evals: bool = False
    no_evals: bool = False
    eval_min_prefill_ep: Positive | None = None
    notes: list[Annotated[Note, BeforeValidator(_note, json_schema_input_type=str | Note)]] = Field(
        default_factory=list
    )
    omit: list[str] = Field(default_factory=list)
    order: list[str] = Field(default_factory=list)
    language: Language = "en"

    @property
    def flags(self) -> tuple[tuple[str, bool | int], ...]:
        """The flags that are set, in the changelog's order."""
        switches = [
            ("append-only", self.append_only),
            ("evals-only", self.evals_only),
            ("all-evals", self.all_evals),
            ("no-evals", self.no_evals),
        ]
        flags: list[tuple[str, bool | int]] = [(name, True) for name, is_set in switches if is_set]
        if self.eval_min_prefill_ep is not None:
            flags.append(("eval-min-prefill-ep", self.eval_min_prefill_ep))
        return tuple(flags)


class Spec(Strict):
    """The whole spec."""

    benchscribe: Literal[1]
    title: Title | None = None
    pr: Annotated[Any, AfterValidator(_pull_request), WithJsonSchema(_COUNT)] = None
    ai_model: OneLine | None = None
    changes: Annotated[list[KeyChange], Field(min_length=1)]
    changelog: Annotated[
        list[ChangelogChange],
        BeforeValidator(_as_list, json_schema_input_type=ChangelogChange | list[ChangelogChange]),
    ] = Field(default_factory=lambda: [ChangelogChange()])
