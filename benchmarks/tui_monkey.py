"""Random keys with a seed: no crash, no write outside Write.

python benchmarks/tui_monkey.py [--seed N] [--count 5000]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

KEY = "glm5.2-fp4-mi355x-atom-agentic-mtp"


def main() -> None:
    """Play, then compare every byte of the checkout."""
    from keyboard import World, files_of
    from monkey import play

    from benchscribe.tui.model import SpecModel

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), None)
        root = world.demo()
        before = files_of(root)
        started = time.perf_counter()

        async def story() -> None:
            async with world.open(root) as hands:
                hands.app.begin(SpecModel({"benchscribe": 1, "changes": [{"config-key": KEY}]}))
                hands.app.go("edit")
                await hands.until(lambda: hands.step == "edit")
                await play(hands, seed=asked.seed, count=asked.count)

        asyncio.run(story())
        changed = [name for name, data in files_of(root).items() if before.get(name) != data]
        seconds = time.perf_counter() - started
        print(f"{asked.count} keys with seed {asked.seed} in {seconds:.0f} s: no crash, {len(changed)} files changed")
        if changed:
            raise SystemExit(f"written without Write: {', '.join(changed)}")


if __name__ == "__main__":
    main()
