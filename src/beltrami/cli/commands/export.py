"""``beltrami export``: the result of a project in the form of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli import projects, targets
from beltrami.cli.caching import kept_between_commands
from beltrami.cli.speech import Voice
from beltrami.core.telling.stages import LEARNING, Stage


def export(
    project: Annotated[Path, typer.Argument(help="The project, a .beltrami file.")],
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to", help="csv, parquet, jsonl, label-studio, argilla, datasets or cleanlab."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File or folder; named after the data when left out."),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option("--risk", help="Expected share of wrong labels; the least sure are left out."),
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    device: o.Device = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Compute all anew; see `doctor --cache`.")
    ] = False,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Write the result of a project for another tool: every row, its label and what it holds.

    Labels of people stay apart from ours, which go along with their confidence. The project and
    its data are never changed, and what is written is whole or not there.

    Example: beltrami export data.beltrami --to label-studio -o tasks.json
    """
    from beltrami.core.machine.device import process_device

    voice = Voice(as_json, is_quiet=quiet)
    is_kept = kept_between_commands(voice, is_off=no_cache)
    with process_device(device), is_kept, voice.work(*LEARNING, Stage.ASK, Stage.WRITE):
        from beltrami.core.telling.progress import enter_stage
        from beltrami.doors import find_form, outcome_of
        from beltrami.labelling.options import LearningOptions
        from beltrami.project import data_of
        from beltrami.tables import TableOptions

        form = find_form(to)
        inputs = (project, config)
        target = targets.door_target(data_of(project), out, form, inputs)
        opened = projects.open_to_read(None, TableOptions(), project, voice)
        voice.tell(opened.intake.lines())
        form.check(target, (*opened.intake.files, *inputs))
        risk = projects.risk_of(opened, risk, voice)
        options = LearningOptions(risk=risk, random_state=seed, n_jobs=jobs)
        outcome = outcome_of(opened.intake, options)
        enter_stage(Stage.WRITE)
        form.write(outcome, target)
    counts = outcome.counts
    lines = [
        f"{counts['rows']:,} rows, {counts['given']:,} labelled by people and "
        f"{counts['answered']:,} by us",
        *[f"written: {path}" for path in form.beside(target)],
    ]
    voice.result(lines, {"counts": counts, "written": [str(one) for one in form.beside(target)]})
