"""Claims on real pull requests: what people merged, and what we derive ourselves, against what they shipped."""

from __future__ import annotations

from pathlib import Path

from case_checkout import CHANGELOG, Case, cases, data_of

from benchscribe.checkout.layout import find_layout
from benchscribe.checkout.snapshot import Snapshot
from benchscribe.derive.claim_facts import KeyFacts
from benchscribe.derive.claims import Judgement, Verdict, judge_line
from benchscribe.derive.compare import compare
from benchscribe.derive.figures import CheckoutFigures
from benchscribe.derive.prose import derived_lines


class Texts:
    """Files in memory."""

    name = "the case"

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def read(self, path: str) -> bytes | None:
        text = self._texts.get(path)
        return None if text is None else text.encode()

    def names(self, folder: str) -> list[str]:
        start = f"{folder}/" if folder else ""
        below = (path.removeprefix(start) for path in self._texts if path.startswith(start))
        return sorted({path.partition("/")[0] for path in below})

    def has_folder(self, folder: str) -> bool:
        return any(path.startswith(f"{folder}/") for path in self._texts)


def side(shared: Path, case: Case, name: str) -> Snapshot:
    root = shared / "upstream/root"
    texts = {"perf-changelog.yaml": CHANGELOG, "configs/runners.yaml": (root / "configs/runners.yaml").read_text()}
    for curve in (root / "golden_al_distribution").iterdir():
        texts[f"golden_al_distribution/{curve.name}"] = curve.read_text()
    for file in ("configs/amd-master.yaml", "configs/nvidia-master.yaml"):
        blocks = [getattr(one, name) for one in case.configs if one.file == file]
        texts[file] = "".join(f"{block.rstrip()}\n" for block in blocks if block is not None)
    texts |= {one.file: text for one in case.recipes if (text := getattr(one, name)) is not None}
    files = Texts(texts)
    return Snapshot(files, find_layout(files))


def wrong(case: Case, lines: list[str], before: KeyFacts, after: KeyFacts) -> list[tuple[str, str]]:
    found: list[Judgement] = [one for line in lines for one in judge_line(line, before, after)]
    return [(case.name, one.claim.text) for one in found if one.verdict is Verdict.CONTRADICTED]


def test_of_sixty_merged_entries_one_claim_is_contradicted_and_it_is_wrong(shared: Path) -> None:
    """#2241 says DEP8 runs at 32, 196 and 228; its row has 64, 96, 112, 128, 144, 160, 176, 192, 224."""
    found = []
    for case in cases(shared):
        before, after = side(shared, case, "before"), side(shared, case, "after")
        for entry in data_of(case.changelog):
            keys = entry["config-keys"]
            lines = [str(line) for line in entry["description"]]
            found += wrong(case, lines, KeyFacts(before, keys), KeyFacts(after, keys))
    assert found == [("pr2241", "conc [32,64,96,128,160,192,196,224,228]")]


def test_our_own_prose_is_never_contradicted(shared: Path) -> None:
    found = []
    for case in cases(shared):
        before, after = side(shared, case, "before"), side(shared, case, "after")
        files = {one.file for one in (*case.configs, *case.recipes)}
        change = compare(before, after, files)
        keys = [key.key for key in change.remaining]
        lines = derived_lines(change, CheckoutFigures(after), None)
        for texts in ([line.en for line in lines], [line.zh for line in lines]):
            found += wrong(case, texts, KeyFacts(before, keys), KeyFacts(after, keys))
    assert found == []
