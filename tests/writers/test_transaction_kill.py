"""Writes killed by SIGKILL at every system call: after the next run, all files are new or none is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

KILLER = Path(__file__).with_name("transaction_killer.py")


def trials(mode: str, folder: Path, step: int) -> list[dict[str, Any]]:
    command = [sys.executable, str(KILLER), mode, str(folder), str(step)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert not found.stderr
    results: list[dict[str, Any]] = json.loads(found.stdout)
    return results


def test_a_kill_at_any_call_is_undone_before_the_commit_and_finished_after_it(tmp_path: Path) -> None:
    results = trials("sweep", tmp_path, 1)

    # The last trial is the one which was not killed any more; fewer calls than this would mean that the
    # sweep no longer sees what the transaction does.
    assert [trial["killed"] for trial in results] == [True] * (len(results) - 1) + [False]
    assert len(results) > 60

    states = [trial["state"] for trial in results]
    commit = states.index("after")
    assert states == ["before"] * commit + ["after"] * (len(states) - commit)
    # Nothing to tell (the journal was not there yet), then undone, then finished, then only an empty folder.
    outcomes = [trial["outcome"] for trial in results]
    assert list(dict.fromkeys(outcomes[:commit])) == [None, "undone"]
    assert list(dict.fromkeys(outcomes[commit:])) == ["finished", None]
    # Untold are only: an empty folder of the journal, the lock's release, and the write that was not killed.
    assert outcomes[commit:].count(None) == 3


def test_a_recovery_which_is_killed_as_well_is_recovered_by_the_next(tmp_path: Path) -> None:
    results = trials("twice", tmp_path, 11)

    assert {trial["state"] for trial in results} == {"before", "after"}
    outcomes = {trial["state"]: set() for trial in results}
    for trial in results:
        outcomes[trial["state"]].add(trial["outcome"])
    assert outcomes["before"] <= {None, "undone"}
    assert outcomes["after"] <= {None, "finished"}
    assert len(results) > 100
