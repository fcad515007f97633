"""The Textual app: one checkout, one spec, one plan, and the screens that look at them."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ..drafts import Draft, Drafts, new_id
from ..plan import Plan
from ..schema.errors import BenchscribeError
from ..schema.results import Fix
from .disk import DiskWatch
from .model import SpecModel
from .palette import palette
from .planning import WatchedCheckout
from .replanning import ReplanningApp
from .themes import CONTRAST, DARK, LIGHT, THEMES

if TYPE_CHECKING:
    from .screens.step import StepScreen

# Each widget's own look stands beside it.
STYLES_OF_WIDGETS = sorted(Path(__file__).parent.glob("widgets/*.tcss"))
STEPS = ("pick", "edit", "changelog", "review", "done")
DISK_SECONDS = 1.0
QUIET_SECONDS = 1.5


class BenchscribeApp(ReplanningApp):
    """Walks an author from an idea to a commit. Holds no domain logic: it fills in a spec and shows its plan."""

    TITLE = "benchscribe"
    CSS_PATH: ClassVar[Any] = ["app.tcss", *STYLES_OF_WIDGETS]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (104, "-wide")]  # noqa: RUF012 - as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", "quit", show=False, priority=True),
        Binding("ctrl+c", "leave", "quit", show=False),
        Binding("f1", "help", "help", show=False),
        Binding("ctrl+z", "undo", "undo", show=False, priority=True),
        Binding("ctrl+y", "redo", "redo", show=False, priority=True),
    ]
    COMMAND_PALETTE_DISPLAY = "^p"

    def __init__(
        self, checkout: WatchedCheckout, *, base: str = "", demo: bool = False, drafts: Drafts | None = None
    ) -> None:
        super().__init__(checkout)
        self.base = base
        self.demo = demo
        self.drafts = drafts if drafts is not None else Drafts()
        self.draft_id = new_id()
        self.draft_note = ""
        self.written: list[str] = []
        self.written_plan: Plan | None = None
        self.committed = ""
        self.accepted_warnings: set[Any] = set()
        self._branch = ""
        self._steps: dict[str, StepScreen] = {}
        self.name_by_hand = False
        self.job = ""

    # Life

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = os.environ.get("BENCHSCRIBE_THEME", "") or DARK
        if self.theme not in (DARK, LIGHT, CONTRAST) and self.theme not in self.available_themes:
            self.theme = DARK
        if os.environ.get("BENCHSCRIBE_LINEAR"):
            self.action_linear()
        self._listen()
        self._branch = self.checkout.git.state().branch or "detached HEAD"
        from .screens.home import HomeScreen

        self.push_screen(HomeScreen())
        self.set_interval(DISK_SECONDS, self._look_at_disk)
        self.set_timer(QUIET_SECONDS, _collect_less)

    def _listen(self) -> None:
        self.model.listeners = [self._changed]

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.key_time = time.perf_counter()
        await super().on_event(event)

    @property
    def branch(self) -> str:
        """The branch's name, as it was at the start or last reload."""
        return self._branch

    @property
    def place(self) -> str:
        """Layout, branch and base, for the top line."""
        try:
            base = self.checkout.base.name
        except BenchscribeError:
            base = "no base"
        kind = "demo" if self.demo else self.checkout.layout.name
        return f"{kind} · {self._branch} → {base}"

    # The spec and its plan

    def _changed(self) -> None:
        """The spec changed: keep it as a draft, plan it anew."""
        self._typed_at = self.key_time or time.perf_counter()
        self.save_draft()
        self.replan()
        self._tell_bar()

    # Drafts

    def save_draft(self) -> None:
        """Keep the spec and where its author is; a disk that refuses is told, never in the way."""
        if self.model.is_empty:
            return
        name = self.step.step_name if self.step is not None else "edit"
        state = {"step": name, "name_by_hand": self.name_by_hand}
        draft = Draft(self.draft_id, str(self.checkout.git_root), self._branch, self.model.text, time.time(), state)
        try:
            self.drafts.save(draft)
            self.draft_note = f"● draft saved {self.clock(draft.saved_at)}"
        except BenchscribeError as error:
            self.draft_note = "○ draft not saved"
            self.notify(error.what, title="The draft could not be saved", severity="warning", markup=False)

    @staticmethod
    def clock(moment: float, form: str = "%H:%M") -> str:
        """A moment as people read it."""
        return time.strftime(form, time.localtime(moment))

    def resume(self, draft: Draft) -> None:
        """Go on with a draft where its author was; the one at hand keeps its undo history."""
        if draft.id == self.draft_id and draft.spec == self.model.text:
            self.go("edit" if "edit" in self._steps else str(draft.state.get("step", "edit")))
            return
        self.begin(SpecModel.read(draft.spec), draft_id=draft.id)
        self.name_by_hand = bool(draft.state.get("name_by_hand"))
        step = str(draft.state.get("step", "edit"))
        self.go(step if step in ("edit", "changelog", "review") else "edit")

    def begin(self, model: SpecModel, *, draft_id: str = "") -> None:
        """Start on another spec: new steps, a draft of its own."""
        for name in list(self._steps):
            self.uninstall_screen(f"step-{name}")
        self._steps.clear()
        self.model = model
        self.model.revision += 1 + (self.outcome.revision if self.outcome is not None else 0)
        self.draft_id = draft_id or new_id()
        self.draft_note = ""
        self.job = ""
        self.outcome, self.good_outcome, self.written = None, None, []
        self.name_by_hand = False
        self.accepted_warnings.clear()
        self._listen()
        self.replan()

    # Steps

    def go(self, name: str) -> None:
        """Show a step. A step once seen is as it was left."""
        screen = self._steps.get(name)
        if screen is None:
            screen = self._make_step(name)
            self._steps[name] = screen
            self.install_screen(screen, f"step-{name}")
        if self.screen in self._steps.values():
            self.switch_screen(f"step-{name}")
        else:
            self.push_screen(f"step-{name}")

    def _make_step(self, name: str) -> StepScreen:
        from .screens.changelog import ChangelogScreen
        from .screens.done import DoneScreen
        from .screens.edit import EditScreen
        from .screens.review import ReviewScreen

        kinds = {"edit": EditScreen, "changelog": ChangelogScreen, "review": ReviewScreen, "done": DoneScreen}
        return kinds[name]()

    def go_home(self) -> None:
        """Back to Home; what was being done stays as a draft."""
        while len(self.screen_stack) > 2:
            self.pop_screen()
        self.model.end_run()

    def _tell_bar(self) -> None:
        if (step := self.step) is not None:
            step.show_bar()

    # Undo, help, quitting

    def action_undo(self) -> None:
        if self._own_undo("undo") or not self.model.undo():
            return
        self._refill()

    def action_redo(self) -> None:
        if self._own_undo("redo") or not self.model.redo():
            return
        self._refill()

    def _own_undo(self, what: str) -> bool:
        """A text area undoes its own typing first."""
        from textual.widgets import TextArea

        focused = self.focused
        if isinstance(focused, TextArea) and not focused.read_only and len(self.screen_stack) > 1:
            text = focused.text
            getattr(focused, what)()
            return focused.text != text
        return False

    def _refill(self) -> None:
        if (step := self.step) is not None:
            step.refill()

    def action_help(self) -> None:
        from .screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    async def action_leave(self) -> None:
        """Quit; work that was neither written nor saved is asked about."""
        from .screens.ask import AskScreen

        if not self.model.unsaved:
            self.exit(0)
            return
        if isinstance(self.screen, AskScreen):
            return
        choices = [
            ("k", "Keep it as a draft and quit", "keep"),
            ("d", "Throw it away and quit", "drop"),
            ("escape", "Stay", "stay"),
        ]
        question = "There is a spec that has been neither written nor saved."
        self.push_screen(AskScreen("Quit?", question, choices), self._leave)

    def _leave(self, answer: str | None) -> None:
        if answer == "drop":
            self.drafts.drop(self.draft_id)
        if answer in ("keep", "drop"):
            self.exit(0)

    # The disk underneath

    def _look_at_disk(self) -> None:
        changed = self.disk.changed()
        if changed and (step := self.step) is not None:
            names = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
            step.warn_of_disk(names)

    def reload(self) -> None:
        """Read the checkout again and plan the same spec on it."""
        try:
            checkout = WatchedCheckout.open(self.checkout.git_root / self.checkout.layout.project_root, base=self.base)
        except BenchscribeError as error:
            self.notify(str(error), title="The checkout cannot be read", severity="error", markup=False)
            return
        assert isinstance(checkout, WatchedCheckout)
        self.checkout = checkout
        self._branch = checkout.git.state().branch or "detached HEAD"
        self.disk = DiskWatch(checkout)
        self.model.revision += 1
        self.replan()
        if (step := self.step) is not None:
            step.banner.say("")
            step.refill()
            step.show_bar()

    def keep_disk(self) -> None:
        """Go on with what was read; a write over a changed file is refused all the same."""
        self.disk.accept()
        if (step := self.step) is not None:
            step.banner.say("")

    # Writing

    def wrote(self, plan: Plan, written: list[str]) -> None:
        """All files are written: remember the spec, read the checkout again, show what was done."""
        self.written = written
        self.written_plan = plan
        self.committed = ""
        self.drafts.drop(self.draft_id)
        self.draft_note = ""
        try:
            name = str(self.model.data["changes"][0].get("config-key", "spec"))
            self.drafts.remember(self.drafts.save_spec(name, self.model.text), self.checkout.git_root)
        except (BenchscribeError, LookupError):
            pass
        self.model.mark_saved()
        self.go("done")
        self.call_later(self.reload)

    # Fixes

    def apply_fix(self, fix: Fix) -> bool:
        """Lay a finding's fix over the spec; False where it is none that a spec can take."""
        from .fixes import fixed

        data = fixed(self.model.data, fix)
        if data is None:
            return False
        self.model.replace(data)
        self._refill()
        return True

    # Themes and the palette

    def action_linear(self) -> None:
        """One column without frames, for screen readers and very small terminals."""
        self.toggle_class("-linear")
        for screen in self.screen_stack:
            screen.set_class(self.has_class("-linear"), "-linear")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        return palette(self, screen)


def _collect_less() -> None:
    """What stands at the start stays, so the collector need not walk it on every tenth key (a pause of 80 ms)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def run(repo: Path, base: str, demo: bool) -> int:
    """Open the app on the checkout that holds `repo`; the exit code of the process.

    Raises StateError where there is no such checkout.
    """
    checkout = WatchedCheckout.open(repo, base=base)
    assert isinstance(checkout, WatchedCheckout)
    # A command runs without collection; a session that lasts hours needs it.
    gc.enable()
    # Planning runs beside the screen: a shorter turn for each keeps keys quick.
    sys.setswitchinterval(0.001)
    return BenchscribeApp(checkout, base=base, demo=demo).run() or 0
