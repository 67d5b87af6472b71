"""``beltrami label``: every row of a file labelled from the few that have a label."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli import targets
from beltrami.core.errors import InvalidInputError

if TYPE_CHECKING:
    from beltrami.labelling import Labelling


def label(
    source: o.Source,
    label: o.LabelColumn = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Result; NAME.labelled.csv when left out.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the HTML report here too.")
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
    method: Annotated[
        str, typer.Option("--method", help="auto, or the one that answers.")
    ] = "auto",
    risk: Annotated[
        float | None,
        typer.Option("--risk", help="Expected share of wrong labels; the least sure are left out."),
    ] = None,
    ask: Annotated[int, typer.Option("--ask", min=0, help="Rows to suggest for labelling.")] = 20,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Seconds after which no method is begun.")
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Label every row of a file from the few that have a label, with a confidence.

    Columns are guessed and printed; the input is never changed. Both places are checked before any
    work is done, and the labels are written first.

    Example: beltrami label data.csv --label category -o labels.csv --report report.html
    """
    from beltrami.labelling import labelled
    from beltrami.labelling.one_call import forecast_lines

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
    target = targets.table_target(source, out, "labelled", inputs)
    page = None if report is None else targets.page_target(source, report, inputs)
    with o.collected_warnings(voice):
        intake = reading.read(source)
        voice.tell(intake.lines())
        settings = {"method": method, "risk": risk, "time_budget": budget, "random_state": seed}
        voice.tell(forecast_lines(intake, settings, n_questions=ask, has_page=page is not None))
        found = labelled(intake, settings, n_questions=ask, n_jobs=jobs)
        voice.detail(found.learner.report_.lines())
        written = [found.write(target)]
        if page is not None:
            written.append(_reported(found, page, target))
    places = [f"written: {path}" for path in written]
    summary = {
        "sentence": found.sentence,
        "counts": found.counts,
        "method": found.learner.method_,
        "weights": found.learner.weights_,
        "accuracy": found.learner.report_.accuracy,
        "held_out_accuracy": found.learner.report_.held_out_accuracy,
        "warnings": list(found.learner.report_.warnings),
        "facts": found.facts,
        "written": [str(path) for path in written],
    }
    voice.result(found.lines(target) + places, summary)


def _reported(found: "Labelling", page: Path, labels: Path) -> Path:
    try:
        return found.report(page)
    except OSError as error:
        raise InvalidInputError(
            f"the report {str(page)!r} cannot be written ({error.strerror or error}); the labels "
            f"are in {str(labels)!r} already."
        ) from error
