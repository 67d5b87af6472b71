"""``beltrami map``: the shape of the data in two dimensions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.speech import Voice
from beltrami.cli.targets import map_target
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import INTAKE, Stage

if TYPE_CHECKING:
    from beltrami.tables import TableOptions


@o.with_table_options(min_classes=0)
def draw_map(
    source: o.Source,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="png, svg or pdf, or a table of coordinates."),
    ] = None,
    table: "TableOptions",
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Draw the map of the data, labels in colour; no label is needed.

    Example: beltrami map data.csv -o map.png
    """
    voice = Voice(as_json, quiet, verbose)
    with voice.work(*INTAKE, Stage.GRAPH, Stage.MAP, Stage.WRITE):
        from beltrami.labelling.intake import take_in
        from beltrami.labelling.maps import map_of
        from beltrami.labelling.options import LearningOptions

        target = map_target(source, out, (*table.beside, config))
        intake = take_in(source, table)
        voice.tell(intake.lines())
        drawn = map_of(intake, LearningOptions(random_state=seed, n_jobs=jobs))
        enter_stage(Stage.WRITE)
        drawn.save(target)
    voice.result(
        [f"{len(intake.ids):,} rows drawn", f"written: {target}"],
        {"rows": len(intake.ids), "written": str(target)},
    )
