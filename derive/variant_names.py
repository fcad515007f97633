"""The names of a recipe's variants: `override_tp4_c1`, `override_tp4_dcp4_c16` (source: SPEC)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..schema.master import Point, Topology

_OVERRIDE = re.compile(r"override_(?P<topology>(?:[a-z]+\d+_)*)c(?P<conc>\d+)(?P<suffixes>(?:_[a-z0-9]+)*)")
_DATA_AND_EXPERTS = "dep"


def variant_name(topology: Topology, concurrency: int, suffixes: Sequence[str] = ()) -> str:
    """The name of one point's variant: tp, each other size that is not 1, concurrency, suffixes.

    A `dep` suffix says by itself that experts are spread over all GPUs, so `ep` is left out then.
    """
    ep = 1 if _DATA_AND_EXPERTS in suffixes and topology.ep == topology.tp else topology.ep
    sizes = [("ep", ep), ("dcp", topology.dcp), ("pp", topology.pp), ("pcp", topology.pcp)]
    words = [f"tp{topology.tp}", *(f"{name}{size}" for name, size in sizes if size > 1), f"c{concurrency}"]
    return "_".join(["override", *words, *suffixes])


def suffixes_for(point: Point, names: Iterable[str]) -> tuple[str, ...]:
    """The suffixes a file gives to variants like this point's, in the order it writes them.

    `names` are the file's variants. `dep` goes with DP attention, a backend's name with its offload.
    """
    used = [match["suffixes"].strip("_").split("_") for name in names if (match := _OVERRIDE.fullmatch(name))]
    order = list(dict.fromkeys(word for words in used for word in words if word))
    row = point.row
    wanted = {_DATA_AND_EXPERTS} if row.topology.dp_attn else set()
    if row.kv_offloading == "dram" and row.backend:
        wanted.add(row.backend.lower())
    return tuple(word for word in order if word in wanted)


def new_variant_name(point: Point, names: Iterable[str]) -> str:
    """A name for a point's new variant that the file does not have yet.

    Where another point took it, what tells the two apart is added: `dep`, the offload backend, then a number.
    """
    taken = set(names)
    row = point.row
    suffixes = list(suffixes_for(point, taken))
    extras = [_DATA_AND_EXPERTS] if row.topology.dp_attn else []
    extras += [re.sub(r"[^a-z0-9]", "", row.backend.lower())] if row.backend else []
    name = variant_name(row.topology, point.concurrency, suffixes)
    for extra in extras:
        if name in taken and extra not in suffixes:
            suffixes.append(extra)
            name = variant_name(row.topology, point.concurrency, suffixes)
    plain, number = name, 2
    while name in taken:
        name = f"{plain}_{number}"
        number += 1
    return name
