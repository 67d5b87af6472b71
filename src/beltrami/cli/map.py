"""``beltrami map``: the shape of the data in two dimensions."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.targets import map_target


def draw_map(
    source: o.Source,
    label: o.LabelColumn = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="png, svg or pdf, or a table of coordinates."),
    ] = None,
    id: o.IdColumn = None,  # noqa: A002 - the option's name
    features: o.FeatureColumns = None,
    text: o.TextColumns = None,
    categories: o.CategoryColumns = None,
    numbers: o.NumberColumns = None,
    ignore: o.IgnoredColumns = None,
    embeddings: o.Embeddings = None,
    labels: o.SideLabels = None,
    unlabeled: o.Unlabeled = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    impute: o.Impute = False,
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
    from beltrami.labelling.shapes import map_of

    voice = o.Voice(as_json, quiet, verbose)
    reading = o.TableOptions(
        label,
        id,
        features,
        text,
        ignore,
        embeddings,
        labels,
        unlabeled,
        delimiter,
        impute,
        categories,
        numbers,
        decimal,
    )
    target = map_target(source, out, (embeddings, *(labels or ()), config))
    with o.collected_warnings(voice):
        intake = reading.read(source, min_classes=0)
        voice.tell(intake.lines())
        found = map_of(intake, random_state=seed, n_jobs=jobs)
        found.save(target)
    voice.result(
        [f"{len(intake.ids):,} rows drawn", f"written: {target}"],
        {"rows": len(intake.ids), "written": str(target)},
    )
