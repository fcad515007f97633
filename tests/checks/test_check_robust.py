"""Whatever stands in the files, `check` judges or says what is wrong: it never breaks off with a trace."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from branches import make_branch
from changelog_branch import ALPHA, E2E_MASTER, HISTORY, MASTER, NEW_IMAGE, RECIPE, e2e_files, entry, root_files

from benchscribe.checkout.checkout import Checkout
from benchscribe.checks.registry import judge
from benchscribe.checks.subject import read_subject
from benchscribe.plan.fixing import plan_fixes
from benchscribe.schema.errors import BenchscribeError

PIECES = (
    "\t", "\r", "\0", "\n", "\n\n", ": ", "- ", "[", "{", '"', "'", "&a ", "*a ", "!!python/name:os ", "<<<<<<< x\n", "=======\n",
    "null", "\ufeff", "1e400", "- config-keys:", "  pr-link:", "%", "|\n", ">\n", "---\n", "...\n", "镜像", "\ud7ff", "~", "?", "0x",
)  # fmt: skip


def broken(text: str, seed: int) -> str:
    """The text after a few accidents: pieces put in, cut out, doubled, moved."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        kind = chance.randint(0, 3)
        if kind == 0:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[min(to, at + 40) :]
        elif kind == 2:
            text = text[:to] + text[at:to] + text[to:]
        else:
            text = text[:at] + text[to:] + text[at:to]
    return text


def judged(repo: Path) -> Iterator[None]:
    for everything in (False, True):
        try:
            subject = read_subject(Checkout.open(repo), number=7, everything=everything)
            found = judge(subject)
        except BenchscribeError:
            continue
        assert all(finding.message and finding.line >= 0 for finding in found)
        try:
            plan_fixes(subject, found)
        except BenchscribeError:
            continue
        yield


OWN = entry("XXX", ALPHA, text="Image: rocm/atom:v1 to rocm/atom:v2, TP4 C1 with 3 draft tokens (AL 2.49)")


@pytest.mark.parametrize("kind", ["changelog", "master", "recipe", "script"])
def test_accidents_end_in_findings_or_in_an_error_with_words(tmp_path: Path, kind: str) -> None:
    if kind == "recipe":
        repo = make_branch(tmp_path / "repo", e2e_files(), {"inferencex-e2e/perf-changelog.yaml": f"{HISTORY}\n{OWN}"})
        path, text = repo / "inferencex-e2e/benchmarks/single_node/agentic/alpha.yaml", RECIPE
        (repo / "inferencex-e2e/configs/amd-master.yaml").write_text(E2E_MASTER.replace("v1", "v2"))
    else:
        repo = make_branch(
            tmp_path / "repo",
            root_files(),
            {"perf-changelog.yaml": f"{HISTORY}\n{OWN}", "configs/amd-master.yaml": NEW_IMAGE},
        )
        files = {
            "changelog": ("perf-changelog.yaml", f"{HISTORY}\n{OWN}"),
            "master": ("configs/amd-master.yaml", MASTER),
            "script": (
                "benchmarks/single_node/agentic/alpha_fp4_mi355x_atom.sh",
                "#!/bin/bash\nexport A=1\nserve --tp $TP\n",
            ),
        }
        name, text = files[kind]
        path = repo / name
    for seed in range(12):
        path.write_bytes(broken(text, seed).encode("utf-8", "surrogatepass"))
        list(judged(repo))
