"""`commit` in real repositories: exactly our files, the repository's own hooks and settings, honest failures."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from git_repository import CHANGELOG, HISTORY, MASTER, Repository, config_entry, entry

KEY = "alpha-fp4-mi355x-vllm"
SUBJECT = "perf(agentx): update alpha-fp4-mi355x-vllm to v0.2"
SUBJECT_ZH = "perf(agentx)：将 alpha-fp4-mi355x-vllm 更新到 v0.2"
LINE = "Update the image from vllm/vllm-openai:v0.1 to vllm/vllm-openai:v0.2."
LINE_ZH = "将镜像从 vllm/vllm-openai:v0.1 更新到 vllm/vllm-openai:v0.2。"
BODY = f"""{SUBJECT}

- {LINE}

{SUBJECT_ZH}
- {LINE_ZH}"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """On `work`, with an image bump and its entry written and nothing staged."""
    repository = Repository.create(tmp_path / "repo")
    repository.git("checkout", "-qb", "work")
    bump(repository)
    return repository


def bump(repository: Repository, number: object = "XXX") -> None:
    repository.write(MASTER, repository.read(MASTER).replace(b"openai:v0.1", b"openai:v0.2", 1))
    repository.write(CHANGELOG, repository.read() + b"\n" + entry(KEY, number, text=LINE))


def committed(repository: Repository) -> list[str]:
    return repository.git("show", "--format=", "--name-only", "HEAD").split("\n")


def hook(repository: Repository, name: str, script: str) -> None:
    file = repository.path / ".git/hooks" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_exactly_our_files_with_a_message_in_both_languages(repository: Repository) -> None:
    done = repository.run("commit")
    assert done.exit_code == 0, done.output
    assert repository.git("log", "-1", "--format=%B") == BODY
    assert committed(repository) == [MASTER, CHANGELOG]
    assert repository.status() == []
    assert "Committed" in done.stdout
    assert "Nothing to commit" in repository.run("commit").stdout


def test_other_staged_and_dirty_files_stay_as_they_are_and_are_named(repository: Repository) -> None:
    repository.write("staged.txt", b"1")
    repository.write("configs/notes.yaml", b"scratch\n")
    repository.git("add", "staged.txt")
    repository.git("rm", "-q", "--cached", "configs/runners.yaml")
    repository.write("golden_al_distribution/none.yaml", b"dirty\n")
    repository.write("benchmarks/single_node/agentic/scratch.sh", b"echo\n")
    done = repository.run("commit")
    assert done.exit_code == 0, done.output
    assert committed(repository) == [MASTER, CHANGELOG]
    assert repository.status() == [
        "D  configs/runners.yaml",
        " M golden_al_distribution/none.yaml",
        "A  staged.txt",
        "?? benchmarks/single_node/agentic/scratch.sh",
        "?? configs/notes.yaml",
        "?? configs/runners.yaml",
    ]
    for name in ("staged.txt", "configs/notes.yaml", "none.yaml", "scratch.sh"):
        assert name in done.stderr


def test_a_recipe_belongs_to_it_where_a_changed_key_uses_it_or_git_knows_it(repository: Repository) -> None:
    script = "benchmarks/single_node/agentic/alpha_fp4_mi355x_vllm.sh"
    repository.write(script, b"#!/bin/sh\nvllm serve\n")
    (repository.path / script).chmod(0o755)
    repository.run("commit", "--no-check")
    assert committed(repository) == [script, MASTER, CHANGELOG]
    assert repository.git("ls-files", "-s", script).startswith("100755 ")
    repository.write(script, b"#!/bin/sh\nvllm serve --more\n")
    repository.run("commit", "--no-check")
    assert committed(repository) == [script]
    (repository.path / script).unlink()
    repository.run("commit", "--no-check")
    assert committed(repository) == [script]
    assert repository.git("ls-files", script) == ""


def test_a_file_already_staged_in_part_goes_in_as_it_lies_there(repository: Repository) -> None:
    repository.git("add", MASTER)
    repository.write(MASTER, repository.read(MASTER).replace(b"dram-utilization: 0.20", b"dram-utilization: 0.30", 1))
    assert repository.run("commit", "--no-check").exit_code == 0
    assert repository.status() == []
    assert b"0.30" in repository.git("show", f"HEAD:{MASTER}").encode()


def test_a_second_commit_tells_what_it_changes_itself(repository: Repository) -> None:
    repository.run("commit")
    repository.write(CHANGELOG, repository.read().replace(b"/pull/XXX", b"/pull/77"))
    repository.run("commit")
    assert repository.git("log", "-1", "--format=%s") == "chore(changelog): link the entry to #77"
    assert "chore(changelog)：将条目链接到 #77" in repository.git("log", "-1", "--format=%b")
    repository.write(MASTER, repository.read(MASTER).replace(b"[1, 2]", b"[1, 2, 4]", 1))
    repository.run("commit", "--no-check")
    assert repository.git("log", "-1", "--format=%s") == "feat(agentx): extend alpha-fp4-mi355x-vllm by TP4 C4"


def test_the_authors_own_lines_of_the_entry_stand_behind_the_derived_ones(repository: Repository) -> None:
    text = repository.read().replace(LINE.encode(), f'{LINE}"\n    - "#2698 stays open; drafts are BF16.'.encode())
    repository.write(CHANGELOG, text)
    repository.run("commit", "--no-check")
    assert "\n- #2698 stays open; drafts are BF16.\n" in repository.git("log", "-1", "--format=%B") + "\n"


def test_the_check_refuses_and_no_check_says_so_loudly(repository: Repository) -> None:
    repository.write(CHANGELOG, b"\n" + repository.read())
    done = repository.run("commit")
    assert done.exit_code == 1
    assert "Not committed" in done.stderr
    assert repository.git("log", "-1", "--format=%s") == "base"
    assert all(line.startswith(("M", " ")) and line[0] != "A" for line in repository.status())
    done = repository.run("commit", "--no-check")
    assert done.exit_code == 0
    assert "NOT CHECKED" in done.stderr


def test_the_authors_subject_may_be_longer_with_a_warning(repository: Repository) -> None:
    subject = "perf(agentx): " + "very " * 14 + "long"
    done = repository.run("commit", "-m", subject)
    assert f"{len(subject)} characters" in done.stderr
    assert repository.git("log", "-1", "--format=%s") == subject
    assert SUBJECT_ZH in repository.git("log", "-1", "--format=%b")
    assert repository.run("commit", "-m", "two\nlines").exit_code == 2


@pytest.mark.parametrize("asks", ["-s", "benchscribe.signoff", "format.signOff", ".github/dco.yml"])
def test_signed_off_where_asked(repository: Repository, asks: str) -> None:
    if asks == ".github/dco.yml":
        repository.write(asks, b"require:\n  members: false\n")
    elif asks != "-s":
        repository.git("config", asks, "true")
    repository.run("commit", *(["-s"] if asks == "-s" else []))
    assert (
        repository.git("log", "-1", "--format=%(trailers:key=Signed-off-by,valueonly)")
        == "Ann Author <ann@example.invalid>"
    )


def test_a_trailer_that_a_hook_adds_is_kept(repository: Repository) -> None:
    hook(repository, "commit-msg", 'git interpret-trailers --in-place --trailer "Change-Id: I1" "$1"')
    repository.run("commit", "-s")
    trailers = repository.git("log", "-1", "--format=%(trailers)").split("\n")
    assert trailers == ["Signed-off-by: Ann Author <ann@example.invalid>", "Change-Id: I1"]


@pytest.mark.parametrize("sign", ["-", "#", "auto", ";"])
def test_a_line_that_starts_with_the_comment_sign_is_no_comment(repository: Repository, sign: str) -> None:
    repository.git("config", "core.commentChar", sign)
    repository.git("config", "commit.cleanup", "strip")
    repository.run("commit")
    assert repository.git("log", "-1", "--format=%B") == BODY


# --- hooks


@pytest.mark.parametrize("others", [False, True])
def test_a_hook_that_rewrites_a_file_and_adds_it(repository: Repository, others: bool) -> None:
    if others:
        repository.write("staged.txt", b"1")
        repository.git("add", "staged.txt")
    hook(repository, "pre-commit", f"sed -i s/v0.2/v0.3/ {MASTER}; git add {MASTER}")
    done = repository.run("commit", "--no-check")
    assert done.exit_code == 0, done.output
    assert "v0.3" in repository.git("show", f"HEAD:{MASTER}")
    assert repository.status() == (["A  staged.txt"] if others else [])


def test_a_hook_that_rewrites_a_file_without_adding_it_is_told(repository: Repository) -> None:
    hook(repository, "pre-commit", f"sed -i s/v0.2/v0.3/ {MASTER}")
    done = repository.run("commit")
    assert done.exit_code == 0
    assert "v0.2" in repository.git("show", f"HEAD:{MASTER}")
    assert f"a hook changed {MASTER}" in done.stderr
    assert repository.status() == [f" M {MASTER}"]


def test_a_hook_that_adds_another_file_is_told(repository: Repository) -> None:
    hook(repository, "pre-commit", "echo 1 > extra.txt; git add extra.txt")
    assert "a hook put extra.txt into the commit" in repository.run("commit").stderr


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg", "prepare-commit-msg"])
def test_a_hook_that_refuses_leaves_the_files_written_and_says_how_to_go_on(repository: Repository, name: str) -> None:
    hook(repository, name, "echo 'the subject is not nice'; exit 1")
    before = repository.read(), repository.read(MASTER)
    done = repository.run("commit")
    assert done.exit_code == 3
    assert "the subject is not nice" in done.stderr
    assert "a hook of the repository refused" in done.stderr
    assert "go on with: benchscribe commit" in done.stderr
    assert (repository.read(), repository.read(MASTER)) == before
    assert repository.git("log", "-1", "--format=%s") == "base"
    (repository.path / ".git/hooks" / name).unlink()
    assert repository.run("commit").exit_code == 0


def test_hooks_may_live_elsewhere(repository: Repository, tmp_path: Path) -> None:
    repository.git("config", "core.hooksPath", str(tmp_path / "hooks"))
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks/pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "hooks/pre-commit").chmod(0o755)
    assert repository.run("commit").exit_code == 3


# --- settings and states


def test_signing_without_a_key_fails_honestly(repository: Repository) -> None:
    repository.git("config", "commit.gpgSign", "true")
    repository.git("config", "gpg.program", "false")
    done = repository.run("commit")
    assert done.exit_code == 4
    assert "could not be signed" in done.stderr
    assert "user.signingKey" in done.stderr
    assert repository.git("log", "-1", "--format=%s") == "base"
    repository.git("config", "commit.gpgSign", "false")
    assert repository.run("commit").exit_code == 0


def test_signing_with_a_key_signs(repository: Repository, tmp_path: Path) -> None:
    if subprocess.run(["sh", "-c", "command -v ssh-keygen"], capture_output=True).returncode:
        pytest.skip("ssh-keygen is not here")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for name, value in {"gpg.format": "ssh", "user.signingKey": str(key), "commit.gpgSign": "true"}.items():
        repository.git("config", name, value)
    assert repository.run("commit").exit_code == 0
    assert "BEGIN SSH SIGNATURE" in repository.git("cat-file", "commit", "HEAD")


def test_no_identity(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{who}_{what}")
    repository.git("config", "user.useConfigOnly", "true")
    done = repository.run("commit")
    assert done.exit_code == 3
    assert "git config user.name" in done.stderr


def test_an_index_held_by_another_process(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchscribe.writers.git_index.WAIT", 0.2)
    lock = repository.path / ".git/index.lock"
    lock.touch()
    done = repository.run("commit")
    assert done.exit_code == 3
    assert str(lock) in done.stderr
    assert "remove that file" in done.stderr
    lock.unlink()
    assert repository.run("commit").exit_code == 0


def test_a_lock_that_goes_away_in_time_is_waited_for(repository: Repository) -> None:
    lock = repository.path / ".git/index.lock"
    lock.touch()
    subprocess.Popen(["sh", "-c", f"sleep 0.3; rm '{lock}'"])
    assert repository.run("commit").exit_code == 0


def test_detached_head_is_said(repository: Repository) -> None:
    repository.git("checkout", "-q", "--detach")
    done = repository.run("commit")
    assert done.exit_code == 0
    assert "HEAD is detached" in done.stderr
    assert "git switch -c" in done.stderr


def test_a_linked_work_tree_with_unicode(repository: Repository, tmp_path: Path) -> None:
    linked = Repository(tmp_path / "ünï 基准")
    repository.git("worktree", "add", "-q", "-b", "linked", str(linked.path), "main")
    bump(linked)
    assert linked.run("commit").exit_code == 0
    assert linked.status() == []
    assert repository.git("log", "-1", "--format=%s") == "base"


def test_a_submodule(tmp_path: Path) -> None:
    inner = Repository.create(tmp_path / "inner")
    outer = Repository(tmp_path / "outer")
    outer.path.mkdir()
    outer.git("init", "-q", "-b", "main")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub")
    outer.commit("with a submodule")
    inside = Repository(outer.path / "sub")
    bump(inside)
    assert inside.run("commit").exit_code == 0
    assert inside.git("log", "-1", "--format=%s") == SUBJECT
    assert outer.status() == [" M sub"]


def test_links_modes_and_names_that_look_like_patterns(repository: Repository) -> None:
    odd = "benchmarks/single_node/agentic/[a]*:(top)ü.sh"
    repository.write(odd, b"1\n")
    repository.write("benchmarks/single_node/agentic/a.sh", b"1\n")
    repository.commit("odd names")
    repository.write(odd, b"2\n")
    repository.write("staged.txt", b"1")
    repository.git("add", "staged.txt")
    (repository.path / "benchmarks/single_node/agentic/a.sh").chmod(0o755)
    repository.run("commit", "--no-check")
    assert repository.git("-c", "core.quotePath=false", "show", "--format=", "--name-only", "-z", "HEAD").split("\0")[
        :2
    ] == [
        odd,
        "benchmarks/single_node/agentic/a.sh",
    ]
    assert repository.status() == ["A  staged.txt"]
    (repository.path / CHANGELOG).rename(repository.path / "real.yaml")
    (repository.path / CHANGELOG).symlink_to("real.yaml")
    repository.run("commit", "--no-check")
    assert repository.git("ls-tree", "HEAD", CHANGELOG).startswith("120000 ")


# --- merges, rebases


def diverged(repository: Repository) -> None:
    repository.run("commit")
    repository.git("checkout", "-q", "main")
    repository.changelog(HISTORY + b"\n" + entry("beta-fp4-mi355x-vllm", 50))
    repository.git("checkout", "-q", "work")


def test_a_merge_is_concluded_with_gits_own_message(repository: Repository) -> None:
    diverged(repository)
    repository.git("merge", "-q", "main", check=False)
    done = repository.run("commit")
    assert done.exit_code == 3
    assert "unmerged" in done.stderr
    assert "benchscribe reseat" in done.stderr
    repository.run("reseat")
    done = repository.run("commit")
    assert done.exit_code == 0, done.output
    assert "concludes it" in done.stderr
    assert repository.git("log", "-1", "--format=%s") == "Merge branch 'main' into work"
    assert "Conflicts" not in repository.git("log", "-1", "--format=%B")
    assert repository.git("rev-list", "--count", "--merges", "HEAD") == "1"
    assert repository.status() == []


def test_a_rebase_goes_on_by_itself(repository: Repository) -> None:
    diverged(repository)
    repository.git("rebase", "main", check=False)
    repository.run("reseat")
    done = repository.run("commit")
    assert done.exit_code == 3
    assert "git rebase --continue" in done.stderr
    repository.git("rebase", "--continue")
    assert repository.git("log", "-1", "--format=%s") == SUBJECT


def test_a_rebase_that_stopped_for_editing_takes_a_commit(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.run("commit")
    monkeypatch.setenv("GIT_SEQUENCE_EDITOR", "sed -i 's/^pick/edit/'")
    subprocess.run(["git", "-C", str(repository.path), "rebase", "-qi", "main"], check=True, env=dict(os.environ))
    repository.write(CHANGELOG, repository.read().replace(b"/pull/XXX", b"/pull/77"))
    done = repository.run("commit")
    assert done.exit_code == 0, done.output
    assert "stopped for editing" in done.stderr


@pytest.mark.parametrize("way", ["cherry-pick", "revert"])
def test_a_cherry_pick_or_revert_makes_its_own_commit(repository: Repository, way: str) -> None:
    diverged(repository)
    repository.git(way, "--no-commit", "main", check=False)
    repository.git("reset", "-q", "--hard")
    repository.git(way, "main", check=False)
    repository.run("reseat")
    done = repository.run("commit", "--no-check")
    assert done.exit_code == 3
    assert f"git {way} --continue" in done.stderr or "unmerged" in done.stderr


# --- with a plan, and on a terminal


SPEC = f"""benchscribe: 1
changes:
  - config-key: {KEY}
    set: {{image: "vllm/vllm-openai:v0.2"}}
