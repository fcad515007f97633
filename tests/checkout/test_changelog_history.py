"""What happened to old bytes: whatever was done to them is named, on a line of the file, and own entries are not."""

from __future__ import annotations

from changelog_branch import ALPHA, HISTORY, entry
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.checkout.changelog_history import history_changes
from benchscribe.checkout.changelog_own import attribute

GAPS = st.sampled_from(["\n", "  \n", "\n  \n", "\n\n", " \n", ""])
OWN = entry("XXX", ALPHA, text="Own.")


def file_of(gaps: list[str]) -> list[str]:
    """Entries and gaps, one after the other."""
    return [part for number, gap in enumerate(gaps, 100) for part in (entry(number, ALPHA, text=f"N{number}."), gap)]


def test_bytes_that_stand_are_not_spoken_of() -> None:
    assert history_changes(HISTORY.encode(), (HISTORY + "\n" + OWN).encode()) == ()


@given(st.lists(GAPS, min_size=2, max_size=6), st.data())
@settings(max_examples=150, deadline=None)
def test_every_change_of_old_bytes_is_named(gaps: list[str], data: st.DataObject) -> None:
    parts = file_of(gaps)
    base = "".join(parts)
    at = data.draw(st.integers(0, len(parts) - 1))
    kind = data.draw(st.sampled_from(["gap", "drop", "text", "swap"]))
    changed = list(parts)
    if kind == "gap":
        at -= at % 2 - 1
        changed[at] = data.draw(GAPS)
    elif kind == "drop":
        changed[at] = ""
    elif kind == "text":
        changed[at] = changed[at].replace("N10", "M10")
    else:
        other = (at + 2) % len(parts)
        changed[at], changed[other] = changed[other], changed[at]
    after = "".join([*changed, "\n", OWN])
    found = history_changes(base.encode(), after.encode())
    assert bool(found) == (not after.startswith(base))
    assert all(1 <= change.line <= after.count("\n") + 1 and change.what for change in found)


@given(st.lists(GAPS, min_size=1, max_size=6), st.integers(0, 6))
@settings(max_examples=100, deadline=None)
def test_an_own_entry_anywhere_is_found_and_is_no_change_of_history(gaps: list[str], place: int) -> None:
    parts = file_of(gaps)
    base = "".join(parts)
    at = min(place, len(gaps)) * 2
    after = "".join([*parts[:at], OWN, "\n", *parts[at:]])
    own = attribute(base.encode(), after.encode(), base.encode()).own
    assert [block.data.decode() for block in own] == [OWN]
    if at < len(parts):
        assert history_changes(base.encode(), after.encode()) == ()
