"""The figures that prose and plans quote, worked out from what a checkout says: budgets, tiers, golden AL."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..checkout.snapshot import Snapshot
from ..schema.engines import engine_of
from ..schema.errors import BenchscribeError
from ..schema.master import Entry, Item, Row, points_of
from ..schema.results import Derived
from .compare import variant_of

# What works the figures out is imported where it is used: most plans need none of it, and start-up shows it.
if TYPE_CHECKING:
    from .acceptance import Speculation
    from .tiers import Tier


class CheckoutFigures:
    """Figures for one state of a checkout. What the checkout does not say is None or empty, never guessed."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._speculation: dict[str, Speculation | None] = {}

    def budget(self, entry: Entry, row: Row, utilization: Any) -> int | None:
        """GB of host DRAM the row may take at that utilization."""
        from .dram import budgets

        try:
            hardware = self._snapshot.runners.hardware(entry.runner)
            (found,) = budgets([row], hardware, utilization, self._snapshot.dram_cap.mib)
        except BenchscribeError:
            return None
        return found.gb

    def tiers(self, entry: Entry, row: Row) -> list[tuple[Tier, ...]]:
        """The distinct tiers of the row's points, each point's together; empty where no recipe says."""
        from .stated import variant_tiers

        found: dict[tuple[Tier, ...], None] = {}
        for point in points_of(row):
            known = variant_of(self._snapshot, entry, point)
            if known is None:
                continue
            found[variant_tiers(*known)] = None
        return list(found)

    def _distinct(self, entry: Entry, row: Row) -> list[tuple[Tier, ...]]:
        """One of each combination of sizes, wherever the points of the row state it."""
        found: dict[object, tuple[Tier, ...]] = {}
        for tiers in self.tiers(entry, row):
            sizes = tuple((tier.knob, tier.scope, tier.exactness, tier.size) for tier in tiers)
            found.setdefault(sizes, tiers)
        return list(found.values())

    def tier(self, entry: Entry, row: Row) -> str:
        """The row's tier as `4 × 256 GiB = 1099.5 GB`, the largest of its points; empty where not sized."""
        from .dram import dram_gpus, tier_words

        try:
            ranks = dram_gpus(row, self._snapshot.runners.hardware(entry.runner).gpus_per_node)
        except BenchscribeError:
            return ""
        sized = [tiers for tiers in self.tiers(entry, row) if tiers and all(tier.size for tier in tiers)]
        if not sized:
            return ""
        largest = max(sized, key=lambda tiers: sum(total.bytes for tier in tiers if (total := tier.total(ranks))))
        return tier_words(largest, ranks)

    def utilization(self, entry: Entry, item: Item, step: Decimal) -> Derived[Decimal]:
        """`dram-utilization: auto` for one item. Raises UsageError saying which row or number is missing."""
        from .dram import Demand, utilization_for

        hardware = self._snapshot.runners.hardware(entry.runner)
        demands = [
            Demand(row, tiers, str(row))
            for row in item.rows
            if row.kv_offloading == "dram"
            for tiers in (self._distinct(entry, row) or [()])
        ]
        cap = self._snapshot.dram_cap
        return utilization_for(
            demands,
            hardware,
            cap.mib,
            step,
            source=str(hardware.place),
            cap_source=str(cap.place or cap.reason),
        )

    def golden(self, entry: Entry, draft_tokens: int) -> Derived[tuple[Decimal, ...]]:
        """The golden AL for a model and draft tokens, with its reason; no values where there is no curve."""
        from ..checkout.curves import candidates
        from .acceptance import golden_lengths

        curves = self._snapshot.curves(entry.model_prefix)
        speculation = self.speculation(entry)
        if speculation is None:
            found = candidates(curves, entry.model_prefix, entry.model)
        else:
            found = candidates(
                curves,
                entry.model_prefix,
                entry.model,
                method=speculation.method,
                draft_model=speculation.draft_model,
                sampling=speculation.sampling,
            )
        return golden_lengths(found, draft_tokens)

    def draft_lengths(self, entry: Entry) -> tuple[int, ...]:
        """The draft lengths that the model's golden curves have."""
        from .acceptance import draft_lengths

        return draft_lengths(self._snapshot.curves(entry.model_prefix))

    def acceptance(self, entry: Entry, draft_tokens: int) -> tuple[str, ...]:
        """The golden AL of every curve that may be meant, as the curves spell them."""
        try:
            return tuple(str(value) for value in self.golden(entry, draft_tokens).value)
        except BenchscribeError:
            return ()

    def speculation(self, entry: Entry) -> Speculation | None:
        """What the entry's recipes say of their speculation, None where no recipe is here."""
        if entry.key not in self._speculation:
            self._speculation[entry.key] = self._read_speculation(entry)
        return self._speculation[entry.key]

    def _read_speculation(self, entry: Entry) -> Speculation | None:
        from .acceptance import speculation_of

        engine = engine_of(entry.framework)
        if engine is None:
            return None
        for _, row in entry.rows():
            for point in points_of(row):
                known = variant_of(self._snapshot, entry, point)
                role = known[1].roles.get("decode") or known[1].role if known else None
                if role is not None:
                    return speculation_of(engine, role.args)
        return None
