"""Fixtures every room's tests may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("BENCHSCRIBE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real upstream data, cases and specs; skips where it is absent."""
    if not (SHARED / "FACTS.md").is_file():
        pytest.skip(f"real upstream data is not here: {SHARED} (set BENCHSCRIBE_SHARED to where it lies)")
    return SHARED
