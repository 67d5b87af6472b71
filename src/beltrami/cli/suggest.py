"""``beltrami suggest``: which rows to label next, and why."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.targets import answer_target


def suggest(
    source: o.Source,
    label: o.LabelColumn = None,
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="How many rows.")] = 20,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table of the rows; NAME.ask.csv.")
    ] = None,
    strategy: Annotated[
        str, typer.Option("--strategy", help="auto, cover, uncertain or random.")
    ] = "auto",
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
    """Say which rows to label next, each with its reason and the rows it would settle.

    Works without any label too: then the rows stand for groups of the data.

    Example: beltrami suggest data.csv --label category -n 20 -o ask.csv
    """
    from beltrami.labelling.suggestions import suggestions
    from beltrami.tables import write_table

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
    inputs = (embeddings, *(labels or ()), config)
    target = answer_target(source, out, "ask", inputs, "label")
    with o.collected_warnings(voice):
        intake = reading.read(source, min_classes=0)
        voice.tell(intake.lines())
        found = suggestions(intake, number, strategy=strategy, random_state=seed, n_jobs=jobs)
        write_table(target, found.columns, {"seed": str(seed), "strategy": strategy})
    voice.result(
        [*found.lines(), f"written: {target}"],
        {"questions": found.records(), "written": str(target)},
    )