changelog:
  notes: [{{en: "Drafts stay BF16.", zh: "Draft 保持 BF16。"}}]
"""


def written_plan(repository: Repository, spec: str = SPEC):  # type: ignore[no-untyped-def]
    from benchscribe.checkout.checkout import Checkout
    from benchscribe.plan import apply_plan, make_plan
    from benchscribe.schema.spec_reader import read_spec

    plan = make_plan(read_spec(spec, "spec.yaml"), Checkout.open(repository.path))
    apply_plan(plan)
    return plan


def test_a_plan_commits_exactly_its_files(tmp_path: Path) -> None:
    from benchscribe.commands.commit import commit_plan

    repository = Repository.create(tmp_path / "repo")
    repository.git("checkout", "-qb", "work")
    repository.write("configs/nvidia-master.yaml", config_entry("gamma-fp4-b200-vllm").encode())
    plan = written_plan(repository)
    assert commit_plan(plan) == 0
    assert committed(repository) == [MASTER, CHANGELOG]
    assert repository.status() == [" M configs/nvidia-master.yaml"]
    message = repository.git("log", "-1", "--format=%B")
    assert message.endswith(f"{SUBJECT_ZH}\n- {LINE_ZH}\n- Draft 保持 BF16。")
    assert "\n- Drafts stay BF16.\n" in message


def test_a_plan_whose_commit_failed_can_be_committed_by_running_it_again(tmp_path: Path) -> None:
    from benchscribe.commands.commit import commit_plan
    from benchscribe.schema.errors import StateError

    repository = Repository.create(tmp_path / "repo")
    repository.git("checkout", "-qb", "work")
    hook(repository, "pre-commit", "exit 1")
    with pytest.raises(StateError, match="go on with: benchscribe commit"):
        commit_plan(written_plan(repository))
    (repository.path / ".git/hooks/pre-commit").unlink()
    again = written_plan(repository)
    assert again.nothing_to_do
    assert commit_plan(again) == 0
    assert committed(repository) == [MASTER, CHANGELOG]


def test_a_plan_with_a_title_of_the_authors(tmp_path: Path) -> None:
    from benchscribe.commands.commit import commit_plan

    repository = Repository.create(tmp_path / "repo")
    repository.git("checkout", "-qb", "work")
    commit_plan(written_plan(repository, SPEC + 'title: {en: "perf: mine", zh: "perf：我的"}\n'), signoff=True)
    message = repository.git("log", "-1", "--format=%B")
    assert message.startswith("perf: mine\n\n")
    assert "\nperf：我的\n- " in message
    assert message.endswith("\n\nSigned-off-by: Ann Author <ann@example.invalid>")


def test_the_prompts(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Down, Enter: edit the subject; then Enter: commit."""
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    monkeypatch.setattr("benchscribe.commands.commit._is_terminal", lambda: True)
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("\x1b[B\r" + " again\r" + "\r")
        assert repository.run("commit").exit_code == 0
    assert repository.git("log", "-1", "--format=%s") == f"{SUBJECT} again"


