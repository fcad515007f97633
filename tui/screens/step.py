"""What every step has in common: top line, banner, footer, keys, help and the ways forward and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, TextArea

from ..widgets.banner import Banner
from ..widgets.topbar import TopBar

if TYPE_CHECKING:
    from ..app import BenchscribeApp


# From this width on there is room for everything, as in the app's breakpoints.
NARROW = 104


class StepScreen(Screen[None]):
    """One step. Subclasses compose `body`, show outcomes and refill their form from the model."""

    AUTO_FOCUS = None
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1,question_mark", "app.help", "help", key_display="f1"),
        Binding("escape", "back", "back"),
        # Text areas have uses of their own for these.
        Binding("f6", "flip", "the other pane", show=False, priority=True),
        Binding("f7", "reload", "reload", show=False, priority=True),
        Binding("f8", "keep", "keep", show=False, priority=True),
    ]
    step_name: ClassVar[str] = ""
    title_text: str = ""
    HELP_TEXT: ClassVar[str] = ""

    @property
    def bench(self) -> BenchscribeApp:
        """The app, by its own type."""
        return cast("BenchscribeApp", self.app)

    @property
    def banner(self) -> Banner:
        return self.query_one(Banner)

    def compose(self) -> ComposeResult:
        yield TopBar(self.title_text)
        yield Banner()
        yield from self.body()
        yield Footer(show_command_palette=True)

    def body(self) -> ComposeResult:
        """The step's own widgets."""
        yield from ()

    def on_mount(self) -> None:
        self.set_class(self.app.has_class("-linear"), "-linear")
        self.show_bar()

    def on_screen_resume(self) -> None:
        self.set_class(self.app.has_class("-linear"), "-linear")
        self.show_bar()
        # A step that one comes back to shows its first pane.
        if self.has_class("-flipped"):
            self.action_flip()

    def on_resize(self) -> None:
        """Where the width is scarce, the footer's keys come first; ^p works all the same."""
        self.query_one(Footer).show_command_palette = self.size.width >= NARROW

    def show_bar(self) -> None:
        """The top line anew."""
        self.query_one(TopBar).show(self.bench.place, self.bench.draft_note)

    def show_outcome(self) -> None:
        """A new plan, or what stands in its way."""

    def refill(self) -> None:
        """The form anew from the model: after undo, a fix, a reload."""

    def from_thread(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Call back from a worker, unless the screen or the app has been left meanwhile."""

        def call() -> None:
            if self.is_attached and self.app.is_running:
                callback(*arguments)

        if self.app.is_running:
            self.app.call_from_thread(call)

    def commands(self) -> Iterable[SystemCommand]:
        """What the palette offers here."""
        yield from ()

    def mark_section(self, titles: Mapping[str, str]) -> None:
        """Mark the title of the section one is in; done here, for styles of a whole form are slow to change."""
        inside = self.focused.ancestors_with_self if self.focused is not None else ()
        for name, title in titles.items():
            section = self.query_one(f"#{name}")
            is_here = section in inside
            shown = Content.styled(f"▸ {title}", "bold $accent") if is_here else Content(title)
            section.border_title = shown

    def is_typing(self) -> bool:
        """Whether letters go into a field."""
        return isinstance(self.focused, (Input, TextArea))

    def warn_of_disk(self, names: str) -> None:
        """Files changed underneath."""
        self.banner.say(
            f"⚠ changed on disk: {names}   F7 reload · F8 keep what was read (a changed file is never overwritten)"
        )

    def action_reload(self) -> None:
        self.bench.reload()

    def action_flip(self) -> None:
        """To the other pane, where there is one."""

    def action_keep(self) -> None:
        self.bench.keep_disk()

    def action_back(self) -> None:
        self.bench.go_home()
