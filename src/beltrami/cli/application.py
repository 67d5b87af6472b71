"""The commands, one file each, gathered into one application."""

import typer

from beltrami import __version__
from beltrami.cli.commands.apply import apply
from beltrami.cli.commands.audit import audit
from beltrami.cli.commands.check import check
from beltrami.cli.commands.cluster import cluster
from beltrami.cli.commands.demo import demo
from beltrami.cli.commands.doctor import doctor
from beltrami.cli.commands.embed import embed
from beltrami.cli.commands.export import export
from beltrami.cli.commands.import_labels import import_labels
from beltrami.cli.commands.label import label
from beltrami.cli.commands.map import draw_map
from beltrami.cli.commands.report import report
from beltrami.cli.commands.reproduce import reproduce
from beltrami.cli.commands.studio import studio
from beltrami.cli.commands.suggest import suggest

app = typer.Typer(
    name="beltrami",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Learn from a handful of labels, using the shape of the data.",
)
for command in (label, apply, studio, suggest, check, audit):
    app.command()(command)
app.command()(export)
app.command(name="import")(import_labels)
app.command(name="map")(draw_map)
for other in (report, embed, cluster, demo, doctor, reproduce):
    app.command()(other)


def _show_version(is_asked: bool) -> None:
    if is_asked:
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
