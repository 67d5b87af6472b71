"""``beltrami embed``: Laplacian eigenmap coordinates of every row."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.targets import table_target


def embed(
    source: o.Source,
    components: Annotated[
        int, typer.Option("-n", "--components", min=1, help="Coordinates per row.")
    ] = 2,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table; NAME.embedding.csv.")
    ] = None,
    label: o.LabelColumn = None,
    id: o.IdColumn = None,  # noqa: A002 - the option's name
    features: o.FeatureColumns = None,
    text: o.TextColumns = None,
    categories: o.CategoryColumns = None,
    numbers: o.NumberColumns = None,
    ignore: o.IgnoredColumns = None,
    embeddings: o.Embeddings = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    impute: o.Impute = False,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Write the Laplacian eigenmap of every row: coordinates along the shape of the data.

    Example: beltrami embed data.csv -n 10 -o coordinates.parquet
    """
    from beltrami.labelling.shapes import eigenmap_of
    from beltrami.tables import write_table

    voice = o.Voice(as_json, quiet)
    reading = o.TableOptions(
        label,
        id,
        features,
        text,
        ignore,
        embeddings,
        unlabeled="",  # labels are set aside, so none of them is open
        delimiter=delimiter,
        impute=impute,
        categories=categories,
        numbers=numbers,
        decimal=decimal,
    )
    target = table_target(source, out, "embedding", (embeddings, config))
    with o.collected_warnings(voice):
        intake = reading.read(source, min_classes=0)
        voice.tell(intake.lines())
        columns = eigenmap_of(intake, components, random_state=seed, n_jobs=jobs)
        write_table(target, columns, {"seed": str(seed), "components": str(components)})
    voice.result(
        [f"{len(intake.ids):,} rows, {components} coordinates", f"written: {target}"],
        {"rows": len(intake.ids), "components": components, "written": str(target)},
    )
