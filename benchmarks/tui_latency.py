"""Start to first paint, key to refreshed preview, and memory, on the real-size data.

    python benchmarks/tui_latency.py SHARED [--keys 60]

Timed inside the app: from the key's event to the refresh that shows its plan. Where planning is slower than 60 ms it
waits for a pause in the typing, so the typed rows are spaced like a fast typist's (80 ms between keys); the screens'
own share is what is left when the plan's seconds are taken off.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pty
import resource
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

SPACING = 0.08


def first_paint(root: Path, state: Path) -> float:
    """Seconds from starting the process to Home's first words on a terminal."""
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(state),
        "TERM": "xterm-256color",
        "LINES": "40",
        "COLUMNS": "120",
    }
    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(sys.executable, [sys.executable, "-m", "benchscribe", "--repo", str(root)], environment)
    seen = b""
    while b"What to do" not in seen:
        if select.select([terminal], [], [], 10)[0]:
            seen += os.read(terminal, 65536)
    taken = time.perf_counter() - started
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    return taken


async def keys_to_preview(root: Path, state: Path, spec: str, words: str) -> tuple[list[float], ...]:
    """Latencies to values and bytes, to findings, and plan seconds: `words` typed into a spec's first image field."""
    from benchscribe.drafts import Drafts
    from benchscribe.tui.app import BenchscribeApp  # before Textual, whose clock it sets
    from benchscribe.tui.model import SpecModel
    from benchscribe.tui.planning import WatchedCheckout

    from keyboard import Hands  # isort: skip

    checkout: Any = WatchedCheckout.open(root)
    app = BenchscribeApp(checkout, drafts=Drafts(state))
    sys.setswitchinterval(0.001)
    plans: list[float] = []
    async with app.run_test(size=(120, 40)) as pilot:
        hands = Hands(app, pilot)
        await hands.until(lambda: hands.step == "home")
        app.begin(SpecModel.read(spec))
        app.go("edit")
        await hands.until(lambda: hands.step == "edit")
        await hands.planned()
        app.screen.query_one("#fields")
        app.screen.field("image").focus()  # type: ignore[attr-defined]
        await hands.settle()
        for sign in words:
            count = len(app.finding_latencies)
            hands._send(sign)
            for _ in range(400):
                await asyncio.sleep(0.005)
                if len(app.finding_latencies) > count:
                    break
            plans.append(app.outcome.seconds if app.outcome is not None else 0.0)
            await asyncio.sleep(SPACING)
    return app.latencies, app.finding_latencies, plans


def percentiles(values: list[float]) -> str:
    """p50 and p95 in milliseconds."""
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"p50 {statistics.median(ordered) * 1000:6.1f} ms   p95 {p95 * 1000:6.1f} ms"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--keys", type=int, default=60)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        roots = {}
        for layout in ("root", "e2e"):
            roots[layout] = place / layout
            subprocess.run([asked.shared / "mkcheckout", layout, roots[layout]], check=True, capture_output=True)
        starts = [first_paint(roots["root"], place / "state") for _ in range(5)]
        print(
            f"start to first paint (root)          best {min(starts):.2f} s   median {statistics.median(starts):.2f} s"
        )
        words = ("rocm/atom-dev:nightly_202610181506" * 4)[: asked.keys]
        cases = (("root", "qwen35-image-bump"), ("root", "dsv4-b300-append-points"), ("e2e", "glm52-atom-retune"))
        for layout, name in cases:
            spec = (asked.shared / "specs" / f"{name}.yaml").read_text(encoding="utf-8")
            previews, findings, plans = asyncio.run(keys_to_preview(roots[layout], place / "s", spec, words))
            print(f"key to values and bytes, {name:<24} {percentiles(previews)}   of it planning: {percentiles(plans)}")
            print(f"key to findings,         {name:<24} {percentiles(findings)}")
    print(f"memory, peak of this process         {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
