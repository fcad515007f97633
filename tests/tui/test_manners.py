"""What a first-time user stumbled over: no key destroys work, nothing that was said goes lost, every way leads on."""

from __future__ import annotations

import subprocess
from pathlib import Path

from keyboard import Hands, World, run

from benchscribe.demo.sample import prepared_spec
from benchscribe.tui.model import SpecModel
from benchscribe.tui.screens.ask import AskScreen

KEY = "glm5.2-fp4-mi355x-atom-agentic-mtp"
OTHER = "gptoss-fp4-mi355x-atom"
IMAGE = "rocm/atom-dev:nightly_202610141730"


async def edit(hands: Hands, key: str = KEY) -> None:
    await hands.press("c")
    await hands.type(key)
    await hands.press("enter")
    await hands.until(lambda: hands.step == "edit")


async def written(hands: Hands) -> None:
    """An image, written, with its commit at hand."""
    await edit(hands)
    await hands.press("f")
    await hands.type(IMAGE)
    await hands.press("ctrl+s", "ctrl+s")
    await hands.planned()
    await hands.press_write()
    await hands.until(lambda: hands.step == "done")
    await hands.press("c")
    await hands.until(lambda: hands.step == "commit" and bool(hands.app.screen.text.strip()))


def rows(hands: Hands) -> list[list[int]]:
    return [row["conc-list"] for row in hands.app.screen.query_one("SearchSpace").rows]


