"""Done: what was written, and what is left to do with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ...plan.branch import read_branch
from ...plan.pull_requests import PullRequest, pull_request
from ...schema.errors import BenchscribeError
from ..editor import open_in_editor
from ..saving import save_spec
from ..text import lines_of, literal
from .home import JobList
from .step import StepScreen

ACTIONS = (
    ("c", "commit", "Commit now", "exactly these files; the message is yours to edit"),
    ("t", "title", "Copy the pull-request title", "both languages, to the clipboard"),
    ("b", "body", "Copy the pull-request body", "summary, tables, 中文, checklist"),
    ("s", "save", "Save the spec", "as a file that --from-spec takes"),
    ("e", "editor", "Open in $EDITOR", "the first of the files written"),
    ("h", "home", "Home", "the next thing"),
)


class DoneScreen(StepScreen):
    """Everything is on disk; the rest is up to the author."""

    CSS_PATH = "done.tcss"
    step_name = "done"
    title_text = "Done"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"do('{name}')", title, show=False) for key, name, title, _ in ACTIONS),
        Binding("f6", "flip", "the text", priority=True),
    ]
    HELP_TEXT = (
        "The files are written, all of them. Commit them here, or go on by hand: nothing else is waiting.\n\n"
        "Copying goes through the terminal (OSC 52), so it works over ssh where the terminal allows it; what was copied "
        "stands on the right to be selected by hand where it does not."
    )

    def __init__(self) -> None:
        super().__init__()
        self._request: PullRequest | None = None
        self._trouble = ""

    def body(self) -> ComposeResult:
        with Horizontal(classes="panes"):
            yield JobList(id="actions", markup=False, classes="pane main")
            with VerticalScroll(classes="pane side", id="request"):
                yield Static("", id="written", markup=False)
                yield Static("", id="request-text", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        actions = self.query_one("#actions", OptionList)
        actions.border_title = "Written"
        self._fill_actions()
        actions.focus()
        self.query_one("#request").border_title = "Pull request"
        self._show()

    def _fill_actions(self) -> None:
        """What is left to do; a commit that is made is told of, not offered again."""
        actions = self.query_one("#actions", OptionList)
        at = actions.highlighted
        done = self.bench.committed
        told = Content.assemble(("✓ ", "$text-success bold"), ("Committed", "bold"), f"\n  {literal(done)}")
        actions.set_options(
            Option(told, disabled=True)
            if name == "commit" and done
            else Option(
                Content.assemble((f"{key} ", "bold $accent"), (title, "bold"), "\n", (f"  {about}", "$text-muted")),
                id=name,
            )
            for key, name, title, about in ACTIONS
        )
        actions.highlighted = max(at or 0, 1 if done else 0)

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self.is_mounted:
            self._fill_actions()
            self._show()

    def refill(self) -> None:
        self._show()

    def _show(self) -> None:
        written = self.bench.written
        plan = self.bench.written_plan
        counts = {one.path: one for one in plan.files} if plan is not None else {}
        parts: list[object] = [(f"{len(written)} file{'s' if len(written) != 1 else ''} written\n", "bold")]
        for path in written:
            count = counts.get(path)
            numbers = f"  +{count.added} −{count.removed}" if count is not None else ""
            parts += [("✓\u00a0", "$text-success bold"), literal(path), (numbers, "$text-muted"), "\n"]
        self.query_one("#written", Static).update(Content.assemble(*parts))  # type: ignore[arg-type]
        self._read_request()

    @work(thread=True, exclusive=True, group="request")
    def _read_request(self) -> None:
        plan = self.bench.written_plan
        if plan is None:
            return
        try:
            from ..planning import WatchedCheckout

            fresh = WatchedCheckout.open(self.bench.checkout.git_root, base=self.bench.base)
            request: PullRequest | None = pull_request(read_branch(fresh), spec=plan.spec, number=plan.pull_request)
            trouble = ""
        except BenchscribeError as error:
            request, trouble = None, error.what
        self.from_thread(self._show_request, request, trouble)

    def _show_request(self, request: PullRequest | None, trouble: str) -> None:
        self._request, self._trouble = request, trouble
        text = self.query_one("#request-text", Static)
        if request is None:
            text.update(literal(trouble))
            return
        body = "\n".join(lines_of(request.body))
        text.update(
            Content.assemble(
                ("\nTitle\n", "$text-muted"), (f"{literal(request.title)}\n", "bold"), ("\nBody\n", "$text-muted"), body
            )
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_do(event.option.id or "")

    def action_do(self, name: str) -> None:
        if name == "commit" and not self.bench.committed:
            from .commit import CommitScreen

            self.app.push_screen(CommitScreen(self.bench.written_plan))
        elif name in ("title", "body"):
            self._copy(name)
        elif name == "save":
            save_spec(self.bench)
        elif name == "editor":
            self._open()
        elif name == "home":
            self.bench.go_home()

    def _copy(self, name: str) -> None:
        request = self._request
        if request is None:
            self.notify(self._trouble or "still reading the branch", severity="warning", markup=False)
            return
        self.app.copy_to_clipboard(request.title if name == "title" else request.body)
        self.notify(f"The pull request's {name} is on the clipboard.", markup=False)

    def _open(self) -> None:
        if self.bench.written:
            open_in_editor(self.bench, self.bench.written[0])

    def action_flip(self) -> None:
        """To the text and back."""
        request = self.query_one("#request")
        if self.focused is request:
            self.remove_class("-flipped")
            self.call_after_refresh(self.query_one("#actions").focus)
        else:
            self.add_class("-flipped")
            self.call_after_refresh(request.focus)

    def action_back(self) -> None:
        self.bench.go_home()

    def commands(self) -> Iterable[SystemCommand]:
        for _, name, title, about in ACTIONS:
            yield SystemCommand(title, about, lambda name=name: self.action_do(name))