def test_the_prompts_editor_and_cancel(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    monkeypatch.setattr("benchscribe.commands.commit._is_terminal", lambda: True)
    monkeypatch.setenv("GIT_EDITOR", "sed -i 's/^perf(agentx): update/perf: bump/'")
    repository.git("config", "core.commentChar", "auto")
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("\x1b[B\x1b[B\x1b[B\r")
        assert "Cancelled" in repository.run("commit").stderr
        assert repository.git("log", "-1", "--format=%s") == "base"
        keys.send_text("\x1b[B\x1b[B\r" + "\r")
        assert repository.run("commit").exit_code == 0
    assert repository.git("log", "-1", "--format=%s") == "perf: bump alpha-fp4-mi355x-vllm to v0.2"
    assert "left out" not in repository.git("log", "-1", "--format=%B")


def test_bare_main_only(tmp_path: Path) -> None:
    """No remote, no other branch: on main itself, what is not committed counts."""
    repository = Repository.create(tmp_path / "repo")
    bump(repository)
    assert repository.run("commit").exit_code == 0
    assert repository.git("log", "-1", "--format=%s") == SUBJECT


def test_object_names_of_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    repository = Repository(tmp_path / "repo")
    repository.path.mkdir()
    repository.git("init", "-q", "-b", "main", "--object-format=sha256")
    repository = Repository.create(tmp_path / "repo")
    assert len(repository.git("rev-parse", "HEAD")) == 64
    repository.git("checkout", "-qb", "work")
    bump(repository)
    repository.write("staged.txt", b"1")
    repository.git("add", "staged.txt")
    hook(repository, "pre-commit", f"git rm -q --cached {CHANGELOG}")
    assert repository.run("commit").exit_code == 0
    assert repository.git("log", "-1", "--format=%s") == SUBJECT
    assert repository.status() == ["A  staged.txt", f"?? {CHANGELOG}"]


def test_no_commit_yet(tmp_path: Path) -> None:
    source = Repository.create(tmp_path / "repo")
    (source.path / ".git").rename(tmp_path / "gone")
    source.git("init", "-q", "-b", "main")
    done = source.run("commit")
    assert done.exit_code == 3
    assert "no commit yet" in done.stderr
