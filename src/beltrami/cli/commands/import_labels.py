"""``beltrami import``: labels that people gave in another tool come into a project."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.speech import Voice
from beltrami.core.telling.stages import INTAKE


def import_labels(
    project: Annotated[Path, typer.Argument(help="The project, a .beltrami file.")],
    source: Annotated[Path, typer.Argument(help="The file or folder with the labels.")],
    *,
    form: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="label-studio, argilla, csv (any table), datasets or cleanlab; found out when "
            "left out.",
        ),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id-column", help="What holds the ids; guessed when left out.")
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option("--label-column", help="What holds the labels; guessed when left out."),
    ] = None,
    user: Annotated[
        str, typer.Option("--user", help="Who gave the labels of which the file does not say.")
    ] = "me",
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Take labels into a project that people gave elsewhere.

    Rows are found by their ids. Where labels contradict each other the newer one counts, and all
    that was left out is said. A file that is broken changes nothing.

    Example: beltrami import data.beltrami tasks.json
    """
    del config
    voice = Voice(as_json, is_quiet=quiet)
    with voice.work(*INTAKE):
        from beltrami.doors import find_form, read_answers, take_answers
        from beltrami.project import data_of, open_project
        from beltrami.tables import TableOptions

        if form is not None:
            find_form(form)
        data_of(project)  # one that is not there is not made
        nothing = TableOptions(min_classes=0)
        with closing(open_project(None, nothing, project, user)) as opened:
            voice.tell(opened.words)
            reading = read_answers(
                source, opened, form, id_column=id_column, label_column=label_column
            )
            voice.tell(list(reading.lines))
            taken = take_answers(opened, reading, user)
            n_labels = len(opened.state.labels)
    lines = [*taken.lines(), f"{project.name} has {n_labels:,} label(s) now."]
    voice.result(lines, {"counts": taken.counts, "unknown": taken.unknown, "labels": n_labels})
