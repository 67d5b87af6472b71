"""``beltrami check``: what is wrong with a table and its labels."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.targets import table_target


def check(
    source: o.Source,
    label: o.LabelColumn = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table of the suspected labels.")
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
    """Look for labels that seem wrong, islands without a label, equal rows and rare classes.

    Example: beltrami check data.csv --label category
    """
    from beltrami.labelling.checks import checked
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
    target = None if out is None else table_target(source, out, "issues", inputs)
    with o.collected_warnings(voice):
        intake = reading.read(source)
        voice.tell(intake.lines())
        found = checked(intake, random_state=seed, n_jobs=jobs)
        voice.detail(found.report.lines())
        lines, facts = found.lines(), found.record()
        if target is not None:
            write_table(target, found.columns, {"seed": str(seed)})
            lines.append(f"written: {target}")
            facts["written"] = str(target)
    voice.result(lines, facts)
