"""Simulated traffic on the changelog: random pairs of branches, merged, rebased and cherry-picked by real git.

    python benchmarks/merge_traffic.py [--pairs 200] [--seed 1] [--changelog FILE] [--write docs/merging.md]

Each pair has a main and a branch that both appended one to three entries to one of seven kinds of tail; every
second branch sets the link of its own entry in a second commit, every fourth one separates sloppily. The same
pairs run with Benchscribe's driver, with git's default and with `merge=union`. A result is right when nothing
conflicted, it starts with main's exact bytes, what follows obeys the strict contract (FACTS §2), and every
entry of either side stands in it once and whole. Where only separators break the contract it is counted apart;
wrong are results that lost, mixed or doubled entries, or do not start with main's bytes.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NAME = "perf-changelog.yaml"
URL = "https://github.com/SemiAnalysisAI/InferenceX/pull/"
TAILS = (b"", b"\n", b"\n\n", b"  \n", b"\n  \n", b"  \n\n", None)  # None: the last line end is missing
DRIVERS = ("benchscribe", "git's default", "merge=union")
WAYS = ("main into branch", "branch into main", "rebase", "cherry-pick")
RIGHT, CONFLICT, WRONG, SEPARATORS = "right", "conflict", "wrong", "separators"
START, END = "<!-- merge_traffic: start -->", "<!-- merge_traffic: end -->"


@dataclass(frozen=True)
class Pair:
    """One meeting of two branches: the changelog at their start, main's, and the branch's commit by commit."""

    ancestor: bytes
    main: bytes
    branch: tuple[bytes, ...]
    entries: tuple[bytes, ...]


def entry(random_: random.Random, number: object) -> bytes:
    """An entry as people write them; no two are the same."""
    key = f"model{random_.randrange(10**6)}-fp4-mi355x-vllm"
    lines = [f"Line {random_.randrange(10**9)}: set NAME=value at TP4 C{1 << i}." for i in range(random_.randint(1, 4))]
    flag = random_.choice(["", "", "", "  append-only: true\n", "  evals-only: true\n"])
    scope = random_.choice(["", "  scenario-type:\n    - agentic-coding\n"])
    prose = "".join(f'    - "{line}"\n' for line in lines)
    return f"- config-keys:\n    - {key}\n{scope}  description:\n{prose}  pr-link: {URL}{number}\n{flag}".encode()


def pairs(history: bytes, count: int, seed: int) -> Iterator[Pair]:
    """`count` pairs, the same for the same seed."""
    for index in range(count):
        random_ = random.Random(f"{seed}-{index}")
        tail = TAILS[index % len(TAILS)]
        ancestor = history[:-1] if tail is None else history + tail
        mains = [entry(random_, 900_000 + 10 * index + i) for i in range(random_.randint(1, 3))]
        own = [entry(random_, 800_000 + 10 * index) for _ in range(random_.randint(1, 3))]
        unset = [block.replace(f"{800_000 + 10 * index}".encode(), b"XXX") for block in own]
        versions = [unset, own] if index % 2 else [own]
        sloppy = index % 4 == 3
        branch = tuple(appended(ancestor, blocks, sloppy=sloppy) for blocks in versions)
        yield Pair(ancestor, appended(ancestor, mains), branch, (*mains, *own))


def appended(old: bytes, blocks: list[bytes], *, sloppy: bool = False) -> bytes:
    """The blocks behind the old bytes, by the contract or as a hasty author does it."""
    if sloppy:
        return old + (b"" if old.endswith(b"\n") else b"\n") + b"\n\n" + b"\n\n".join(blocks) + b"\n"
    return old + (b"" if old.endswith(b"\n\n") else b"\n") + b"\n".join(blocks)


def verdict(pair: Pair, result: bytes) -> str:
    """Whether the merged changelog is right; main's bytes come first in every way of meeting."""
    if re.search(rb"^(<{7}|>{7}) ", result, re.MULTILINE):
        return CONFLICT
    suffix = result[len(pair.main) :]
    whole = all(result.count(block) == 1 for block in pair.entries)
    count = len(re.findall(rb"^- config-keys:", result, re.MULTILINE))
    known = len(re.findall(rb"^- config-keys:", pair.main, re.MULTILINE)) + suffix_size(pair)
    if not result.startswith(pair.main) or not whole or count != known:
        return WRONG
    start = b"- config-keys:" if pair.main.endswith(b"\n\n") else b"\n- config-keys:"
    spaced = suffix.startswith(start) and not re.search(rb"\n\n\n|[^\n]\n- config-keys:", suffix)
    return RIGHT if spaced and suffix.endswith(b"\n") and not suffix.endswith(b"\n\n") else SEPARATORS


def suffix_size(pair: Pair) -> int:
    """How many entries the branch added."""
    return sum(1 for block in pair.entries if pair.main.count(block) == 0)


