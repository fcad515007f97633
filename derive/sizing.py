"""The engine-neutral knobs of a spec's point rules, under each engine's own names (FACTS §6, SPEC)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..schema.arguments import argument, canonical, leaves, spelled_as, whole
from ..schema.engines import ATOM, DraftKnob, Engine, GraphRule, Knob, Where, not_offered
from ..schema.errors import UsageError
from ..schema.master import Point
from ..schema.results import Derived, Input
from ..schema.units import Size, number
from .acceptance import draft_tokens_of
from .tiers import asked_size, offload_knob, written_size

# The order in which engine knobs stand in a variant (source: SPEC, "Rows, variants, bytes").
KNOB_ORDER = ("admission", "graphs", "draft-tokens", "dcp-size", "offload")
_MULTIPLES = {"1x": 1, "2x": 2}
_LARGEST_ADMISSION = 65_536
MONO_DECODE = "ATOM_MONO_ENABLE"


@dataclass(frozen=True, slots=True)
class Knobs:
    """What a point's rules ask for, later rules already laid over earlier ones; None is not asked for."""

    admission: str | int | None = None
    graphs: str | Sequence[int] | None = None
    draft_tokens: int | None = None
    dcp_size: int | None = None
    per_rank: Size | None = None
    per_server: Size | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One value for one engine argument or environment variable.

    `value` is a merge patch for `name`: a scalar with the type the engine takes (environment: always a
    string), or a mapping for a nested argument. `knob` is the engine-neutral one it follows from.
    """

    where: Where
    name: str
    value: Any
    knob: str
    reason: str


def assignments(
    engine: Engine,
    point: Point,
    knobs: Knobs,
    *,
    arguments: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
    spellings: Iterable[str] = (),
) -> tuple[Assignment, ...]:
    """What the knobs mean for one point, in the order of `KNOB_ORDER`.

    `arguments` and `environment` are those the variant has without these knobs (base merged in); `spellings`
    are argument names used elsewhere in the file, kept as they are. Raises UsageError for a knob that the
    engine does not have, naming `args`/`env` as the way.
    """
    sizing = _Sizing(engine, point, knobs, arguments or {}, environment or {}, tuple(spellings))
    return (
        *sizing.admission(),
        *sizing.graphs(),
        *sizing.draft_tokens(),
        *sizing.dcp_size(),
        *sizing.offload(),
    )


def admission_for(setting: str | int, concurrency: int) -> Derived[int]:
    """The requests that a server admits at one concurrency: 1x, 2x, or a number as it is."""
    if isinstance(setting, str):
        if setting not in _MULTIPLES:
            raise UsageError(f"admission {str(setting)!r} is not known", hint="allowed: 1x, 2x or a number of requests")
        times = _MULTIPLES[setting]
        value = times * concurrency
        inputs = (Input("admission", setting), Input("concurrency", str(concurrency)))
        return Derived("admission", value, f"{times} × C{concurrency} = {value}", inputs)
    if isinstance(setting, bool) or setting < 1:
        raise UsageError(f"admission {setting} is not known", hint="allowed: 1x, 2x or a number of requests from 1")
    return Derived("admission", int(setting), f"{setting} requests, as given", (Input("admission", str(setting)),))


def customary_admission(engine: Engine, environment: Mapping[str, Any]) -> Derived[str] | None:
    """The admission an AgentX point gets where no rule says otherwise; None for engines without that custom.

    ATOM admits twice the concurrency, and with mono decode the concurrency itself (source: FACTS §6).
    """
    if engine is not ATOM:
        return None
    mono = str(environment.get(MONO_DECODE, "0")) == "1"
    reason = "mono decode admits the concurrency" if mono else "ATOM AgentX recipes admit twice the concurrency"
    return Derived("admission", "1x" if mono else "2x", reason)


def admission_words(admission: int, concurrency: int) -> str:
    """An admission as people name it: `1×` or `2×` the concurrency, else the number."""
    return {concurrency: "1×", 2 * concurrency: "2×"}.get(admission, str(admission))


def capture_sizes(admission: int) -> tuple[int, ...]:
    """The batch sizes ATOM captures graphs for: 1, 2, 4, 8, then steps of 4, and the admission itself."""
    if not 0 < admission <= _LARGEST_ADMISSION:
        raise UsageError(
            f"graphs: auto cannot list capture sizes up to {admission}",
            hint="give graphs as a list of batch sizes",
        )
    series = [size for size in (1, 2, 4, 8) if size <= admission]
    series += range(12, admission + 1, 4)
    return tuple(series if series[-1] == admission else [*series, admission])


def listed(sizes: Sequence[int]) -> str:
    """A list as ATOM takes it: one string without blanks."""
    return f"[{','.join(str(size) for size in sizes)}]"


@dataclass(frozen=True, slots=True)
class _Sizing:
    engine: Engine
    point: Point
    knobs: Knobs
    arguments: Mapping[str, Any]
    environment: Mapping[str, Any]
    spellings: tuple[str, ...]

    def _assign(self, knob: Knob, value: Any, neutral: str, reason: str) -> Assignment:
        present = self.environment if knob.where == "env" else self.arguments
        name = spelled_as(knob.name, (*(str(key) for key in present), *self.spellings))
        return Assignment(knob.where, name, str(value) if knob.where == "env" else value, neutral, reason)

    def _admitted(self) -> Derived[int] | None:
        if self.knobs.admission is not None:
            return admission_for(self.knobs.admission, self.point.concurrency)
        stated = whole(argument(self.arguments, self.engine.admission.name))
        return None if stated is None else Derived("admission", stated, f"{self.engine.admission} {stated}")

    def admission(self) -> list[Assignment]:
        if self.knobs.admission is None:
            return []
        admitted = admission_for(self.knobs.admission, self.point.concurrency)
        return [self._assign(self.engine.admission, admitted.value, "admission", admitted.reason)]

    def graphs(self) -> list[Assignment]:
        asked = self.knobs.graphs
        if asked is None:
            return []
        knob = self.engine.graphs if isinstance(asked, str) else self.engine.graph_list
        if knob is None:
            raise not_offered(self.engine, "graphs")
        if isinstance(asked, str):
            return [self._automatic_graphs(knob, asked)]
        sizes = sorted({int(size) for size in asked})
        if not sizes or sizes[0] < 1:
            raise UsageError(
                f"graphs {list(asked)} are no batch sizes", hint="allowed: auto, or a list of sizes from 1"
            )
        value = listed(sizes) if self.engine.graph_rule is GraphRule.SERIES else sizes
        return [self._assign(knob, value, "graphs", "as given")]

    def _automatic_graphs(self, knob: Knob, asked: str) -> Assignment:
        if asked != "auto":
            raise UsageError(f"graphs {asked!r} is not known", hint="allowed: auto, or a list of batch sizes")
        admitted = self._admitted()
        if admitted is None:
            raise UsageError(
                f"graphs: auto follows the admission, and {self.point} has none",
                hint=f"add admission: 2x to the rule, or {self.engine.admission} under args:",
            )
        if self.engine.graph_rule is GraphRule.SERIES:
            sizes = capture_sizes(admitted.value)
            reason = f"1, 2, 4, 8, then steps of 4 up to the admission of {admitted.value}"
            return self._assign(knob, listed(sizes), "graphs", reason)
        if self.engine.graph_rule is GraphRule.REQUESTS:
            return self._assign(knob, admitted.value, "graphs", f"the admission of {admitted.value}")
        drafts = self._drafts()
        value = admitted.value * (1 + drafts)
        return self._assign(knob, value, "graphs", f"{admitted.value} × (1 + {drafts} draft tokens) = {value}")

    def _drafts(self) -> int:
        if self.knobs.draft_tokens is not None:
            return self.knobs.draft_tokens
        stated = draft_tokens_of(self.engine, self.arguments)
        if stated is None and self.point.row.spec_decoding != "none":
            raise UsageError(
                f"graphs: auto needs the draft tokens, and {self.point} states none",
                hint="add draft-tokens: to the rule",
            )
        return stated or 0

    def draft_tokens(self) -> list[Assignment]:
        tokens = self.knobs.draft_tokens
        if tokens is None:
            return []
        if tokens < 1:
            raise UsageError(
                f"draft-tokens: {tokens} would turn speculation off, which takes more than this knob",
                hint="remove the speculation arguments with null under args:, and set spec-decoding: none",
            )
        reason = f"{tokens} draft token{'' if tokens == 1 else 's'}"
        used = [draft for draft in self.engine.alternatives if self._stated(draft.knob)]
        usual = [draft for draft in self.engine.drafts if self._stated(draft.knob)]
        drafts = [*usual, *used] if used else list(self.engine.drafts)
        return self._drafted(drafts, tokens, reason)

    def _stated(self, knob: Knob) -> bool:
        wanted = canonical(knob.name)
        paths = (path for path, _ in leaves(self.arguments))
        return any(path and canonical(str(path[-1])) == wanted for path in paths)

    def _drafted(self, drafts: Sequence[DraftKnob], tokens: int, reason: str) -> list[Assignment]:
        parents = {draft.knob.parent for draft in drafts}
        if parents == {""}:
            return [self._assign(draft.knob, tokens + draft.plus, "draft-tokens", reason) for draft in drafts]
        (parent,) = parents
        inside = {draft.knob.name: tokens + draft.plus for draft in drafts}
        return [self._nested(Knob(parent), inside, "draft-tokens", reason)]

    def _nested(self, parent: Knob, inside: Mapping[str, int], neutral: str, reason: str) -> Assignment:
        """A patch of some fields inside one argument, which recipes hold as a mapping or as JSON text."""
        present = argument(self.arguments, parent.name)
        if isinstance(present, str):
            return self._assign(parent, _with_fields(present, inside, parent.name), neutral, reason)
        keys = present if isinstance(present, Mapping) else {}
        if not keys and neutral == "draft-tokens":
            raise UsageError(
                f"draft-tokens: {self.point} has no {parent.name} to set it in",
                hint=f"write {parent.name}, with its method, under args:",
            )
        patch = {spelled_as(name, (str(key) for key in keys)): value for name, value in inside.items()}
        return self._assign(parent, patch, neutral, reason)

    def dcp_size(self) -> list[Assignment]:
        wanted, asked = self.point.row.topology.dcp, self.knobs.dcp_size
        if asked is not None and asked != wanted:
            raise UsageError(
                f"dcp-size {asked} is not that of the row, {wanted}",
                hint="set dcp-size in the search-space row alone",
            )
        knob = self.engine.dcp_size
        if knob is None:
            if wanted > 1:
                raise not_offered(self.engine, "dcp-size")
            return []
        stated = whole(argument(self.arguments, knob.name)) or 1
        if wanted == stated == 1:
            return []
        return [self._assign(knob, wanted, "dcp-size", f"dcp-size {wanted} of the row")]

    def offload(self) -> list[Assignment]:
        if self.knobs.per_rank is None and self.knobs.per_server is None:
            return []
        row = self.point.row
        if row.kv_offloading != "dram":
            raise UsageError(
                f"offload is set for {self.point}, whose row has kv-offloading: {row.kv_offloading}",
                hint="match only rows with kv-offloading: dram, or set that in the row",
            )
        size, scope = asked_size(self.knobs.per_rank, self.knobs.per_server)
        names = (str(key) for key in self.environment)
        knob = offload_knob(self.engine, row.backend, scope, names)
        written = written_size(knob, size)
        amount: Any = int(written.amount) if written.amount.denominator == 1 else number(written.amount)
        reason = f"{size} {scope}" + ("" if str(written) == str(size) else f" = {written}, rounded up")
        if knob.knob.parent:
            return [self._nested(Knob(knob.knob.parent), {knob.knob.name: amount}, "offload", reason)]
        return [self._assign(knob.knob, amount, "offload", reason)]


def _with_fields(text: str, fields: Mapping[str, int], name: str) -> str:
    """JSON text with some whole-number fields set, everything else kept as it was written."""
    for field, value in fields.items():
        pattern = re.compile(rf'("{re.escape(field)}"\s*:\s*)-?\d+(?=\s*[,}}])')
        changed, count = pattern.subn(lambda match, value=value: f"{match[1]}{value}", text)  # type: ignore[misc]
        if count == 0:
            changed = _with_new_field(text, field, value, name)
        text = changed
    return text


def _with_new_field(text: str, field: str, value: int, name: str) -> str:
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise UsageError(f"{name} is not a JSON object: {text[:80]!r}", hint=f"write {name} as a whole under args:")
    comma = "," if data else ""
    return f'{text.rstrip()[:-1].rstrip()}{comma}"{field}":{value}}}'
