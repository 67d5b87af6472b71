"""``beltrami embed``: Laplacian eigenmap coordinates of every row."""

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
def embed(
    source: o.Source,
    *,
    components: Annotated[
        int, typer.Option("-n", "--components", min=1, help="Coordinates per row.")
    ] = 2,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table; NAME.embedding.csv.")
    ] = None,
    table: "TableOptions",
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Write the Laplacian eigenmap of every row: coordinates along the shape of the data.

    Example: beltrami embed data.csv -n 10 -o coordinates.parquet
    """
    voice = Voice(as_json, quiet)
    with voice.work(*INTAKE, Stage.GRAPH, Stage.EMBED, Stage.WRITE):
        from beltrami.labelling.intake import take_in
        from beltrami.labelling.maps import eigenmap_of
        from beltrami.labelling.options import LearningOptions
        from beltrami.tables import write_table

        target = table_target(source, out, "embedding", (*table.beside, config))
        intake = take_in(source, table)
        voice.tell(intake.lines())
        learning = LearningOptions(random_state=seed, n_jobs=jobs)
        columns = eigenmap_of(intake, components, learning)
        enter_stage(Stage.WRITE)
        write_table(target, columns, {"seed": str(seed), "components": str(components)})
    voice.result(
        [f"{len(intake.ids):,} rows, {components} coordinates", f"written: {target}"],
        {"rows": len(intake.ids), "components": components, "written": str(target)},
    )
