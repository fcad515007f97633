"""What a writing command refuses, and that it then leaves every file as it was (issue "Foundation", bad input)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sample import AMD, CHANGELOG, sample
from upstream_checkout import Outcome, benchscribe, contents, git

BUMP = """\
benchscribe: 1
changes:
  - config-key: gptoss-fp4-mi355x-atom
    set: {image: "rocm/atom-dev:nightly_202611011200"}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return sample(tmp_path / "checkout")


def refused(checkout: Path, code: int, *words: str, arguments: tuple[str, ...] = ()) -> Outcome:
    """The bump must end in this exit code, say these words, and change no byte."""
    before = contents(checkout)
    done = benchscribe(checkout, "--from-spec", "-", *arguments, stdin=BUMP)
    assert done.code == code, done.out + done.err
    assert contents(checkout) == before
    for word in words:
        assert word in done.err
    return done


def test_not_a_git_work_tree(tmp_path: Path) -> None:
    refused(tmp_path, 3, "git")


def test_a_git_work_tree_that_is_no_checkout(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
    refused(tmp_path, 3, "perf-changelog.yaml")


def test_no_such_base(checkout: Path) -> None:
    refused(checkout, 3, "no-such-ref", arguments=("--base", "no-such-ref"))
    refused(checkout, 3, arguments=("--base", "--upload-pack=touch /tmp/x"))


def test_no_base_at_all_names_what_was_tried(checkout: Path) -> None:
    git(checkout, "branch", "-m", "main", "trunk")
    refused(checkout, 3, "upstream", "origin", "--base")


@pytest.mark.parametrize(
    ("bad", "line", "words"),
    [
        (b"\r", None, "CR"),
        (b"\t", None, "tab"),
        (b"\0", None, "NUL"),
        (b"\n<<<<<<< HEAD\n", None, "conflict"),
        (b"\xff", None, "UTF-8"),
    ],
)
def test_broken_bytes_in_the_changelog_name_the_line(checkout: Path, bad: bytes, line: int | None, words: str) -> None:
    path = checkout / CHANGELOG
    data = path.read_bytes()
    place = data.index(b"\n", 400)
    path.write_bytes(data[:place] + bad + data[place:])
    git(checkout, "commit", "-qam", "broken")
    git(checkout, "branch", "-f", "main")
    expected = data.count(b"\n", 0, place) + 1 + bad.startswith(b"\n")
    refused(checkout, 3, f"{CHANGELOG}:{expected}", words)


def test_a_byte_order_mark_names_the_first_line(checkout: Path) -> None:
    path = checkout / CHANGELOG
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    git(checkout, "commit", "-qam", "broken")
    git(checkout, "branch", "-f", "main")
    refused(checkout, 3, f"{CHANGELOG}:1")


def test_a_changelog_whose_history_was_changed_names_reseat(checkout: Path) -> None:
    path = checkout / CHANGELOG
    path.write_bytes(path.read_bytes().replace(b"\n\n", b"\n", 1))
    refused(checkout, 3, "reseat", CHANGELOG)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  image: rocm", "  image: [rocm"),
        ("  precision: fp4", "\tprecision: fp4"),
        ("  framework: atom", "  framework: atom: x"),
    ],
)
def test_a_config_that_does_not_parse_says_where(checkout: Path, old: str, new: str) -> None:
    path = checkout / AMD
    text = path.read_text()
    start = text.index("gptoss-fp4-mi355x-atom:")
    place = text.index(old, start)
    path.write_text(text[:place] + new + text[place + len(old) :])
    line = text.count("\n", 0, place) + 1
    done = refused(checkout, 3, AMD)
    places = [int(word.split(":")[1]) for word in done.err.split() if word.startswith(f"{AMD}:")]
    assert places and abs(places[0] - line) <= 1


