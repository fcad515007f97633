"""What a bash recipe sets, as facts: variables, exports, the commands it runs and their flags.

A value is None where the script alone does not decide it; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..schema.arguments import canonical

_SERVERS = (
    ("vllm", "serve"),
    ("sglang", "serve"),
    ("trtllm-serve",),
    ("sglang.launch_server",),
    ("vllm.entrypoints.openai.api_server",),
    ("atom.entrypoints.openai_server",),
    ("atom.entrypoints.openai.api_server",),
)
_FLAG = re.compile(r"-{1,2}[A-Za-z][\w.-]*")


@dataclass(frozen=True, slots=True)
class Fact:
    """One named value and the line (from 1) that sets it; a bare flag's value is empty."""

    name: str
    value: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command or element of an array.

    `certain` is False where it is there only perhaps. `flag` is the name in a `--name=…` whose value is
    unknown. `loose` marks an unknown that may be any number of words, further flags among them.
    """

    text: str | None
    line: int
    certain: bool = True
    flag: str = ""
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment as written: its value where it is literal, and whether it is exported on the spot."""

    name: str
    value: str | None
    line: int
    exported: bool


@dataclass(frozen=True, slots=True)
class Command:
    """One command that runs (perhaps, unless `certain`): its words, and variables set for it alone."""

    words: tuple[Word, ...]
    env: tuple[Fact, ...]
    line: int
    certain: bool = True

    @property
    def flags(self) -> dict[str, Fact]:
        """Its flags by canonical name (`max-num-seqs`), the last one where one is repeated."""
        return {canonical(fact.name.lstrip("-")): fact for fact in read_flags(self.words, self.certain)}

    @property
    def serves(self) -> bool:
        """Whether it starts an engine's server."""
        texts = [word.text or "" for word in self.words]
        texts = [text.rpartition("/")[2] for text in texts]
        return any(_contains(texts, server) for server in _SERVERS)


@dataclass(frozen=True, slots=True)
class Heredoc:
    """Text that a script hands to a command, mostly a config file: None where it holds unknown values."""

    text: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything one run of a script sets, in the order it runs."""

    variables: Mapping[str, Fact]
    exports: Mapping[str, Fact]
    commands: tuple[Command, ...]
    heredocs: tuple[Heredoc, ...] = field(default=())

    @property
    def server(self) -> Command | None:
        """The command that starts the engine; None without one, or where it is not known which of several."""
        serving = [command for command in self.commands if command.serves]
        certain = [command for command in serving if command.certain]
        found = certain or serving
        return found[0] if len(found) == 1 else None

    def flag(self, name: str) -> Fact | None:
        """A flag of the server, `-` and `_` being the same; without a server, of any command that has it."""
        commands: Iterable[Command] = [self.server] if self.server else self.commands
        found = [command.flags[canonical(name)] for command in commands if canonical(name) in command.flags]
        return found[-1] if found else None


def _contains(texts: list[str], wanted: tuple[str, ...]) -> bool:
    return any(tuple(texts[index : index + len(wanted)]) == wanted for index in range(len(texts)))


def read_flags(words: Iterable[Word], certain: bool = True) -> list[Fact]:
    """The flags among words: `--name value`, `--name=value`, `--name`; several values joined by a blank."""
    facts: list[Fact] = []
    name: Word | None = None
    values: list[Word] = []
    for word in [*words, None]:
        if word is not None and not word.flag and _FLAG.match(word.text or "") is None:
            values.append(word)
            continue
        if name is not None:
            facts.append(_flag(name, values, certain))
        name, values = word, []
    return facts


def _flag(name: Word, values: list[Word], certain: bool) -> Fact:
    head, equals, tail = (name.flag or name.text or "").partition("=")
    if not certain or not name.certain or name.flag:
        return Fact(head, None, name.line)
    if equals:
        return Fact(head, tail, name.line)
    if len(values) > 1 and values[1].loose:
        # What follows one value and may hold anything is taken for further flags, not for more values.
        values = values[:1]
    texts = [word.text for word in values if word.certain]
    known = len(texts) == len(values) and None not in texts
    return Fact(head, " ".join(text or "" for text in texts) if known else None, name.line)
