"""The ``beltrami`` command: one file a subcommand, gathered here."""

import sys

import typer

from beltrami import __version__
from beltrami.cli.demo import demo
from beltrami.cli.reproduce import reproduce
from beltrami.core.errors import BeltramiError

app = typer.Typer(
    name="beltrami",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Learn from a handful of labels, using the shape of the data.",
)
app.command()(demo)
app.command()(reproduce)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"beltrami {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and stop."
    ),
) -> None:
    """Learn from a handful of labels, using the shape of the data."""
    del version


def main() -> None:
    """Run the command line; our own errors become one line on stderr and exit code 1."""
    try:
        app()
    except BeltramiError as error:
        typer.echo(f"beltrami: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