def test_a_key_that_stands_twice_names_both_places(checkout: Path) -> None:
    path = checkout / AMD
    text = path.read_text()
    path.write_text(text + "\ngptoss-fp4-mi355x-atom:\n  image: x/y:z\n")
    first = text[: text.index("gptoss-fp4-mi355x-atom:")].count("\n") + 1
    refused(checkout, 3, f"{AMD}:{first}", f"{AMD}:{text.count(chr(10)) + 2}")


def test_a_read_only_file_is_not_written(checkout: Path) -> None:
    (checkout / AMD).chmod(0o444)
    refused(checkout, 4, AMD)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_is_told(checkout: Path) -> None:
    (checkout / AMD).chmod(0)
    refused(checkout, 4, AMD)


def test_a_directory_in_the_place_of_the_spec(checkout: Path, tmp_path: Path) -> None:
    before = contents(checkout)
    assert benchscribe(checkout, "--from-spec", tmp_path).code == 2
    assert benchscribe(checkout, "--from-spec", tmp_path / "absent.yaml").code == 2
    (tmp_path / "latin.yaml").write_bytes(b"benchscribe: 1\n# \xe9\n")
    done = benchscribe(checkout, "--from-spec", tmp_path / "latin.yaml")
    assert (done.code, "latin.yaml:2" in done.err) == (2, True)
    assert contents(checkout) == before


def test_a_full_disk_leaves_every_file_as_it_was(checkout: Path) -> None:
    """A limit on file sizes stands in for the full disk: the larger of the two files no longer fits."""
    before = contents(checkout)
    limit = max(len(before[AMD]), len(before[CHANGELOG])) // 1024
    program = f"ulimit -f {limit}; trap '' XFSZ; exec python3 -m benchscribe --from-spec -"
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", program], cwd=checkout, input=BUMP, text=True, capture_output=True, env=environment
    )
    assert done.returncode == 4, done.stderr
    assert contents(checkout) == before
    assert benchscribe(checkout, "--from-spec", "-", stdin=BUMP).code == 0


def test_a_symlink_out_of_the_checkout_is_not_followed(checkout: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_bytes((checkout / AMD).read_bytes())
    (checkout / AMD).unlink()
    (checkout / AMD).symlink_to(outside)
    before = outside.read_bytes()
    done = benchscribe(checkout, "--from-spec", "-", stdin=BUMP)
    assert done.code in (2, 3)
    assert outside.read_bytes() == before


def test_a_file_inside_the_checkout_keeps_its_mode_and_its_link(checkout: Path) -> None:
    real = checkout / "inferencex-e2e/configs/real.yaml"
    (checkout / AMD).rename(real)
    (checkout / AMD).symlink_to("real.yaml")
    real.chmod(0o640)
    done = benchscribe(checkout, "--from-spec", "-", stdin=BUMP)
    assert done.code == 0, done.err
    assert (checkout / AMD).is_symlink()
    assert (real.stat().st_mode & 0o777, b"nightly_202611011200" in real.read_bytes()) == (0o640, True)


def test_control_characters_of_a_file_do_not_reach_the_terminal(checkout: Path) -> None:
    path = checkout / AMD
    path.write_text(path.read_text().replace("gptoss-fp4-mi355x-atom:", "# \x1b]0;x\x07\ngptoss-fp4-mi355x-atom:", 1))
    done = benchscribe(checkout, "--from-spec", "-", "--dry-run", stdin=BUMP)
    assert "\x1b" not in done.out + done.err


def test_a_spec_from_any_directory_of_the_checkout(checkout: Path) -> None:
    done = benchscribe(checkout / "inferencex-e2e/configs", "--from-spec", "-", stdin=BUMP)
    assert done.code == 0, done.err


def test_schema_and_doctor(checkout: Path, tmp_path: Path) -> None:
    schema = benchscribe(tmp_path, "schema").json
    assert schema["properties"]["benchscribe"] == {"const": 1, "title": "Benchscribe", "type": "integer"}
    done = benchscribe(checkout, "doctor")
    assert (done.code, "layout e2e" in done.out, "36 keys" in done.out) == (0, True, True)
    assert benchscribe(tmp_path, "doctor").code == 3
