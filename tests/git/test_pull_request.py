"""`pr`: title, body, checklist; and the subjects of commits, on small changes and on real ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from git_repository import CHANGELOG, HISTORY, MASTER, Repository, config_entry, entry

from benchscribe.plan.pull_requests import code, markdown

KEY, OTHER = "alpha-fp4-mi355x-vllm", "beta-fp4-mi355x-vllm"

SCRIPTS = "benchmarks/single_node/agentic"
# 8 × 40 GiB are 343.6 GB; the budget at 0.20 is 599 GB.
SCRIPT = b"""\
#!/usr/bin/env bash
export LMCACHE_MAX_LOCAL_CPU_SIZE=40
vllm serve "$MODEL" --tensor-parallel-size "$TP" --max-num-seqs $((2 * CONC))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    for name in ("alpha", "beta"):
        repository.write(f"{SCRIPTS}/{name}_fp4_mi355x_vllm.sh", SCRIPT)
    repository.commit("scripts")
    repository.git("checkout", "-qb", "work")
    return repository


def change(repository: Repository, *pairs: tuple[str, str], number: object = "XXX") -> None:
    data = repository.read(MASTER).decode()
    for old, new in pairs:
        assert old in data
        data = data.replace(old, new, 1)
    repository.write(MASTER, data.encode())
    done = repository.run("describe", "--write")
    assert done.exit_code == 0, done.output


def test_title_and_body(repository: Repository) -> None:
    change(repository, ("v0.1", "v0.2"), ("[1, 2]", "[1, 2, 4]"), ("0.20", "0.30"))
    done = repository.run("pr", "--ai-model", "No AI used")
    assert done.exit_code == 0, done.output
    title, _, body = done.stdout.partition("\n\n")
    assert title == (
        "feat(agentx): retune alpha-fp4-mi355x-vllm on v0.2 / feat(agentx)：基于 v0.2 重新调优 alpha-fp4-mi355x-vllm"
    )
    summary, changes, checklist = (body.index(f"## {name}\n") for name in ("Summary", "Changes", "Checklist"))
    assert summary < changes < checklist
    assert "- Add TP4 C4.\n" in body[summary:changes]
    table = body[changes:checklist]
    assert f"**`{KEY}`**" in table
    assert "| image | `vllm/vllm-openai:v0.1` | `vllm/vllm-openai:v0.2` |" in table
    assert "| dram-utilization | `0.20` | `0.30` |" in table
    assert "| TP4 | C1 and C2 | C1, C2 and C4 |" in table
    chinese = re.search(r"<details><summary>中文</summary>\n\n(.*?)\n\n</details>", body, re.S)
    assert chinese is not None
    assert "- 新增 TP4 C4。" in chinese[1]
    assert "新增" not in body.replace(chinese[0], "")
    assert "<details><summary>AI model disclosure</summary>\n\nNo AI used\n\n</details>" in body
    assert "- [x] `benchscribe check` has no errors (" in body
    assert "- [x] The changelog's history is byte for byte that of main (" in body
    assert "- [ ]" not in body


def test_parts_for_gh_and_for_scripts(repository: Repository) -> None:
    change(repository, ("v0.1", "v0.2"))
    whole, title, body = (repository.run("pr", "--part", part).stdout for part in ("both", "title", "body"))
    assert whole == f"{title}\n{body}"
    assert title.count("\n") == 1
    told = json.loads(repository.run("pr", "--format", "json").stdout)
    assert (told["title"], told["body"]) == (title.rstrip("\n"), body)
    assert all(item["holds"] for item in told["checklist"])
    assert "AI model disclosure" not in body
    assert "--ai-model" in repository.run("pr").stderr


