"""The command line: parse, call, print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from . import __version__

REPO = click.option(
    "--repo",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="A directory of the checkout.",
)
BASE = click.option("--base", default="", metavar="REF", help="Compare with the merge base of REF and HEAD.")
NUMBER = click.option(
    "--pr", "number", type=click.IntRange(min=1), default=None, metavar="N", help="The pull request's number."
)
FORMAT = click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text")


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="benchscribe")
@REPO
@click.option("--demo", is_flag=True, help="Work in a temporary copy of the embedded sample checkout.")
@click.option("--from-spec", "spec", metavar="FILE|-", default=None, help="Plan a spec and write it, without a screen.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
@click.option("--commit", is_flag=True, help="Commit what the spec wrote.")
@click.option("-s", "--signoff", is_flag=True, help="Add a Signed-off-by line to the commit.")
@NUMBER
@BASE
@FORMAT
@click.pass_context
def benchscribe(
    context: click.Context,
    repo: Path | None,
    demo: bool,
    spec: str | None,
    dry_run: bool,
    commit: bool,
    signoff: bool,
    number: int | None,
    base: str,
    output_format: str,
) -> None:
    """Add and retune benchmark recipes: config, recipe and changelog kept consistent, byte for byte.

    Without a command and without --from-spec: the screen.
    """
    context.obj = directory = repo or Path()
    if demo:
        directory = _demo(repo)
        context.obj = directory
    if context.invoked_subcommand is not None:
        _refuse_misplaced(context)
        return
    if spec is None and not demo and (commit or signoff or dry_run or number is not None):
        raise click.UsageError("--commit, --signoff, --dry-run and --pr go with --from-spec FILE")
    if spec is None and not dry_run and output_format == "text" and sys.stdin.isatty() and sys.stdout.isatty():
        from .tui.app import run as run_tui

        context.exit(run_tui(directory, base, demo))
    if spec is None and demo:
        from .demo.sample import prepared_spec

        spec = str(prepared_spec())
    if spec is None:
        click.echo(context.get_help(), err=True)
        click.echo("\nNo terminal for the screen: use --from-spec FILE or one of the commands.", err=True)
        context.exit(2)
    from .commands import from_spec

    assert spec is not None
    code = from_spec.run(
        spec,
        directory,
        base=base,
        number=number,
        dry_run=dry_run,
        output_format=output_format,
        commit=commit,
        signoff=signoff,
    )
    context.exit(code)


def _refuse_misplaced(context: click.Context) -> None:
    """Options of `--from-spec` before a command would be lost silently."""
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if given and option.name not in ("repo", "demo"):
            name = option.opts[-1]
            raise click.UsageError(
                f"{name} stands behind the command: benchscribe {context.invoked_subcommand} {name} …"
            )


def _demo(repo: Path | None) -> Path:
    from .demo.sample import create

    if repo is not None:
        raise click.UsageError("--demo works in its own copy of the sample; leave --repo out")
    directory = create()
    click.echo(f"demo checkout: {directory}", err=True)
    return directory


@benchscribe.command()
def schema() -> None:
    """Print the spec's JSON Schema."""
    from .commands import schema as command

    raise SystemExit(command.run())


@benchscribe.command()
@REPO
@BASE
@click.pass_obj
def doctor(directory: Path, repo: Path | None, base: str) -> None:
    """Say what is seen of the checkout, its base, python and git."""
    from .commands import doctor as command

    raise SystemExit(command.run(repo or directory, base))


@benchscribe.command(short_help="Derive the entry, or a spec, from what this branch changed.")
@REPO
@BASE
@NUMBER
@click.option(
    "--write", is_flag=True, help="Put the entry at the changelog's tail, in place of the branch's present one."
)
@click.option(
    "--language", type=click.Choice(["en", "both"]), default="en", help="English alone, or Chinese behind it."
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "spec"]),
    default="text",
    help="spec: a spec that makes the same change; comments and the pull request's number are not in it.",
)
@click.pass_obj
def describe(
    directory: Path,
    repo: Path | None,
    base: str,
    number: int | None,
    write: bool,
    language: str,
    output_format: str,
) -> None:
    """The entry for what this branch changed, or a spec that makes the same change."""
    from .commands import describe as command

    target = repo or directory
    code = command.run(target, base=base, number=number, write=write, language=language, output_format=output_format)
    raise SystemExit(code)


@benchscribe.command(short_help="Put this branch's entries at the changelog's true tail.")
@REPO
@BASE
@NUMBER
@click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
@FORMAT
@click.pass_obj
def reseat(
    directory: Path, repo: Path | None, base: str, number: int | None, dry_run: bool, output_format: str
) -> None:
    """Main's changelog history back in place, this branch's own entries at its true tail."""
    from .commands import reseat as command

    code = command.run(repo or directory, base=base, number=number, dry_run=dry_run, output_format=output_format)
    raise SystemExit(code)


@benchscribe.group("merge-driver", short_help="Let git merge the changelog without conflicts.")
def merge_driver() -> None:
    """Git merges, rebases and cherry-picks the changelog without conflicts."""


EVERYWHERE = click.option("--global", "everywhere", is_flag=True, help="For all of your repositories, not this one.")


