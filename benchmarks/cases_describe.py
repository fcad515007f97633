"""What `describe` says of every real pull request in `shared/cases`, beside what people wrote.

python benchmarks/cases_describe.py ../shared [CASE ...]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))


def main() -> None:
    """Print derived and merged lines, case by case."""
    from case_checkout import build, cases

    from benchscribe.checkout.checkout import Checkout
    from benchscribe.plan.branch import read_branch

    shared = Path(sys.argv[1])
    wanted = sys.argv[2:]
    for case in cases(shared):
        if wanted and case.name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            branch = read_branch(Checkout.open(build(shared, case, Path(folder) / "checkout")))
            keys = [one.key for one in case.configs]
            print(f"=== {case.name}  {keys}  recipes {len(case.recipes)}  others {len(case.other_files)}")
            for line in branch.lines():
                print(f"  {line.id} | {line.en}\n      {line.zh}")
            print("  --- merged")
            for text in case.changelog.splitlines():
                print(f"  {text[:240]}")


if __name__ == "__main__":
    main()
