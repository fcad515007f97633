"""Home: where the branch stands, and what there is to do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ...drafts import Draft
from ...plan import interrupted
from ...schema.errors import BenchscribeError
from ..jobs import JOBS, Job
from ..model import SpecModel
from ..standing import Fact, standing
from ..text import literal
from .step import StepScreen

SIGN_STYLES = {"✓": "$text-success", "⚠": "$text-warning", "✗": "$text-error"}


class JobList(OptionList):
    """What there is to do; the shortcut letters work too."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "choose"),
        Binding("g", "first", "first", show=False),
        Binding("G", "last", "last", show=False),
        Binding("down,j", "cursor_down", "down", show=False),
        Binding("up", "cursor_up", "up", show=False),
    ]


class HomeScreen(StepScreen):
    """The first screen; every other one leads back here."""

    CSS_PATH = "home.tcss"
    step_name = "home"
    title_text = "Home"
    HELP_TEXT = (
        "Choose what to do. Benchscribe takes your decisions step by step, derives what follows from them, shows every "
        "byte before it is written, and writes all files or none.\n\n"
        "Whatever you do is kept as a draft, here and in a form `benchscribe --from-spec` takes."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(job.key, f"job('{job.name}')", job.title, show=False) for job in JOBS),
        Binding("x", "drop_draft", "drop draft"),
        Binding("escape", "nothing", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._drafts: dict[str, Draft] = {}
        self._recent: dict[str, Path] = {}

    def body(self) -> ComposeResult:
        with Horizontal(id="home"):
            yield JobList(id="jobs", markup=False)
            with VerticalScroll(id="standing", can_focus=False):
                yield Static("looking…", id="facts", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#jobs").border_title = "What to do"
        self.query_one("#standing").border_title = "Where you are"
        self._fill_jobs()
        self.query_one(JobList).focus()
        self._look()
        if interrupted(self.bench.checkout.git):
            self.banner.say("⚠ an earlier write was interrupted; the next write will finish or undo it")

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self._fill_jobs()
        self._look()

    def refill(self) -> None:
        self._fill_jobs()
        self._look()

    def _fill_jobs(self) -> None:
        jobs = self.query_one(JobList)
        at = jobs.highlighted
        kept = jobs.get_option_at_index(at).id if at is not None and at < jobs.option_count else None
        held = {name: draft.id for name, draft in self._drafts.items()}.get(kept or "")
        root = self.bench.checkout.git_root
        self._drafts = {f"draft-{at}": draft for at, draft in enumerate(self.bench.drafts.of(root)[:8])}
        self._recent = {f"recent-{at}": path for at, path in enumerate(self.bench.drafts.recent(root)[:6])}
        options: list[Option | None] = []
        if self._drafts:
            options.append(_heading("Go on with a draft"))
            options += [
                Option(_draft_text(draft, self.bench.clock(draft.saved_at, "%d %b %H:%M")), id=name)
                for name, draft in self._drafts.items()
            ]
            options.append(_heading("Start"))
        options += [Option(_job_text(job), id=job.name) for job in JOBS]
        if self._recent:
            options.append(_heading("Recent specs"))
            options += [Option(Content(f"  {literal(_short(path))}"), id=name) for name, path in self._recent.items()]
        jobs.set_options(options)
        names = [option.id if option is not None else None for option in options]
        # The draft just left comes first, then what was highlighted, then the first draft or job.
        wanted = (self.bench.draft_id, held)
        found = next((name for one in wanted for name, draft in self._drafts.items() if draft.id == one), kept)
        jobs.highlighted = names.index(found) if found in names and found else 1 if self._drafts else 0

    @work(thread=True, exclusive=True, group="standing")
    def _look(self) -> None:
        try:
            facts = standing(self.bench.checkout)
        except BenchscribeError as error:
            facts = [Fact("checkout", error.what, "✗", error.hint)]
        self.from_thread(self._show_facts, facts)

    def _show_facts(self, facts: list[Fact]) -> None:
        parts: list[object] = []
        for fact in facts:
            parts += [(f"{fact.sign} ", f"bold {SIGN_STYLES.get(fact.sign, '')}"), (f"{fact.name:<12}", "$text-muted")]
            parts += [(literal(fact.text), "bold" if fact.sign in "⚠✗" else ""), "\n"]
            if fact.detail:
                parts.append((f"{'':14}{literal(fact.detail)}\n", "$text-muted"))
        self.query_one("#facts", Static).update(Content.assemble(*parts))  # type: ignore[arg-type]
        self.show_bar()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        name = event.option.id or ""
        if name in self._drafts:
            self.bench.resume(self._drafts[name])
        elif name in self._recent:
            self._open_spec(self._recent[name])
        else:
            self.action_job(name)

    def _open_spec(self, path: Path) -> None:
        try:
            model = SpecModel.read(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, BenchscribeError) as error:
            self.notify(f"{path}: {error}", title="The spec cannot be opened", severity="error", markup=False)
            return
        self.bench.begin(model)
        self.bench.go("edit" if not model.is_empty else "changelog")

    def action_job(self, name: str) -> None:
        job = next((job for job in JOBS if job.name == name), None)
        if job is not None:
            job.start(self.bench)

    def action_drop_draft(self) -> None:
        """Throw the highlighted draft away, once that is confirmed."""
        from .ask import AskScreen

        draft = self._highlighted_draft
        if draft is None:
            return

        def answered(answer: str | None) -> None:
            if answer == "drop":
                self.bench.drafts.drop(draft.id)
                self._fill_jobs()

        choices = [("d", "Throw it away", "drop"), ("escape", "Keep it", "keep")]
        self.app.push_screen(AskScreen("Throw this draft away?", _draft_text(draft, "").plain, choices), answered)

    @property
    def _highlighted_draft(self) -> Draft | None:
        jobs = self.query_one(JobList)
        at = jobs.highlighted
        name = jobs.get_option_at_index(at).id if at is not None and at < jobs.option_count else None
        return self._drafts.get(name or "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only a draft can be thrown away."""
        return action != "drop_draft" or (self.is_mounted and self._highlighted_draft is not None)

    def on_option_list_option_highlighted(self) -> None:
        self.refresh_bindings()

    def action_nothing(self) -> None:
        """Home is the last one back."""

    def commands(self) -> Iterable[SystemCommand]:
        for job in JOBS:
            yield SystemCommand(job.title, job.about, lambda job=job: job.start(self.bench))


def _heading(text: str) -> Option:
    return Option(Content.styled(text, "bold $text-muted"), disabled=True)


def _job_text(job: Job) -> Content:
    return Content.assemble(
        (f"{job.key} ", "bold $accent"), (job.title, "bold"), "\n", (f"  {job.about}", "$text-muted")
    )


def _draft_text(draft: Draft, when: str) -> Content:
    keys = [line.partition("config-key:")[2].strip() for line in draft.spec.splitlines() if "config-key:" in line]
    name = literal(keys[0]) if keys else "no key yet"
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return Content.assemble(
        ("● ", "bold $accent"), (f"{name}{more}", "bold"), "\n", (f"  {when} on {literal(draft.branch)}", "$text-muted")
    )


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