def test_the_spec_gives_title_chinese_notes_and_disclosure(repository: Repository, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        f"benchscribe: 1\ntitle: {{en: 'perf: mine', zh: 'perf：我的'}}\nai-model: Some Model 1\nchanges:\n"
        f"  - config-key: {KEY}\n    set: {{image: 'vllm/vllm-openai:v0.2'}}\n"
        "changelog: {notes: [{en: Stays BF16., zh: 保持 BF16。}]}\n"
    )
    assert repository.run("--from-spec", str(spec)).exit_code == 0
    done = repository.run("pr", "--spec", str(spec))
    assert done.stdout.startswith("perf: mine / perf：我的\n")
    assert "\n- Stays BF16.\n" in done.stdout
    assert "\n- 保持 BF16。\n" in done.stdout
    assert "Some Model 1" in done.stdout
    assert done.stderr == ""


def test_a_promise_that_does_not_hold_is_not_ticked(repository: Repository) -> None:
    change(repository, ("v0.1", "v0.2"))
    repository.write(CHANGELOG, repository.read().replace(b":v0.2.", b":v0.7."))
    body = repository.run("pr", "--part", "body").stdout
    line = next(line for line in body.split("\n") if "in the prose" in line)
    assert line.startswith("- [ ] ")
    assert "v0.7" in line
    assert "- [ ] `benchscribe check` has no errors" in body


def checklist(repository: Repository) -> list[str]:
    body = repository.run("pr", "--part", "body").stdout
    return [line for line in body.partition("## Checklist\n")[2].split("\n") if line]


def test_what_could_not_be_judged_is_said_and_not_ticked(repository: Repository) -> None:
    (repository.path / f"{SCRIPTS}/alpha_fp4_mi355x_vllm.sh").unlink()
    repository.commit("no script")
    repository.git("branch", "-f", "main")
    change(repository, ("[16, 32]", "[16, 32, 64]"))
    items = checklist(repository)
    why = "(alpha_fp4_mi355x_vllm.sh is not in this checkout)"
    assert f"- [ ] Not judged: the DRAM budget covers every KV offload tier {why}" in items
    assert f"- [ ] Not judged: every point runs exactly one recipe variant, with the config's image {why}" in items
    assert any(line.startswith("- [x] The changelog's history") for line in items)
    told = json.loads(repository.run("pr", "--format", "json").stdout)
    dram = next(item for item in told["checklist"] if "DRAM" in item["what"])
    assert (dram["judged"], dram["holds"], f"({dram['how']})") == (False, False, why)


def test_promises_without_occasion_are_left_out(repository: Repository) -> None:
    change(repository, ("kv-offloading: dram, kv-offload-backend: { name: lmcache }", "kv-offloading: none"))
    told = "\n".join(checklist(repository))
    assert "Not judged" not in told
    for word in ("DRAM", "append-only", "cceptance", "variant"):
        assert word not in told
    assert "the change ships (4 of 6 claims borne out by config and recipe, 2 left to the reader)" in told


def test_a_tier_of_unknown_size_is_not_vouched_for(repository: Repository) -> None:
    script = SCRIPT.replace(b"=40", b"=$SOMETHING")
    repository.write(f"{SCRIPTS}/alpha_fp4_mi355x_vllm.sh", script)
    repository.commit("unknown size")
    repository.git("branch", "-f", "main")
    change(repository, ("v0.1", "v0.2"))
    (item,) = [line for line in checklist(repository) if "DRAM" in line]
    assert item.startswith(
        "- [ ] Not judged: the DRAM budget covers every KV offload tier (the size of the tier of TP8"
    )


def test_append_only_has_its_own_promise(repository: Repository) -> None:
    change(repository, ("[16, 32]", "[16, 32, 64]"))
    repository.write(CHANGELOG, repository.read() + b"  append-only: true\n")
    (item,) = [line for line in checklist(repository) if "append-only is true" in line]
    assert item.startswith("- [x] append-only is true: every old point stays")


