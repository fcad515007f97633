"""Whole-process time of `check` on the real data with one added entry, beside parsing the same files once.

    python benchmarks/check_time.py ../shared [RUNS]

The limit is 0.45 s for `check` on `upstream/root`, where the branch changes one image and appends its entry. Beside
it stands what PyYAML's C loader needs to parse the changelog and both configs once (skipped where PyYAML is not
installed or was built without it), as a process of its own too. Machines are noisy: the runs alternate, and medians
are compared.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

PARSE = """
import sys, yaml
for path in sys.argv[1:]:
    yaml.load(open(path, "rb"), Loader=yaml.CSafeLoader)
"""
ENTRY = """\
- config-keys:
    - {key}
  description:
    - "Image: {image} to {image}-next"
  pr-link: XXX
"""


def main() -> None:
    """Print median and best of both."""
    shared = Path(sys.argv[1]).resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    with tempfile.TemporaryDirectory() as folder:
        checkout = prepared(shared, Path(folder) / "root")
        names = ("perf-changelog.yaml", "configs/amd-master.yaml", "configs/nvidia-master.yaml")
        files = [str(checkout / name) for name in names]
        commands = {"check": [sys.executable, "-m", "benchscribe", "check", "--repo", str(checkout)]}
        if find_spec("yaml") is not None:
            commands["PyYAML, C loader"] = [sys.executable, "-c", PARSE, *files]
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                times[name].append(seconds(command))
    for name, found in times.items():
        print(f"{name:18} median {statistics.median(found):.3f} s  best {min(found):.3f} s")


def prepared(shared: Path, directory: Path) -> Path:
    """A checkout whose branch changes the image of one key and says so at the changelog's tail."""
    subprocess.run([str(shared / "mkcheckout"), "root", str(directory)], check=True, capture_output=True)
    master = directory / "configs/nvidia-master.yaml"
    text = master.read_text()
    found = re.search(r"^(?P<key>\S+):\n(?:  .*\n)*?  image: (?P<image>\S+)\n", text, re.M)
    assert found is not None
    at = found.end("image")
    master.write_text(f"{text[:at]}-next{text[at:]}")
    changelog = directory / "perf-changelog.yaml"
    old = changelog.read_bytes()
    separator = b"" if old.endswith(b"\n\n") else b"\n"
    changelog.write_bytes(old + separator + ENTRY.format(**found.groupdict()).encode())
    return directory


def seconds(command: list[str]) -> float:
    """The wall time of one process, which has to find nothing."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, cwd="/")
    taken = time.perf_counter() - start
    if done.returncode or done.stdout:
        raise SystemExit(f"failed: {' '.join(command)}\n{done.stdout.decode()}{done.stderr.decode()}")
    return taken


if __name__ == "__main__":
    main()
