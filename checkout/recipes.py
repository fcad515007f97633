"""Where a row's recipe lives: YAML that the row names, or a bash script named by convention (FACTS §1)."""

from __future__ import annotations

from ..schema.master import Entry, Item, Row
from .layout import Layout
from .snapshot import Missing, RecipeFile, Snapshot

_FOLDERS = {"agentic-coding": "agentic", "fixed-seq-len": "fixed_seq_len"}
_CLUSTER = "cluster:"


def sku_of(runner: str) -> str:
    """The SKU in a runner label: `mi355x` of `cluster:mi355x-amds` or `mi355x-disagg`."""
    return runner.removeprefix(_CLUSTER).partition("-")[0]


def script_paths(layout: Layout, entry: Entry, item: Item, row: Row) -> tuple[str, ...]:
    """The paths at which a single-node row's bash recipe is looked for, in that order."""
    folder = f"{layout.single_node_recipes}/{_FOLDERS.get(item.scenario, item.scenario)}"
    name = f"{entry.model_prefix}_{entry.precision}_{sku_of(entry.runner)}"
    ending = "_mtp.sh" if row.spec_decoding == "mtp" else ".sh"
    return f"{folder}/{name}_{entry.framework}{ending}", f"{folder}/{name}{ending}"


def find_script(snapshot: Snapshot, entry: Entry, item: Item, row: Row) -> str | Missing:
    """The path of a single-node row's bash recipe, the name with the framework before the one without."""
    paths = script_paths(snapshot.layout, entry, item, row)
    for path in paths:
        if snapshot.read(path) is not None:
            return path
    folder = paths[0].rpartition("/")[0]
    names = " nor ".join(path.rpartition("/")[2] for path in paths)
    return Missing(paths[0], folder, f"neither {names} is in {folder} of {snapshot.name}")


def find_recipes(snapshot: Snapshot, entry: Entry, item: Item, row: Row) -> list[RecipeFile | str | Missing]:
    """Every recipe a row uses: YAML recipes read, a bash recipe as its path, or what is missing.

    Empty where a row names none and none is looked for: multi-node rows without a reference.
    """
    references = row.recipe_references
    if references:
        return [snapshot.recipe(reference) for reference in references]
    if entry.multinode or row.multinode or not snapshot.layout.bash_recipes:
        return []
    return [find_script(snapshot, entry, item, row)]
