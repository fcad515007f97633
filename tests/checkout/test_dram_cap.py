"""The DRAM cap, read from a generator that is never run."""

from __future__ import annotations

import pytest

from benchscribe.checkout.dram_cap import DEFAULT_MIB, read_dram_cap

NAME = "MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB"


@pytest.mark.parametrize(
    ("text", "mib", "line"),
    [
        (f"{NAME} = 2_861_022\n", 2_861_022, 1),
        (f"import os\n\n{NAME}: int = 3_000_000_000_000 // 2**20  # 3 TB\n", 2_861_022, 3),
        (f"MIB = 1 << 20\nTB = 10**12\n{NAME} = (\n    4 * TB\n    // MIB\n)\n", 3_814_697, 3),
        (f"{NAME} = int(3e12 / 1048576)\n", 2_861_022, 1),
        (f"{NAME} = 1\n{NAME} = 2\n", 2, 2),
        (f"def f():\n    {NAME} = 5\n\n{NAME} = 7\n", 7, 4),
        (f"if x == {NAME}:\n    pass\n{NAME} = -(-9)\n", 9, 3),
    ],
)
def test_stated_caps(text: str, mib: int, line: int) -> None:
    cap = read_dram_cap(text, "utils/gen.py")
    assert cap.mib == mib
    assert str(cap.place) == f"utils/gen.py:{line}"
    assert cap.reason == f"{NAME} in utils/gen.py"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "is not here"),
        ("", "does not state"),
        (f"from x import {NAME}\n", "not assigned"),
        (f"{NAME} = open('/etc/passwd').read()\n", "more than arithmetic"),
        (f"{NAME} = __import__('os').getpid()\n", "more than arithmetic"),
        (f"{NAME} = 9**9**9\n", "not computed"),
        (f"{NAME} = 2**60 * 2**60\n", "too large"),
        (f"{NAME} = 1 // 0\n", "zero"),
        (f"{NAME} = 1.5\n", "not a whole number"),
        (f"{NAME} = -4\n", "not a whole number"),
        (f"{NAME} = {NAME}\n", "not assigned"),
        (f"{NAME} = (\n", "not valid Python"),
        (f"{NAME} = True\n", "more than arithmetic"),
        (f"{NAME} == 3\n", "not assigned"),
    ],
)
def test_without_a_readable_one_the_known_cap_counts(text: str | None, why: str) -> None:
    cap = read_dram_cap(text, "utils/gen.py")
    assert cap.mib == DEFAULT_MIB == 2_861_022
    assert cap.place is None
    assert cap.reason.startswith("the known cap; ")
    assert why in cap.reason