def test_the_first_key_on_the_edit_step_changes_nothing(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await edit(hands)
            before = hands.app.model.text
            await hands.press("question_mark")
            assert type(hands.app.screen).__name__ == "HelpScreen"
            await hands.press("escape", "z", "q", "7")
            assert hands.app.model.text == before

    run(story())


def test_a_letter_in_a_closed_list_chooses_and_drops_no_row(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await edit(hands)
            await hands.press("enter")
            editor = hands.app.screen.query_one("SearchSpace").editor
            count = len(rows(hands))
            editor.field("kv-offloading").focus()
            await hands.press("d")
            assert editor.field("kv-offloading").text == "dram"
            editor.field("spec-decoding").focus()
            await hands.press("d")
            assert editor.field("spec-decoding").text == "draft_model"
            await hands.press("a")
            assert len(rows(hands)) == count
            # Back in the table the same letter drops the row.
            await hands.press("escape", "d")
            assert len(rows(hands)) == count - 1

    run(story())


def test_arrows_lead_out_of_a_table(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await edit(hands)
            await hands.press("up")
            assert hands.app.focused is hands.app.screen.field("dram-utilization").answer
            await hands.press("tab", "G", "down")
            assert getattr(hands.app.focused, "id", "") == "rules"

    run(story())


def test_throwing_a_draft_away_is_asked_about(world: World) -> None:
    root = world.demo()

    async def story() -> None:
        async with world.open(root) as hands:
            await edit(hands)
            await hands.press("f")
            await hands.type(IMAGE)
            await hands.press("escape", "escape")
            assert len(world.drafts.of(root)) == 1
            await hands.press("x")
            assert isinstance(hands.app.screen, AskScreen)
            await hands.press("escape")
            assert len(world.drafts.of(root)) == 1
            await hands.press("x", "d")
            assert not world.drafts.of(root)
            # Anywhere but on a draft the key means nothing.
            await hands.press("x")
            assert not isinstance(hands.app.screen, AskScreen)

    run(story())


def test_home_and_back_keeps_the_undo_history(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await edit(hands)
            await hands.press("f")
            await hands.type("r")
            # Out of the field first, then out of the step.
            await hands.press("escape")
            assert getattr(hands.app.focused, "id", "") == "rows"
            await hands.press("escape")
            await hands.until(lambda: hands.step == "home")
            await hands.press("enter")
            await hands.until(lambda: hands.step == "edit")
            # What is typed by mistake now is put behind, and can be taken back.
            await hands.press("ctrl+z")
            assert "set" not in hands.app.model.data["changes"][0]

    run(story())


def own_entry(root: Path) -> None:
    """The branch already changes a key and says so, with a line of its author's own."""
    master = root / "inferencex-e2e" / "configs" / "amd-master.yaml"
    text = master.read_text()
    at = text.index(f"{OTHER}:")
    start = text.index("image: ", at) + len("image: ")
    master.write_text(text[:start] + "rocm/atom-dev:nightly_202611011200" + text[text.index("\n", start) :])
    changelog = root / "inferencex-e2e" / "perf-changelog.yaml"
    entry = (
        f"\n- config-keys:\n    - {OTHER}\n  scenario-type:\n    - fixed-seq-len\n  description:\n"
        '    - "A line somebody wrote by hand."\n'
        "  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/4711\n"
    )
    changelog.write_text(changelog.read_text() + entry)
    subprocess.run(["git", "-C", str(root), "commit", "-qam", "mine"], check=True)


def test_a_second_change_on_the_branch_keeps_what_its_entry_said(world: World) -> None:
    root = world.demo()
    own_entry(root)

    async def story() -> None:
        async with world.open(root) as hands:
            await edit(hands)
            assert hands.app.model.data["changelog"] == {"notes": ["A line somebody wrote by hand."]}
            await hands.press("f")
            await hands.type(IMAGE)
            await hands.press("ctrl+s")
            await hands.planned()
            assert '"A line somebody wrote by hand."' in hands.app.good.entry
            assert not [one for one in hands.app.outcome.findings if one.rule == "entry-replaced"]
            # The number that an empty field means is the one the entry has.
            assert hands.app.screen._field("pr").answer.placeholder.startswith("4711")
            # Among the bytes, what the earlier entry already had is no news.
            shown = str(hands.app.screen.query_one("#tail-text").render()).splitlines()
            (kept,) = [line for line in shown if "A line somebody wrote" in line]
            (new,) = [line for line in shown if f"- {KEY}" in line]
            assert (kept[7], new[7]) == (" ", "+")
            # Dropped by hand, f2 on the finding brings the line back.
            await hands.press("n", "d")
            await hands.planned()
            (gone,) = [one for one in hands.app.outcome.findings if one.rule == "entry-replaced"]
            assert hands.app.apply_fix(gone.fix)
            assert hands.app.model.data["changelog"]["notes"] == ["A line somebody wrote by hand."]

    run(story())


def test_derived_lines_are_moved(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            hands.app.begin(SpecModel.read(prepared_spec().read_text(encoding="utf-8")))
            hands.app.go("changelog")
            await hands.until(lambda: hands.step == "changelog")
            await hands.planned()
            first, second, third = (line.id for line in hands.app.good.lines[:3])
            await hands.press("J")
            await hands.planned()
            assert [line.id for line in hands.app.good.lines[:3]] == [second, first, third]
            texts = [line.en for line in hands.app.good.lines[:2]]
            entry = hands.app.good.entry
            assert entry.index(texts[0]) < entry.index(texts[1])
            await hands.press("ctrl+z")
            await hands.planned()
            assert [line.id for line in hands.app.good.lines[:3]] == [first, second, third]
            assert "order" not in hands.app.model.data["changelog"]

    run(story())


def test_a_rule_is_added_for_the_arm_under_the_cursor(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            hands.app.begin(SpecModel.read(prepared_spec().read_text(encoding="utf-8")))
            hands.app.go("edit")
            await hands.until(lambda: hands.step == "edit")
            await hands.press("o", "down", "a")
            matches = [rule["match"] for rule in hands.app.screen.form.rules()]
            assert matches[0] == {"tp": 4, "dcp-size": 1, "conc": [1, 2]}
            assert matches[1] == {"tp": 4, "dcp-size": 1}

    run(story())


def test_base_shows_what_it_says_now(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await edit(hands)
            await hands.press("o", "g", "enter")
            editor = hands.app.screen.query_one("Overrides").editor
            shown = {area.field_name: str(area.query_one(".area-now").render()) for area in editor.query("YamlArea")}
            assert shown["env"].startswith("now: AITER_LOG_LEVEL: WARNING")
            assert "container_image: rocm/atom-dev@sha256:" in shown["patch"]

    run(story())


def test_a_tier_without_its_unit_is_told_at_its_field(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            hands.app.begin(SpecModel.read(prepared_spec().read_text(encoding="utf-8")))
            hands.app.go("edit")
            await hands.until(lambda: hands.step == "edit")
            await hands.press("r", "j", "enter")
            editor = hands.app.screen.query_one("SearchSpace").editor
            editor.field("tier").focus()
            await hands.press("ctrl+a", "ctrl+k")
            await hands.type("256")
            await hands.planned()
            said = str(editor.field("tier").query_one(".field-error").render())
            assert "'256' is not a size" in said and "256 GiB" in said

    run(story())


def test_after_the_commit_it_is_not_offered_again(world: World) -> None:
    root = world.demo()

    async def story() -> None:
        async with world.open(root) as hands:
            await written(hands)
            await hands.press("ctrl+s")
            await hands.until(lambda: hands.step == "done" and bool(hands.app.committed))
            await hands.press("c")
            assert hands.step == "done"
            await hands.press("escape")
            assert hands.step == "home"
            await hands.press("m")
            await hands.until(lambda: hands.step == "commit" and hands.app.screen._plan is not None)
            assert hands.app.screen.text.strip() == ""

    run(story())


def test_a_commit_whose_hook_takes_long_is_stopped(world: World) -> None:
    root = world.demo()
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho checking\nsleep 60\n")
    hook.chmod(0o755)

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout

    head = git("rev-parse", "HEAD")

    async def story() -> None:
        async with world.open(root) as hands:
            await written(hands)
            await hands.press("ctrl+s")
            await hands.until(lambda: "checking" in hands.app.screen._said)
            await hands.press("escape")
            await hands.until(lambda: not hands.app.screen._is_busy)
            assert "stopped before it was made" in str(hands.app.screen.banner.render())

    run(story())
    assert git("rev-parse", "HEAD") == head
    assert not list((root / ".git").glob("*.lock"))
    assert git("diff", "--cached", "--name-only").split() == [
        "inferencex-e2e/configs/amd-master.yaml",
        "inferencex-e2e/perf-changelog.yaml",
    ]
    hook.unlink()
    assert git("commit", "-qm", "by hand") == ""


def test_a_bump_starts_in_the_image_and_one_key_is_enough(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await hands.press("b")
            await hands.type(OTHER)
            await hands.press("ctrl+s")
            await hands.until(lambda: hands.step == "edit")
            await hands.type("rocm/atom-dev:nightly_202611011200")
            (change,) = hands.app.model.data["changes"]
            assert change["set"] == {"image": "rocm/atom-dev:nightly_202611011200"}

    run(story())


def test_arrows_change_no_answer_and_alt_walks_the_values(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await edit(hands)
            before = hands.app.model.text
            await hands.press("f", "down", "down", "up")
            assert hands.app.focused is hands.app.screen.field("model").answer
            assert hands.app.model.text == before
            await hands.press("alt+down")
            assert hands.app.model.text != before

    run(story())


def test_f2_shows_its_finding_before_it_applies_the_fix(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            hands.app.begin(SpecModel.read(prepared_spec().read_text(encoding="utf-8")))
            hands.app.go("review")
            await hands.until(lambda: hands.step == "review")
            await hands.planned()
            before = hands.app.model.text
            await hands.press("f2")
            follows = hands.app.screen.query_one("WhatFollows")
            assert hands.app.model.text == before
            assert follows.has_focus and follows.chosen.rule == "eval-coverage"
            await hands.press("f2")
            assert len(hands.app.model.data["changes"]) == 2

    run(story())


def test_the_bytes_take_the_focus_and_give_it_back(world: World) -> None:
    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await edit(hands)
            await hands.press("f")
            await hands.type(IMAGE)
            await hands.planned()
            await hands.press("f5")
            assert getattr(hands.app.focused, "id", "") == "bytes"
            await hands.press("f5")
            assert hands.app.focused is hands.app.screen.field("image").answer

    run(story())


def test_the_order_of_the_entry_stays_and_a_line_left_out_does_not_come_back_unseen(world: World) -> None:
    root = world.demo()

    async def first() -> None:
        async with world.open(root) as hands:
            hands.app.begin(SpecModel.read(prepared_spec().read_text(encoding="utf-8")))
            hands.app.go("changelog")
            await hands.until(lambda: hands.step == "changelog")
            await hands.planned()
            # The first line one down, what is now the third out.
            await hands.press("J")
            await hands.planned()
            await hands.press("down", "space", "ctrl+s")
            await hands.planned()
            await hands.press_write()
            await hands.until(lambda: hands.step == "done")

    async def second() -> None:
        async with world.open(root) as hands:
            await edit(hands)
            await hands.planned()
            changelog = hands.app.model.data["changelog"]
            ids = [line.id for line in hands.app.good.lines]
            assert changelog["order"] == [one for one in changelog["order"] if one in ids]
            assert ids[:2] == changelog["order"][:2]
            assert "router" in hands.app.good.lines[0].en and "Update the image" in hands.app.good.lines[1].en
            (told,) = [one for one in hands.app.outcome.findings if one.rule == "entry-line"]
            assert "'Add TP4 C1.'" in told.message
            assert hands.app.apply_fix(told.fix)
            await hands.planned()
            # With that the entry is exactly what stands there.
            assert hands.app.good.nothing_to_do

    run(first())
    run(second())


def test_keys_in_one_burst_reach_the_field_they_are_meant_for(world: World) -> None:
    """As a terminal delivers them that was busy for a moment: all at once."""

    async def story() -> None:
        async with world.open(world.demo()) as hands:
            await edit(hands)
            for key in (*"f", *"rocm/atom-dev:x1", "tab", *"amd/Other", "down", *"other", "escape", "escape"):
                hands._send(key)
            await hands.until(lambda: hands.step == "home")
            change = hands.app.model.data["changes"][0]
            assert change["set"] == {"image": "rocm/atom-dev:x1", "model": "amd/Other", "model-prefix": "other"}

    run(story())
