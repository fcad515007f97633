"""What the command line says of itself: whole sentences, and what someone who reads only `--help` has to know."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from git_repository import CHANGELOG, MASTER, Repository

from benchscribe.cli import benchscribe


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(benchscribe, [*arguments, "--help"], prog_name="benchscribe", terminal_width=80)
    assert done.exit_code == 0
    return " ".join(done.output.split())


def test_no_command_is_described_by_half_a_sentence() -> None:
    done = CliRunner().invoke(benchscribe, ["--help"], prog_name="benchscribe", terminal_width=80)
    listed = done.output.partition("Commands:\n")[2].rstrip("\n").split("\n")
    assert len(listed) == len(benchscribe.commands)
    assert all(line.endswith(".") and not line.endswith("..") for line in listed)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("explain", "ID is the rule's name, as `benchscribe rules` lists it."),
        ("commit", "without a terminal, and with --yes, nothing is asked."),
        ("describe", "comments and the pull request's number are not in it."),
    ],
)
def test_what_has_to_be_known_is_said(command: str, sentence: str) -> None:
    assert sentence in shown(command)


def test_describe_says_which_file_it_wrote(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "repo")
    repository.git("checkout", "-qb", "work")
    repository.write(MASTER, repository.read(MASTER).replace(b"v0.1", b"v0.2"))
    assert f"wrote {CHANGELOG}\n" in repository.run("describe", "--write").stderr
    assert "nothing to do" in repository.run("describe", "--write").stderr


def test_reseat_names_main_once(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "repo")
    repository.git("checkout", "-qb", "work")
    assert repository.run("reseat").stdout.split("\n")[0] == "onto  the changelog of main"
