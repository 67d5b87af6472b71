"""``beltrami cluster``: groups of rows, without any label."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.targets import table_target


def cluster(
    source: o.Source,
    number: Annotated[int, typer.Option("-k", "--clusters", min=1, help="How many groups.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table; NAME.clusters.csv.")
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
    """Split the rows into groups by spectral clustering, and say how clean the cuts are.

    Example: beltrami cluster data.csv -k 10 -o clusters.csv
    """
    from beltrami.labelling.shapes import clusters_of
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
    target = table_target(source, out, "clusters", (embeddings, config))
    with o.collected_warnings(voice):
        intake = reading.read(source, min_classes=0)
        voice.tell(intake.lines())
        found = clusters_of(intake, number, random_state=seed, n_jobs=jobs)
        write_table(target, found.columns, {"seed": str(seed), "clusters": str(number)})
    voice.result([*found.lines(), f"written: {target}"], found.record() | {"written": str(target)})
