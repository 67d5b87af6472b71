"""``beltrami cluster``: groups of rows, without any label."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.speech import Voice
from beltrami.cli.targets import table_target
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import INTAKE, Stage

if TYPE_CHECKING:
    from beltrami.tables import TableOptions


@o.with_table_options(has_labels=False)
def cluster(
    source: o.Source,
    *,
    number: Annotated[int, typer.Option("-k", "--clusters", min=1, help="How many groups.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table; NAME.clusters.csv.")
    ] = None,
    table: "TableOptions",
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Split the rows into groups by spectral clustering, and say how clean the cuts are.

    Example: beltrami cluster data.csv -k 10 -o clusters.csv
    """
    voice = Voice(as_json, quiet)
    with voice.work(*INTAKE, Stage.GRAPH, Stage.CLUSTER, Stage.WRITE):
        from beltrami.labelling.intake import take_in
        from beltrami.labelling.maps import clusters_of
        from beltrami.labelling.options import LearningOptions
        from beltrami.tables import write_table

        target = table_target(source, out, "clusters", (*table.beside, config))
        intake = take_in(source, table)
        voice.tell(intake.lines())
        learning = LearningOptions(random_state=seed, n_jobs=jobs)
        clusters = clusters_of(intake, number, learning)
        enter_stage(Stage.WRITE)
        write_table(target, clusters.columns, {"seed": str(seed), "clusters": str(number)})
    lines = [*clusters.lines(), f"written: {target}"]
    voice.result(lines, clusters.record() | {"written": str(target)})
