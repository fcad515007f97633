"""What the next run makes of a write that was killed, when files, journal or folders have changed since."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchscribe.schema.errors import StateError
from benchscribe.schema.results import Edit
from benchscribe.writers.transaction import Outcome, Recovery, apply, pending, recover

KILLER = Path(__file__).with_name("transaction_killer.py")
CONFIG = b"a: 1\r\nname: caf\xe9\r\n"
LOG = b"- keys: [a]\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "checkout"


@pytest.fixture
def state_dir(root: Path) -> Path:
    return root / ".git/benchscribe"


def kill(root: Path, call: str, number: int) -> None:
    """Make the killer's tree in `root`, and have its write killed at the `number`-th `call`.

    Its renames are: 1 the manifest, 2 configs/a.yaml, 3 recipes/new/deep/r.yaml, 4 log.yaml, 5 the commit;
    old.yaml is unlinked between 3 and 4.
    """
    subprocess.run([sys.executable, str(KILLER), "once", str(root), call, str(number)], check=True, timeout=60)


def recovered(root: Path) -> Recovery:
    found = recover(root=root, state_dir=root / ".git/benchscribe")
    assert found is not None
    assert not pending(root / ".git/benchscribe")
    assert recover(root=root, state_dir=root / ".git/benchscribe") is None
    assert not list(root.rglob("*.tmp"))
    return found


def test_a_fresh_process_undoes_a_half_written_set_of_files(root: Path, state_dir: Path) -> None:
    kill(root, "replace", 4)
    assert (root / "configs/a.yaml").read_bytes() == CONFIG + b"b: 2\r\n"
    assert (root / "recipes/new/deep/r.yaml").exists()
    assert not (root / "old.yaml").exists()
    assert (root / "log.yaml").read_bytes() == LOG
    assert pending(state_dir)

    program = (
        "import sys, pathlib; from benchscribe.writers.transaction import recover; "
        "print(recover(root=pathlib.Path(sys.argv[1]), state_dir=pathlib.Path(sys.argv[2])))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, str(root), str(state_dir)], check=True, capture_output=True, text=True
    )
    assert told.stdout == (
        "an interrupted write was undone; as they were before it: "
        "configs/a.yaml, recipes/new/deep/r.yaml, old.yaml, log.yaml\n"
    )
    assert (root / "configs/a.yaml").read_bytes() == CONFIG
    assert (root / "configs/a.yaml").stat().st_mode & 0o7777 == 0o755
    assert not (root / "recipes").exists()
    assert (root / "old.yaml").read_bytes() == b"retired: true"
    assert (root / "log.yaml").is_symlink()
    assert sorted(path.name for path in state_dir.iterdir()) == ["lock"]


def test_a_write_killed_after_its_commit_is_finished(root: Path) -> None:
    # Unlinks: 1 old.yaml, then the journal's copies.
    kill(root, "unlink", 3)
    found = recovered(root)
    assert found.outcome is Outcome.FINISHED
    assert found.paths == ("configs/a.yaml", "recipes/new/deep/r.yaml", "old.yaml", "log.yaml")
    assert str(found).startswith("an interrupted write was complete and is now finished: configs/a.yaml, ")
    assert (root / "real-log.yaml").read_bytes() == LOG + b"\n- keys: [b]\n"


def test_a_file_edited_since_is_left_alone_and_its_old_bytes_are_kept(root: Path) -> None:
    kill(root, "replace", 4)
    mine = b"a: 1\r\nname: caf\xe9\r\nmine: true\r\n"
    (root / "configs/a.yaml").write_bytes(mine)

    found = recovered(root)
    assert found.outcome is Outcome.UNDONE
    assert [(left.path, left.why) for left in found.left] == [("configs/a.yaml", "it was changed since")]
    assert (root / "configs/a.yaml").read_bytes() == mine
    assert (root / "old.yaml").read_bytes() == b"retired: true"
    copy = found.left[0].copy
    assert copy is not None
    assert copy.read_bytes() == CONFIG
    assert copy.parent == found.kept
    first, second = str(found).splitlines()
    assert first.endswith("undone; as they were before it: recipes/new/deep/r.yaml, old.yaml, log.yaml")
    assert second.startswith("configs/a.yaml is left alone, because it was changed since; its bytes from ")
    assert second.endswith(f"kept in {copy}")


def test_what_is_kept_survives_later_writes(root: Path, state_dir: Path) -> None:
    kill(root, "replace", 4)
    (root / "configs/a.yaml").write_bytes(b"mine")
    copy = recovered(root).left[0].copy
    assert apply([Edit("configs/a.yaml", b"mine", b"next")], root=root, state_dir=state_dir) == ["configs/a.yaml"]
    assert copy is not None
    assert copy.read_bytes() == CONFIG


def test_a_file_removed_since_is_left_removed(root: Path) -> None:
    kill(root, "replace", 4)
    (root / "configs/a.yaml").unlink()
    found = recovered(root)
    assert [(left.path, left.why) for left in found.left] == [("configs/a.yaml", "it was removed since")]
    assert not (root / "configs/a.yaml").exists()


def test_a_new_file_edited_since_stays_with_its_folders(root: Path) -> None:
    kill(root, "replace", 4)
    (root / "recipes/new/deep/r.yaml").write_bytes(b"base: {mine: 1}\n")
    found = recovered(root)
    assert [(left.path, left.copy) for left in found.left] == [("recipes/new/deep/r.yaml", None)]
    assert (root / "recipes/new/deep/r.yaml").read_bytes() == b"base: {mine: 1}\n"


def test_a_folder_somebody_uses_since_stays(root: Path) -> None:
    kill(root, "replace", 4)
    (root / "recipes/new/theirs.txt").write_bytes(b"theirs")
    assert recovered(root).left == ()
    assert (root / "recipes/new/theirs.txt").read_bytes() == b"theirs"
    assert not (root / "recipes/new/deep").exists()


def test_files_put_back_by_hand_are_fine(root: Path) -> None:
    kill(root, "replace", 4)
    (root / "configs/a.yaml").write_bytes(CONFIG)
    (root / "old.yaml").write_bytes(b"retired: true")
    found = recovered(root)
    assert found.left == ()
    assert (root / "configs/a.yaml").read_bytes() == CONFIG


def test_a_folder_replaced_by_a_link_out_of_the_checkout_is_not_followed(root: Path, tmp_path: Path) -> None:
    kill(root, "replace", 4)
    (root / "configs").rename(tmp_path / "elsewhere")
    (root / "configs").symlink_to(tmp_path / "elsewhere")
    found = recovered(root)
    assert [(left.path, left.why) for left in found.left] == [
        ("configs/a.yaml", "a folder above it is a symbolic link by now")
    ]
    assert (tmp_path / "elsewhere/a.yaml").read_bytes() == CONFIG + b"b: 2\r\n"


def test_a_file_replaced_by_a_folder_is_left_alone(root: Path) -> None:
    kill(root, "replace", 4)
    (root / "configs/a.yaml").unlink()
    (root / "configs/a.yaml").mkdir()
    assert [left.why for left in recovered(root).left] == ["it is not a regular file"]


def test_a_removed_file_comes_back_though_its_folder_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Git removes folders that become empty, so this is what a checkout in between leaves.
    root, state_dir = tmp_path / "root", tmp_path / "state"
    (root / "deep/er").mkdir(parents=True)
    (root / "deep/er/x").write_bytes(b"x")
    (root / "b").write_bytes(b"b")
    monkeypatch.setattr("benchscribe.writers.transaction._give_up", lambda *_: None)
    monkeypatch.setattr("benchscribe.writers.journal.Journal.commit", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        apply([Edit("deep/er/x", b"x", None), Edit("b", b"b", b"B")], root=root, state_dir=state_dir)
    (root / "deep/er").rmdir()
    (root / "deep").rmdir()
    found = recover(root=root, state_dir=state_dir)
    assert found == Recovery(Outcome.UNDONE, ("deep/er/x", "b"))
    assert (root / "deep/er/x").read_bytes() == b"x"
    assert (root / "b").read_bytes() == b"b"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "\0" * len(text),
        lambda text: "[]",
        lambda text: '{"version": 1}',
        lambda text: text.replace('"file": "configs', '"file": "../configs'),
        lambda text: text.replace('"mode": 493', '"mode": "rwx"'),
        lambda text: text.replace('"before": null', '"before": 7'),
    ],
    ids=["half", "empty", "zeros", "list", "no steps", "leaves the root", "bad mode", "bad digest"],
)
def test_an_unreadable_journal_is_kept_and_nothing_is_touched(
    root: Path, state_dir: Path, spoil: Callable[[str], str]
) -> None:
    kill(root, "replace", 4)
    manifest = state_dir / "journal/manifest.json"
    torn = spoil(manifest.read_text())
    assert torn != manifest.read_text()
    manifest.write_text(torn)

    found = recover(root=root, state_dir=state_dir)
    assert found is not None
    assert found.outcome is Outcome.UNREADABLE
    assert (root / "configs/a.yaml").read_bytes() == CONFIG + b"b: 2\r\n"
    assert not (root / "old.yaml").exists()
    assert found.kept is not None
    assert (found.kept / "manifest.json").read_text() == torn
    assert (found.kept / "0.before").read_bytes() == CONFIG
    assert "unreadable" in str(found)
    assert str(found.kept) in str(found)
    assert recover(root=root, state_dir=state_dir) is None


def test_the_journal_of_another_version_is_refused_and_stays(root: Path, state_dir: Path) -> None:
    kill(root, "replace", 4)
    manifest = state_dir / "journal/manifest.json"
    manifest.write_text(json.dumps({"version": 2, "files": "who knows"}))
    with pytest.raises(StateError, match="another version of benchscribe"):
        recover(root=root, state_dir=state_dir)
    assert manifest.exists()
    assert pending(state_dir)


def test_a_damaged_copy_is_not_put_back(root: Path, state_dir: Path) -> None:
    kill(root, "replace", 4)
    (state_dir / "journal/0.before").write_bytes(b"a: 1\0\0\0")
    found = recovered(root)
    assert [(left.path, left.why) for left in found.left] == [("configs/a.yaml", "the journal's copy of it is damaged")]
    assert (root / "configs/a.yaml").read_bytes() == CONFIG + b"b: 2\r\n"


def test_apply_undoes_first_and_refuses_a_plan_made_meanwhile(root: Path, state_dir: Path) -> None:
    kill(root, "replace", 4)
    edits = [Edit("real-log.yaml", LOG, b"[]\n")]
    with pytest.raises(StateError, match="an interrupted write was undone") as caught:
        apply(edits, root=root, state_dir=state_dir)
    assert caught.value.exit_code == 3
    assert "run again" in str(caught.value)
    assert (root / "configs/a.yaml").read_bytes() == CONFIG
    assert (root / "real-log.yaml").read_bytes() == LOG
    assert apply(edits, root=root, state_dir=state_dir) == ["real-log.yaml"]


def test_apply_goes_on_after_finishing_a_committed_write(root: Path, state_dir: Path) -> None:
    kill(root, "unlink", 3)
    edits = [Edit("configs/a.yaml", CONFIG + b"b: 2\r\n", b"a: 2\n")]
    assert apply(edits, root=root, state_dir=state_dir) == ["configs/a.yaml"]


def test_nothing_to_recover_makes_nothing(tmp_path: Path) -> None:
    assert recover(root=tmp_path, state_dir=tmp_path / "state") is None
    assert not pending(tmp_path / "state")
    assert list(tmp_path.iterdir()) == []


def test_pending_only_looks(root: Path, state_dir: Path) -> None:
    kill(root, "replace", 4)
    before = sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*"))
    assert pending(state_dir)
    assert sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*")) == before


def test_a_checkout_moved_since_is_recovered_where_it_is(root: Path, tmp_path: Path) -> None:
    kill(root, "replace", 4)
    root.rename(tmp_path / "moved")
    assert recovered(tmp_path / "moved").outcome is Outcome.UNDONE
    assert (tmp_path / "moved/configs/a.yaml").read_bytes() == CONFIG
