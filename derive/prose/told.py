"""What every kind of line is made of: a fact told, the figures it quotes, old → new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ...schema.master import Entry, Row
from ..wording import Phrase, value

FIELD_WORDS = {
    "model": ("the model", "模型"),
    "runner": ("the runner", "runner"),
    "framework": ("the framework", "框架"),
    "precision": ("the precision", "精度"),
    "router": ("the router", "路由"),
    "kv-p2p-transfer": ("the KV transfer engine", "KV 传输引擎"),
}


class Figures(Protocol):
    """The numbers that prose quotes, worked out elsewhere from the checkout's own facts."""

    def budget(self, entry: Entry, row: Row, utilization: Any) -> int | None:
        """GB of host DRAM the row may take at that utilization; None where the hardware is not known."""

    def tier(self, entry: Entry, row: Row) -> str:
        """The row's tier as `4 × 256 GiB = 1099.5 GB`, empty where its size is not known."""

    def acceptance(self, entry: Entry, draft_tokens: int) -> tuple[str, ...]:
        """The golden acceptance lengths of every curve that may be meant, as the curves spell them."""


@dataclass(frozen=True, slots=True)
class Told:
    """One fact told: the stem of its line's id and the words."""

    id: str
    words: Phrase


def slug(name: str) -> str:
    """A name as part of an id: `TP4+DCP4` is `tp4-dcp4`."""
    words = "".join(sign if sign.isalnum() else " " for sign in name.lower()).split()
    return "-".join(words)


def changed(name: str, before: Any, after: Any, *, zh: str = "") -> Phrase:
    """`change NAME from A to B`, `set NAME to B`, `drop NAME (was A)`."""
    named = zh or name
    if before is None:
        return Phrase(f"set {name} to {value(after)}", f"将 {named} 设为 {value(after)}")
    if after is None:
        return Phrase(f"drop {name} (was {value(before)})", f"移除 {named}（原为 {value(before)}）")
    return Phrase(
        f"change {name} from {value(before)} to {value(after)}",
        f"将 {named} 从 {value(before)} 改为 {value(after)}",
    )
