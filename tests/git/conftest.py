"""Every test here runs git with an identity of its own and without the machine's configuration."""

from __future__ import annotations

import os

import pytest
from git_repository import environment


@pytest.fixture(autouse=True)
def own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("GIT_", "GITHEAD_"))]:
        monkeypatch.delenv(name)
    for name, value in environment().items():
        if name.startswith("GIT_"):
            monkeypatch.setenv(name, value)