class Meeting:
    """A repository in which one pair meets, again and again."""

    def __init__(self, folder: Path, driver: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "gc.auto", "0")
        if driver == "merge=union":
            (folder / ".git/info").mkdir(exist_ok=True)
            (folder / ".git/info/attributes").write_text(f"{NAME} merge=union\n")
        elif driver == "benchscribe":
            command = [sys.executable, "-m", "benchscribe", "merge-driver", "install", "--repo", str(folder)]
            subprocess.run(command, check=True, capture_output=True, env=_environment())

    def git(self, *arguments: str, data: bytes | None = None, check: bool = True) -> str:
        command = ["git", "-C", str(self.folder), *arguments]
        done = subprocess.run(command, input=data, capture_output=True, env=_environment(), check=False)
        if check and done.returncode:
            raise RuntimeError(f"git {' '.join(arguments)}: {done.stderr.decode()}")
        return done.stdout.decode().strip()

    def commits(self, pair: Pair) -> None:
        """The pair's commits, made in one go and without the work tree: refs/pair/base, main and work."""
        stream = [_commit("base", pair.ancestor, ""), _commit("main", pair.main, "base")]
        parents = ["base", *["work"] * len(pair.branch)]
        stream += [_commit("work", data, parent) for data, parent in zip(pair.branch, parents, strict=False)]
        self.git("fast-import", "--quiet", "--force", data=b"".join(stream))

    def run(self, pair: Pair) -> dict[str, str]:
        """The verdict of every way for the two to meet."""
        self.commits(pair)
        main, work = "refs/pair/main", "refs/pair/work"
        commands = {
            "main into branch": (work, "work", ["merge", "-q", "--no-edit", main]),
            "branch into main": (main, "main", ["merge", "-q", "--no-edit", work]),
            "rebase": (work, "work", ["rebase", "-q", main]),
            "cherry-pick": (main, "picked", ["cherry-pick", f"refs/pair/base..{work}"]),
        }
        return {way: self.meet(pair, *command) for way, command in commands.items()}

    def meet(self, pair: Pair, start: str, branch: str, command: list[str]) -> str:
        self.git("checkout", "-q", "-f", "-B", branch, start)
        done = subprocess.run(
            ["git", "-C", str(self.folder), *command], capture_output=True, env=_environment(), check=False
        )
        result = (self.folder / NAME).read_bytes()
        if done.returncode:
            self.git(command[0], "--abort", check=False)
            self.git("reset", "-q", "--hard", check=False)
            return CONFLICT
        return verdict(pair, result)


def _commit(name: str, data: bytes, parent: str) -> bytes:
    """One commit that holds the changelog alone, for `git fast-import`."""
    parts = [f"commit refs/pair/{name}\ncommitter bench <bench@example.invalid> 0 +0000\ndata 6\nchange\n".encode()]
    parts += [f"from refs/pair/{parent}\n".encode()] if parent and parent != name else []
    parts += [f"M 100644 inline {NAME}\ndata {len(data)}\n".encode(), data, b"\n"]
    return b"".join(parts)


def _environment() -> dict[str, str]:
    found = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for who in ("AUTHOR", "COMMITTER"):
        found |= {f"GIT_{who}_NAME": "bench", f"GIT_{who}_EMAIL": "bench@example.invalid"}
    return found | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_EDITOR": "true"}


def simulate(
    history: bytes, count: int, seed: int, drivers: tuple[str, ...] = DRIVERS
) -> dict[str, dict[str, Counter[str]]]:
    """Verdicts counted by driver and way of meeting."""
    counts = {driver: {way: Counter[str]() for way in WAYS} for driver in drivers}
    with tempfile.TemporaryDirectory(prefix="merge-traffic-") as folder:
        for driver in drivers:
            meeting = Meeting(Path(folder) / driver.replace(" ", "-"), driver)
            for pair in pairs(history, count, seed):
                for way, found in meeting.run(pair).items():
                    counts[driver][way][found] += 1
    return counts


def table(counts: dict[str, dict[str, Counter[str]]], count: int, seed: int) -> str:
    """The counts as Markdown."""
    lines = [
        f"{count} pairs, seed {seed}; in each cell: right · conflict · only separators wrong · wrong.",
        "",
        "| | " + " | ".join(counts) + " |",
        "|---|" + "---|" * len(counts),
    ]
    for way in WAYS:
        cells = (
            " · ".join(str(counts[driver][way][kind]) for kind in (RIGHT, CONFLICT, SEPARATORS, WRONG))
            for driver in counts
        )
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    root = Path(__file__).resolve().parents[1]
    default = Path(os.environ.get("BENCHSCRIBE_SHARED", root.parent / "shared")) / "upstream/root" / NAME
    parser.add_argument("--changelog", type=Path, default=default)
    parser.add_argument("--write", type=Path, help="put the table between the marks of this Markdown file")
    options = parser.parse_args()
    found = table(simulate(options.changelog.read_bytes(), options.pairs, options.seed), options.pairs, options.seed)
    print(found)
    if options.write:
        text = options.write.read_text(encoding="utf-8")
        head, _, rest = text.partition(START)
        _, _, tail = rest.partition(END)
        options.write.write_text(f"{head}{START}\n{found}\n{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
