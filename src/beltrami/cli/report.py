"""``beltrami report``: the labelling of a file as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.targets import page_target


def report(
    source: o.Source,
    label: o.LabelColumn = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page; NAME.report.html.")
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
    from beltrami.labelling import labelled

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
    target = page_target(source, out, (embeddings, *(labels or ()), config))
    with o.collected_warnings(voice):
        intake = reading.read(source)
        voice.tell(intake.lines())
        settings = {"risk": risk, "random_state": seed}
        found = labelled(intake, settings, n_questions=20, n_jobs=jobs)
        voice.detail(found.learner.report_.lines())
        found.report(target)
    voice.result(
        [*found.lines(), f"written: {target}"],
        {"sentence": found.sentence, "counts": found.counts, "written": str(target)},
    )
