"""Whole-process time and memory of a dry run on the real data, beside ruamel.yaml's round trip of the same files.

    python benchmarks/from_spec_time.py ../shared [RUNS]

The limit is 0.40 s and 90 MB for `--from-spec qwen35-image-bump.yaml --dry-run` on `upstream/root`. Machines are
noisy: the runs alternate, and the ratio of the medians is the figure to compare.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUND_TRIP = """
import sys
from ruamel.yaml import YAML
for path in sys.argv[1:]:
    yaml = YAML()
    data = yaml.load(open(path).read())
    yaml.dump(data, open("/dev/null", "w"))
"""


def main() -> None:
    """Print the median and the best time of both, the ratio, and the peak memory."""
    shared = Path(sys.argv[1]).resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "root"
        subprocess.run([str(shared / "mkcheckout"), "root", str(checkout)], check=True, capture_output=True)
        spec = shared / "specs" / "qwen35-image-bump.yaml"
        ours = [sys.executable, "-m", "benchscribe", "--repo", str(checkout), "--from-spec", str(spec), "--dry-run"]
        files = [str(checkout / "configs/amd-master.yaml"), str(checkout / "perf-changelog.yaml")]
        theirs = [sys.executable, "-c", ROUND_TRIP, *files]
        times: dict[str, list[float]] = {"dry run": [], "ruamel round trip": []}
        memory: dict[str, float] = {}
        for turn in range(runs):
            for name, command in (("dry run", ours), ("ruamel round trip", theirs)):
                if name == "ruamel round trip" and turn % 5:
                    continue
                seconds, megabytes = run(command)
                times[name].append(seconds)
                memory[name] = max(memory.get(name, 0.0), megabytes)
    for name, found in times.items():
        print(f"{name:20} median {statistics.median(found):.3f} s  best {min(found):.3f} s  peak {memory[name]:.0f} MB")
    ratio = statistics.median(times["ruamel round trip"]) / statistics.median(times["dry run"])
    print(f"the round trip of one config and the changelog takes {ratio:.1f} times as long")


def run(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MB of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd="/")
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
