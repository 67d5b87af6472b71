"""``beltrami report``: the labelling of a file as one HTML page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.speech import Voice
from beltrami.cli.targets import page_target
from beltrami.core.stages import LEARNING, Stage

if TYPE_CHECKING:
    from beltrami.tables import TableOptions


@o.with_table_options()
def report(
    source: o.Source,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page; NAME.report.html.")
    ] = None,
    table: "TableOptions",
    risk: Annotated[
        float | None,
        typer.Option("--risk", help="Expected share of wrong labels; the least sure are left out."),
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Label a file and write only the page: map, classes, reliability, questions, doubts.

    Example: beltrami report data.csv --label category -o report.html
    """
    voice = Voice(as_json, quiet, verbose)
    with voice.work(*LEARNING, Stage.ASK, Stage.MAP, Stage.PAGE):
        from beltrami.labelling.intake import take_in
        from beltrami.labelling.main_job import label_rows
        from beltrami.labelling.options import LearningOptions

        target = page_target(source, out, (*table.beside, config))
        intake = take_in(source, table)
        voice.tell(intake.lines())
        learning = LearningOptions(risk=risk, random_state=seed, n_jobs=jobs)
        labelling = label_rows(intake, learning)
        voice.detail(labelling.learner.report_.lines())
        labelling.report(target)
    voice.result(
        [*labelling.lines(), f"written: {target}"],
        {"sentence": labelling.sentence, "counts": labelling.counts, "written": str(target)},
    )
