"""Lines about host DRAM: the utilization, the budget it gives, and the tier that needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..change import ItemChange, KeyChange, RowChange
from ..wording import Arms, Phrase, backend_title, listed, value
from .told import FIELD_WORDS, Figures, Told, changed, slug

# How `tier_words` puts a size that is only a lower bound.
LOWER_BOUND, POOLS = " (a lower bound: ", "counts per host pool; a model has one or more"


def utilization_lines(change: KeyChange, arms: Arms, figures: Figures) -> Iterator[Told]:
    """`dram-utilization` old → new, with the budget it gives and the tier that needs it."""
    for item in change.items:
        for difference in item.differences:
            if difference.name == "dram-utilization":
                stem = "utilization" + (f":{item.item.index}" if len(change.items) > 1 else "")
                yield Told(stem, _utilization(change, item, difference.before, difference.after, arms, figures))
            elif item.before is not None and item.after is not None:
                en, zh = FIELD_WORDS.get(difference.name, (difference.name, difference.name))
                yield Told(slug(difference.name), changed(en, difference.before, difference.after, zh=zh))


def _utilization(change: KeyChange, item: ItemChange, before: Any, after: Any, arms: Arms, figures: Figures) -> Phrase:
    if after is None:
        return changed("dram-utilization", before, None)
    if before is None:
        words = Phrase(f"set dram-utilization to {value(after)}", f"将 dram-utilization 设为 {value(after)}")
    else:
        verb, zh = ("raise", "提高") if after > before else ("lower", "降低")
        words = Phrase(
            f"{verb} dram-utilization from {value(before)} to {value(after)}",
            f"将 dram-utilization 从 {value(before)} {zh}到 {value(after)}",
        )
    budgets: dict[str, tuple[Phrase, Phrase, list[Phrase]]] = {}
    for row in item.rows:
        told = _budget(change, row, before, after, figures) if row.after is not None else None
        if told is not None:
            budget, purpose = told
            names = budgets.setdefault(budget.en + purpose.en, (budget, purpose, []))[2]
            name = arms.name(item.item, row.row, bare=True)
            names += [name] if name not in names else []
    parts = []
    for budget, purpose, names in budgets.values():
        at = listed(names)
        parts.append(Phrase(f"{budget.en} on {at.en}{purpose.en}", f"{at.zh} {budget.zh}{purpose.zh}"))
    return words + Phrase(": ", "：") + _joined(parts) if parts else words


def _joined(parts: Sequence[Phrase]) -> Phrase:
    return Phrase("; ".join(part.en for part in parts), "；".join(part.zh for part in parts))


def _budget(
    change: KeyChange, row: RowChange, before: Any, after: Any, figures: Figures
) -> tuple[Phrase, Phrase] | None:
    """The row's budget with the old one, and the tier it is for."""
    entry, now = change.entry, row.row
    if now.kv_offloading != "dram":
        return None
    budget = figures.budget(entry, now, after)
    if budget is None:
        return None
    old = None
    if row.before and change.before and before is not None:
        old = figures.budget(change.before, row.before, before)
    words = Phrase(f"a budget of {budget} GB per server", f"每个 server 的预算为 {budget} GB")
    if old is not None and old != budget:
        words += Phrase(f" (was {old} GB)", f"（原为 {old} GB）")
    return words, _purpose(backend_title(now, version=False), figures.tier(entry, now))


def _purpose(title: str, tier: str) -> Phrase:
    """` for 256 GiB of LMCache per rank (4 × 256 GiB = 1099.5 GB)`, from the tier's words."""
    per_rank = re.fullmatch(r"\d+ × ([\d.]+ [A-Za-z]+)(?: = [\d.]+ GB)?", tier)
    if per_rank is not None:
        size = per_rank[1]
        return Phrase(f" for {size} of {title} per rank ({tier})", f"，对应每个 rank {size} 的 {title}（{tier}）")
    if not tier:
        return Phrase("", "")
    size, _, note = tier.partition(LOWER_BOUND)
    bound = f"（下限：{note}）" if note else ""
    return Phrase(f" for the {title} tier of {tier}", f"，对应 {title} 层 {size}{bound}")
