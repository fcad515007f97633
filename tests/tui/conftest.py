"""Fixtures of the TUI's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from keyboard import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Checkouts and a state directory of one test's own."""
    return World(tmp_path, None)


@pytest.fixture
def real_world(tmp_path: Path, shared: Path) -> World:
    """The same with the real data at hand."""
    return World(tmp_path, shared)
