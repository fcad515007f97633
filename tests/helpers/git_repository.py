"""Small benchmark checkouts in real git repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from click.testing import CliRunner, Result

CHANGELOG = "perf-changelog.yaml"
MASTER = "configs/amd-master.yaml"
KEYS = ("alpha-fp4-mi355x-vllm", "beta-fp4-mi355x-vllm")
URL = "https://github.com/SemiAnalysisAI/InferenceX/pull/"


def entry(key: str, number: object = "XXX", text: str = "", flag: str = "") -> bytes:
    """An entry's block in the canonical style."""
    flags = f"  {flag}\n" if flag else ""
    return (
        f"- config-keys:\n    - {key}\n  scenario-type:\n    - agentic-coding\n"
        f'  description:\n    - "{text or f"About {key}."}"\n  pr-link: {URL}{number}\n{flags}'
    ).encode()


HISTORY = entry("one", 1) + b"\n" + entry("two", 2) + b"  \n" + entry("three", 3) + b"\n  \n" + entry("four", 4)


def config_entry(key: str, image: str = "vllm/vllm-openai:v0.1", utilization: str = "0.20") -> str:
    """A master config entry with one DRAM row."""
    return (
        f"{key}:\n  image: {image}\n  model: org/{key.partition('-')[0]}\n  model-prefix: {key.partition('-')[0]}\n"
        "  runner: cluster:mi355x-amds\n  precision: fp4\n  framework: vllm\n  multinode: false\n  scenarios:\n"
        f"    agentic-coding:\n    - dram-utilization: {utilization}\n      search-space:\n"
        "      - { tp: 4, kv-offloading: none, conc-list: [1, 2] }\n"
        "      - { tp: 8, kv-offloading: dram, kv-offload-backend: { name: lmcache }, conc-list: [16, 32] }\n"
    )


RUNNERS = (
    "labels:\n  cluster:mi355x-amds:\n  - runner\nhardware:\n  cluster:mi355x-amds:\n"
    "    available-cpu-dram-mib: 3095781\n    gpus-per-node: 8\n"
)


class Repository:
    """A git repository that only its tests touch: no configuration of the machine is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, *, branch: str = "main", project: str = "") -> Repository:
        """A checkout of the `root` layout (or, with `project`, `e2e`) with two keys and a four-entry changelog."""
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.git("init", "-q", "-b", branch)
        start = f"{project}/" if project else ""
        master = "\n".join(config_entry(key) for key in KEYS)
        repository.write(f"{start}{MASTER}", master.encode())
        repository.write(f"{start}configs/nvidia-master.yaml", b"# none\n")
        repository.write(f"{start}configs/runners.yaml", RUNNERS.encode())
        marker = "infx/matrix/generate.py" if project else "golden_al_distribution/none.yaml"
        repository.write(f"{start}{marker}", b"# empty\n")
        repository.write(f"{start}{CHANGELOG}", HISTORY)
        repository.commit("base")
        return repository

    def git(self, *arguments: str, check: bool = True, data: bytes | None = None) -> str:
        command = ["git", "-C", str(self.path), *arguments]
        done = subprocess.run(command, capture_output=True, input=data, env=environment(), check=False)
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(arguments)}: {done.stdout.decode()}{done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape").strip("\n")

    def write(self, name: str, data: bytes) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def read(self, name: str = CHANGELOG) -> bytes:
        return (self.path / name).read_bytes()

    def commit(self, message: str = "change", **files: bytes) -> str:
        for name, data in files.items():
            self.write(name, data)
        self.git("add", "-A")
        self.git("commit", "-qm", message, "--allow-empty")
        return self.git("rev-parse", "HEAD")

    def changelog(self, data: bytes, message: str = "changelog", *, name: str = CHANGELOG) -> str:
        self.write(name, data)
        return self.commit(message)

    def status(self) -> list[str]:
        return self.git("status", "--porcelain", "--untracked-files=all").splitlines()

    def run(self, *arguments: str) -> Result:
        """The command line, in this process."""
        from benchscribe.__main__ import main as _  # noqa: F401 -- the same command the entry point runs
        from benchscribe.cli import benchscribe
        from benchscribe.schema.errors import BenchscribeError

        result = CliRunner().invoke(benchscribe, ["--repo", str(self.path), *arguments], prog_name="benchscribe")
        error = result.exception
        if isinstance(error, BenchscribeError):
            return Result(
                result.runner, result.stdout_bytes, f"{result.stderr}{error}".encode(),
                result.output_bytes + str(error).encode(), result.return_value, error.exit_code, None,
            )  # fmt: skip
        if error is not None and not isinstance(error, SystemExit):
            raise error
        return result


def environment() -> dict[str, str]:
    """The process's environment with an identity and without the machine's git configuration."""
    found = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITHEAD_"))}
    for who in ("AUTHOR", "COMMITTER"):
        found[f"GIT_{who}_NAME"] = "Ann Author"
        found[f"GIT_{who}_EMAIL"] = "ann@example.invalid"
    found |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_EDITOR": "true"}
    return found
