"""Every finding of `check` on every real pull request in `shared/cases`, with the entry that people merged.

    python benchmarks/cases_check.py ../shared [CASE ...] [--all] [--derived] [--markdown]

Each case becomes a git checkout: the masters, runners and curves of `upstream/root` with the case's keys and recipes
as they were before, committed; then as they were after, with the merged entry appended to the changelog. The table
that was verified by hand from this stands in `docs/precision.md`. With `--derived` the entry is the one that `check
--fix` derives instead: what the tool writes itself has to be free of errors.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

KEPT = ("configs/runners.yaml", "golden_al_distribution", "benchmarks")


def main() -> None:
    """Print the findings case by case, then how many there are of each rule."""
    from case_checkout import cases

    shared = Path(sys.argv[1]).resolve()
    wanted = [argument for argument in sys.argv[2:] if not argument.startswith("--")]
    counts: Counter[str] = Counter()
    for case in cases(shared):
        if wanted and case.name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found, seconds = judged(shared, case, Path(folder) / "checkout")
        show(case, found, seconds)
        counts.update(f"{finding.severity} {finding.rule}" for finding in found)
    for name, count in sorted(counts.items()):
        print(f"{count:4} {name}")


def judged(shared, case, directory):  # type: ignore[no-untyped-def]
    """The findings of every rule on one case, and the seconds it took."""
    from benchscribe.checkout.checkout import Checkout
    from benchscribe.checks.registry import judge
    from benchscribe.checks.subject import read_subject
    from benchscribe.plan.fixing import plan_fixes

    build(shared, case, directory)
    start = time.perf_counter()
    everything = "--all" in sys.argv
    subject = read_subject(Checkout.open(directory), everything=everything)
    found = judge(subject)
    if "--derived" in sys.argv:
        edits = plan_fixes(subject, found).edits
        checkout = subject.checkout.with_overlay({edit.path: edit.after for edit in edits})
        found = judge(read_subject(checkout, everything=everything))
    return found, time.perf_counter() - start


def build(shared, case, directory):  # type: ignore[no-untyped-def]
    """The case as a checkout that stands on its branch."""
    from case_checkout import CHANGELOG
    from upstream_checkout import git

    root = shared / "upstream" / "root"
    (directory / "configs").mkdir(parents=True)
    for name in KEPT:
        (shutil.copytree if (root / name).is_dir() else shutil.copy)(root / name, directory / name)
    for path in directory.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (directory / "perf-changelog.yaml").write_text(CHANGELOG)
    write(root, directory, case, "before")
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", "base")
    git(directory, "checkout", "-qb", "work")
    write(root, directory, case, "after")
    if "--derived" in sys.argv:
        return
    entry = case.changelog.strip("\n ") + "\n"
    (directory / "perf-changelog.yaml").write_text(f"{CHANGELOG}\n{entry}")


def write(root, directory, case, side):  # type: ignore[no-untyped-def]
    """The masters with the case's keys at their end, and the recipes, as they were on one side."""
    from benchscribe.checkout.blocks import split_blocks

    for name in ("amd", "nvidia"):
        file = f"configs/{name}-master.yaml"
        text = (root / file).read_text()
        keys = {block.key for block in case.configs}
        for block in reversed(split_blocks(text)):
            if block.name in keys:
                text = text[: block.start] + text[block.end :]
        mine = [getattr(one, side) for one in case.configs if one.file == file]
        parts = [text.rstrip("\n") + "\n", *(part.rstrip("\n") + "\n" for part in mine if part is not None)]
        (directory / file).write_text("\n".join(parts))
    for recipe in case.recipes:
        path, text = directory / recipe.file, getattr(recipe, side)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def show(case, found, seconds):  # type: ignore[no-untyped-def]
    """One case: its size, and each finding with its place."""
    if "--markdown" in sys.argv:
        for finding in found:
            cells = (case.name, finding.rule, finding.severity.value, f"{finding.path}:{finding.line}", finding.message)
            print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        return
    sizes = f"keys {len(case.configs)}  recipes {len(case.recipes)}  others {len(case.other_files)}"
    print(f"=== {case.name}  {sizes}  {seconds:.2f} s")
    for finding in found:
        print(f"  {finding.severity:7} {finding.rule}  {finding.path}:{finding.line}")
        print(f"          {finding.message}")
        print(f"          → {finding.hint}")


if __name__ == "__main__":
    main()
