"""The wanted data of schema-2 recipes: a patched base, one variant per point (SPEC, "Rows, variants, bytes").

Nothing here writes; the result says which blocks change, which are new and which go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from ..checkout.snapshot import Snapshot
from ..derive.sizing import KNOB_ORDER, Assignment, Knobs, assignments
from ..derive.variant_names import new_variant_name
from ..schema.arguments import canonical, spelled_as
from ..schema.engines import known_engine
from ..schema.errors import UsageError
from ..schema.master import Entry, Item, Point, points_of
from ..schema.recipe import BASE, Variant, deep_merge
from ..schema.serving import matches, variants_for
from ..schema.spec import RecipeChange, Rule
from ..schema.strict import Mistake, merged
from ..schema.yaml_text import Path, YamlMap, plain
from .variant_blocks import OwnBlock, VariantBlock, ZipBlock
from .wanted_recipe import Sized, WantedRecipe

OWN_PLACES: Mapping[str, Path] = {
    "args": ("roles", "agg", "args"),
    "env": ("roles", "agg", "env"),
    "bench-env": ("benchmark", "env"),
}
MATCH_DEFAULTS: Mapping[str, Any] = {
    "tp": 1, "pp": 1, "dcp-size": 1, "pcp-size": 1, "ep": 1, "dp-attn": False,
    "spec-decoding": "none", "kv-offloading": "none",
}  # fmt: skip


def want_recipe(
    snapshot: Snapshot,
    change: RecipeChange,
    wanted: Entry,
    was: Sequence[Entry],
    others: Sequence[Entry],
    spec_path: Path,
    started: Mapping[str, WantedRecipe],
) -> WantedRecipe | Mistake:
    """The wanted recipe for one key's change.

    `wanted` is the key's wanted entry, `was` what it was (work tree, base), `others` the other keys that name the
    same file, `started` recipes already under work for other keys of the spec.
    """
    path = _recipe_path(snapshot, change, wanted, spec_path)
    if isinstance(path, Mistake):
        return path
    recipe = started.get(path)
    if recipe is None:
        read = snapshot.recipe_file(path)
        if read is None or not read.layered:
            what = "is not there" if read is None else "is a flat recipe, without base and override blocks"
            return Mistake((*spec_path, "file"), f"{path} {what}", "use recipes: with create or patch for it")
        recipe = WantedRecipe(path, read, dict(deepcopy(read.data)))
    recipe.data[BASE] = merged(recipe.data[BASE], change.base) if change.base else recipe.data[BASE]
    points = [(item, point) for item, point in points_naming(snapshot, wanted, path)]
    _set_points(recipe, change, wanted, points, spec_path)
    _drop_points(recipe, snapshot, wanted, was, others)
    recipe.comments.update(change.comments)
    return recipe


def _recipe_path(snapshot: Snapshot, change: RecipeChange, entry: Entry, spec_path: Path) -> str | Mistake:
    if change.file is not None:
        found = snapshot.recipe(change.file)
        return found.path
    paths = {_path_of(snapshot, reference) for _, row in entry.rows() for reference in row.recipe_references}
    if len(paths) == 1:
        return paths.pop()
    listed = ", ".join(sorted(paths)) or "no row names one"
    return Mistake(spec_path, "recipe needs file: the rows do not name one common recipe", f"found: {listed}")


def _path_of(snapshot: Snapshot, reference: str) -> str:
    found = snapshot.recipe(reference)
    return found.path


def points_naming(snapshot: Snapshot, entry: Entry, path: str) -> Iterator[tuple[Item, Point]]:
    """The single-node points of an entry whose row names the recipe at `path`."""
    for item, row in entry.rows():
        if row.multinode:
            continue
        if any(_path_of(snapshot, reference) == path for reference in row.recipe_references):
            yield from ((item, point) for point in points_of(row))


def _set_points(
    recipe: WantedRecipe,
    change: RecipeChange,
    entry: Entry,
    points: Sequence[tuple[Item, Point]],
    spec_path: Path,
) -> None:
    matched = [False] * len(change.points)
    for index, rule in enumerate(change.points):
        for name in rule.match:
            if name != "conc" and name not in MATCH_DEFAULTS and not any(name in point.row.data for _, point in points):
                what = f"match names {name!r}, which no row of {entry.key} has"
                recipe.mistakes.append(Mistake((*spec_path, "points", index, "match", name), what))
    for _, point in points:
        rules = [index for index, rule in enumerate(change.points) if rule_matches(rule, point)]
        for index in rules:
            matched[index] = True
        where = (*spec_path, "points", rules[-1]) if rules else spec_path
        try:
            _set_point(recipe, entry, point, [change.points[index] for index in rules])
        except UsageError as error:
            # What is wrong with a rule is wrong at all of its points; the first says it.
            if all(mistake.path != where for mistake in recipe.mistakes):
                recipe.mistakes.append(Mistake(where, error.what, error.hint))
    for index, hit in enumerate(matched):
        if not hit:
            listed = ", ".join(str(point) for _, point in points) or "none"
            what = f"the rule matches no point of {entry.key}"
            recipe.mistakes.append(Mistake((*spec_path, "points", index, "match"), what, f"points: {listed}"))


def rule_matches(rule: Rule, point: Point) -> bool:
    """Whether a rule's `match` takes in the point: every field it names fits, defaults filled in."""
    for name, wanted in rule.match.items():
        allowed = wanted if isinstance(wanted, list) else [wanted]
        actual = point.concurrency if name == "conc" else point.row.data.get(name, MATCH_DEFAULTS.get(name))
        if name == "kv-offload-backend" and not any(isinstance(one, Mapping) for one in allowed):
            actual = point.row.backend
        if plain(actual) not in [plain(one) for one in allowed]:
            return False
    return True