def test_keys_that_are_new_or_gone(repository: Repository) -> None:
    change(repository, (config_entry(OTHER), config_entry("gamma-fp4-mi355x-vllm")))
    body = repository.run("pr", "--part", "body").stdout
    assert "**`gamma-fp4-mi355x-vllm`** (new)" in body
    assert f"**`{OTHER}`** (removed)" in body
    assert "| TP4 | – | C1 and C2 |" in body


def test_nothing_to_tell(repository: Repository) -> None:
    done = repository.run("pr")
    assert done.exit_code == 3
    assert "nothing differs from main" in done.stderr


def test_a_damaged_history_names_the_way_out(repository: Repository) -> None:
    change(repository, ("v0.1", "v0.2"))
    repository.write(CHANGELOG, b"\n" + repository.read())
    done = repository.run("pr")
    assert done.exit_code == 3
    assert "reseat" in done.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b __init__ *x* `y`", r"a_b \_\_init\_\_ \*x\* \`y\`"),
        ("<script> | [x](y) ~~z~~ \\", r"\<script\> \| \[x\](y) \~\~z\~\~ " + "\\\\"),
        ("@maintainer see #2698, rocm/atom@sha256:ab", "@<!-- -->maintainer see #2698, rocm/atom@sha256:ab"),
    ],
)
def test_text_is_shown_as_it_is(text: str, shown: str) -> None:
    assert markdown(text) == shown


def test_code_spans_may_hold_backticks_and_pipes() -> None:
    assert code("a|b") == "`a\\|b`"
    assert code("a`b``c") == "```a`b``c```"
    assert code("`a`") == "`` `a` ``"


# --- subjects


def subject(repository: Repository) -> str:
    return repository.run("pr", "--part", "title").stdout.partition(" / ")[0]


def test_subjects(repository: Repository) -> None:
    start = repository.read(MASTER).decode()
    new = config_entry("gamma-fp4-mi355x-vllm")
    wanted: dict[str, list[tuple[str, str]]] = {
        "perf(agentx): update alpha-fp4-mi355x-vllm to v0.2": [("v0.1", "v0.2")],
        "perf(agentx): update 2 config keys to v0.2": [("v0.1", "v0.2"), ("v0.1", "v0.2")],
        "perf(agentx): retune alpha-fp4-mi355x-vllm": [("0.20", "0.30")],
        "feat(agentx): extend alpha-fp4-mi355x-vllm by TP4 C4 and TP8 C64": [
            ("[1, 2]", "[1, 2, 4]"),
            ("[16, 32]", "[16, 32, 64]"),
        ],
        "perf(agentx): retune alpha-fp4-mi355x-vllm on v0.2": [("v0.1", "v0.2"), ("0.20", "0.30")],
        "feat(agentx): add gamma-fp4-mi355x-vllm": [("\nbeta", f"\n{new}\nbeta")],
        "chore(agentx): remove beta-fp4-mi355x-vllm": [("\n" + config_entry(OTHER), "")],
        "feat(agentx): add 1 config key and remove 1 config key": [(config_entry(OTHER), new)],
    }
    for expected, pairs in wanted.items():
        text = start
        for old, now in pairs:
            assert old in text
            text = text.replace(old, now, 1)
        repository.write(MASTER, text.encode())
        repository.write(CHANGELOG, HISTORY + b"\n" + entry(KEY))
        assert subject(repository) == expected


def test_no_derived_subject_is_too_long(repository: Repository) -> None:
    key = "dsv4-fp4-mi355x-atom-disagg-agentic-lmcache-dspark"
    image = "rocm/atom-dev:nightly_202610181506-with-a-very-long-tag-that-goes-on"
    repository.write(MASTER, config_entry(key).encode())
    repository.commit("long")
    repository.git("branch", "-f", "main")
    repository.write(MASTER, config_entry(key, image, "0.30").encode())
    assert subject(repository) == f"perf(agentx): retune {key}"
    assert len(subject(repository)) <= 72
    long = "k" * 60
    repository.write(MASTER, config_entry(long).encode())
    assert len(subject(repository)) <= 72
