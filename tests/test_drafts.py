"""Drafts and saved specs: kept whole, private, and never lost to a bad file."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from benchscribe.drafts import Draft, Drafts, new_id, state_directory
from benchscribe.schema.errors import SystemFailure


def draft(name: str = "one", *, checkout: str = "/work/a", at: float = 100.0, spec: str = "benchscribe: 1\n") -> Draft:
    return Draft(name, checkout, "feat/x", spec, at, {"step": "edit"})


def test_a_draft_comes_back_as_it_was(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "state")
    kept = draft(spec="title: 重新调优\n  [red] \x1b[31m ‮\n")
    drafts.save(kept)
    assert drafts.of(Path("/work/a")) == (kept,)


def test_newest_first_and_only_of_the_checkout(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.save(draft("old", at=1.0))
    drafts.save(draft("new", at=2.0))
    drafts.save(draft("other", checkout="/work/b"))
    assert [one.id for one in drafts.of(Path("/work/a"))] == ["new", "old"]


def test_saving_again_replaces_and_dropping_forgets(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.save(draft(spec="a: 1\n"))
    drafts.save(draft(spec="a: 2\n"))
    assert [one.spec for one in drafts.of(Path("/work/a"))] == ["a: 2\n"]
    drafts.drop("one")
    drafts.drop("one")
    assert drafts.of(Path("/work/a")) == ()


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "state")
    old = os.umask(0)
    try:
        drafts.save(draft())
        path = drafts.save_spec("glm5.2-fp4", "benchscribe: 1\n")
        drafts.remember(path, Path("/work/a"))
    finally:
        os.umask(old)
    files = [one for one in (tmp_path / "state").rglob("*") if one.is_file()]
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "state" / "drafts").stat().st_mode) == 0o700
    assert [one.name for one in files if one.name.startswith(".")] == []


@pytest.mark.parametrize("junk", ["", "[]", "{", '{"format": 1}', '{"format": 1, "id": 3}', "\x00"])
def test_a_file_that_is_no_draft_is_passed_over(tmp_path: Path, junk: str) -> None:
    drafts = Drafts(tmp_path)
    drafts.save(draft())
    (tmp_path / "drafts" / "junk.json").write_text(junk)
    assert [one.id for one in drafts.of(Path("/work/a"))] == ["one"]


def test_a_draft_of_a_later_format_is_left_alone(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.save(draft())
    path = tmp_path / "drafts" / "one.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))
    assert drafts.of(Path("/work/a")) == ()
    assert path.exists()


def test_a_saved_spec_never_replaces_another(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    first = drafts.save_spec("a/../b key", "a: 1\n")
    again = drafts.save_spec("a/../b key", "a: 1\n")
    second = drafts.save_spec("a/../b key", "a: 2\n")
    assert first == again
    assert first.parent == second.parent == tmp_path / "specs"
    assert (first.read_text(), second.read_text()) == ("a: 1\n", "a: 2\n")


def test_recent_specs_are_the_checkouts_own_and_exist(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    paths = [drafts.save_spec(f"k{at}", f"a: {at}\n") for at in range(3)]
    for path in paths:
        drafts.remember(path, Path("/work/a"))
    drafts.remember(paths[0], Path("/work/a"))
    drafts.remember(tmp_path / "specs" / "k1.yaml", Path("/work/b"))
    paths[2].unlink()
    assert drafts.recent(Path("/work/a")) == (paths[0],)
    assert drafts.recent(Path("/work/b")) == (paths[1],)


def test_a_disk_that_refuses_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    with pytest.raises(SystemFailure, match="cannot be made"):
        Drafts(tmp_path / "state").save(draft())


def test_the_state_directory_follows_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_directory() == tmp_path / "benchscribe"


def test_ids_differ() -> None:
    assert len({new_id() for _ in range(50)}) == 50