def combined(rules: Iterable[Rule]) -> tuple[Knobs, dict[str, dict[str, Any]]]:
    """The rules laid over each other, later ones winning: the knobs, and the own keys of args, env, …"""
    values: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {"args": {}, "env": {}, "bench-env": {}, "patch": {}}
    for rule in rules:
        for name in ("admission", "graphs", "draft_tokens", "dcp_size"):
            if getattr(rule, name) is not None:
                values[name] = getattr(rule, name)
        if rule.offload is not None:
            values["per_rank"], values["per_server"] = rule.offload.per_rank, rule.offload.per_server
        for name, patch in (
            ("args", rule.args),
            ("env", rule.env),
            ("bench-env", rule.bench_env),
            ("patch", rule.patch),
        ):
            own[name] = _laid_over(own[name], patch)
    return Knobs(**values), own


def _laid_over(below: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Two merge patches as one: unlike `merged`, a null stays, for it still has to delete."""
    result = dict(below)
    for key, value in patch.items():
        old = result.get(key)
        result[key] = _laid_over(old, value) if isinstance(value, Mapping) and isinstance(old, Mapping) else value
    return result


def _set_point(recipe: WantedRecipe, entry: Entry, point: Point, rules: Sequence[Rule]) -> None:
    knobs, own = combined(rules)
    serving = variants_for(recipe.now, point, entry.framework)
    if serving:
        block = _existing_block(recipe, serving[0])
    else:
        block = OwnBlock(recipe.data[BASE], new_skeleton(recipe.data[BASE], point), new=True)
    _fill(block, entry, point, knobs, own, recipe)
    if serving:
        recipe.data[block.name] = block.data
        return
    name = new_variant_name(point, _names(recipe))
    _check_new(recipe, entry, point, name, block)
    recipe.insert(point, name, block.data)


def _names(recipe: WantedRecipe) -> list[str]:
    return [*recipe.data, *(block.name for block in recipe.new)]


def _existing_block(recipe: WantedRecipe, variant: Variant) -> VariantBlock:
    data = recipe.data.get(variant.block_name)
    if data is None:
        data = next(block.data for block in recipe.new if block.name == variant.block_name)
    if variant.zip_index is not None:
        return ZipBlock(recipe.data[BASE], data, variant.block_name, variant.zip_index, _zip_size(recipe, variant))
    return OwnBlock(recipe.data[BASE], data, variant.block_name, new=False)


def _zip_size(recipe: WantedRecipe, variant: Variant) -> int:
    return sum(one.block_name == variant.block_name for one in recipe.now.variants)


def new_skeleton(base: Mapping[str, Any], point: Point) -> YamlMap:
    """A new variant's frame, in the order of SPEC: `roles.agg` with gpus, then `benchmark.env`."""
    agg = YamlMap()
    role = base.get("roles", {}).get("agg", {}) if isinstance(base.get("roles"), Mapping) else {}
    if not (isinstance(role, Mapping) and role.get("gpus") == point.row.topology.gpus):
        agg["gpus"] = point.row.topology.gpus
    agg["args"], agg["env"] = YamlMap(), YamlMap()
    env = YamlMap({"CONC": str(point.concurrency)})
    if point.row.kv_offloading == "dram":
        env["KV_OFFLOADING"] = "dram"
    return YamlMap({"roles": YamlMap({"agg": agg}), "benchmark": YamlMap({"env": env})})


def _fill(
    block: VariantBlock,
    entry: Entry,
    point: Point,
    knobs: Knobs,
    own: Mapping[str, Mapping[str, Any]],
    recipe: WantedRecipe,
) -> None:
    effective = Variant("", deep_merge(block.effective(), {"roles": {"agg": {"args": own["args"], "env": own["env"]}}}))
    spellings = _spellings(recipe)
    for one in _assignments(entry, point, knobs, effective, spellings, block.new):
        recipe.sized.append(Sized(point, one))
        place = OWN_PLACES[one.where]
        block.set((*place, one.name), one.value, order=_knob_names(entry, one, block, place))
    for where, place in OWN_PLACES.items():
        for name, value in own[where].items():
            if where == "args" and isinstance(name, str):
                name = spelled_as(name, (*_keys(block.effective(), place), *spellings))
            block.set((*place, name), value)
    for name, value in own["patch"].items():
        block.set((name,), value)
    block.tidy()


def _assignments(
    entry: Entry, point: Point, knobs: Knobs, effective: Variant, spellings: Sequence[str], new: bool
) -> list[Assignment]:
    if knobs == Knobs() and not new:
        return []
    engine = known_engine(entry.framework)
    return [
        *assignments(engine, point, knobs, arguments=effective.args, environment=effective.env, spellings=spellings),
        *(_topology(engine.name, point, effective) if new else ()),
    ]


def _topology(engine: str, point: Point, effective: Variant) -> Iterator[Assignment]:
    """What a new variant must say of expert parallelism and DP attention, where its engine's switch is known."""
    topology = point.row.topology
    names = tuple(str(name) for name in effective.args)
    if topology.ep > 1 and engine in ("atom", "vllm"):
        name = spelled_as("enable-expert-parallel", names)
        yield Assignment("args", name, True, "topology", f"ep {topology.ep} of the row")
    if topology.ep > 1 and engine == "sglang":
        name = spelled_as("ep-size", names)
        yield Assignment("args", name, topology.ep, "topology", f"ep {topology.ep} of the row")
    if topology.dp_attn and engine in ("atom", "sglang"):
        name = spelled_as("enable-dp-attention", names)
        yield Assignment("args", name, True, "topology", "dp-attn of the row")


def _spellings(recipe: WantedRecipe) -> tuple[str, ...]:
    """Every argument name used anywhere in the file, so that a new one is spelled the same way."""
    found: dict[str, None] = {}
    for data in recipe.data.values():
        found.update(dict.fromkeys(_keys(data, ("roles", "agg", "args"))))
    return tuple(found)


def _keys(data: Any, path: Path) -> tuple[str, ...]:
    for step in path:
        data = data.get(step) if isinstance(data, Mapping) else None
    return tuple(str(key) for key in data) if isinstance(data, Mapping) else ()


def _knob_names(
    entry: Entry, one: Assignment, block: VariantBlock, place: Path
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the knobs that stand before and behind this one, as the block spells them."""
    if one.knob not in KNOB_ORDER:
        return (), ()
    rank = KNOB_ORDER.index(one.knob)
    engine = known_engine(entry.framework)
    knobs = {
        "admission": [engine.admission],
        "graphs": [knob for knob in (engine.graphs, engine.graph_list) if knob],
        "draft-tokens": [draft.knob for draft in (*engine.drafts, *engine.alternatives)],
        "dcp-size": [engine.dcp_size] if engine.dcp_size else [],
        "offload": [knob.knob for knob in engine.offload],
    }
    present = {canonical(name): name for name in _keys(block.data, place)}
    names: dict[str, list[str]] = {
        knob: [
            present[canonical(one.parent or one.name)] for one in found if canonical(one.parent or one.name) in present
        ]
        for knob, found in knobs.items()
    }
    earlier = tuple(name for knob in KNOB_ORDER[:rank] for name in names[knob])
    later = tuple(name for knob in KNOB_ORDER[rank + 1 :] for name in names[knob])
    return earlier, later


def _check_new(recipe: WantedRecipe, entry: Entry, point: Point, name: str, block: VariantBlock) -> None:
    reasons = matches(Variant(name, block.effective(), name), point, entry.framework)
    if reasons:
        raise UsageError(
            f"the new variant for {point} would not serve it: {'; '.join(reasons)}",
            hint="say so under args: in the engine's own words",
        )


def _drop_points(
    recipe: WantedRecipe, snapshot: Snapshot, wanted: Entry, was: Sequence[Entry], others: Sequence[Entry]
) -> None:
    """The variant of a dropped point goes, unless another row or key uses it."""
    now = recipe.now
    needed = {
        (variant.block_name, variant.zip_index)
        for entry in (wanted, *others)
        for _, point in points_naming(snapshot, entry, recipe.path)
        for variant in variants_for(now, point, entry.framework)
    }
    old = {
        (variant.block_name, variant.zip_index)
        for entry in was
        for _, point in points_naming(snapshot, entry, recipe.path)
        for variant in variants_for(now, point, entry.framework)
    }
    dropped = old - needed
    for block in {name for name, _ in dropped}:
        indices = sorted(index for name, index in dropped if name == block and index is not None)
        size = sum(variant.block_name == block for variant in now.variants)
        if indices and len(indices) < size:
            recipe.data[block] = ZipBlock.without(recipe.data[block], indices)
        else:
            recipe.removed.append(block)
