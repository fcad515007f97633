"""The command line: parse, call, print."""

from __future__ import annotations

import sys
from pathlib import Path

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
    number: int | None,
    base: str,
    output_format: str,
) -> None:
    """Add and retune benchmark recipes: config, recipe and changelog kept consistent, byte for byte."""
    context.obj = directory = repo or Path()
    if demo:
        directory = _demo(repo)
        context.obj = directory
    if context.invoked_subcommand is not None:
        return
    if spec is None and demo:
        from .demo.sample import prepared_spec

        spec = str(prepared_spec())
    if spec is None:
        click.echo(context.get_help())
        context.exit(0 if sys.stdout.isatty() else 2)
    from .commands import from_spec

    assert spec is not None
    code = from_spec.run(spec, directory, base=base, number=number, dry_run=dry_run, output_format=output_format)
    context.exit(code)


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