@merge_driver.command("install")
@REPO
@EVERYWHERE
@click.pass_obj
def merge_driver_install(directory: Path, repo: Path | None, everywhere: bool) -> None:
    """Register the driver in git's configuration and attributes."""
    from .commands import merge_driver as command

    raise SystemExit(command.install(repo or directory, everywhere=everywhere))


@merge_driver.command("uninstall")
@REPO
@EVERYWHERE
@click.pass_obj
def merge_driver_uninstall(directory: Path, repo: Path | None, everywhere: bool) -> None:
    """Take back exactly what install wrote."""
    from .commands import merge_driver as command

    raise SystemExit(command.uninstall(repo or directory, everywhere=everywhere))


@merge_driver.command("run")
@click.argument("arguments", nargs=5, metavar="ANCESTOR OURS THEIRS MARKER-SIZE PATH")
def merge_driver_run(arguments: tuple[str, ...]) -> None:
    """What git calls: %O %A %B %L %P."""
    from .commands import merge_driver as command

    raise SystemExit(command.run(arguments))


@benchscribe.command(short_help="Judge the branch by what CI and reviewers look for.")
@REPO
@BASE
@NUMBER
@click.option("--fix", is_flag=True, help="Mend history, tail, separators, link, missing entry.")
@click.option("--dry-run", is_flag=True, help="With --fix: show what would be written, write nothing.")
@click.option(
    "--all", "everything", is_flag=True, help="Judge old debts too, not only what the branch adds or changes."
)
@click.option("--upstream", is_flag=True, help="Also run the checkout's own validator and generator.")
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("--committed", is_flag=True, help="Judge HEAD instead of the work tree.")
@click.option("--format", "output_format", type=click.Choice(["text", "json", "github", "sarif"]), default="text")
@click.pass_obj
def check(directory: Path, /, repo: Path | None, number: int | None, **asked: Any) -> None:
    """Judge the branch by what CI and reviewers look for; exit 1 with an error."""
    from .commands import check as command

    raise SystemExit(command.run(repo or directory, command.Options(number=number, **asked)))


@benchscribe.command()
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text")
def rules(output_format: str) -> None:
    """List every rule of `check`."""
    from .commands import rules as command

    raise SystemExit(command.run(output_format))


@benchscribe.command(short_help="Explain one rule, with an example.")
@click.argument("rule", metavar="ID")
def explain(rule: str) -> None:
    """Explain one rule, with an example. ID is the rule's name, as `benchscribe rules` lists it."""
    from .commands import rules as command

    raise SystemExit(command.explain(rule))


@benchscribe.command(short_help="Commit exactly the files of this change.")
@REPO
@BASE
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("-s", "--signoff", is_flag=True, help="Add Signed-off-by.")
@click.option("-m", "subject", default="", metavar="SUBJECT", help="The subject, in place of the derived one.")
@click.option("--no-check", "check", flag_value=False, default=True, help="Commit although the check may have errors.")
@click.pass_obj
def commit(directory: Path, repo: Path | None, base: str, yes: bool, signoff: bool, subject: str, check: bool) -> None:
    """Commit exactly the files of this change, with a message in both languages.

    On a terminal the message is shown first, to be taken, edited or refused; without a terminal, and with --yes,
    nothing is asked.
    """
    from .commands import commit as command

    code = command.run(repo or directory, base=base, yes=yes, signoff=signoff, subject=subject, check=check)
    raise SystemExit(code)


@benchscribe.command()
@REPO
@BASE
@NUMBER
@click.option(
    "--spec", "spec", default="", metavar="FILE|-", help="The spec of this change: title, notes, AI disclosure."
)
@click.option("--ai-model", default="", metavar="TEXT", help='For the AI disclosure; "No AI used" is an answer.')
@click.option("--part", type=click.Choice(["both", "title", "body"]), default="both", help="Title, body, or both.")
@FORMAT
@click.pass_obj
def pr(
    directory: Path,
    repo: Path | None,
    base: str,
    number: int | None,
    spec: str,
    ai_model: str,
    part: str,
    output_format: str,
) -> None:
    """Title and body for the pull request."""
    from .commands import pull_request as command

    code = command.run(
        repo or directory,
        base=base,
        number=number,
        spec_path=spec,
        ai_model=ai_model,
        part=part,
        output_format=output_format,
    )
    raise SystemExit(code)


@benchscribe.command(short_help="Bring another branch's change onto this one.")
@click.argument("ref")
@REPO
@BASE
@NUMBER
@click.option(
    "--prefer", type=click.Choice(["ours", "theirs"]), default=None, help="Settle every conflict for one side."
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
@FORMAT
@click.pass_obj
def port(
    directory: Path,
    ref: str,
    repo: Path | None,
    base: str,
    number: int | None,
    prefer: str | None,
    dry_run: bool,
    output_format: str,
) -> None:
    """Another branch's change onto this one: configs, recipes, scripts, and its entry re-derived."""
    from .commands import port as command

    code = command.run(
        repo or directory,
        ref,
        base=base,
        number=number,
        prefer=prefer,
        dry_run=dry_run,
        output_format=output_format,
    )
    raise SystemExit(code)
