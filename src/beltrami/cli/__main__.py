"""The ``beltrami`` command: one file a subcommand, gathered here."""

import sys

import typer

from beltrami import __version__
from beltrami.cli.audit import audit
from beltrami.cli.check import check
from beltrami.cli.cluster import cluster
from beltrami.cli.demo import demo
from beltrami.cli.doctor import doctor
from beltrami.cli.embed import embed
from beltrami.cli.label import label
from beltrami.cli.map import draw_map
from beltrami.cli.report import report
from beltrami.cli.reproduce import reproduce
from beltrami.cli.suggest import suggest
from beltrami.core.errors import BeltramiError

INTERRUPTED = 130
"""Exit code after Ctrl-C, that of the shell and of typer."""

app = typer.Typer(
    name="beltrami",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Learn from a handful of labels, using the shape of the data.",
)
for command in (label, suggest, check, audit):
    app.command()(command)
app.command(name="map")(draw_map)
for other in (report, embed, cluster, demo, doctor, reproduce):
    app.command()(other)


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
    """Run the command line.

    Our own errors become one message on stderr and exit code 1, Ctrl-C one line and exit code 130.
    """
    if hasattr(sys.stdout, "reconfigure"):
        # A terminal that cannot show a class name shows its code instead.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            typer.echo("beltrami: interrupted; nothing is left half written.", err=True)
        raise
    except BeltramiError as error:
        typer.echo(f"beltrami: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        # Such as a full disk or a folder that may not be written to: nothing was left half written.
        place = f" ({error.filename})" if error.filename else ""
        typer.echo(
            f"beltrami: {error.strerror or error}{place}; nothing is left half written.", err=True
        )
        sys.exit(1)
    except MemoryError:
        typer.echo(
            "beltrami: out of memory; nothing was written. Use fewer rows or columns, or a machine "
            "with more memory.",
            err=True,
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
