"""``beltrami label``: every row of a file labelled from the few that have a label."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beltrami.cli import options as o
from beltrami.cli import partitions as parts
from beltrami.cli import projects, targets
from beltrami.cli.speech import Voice
from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.stages import LEARNING, Stage

if TYPE_CHECKING:
    from beltrami.labelling import Intake, Labelling
    from beltrami.project import Project
    from beltrami.tables import TableOptions


@o.with_table_options()
def label(
    source: o.SourceOrNone = None,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Result; NAME.labelled.csv when left out.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the HTML report here too.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", help="Keep the labeller here, for `beltrami apply`."),
    ] = None,
    project: o.Project = None,
    table: "TableOptions",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="auto, or the one that answers alone: poisson, regularized, eigenfunctions, "
            "laplacian_rls or laplacian_svc, or of labels alone logistic, forest or neighbors.",
        ),
    ] = "auto",
    risk: Annotated[
        float | None,
        typer.Option("--risk", help="Expected share of wrong labels; the least sure are left out."),
    ] = None,
    with_data: Annotated[
        bool, typer.Option("--with-data", help="Write your own columns beside the labels.")
    ] = False,
    ask: Annotated[int, typer.Option("--ask", min=0, help="Rows to suggest for labelling.")] = 20,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Seconds after which no method is begun.")
    ] = None,
    memory: parts.Memory = None,
    cluster: parts.Cluster = None,
    representatives: parts.Representatives = None,
    cover: parts.Cover = 0.999,
    form: parts.Form = "parquet",
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Label every row of a file from the few that have a label, with a confidence.

    Columns are guessed and printed; the input is never changed. All places are checked before any
    work is done, and the labels are written first. With --save what was learned is kept in a file,
    by which `beltrami apply` answers new rows. With a project the labels are those of its
    people, the risk is the one chosen there unless another is said, and the result says who gave
    each label, how and when. Where they gave labels of one class only, these are written and
    nothing is learned.

    A folder or a pattern of tables, and a file that memory does not hold, is labelled by
    partitions: some rows learn, every partition is answered, and the result is a folder with a file
    for each. The same command takes up what was cut short. Labels beside them, or of a project in
    which representatives were labelled, are joined by the ids of the results.

    Example: beltrami label data.csv --label category -o labels.csv --report report.html
    """
    voice = Voice(as_json, quiet, verbose)
    if project is None and source is not None and projects.is_project(source):
        project, source = Path(source), None
    if source is not None and parts.goes_by_parts(source, memory, cluster):
        from beltrami.labelling.options import LearningOptions
        from beltrami.partitions import PartitionOptions
        from beltrami.partitions.options import read_size
        from beltrami.tables.options import DEFAULTS

        _require_one_table(report, with_data=with_data)
        if project is not None:
            opened = projects.open_to_read(None, DEFAULTS, project, voice)
            table = replace(table, labels=[*table.side_labels, parts.labels_of(opened)])
            risk = projects.risk_of(opened, risk, voice)
        learned = LearningOptions(method, risk, budget, seed, n_questions=0, n_jobs=jobs)
        options = PartitionOptions(read_size(memory), representatives, cover, form, jobs)
        parts.label_parts(source, out, table, learned, options, cluster, voice, save)
        return
    inputs = (*table.beside, config, project)
    stages = [*LEARNING, *[Stage.ASK] * (ask > 0), Stage.WRITE]
    stages += [] if report is None else [Stage.MAP, Stage.PAGE]
    with voice.work(*stages):
        from beltrami.labelling.bare import can_learn
        from beltrami.labelling.main_job import forecast_lines, label_rows
        from beltrami.labelling.options import LearningOptions
        from beltrami.labelling.proving.audits import word_on_rewritten

        data = source if source is not None else _data_of(project)
        target = targets.table_target(data, out, "labelled", inputs)
        page = None if report is None else targets.page_target(data, report, inputs)
        model = None if save is None else targets.model_target(save, (data, *inputs, target, page))
        intake, risk, held = _take_in(data, project, table, risk, voice)
        learning = LearningOptions(method, risk, budget, seed, n_questions=ask, n_jobs=jobs)
        voice.tell(intake.lines())
        if not can_learn(intake):
            _write_given(intake, target, voice, page, model, with_data=with_data)
            return
        voice.tell(forecast_lines(intake, learning, has_page=page is not None))
        labelling = label_rows(intake, learning)
        voice.detail(labelling.learner.report_.lines())
        written = [labelling.write(target, with_data=with_data)]
        if model is not None:
            written.append(labelling.save(model))
        if page is not None:
            written.append(_write_page(labelling, page, target))
    lines = labelling.lines(target)
    if held is not None:
        lines = projects.result_lines(held, labelling, risk)
    lines += [f"written: {path}" for path in written]
    rewritten = word_on_rewritten(target)
    lines += [f"! {rewritten}"] if rewritten else []
    voice.result(lines, _facts_of(labelling, written) | {"audit": rewritten or None})


def _facts_of(labelling: "Labelling", written: list[Path]) -> dict[str, Any]:
    """Return the summary for programs."""
    learner = labelling.learner
    return {
        "sentence": labelling.sentence,
        "counts": labelling.counts,
        "method": learner.method_,
        "weights": learner.weights_,
        "accuracy": learner.report_.accuracy,
        "held_out_accuracy": learner.report_.held_out_accuracy,
        "warnings": list(learner.report_.warnings),
        "facts": labelling.facts,
        "written": [str(path) for path in written],
    }


def _require_one_table(report: Path | None, *, with_data: bool) -> None:
    """Refuse what is there for one table only."""
    if report is not None or with_data:
        raise typer.BadParameter(
            "partitions have neither a report nor your own columns beside the labels yet; leave "
            "out --report and --with-data.",
            param_hint="--report" if report is not None else "--with-data",
        )


def _data_of(project: Path | None) -> Path:
    """Return the data of a project."""
    from beltrami.project import data_of

    if project is None:
        raise typer.BadParameter(
            "nothing is named to be labelled: name the data, or a project with --project.",
            param_hint="source",
        )
    return data_of(project)


def _take_in(
    data: str | Path,
    project: Path | None,
    table: "TableOptions",
    risk: float | None,
    voice: Voice,
) -> "tuple[Intake, float | None, Project | None]":
    """Read the data, with the labels of a project, and its risk unless another is said."""
    from beltrami.labelling.intake import take_in

    if project is None:
        return take_in(data, table), risk, None
    opened = projects.open_to_read(data, table, project, voice)
    return opened.intake, projects.risk_of(opened, risk, voice), opened


def _write_given(
    intake: "Intake",
    target: Path,
    voice: Voice,
    page: Path | None,
    model: Path | None,
    *,
    with_data: bool,
) -> None:
    """Write the labels that people gave where there is nothing to be learned from them."""
    from beltrami.labelling.bare import bare_counts, bare_sentence, write_bare

    sentence = bare_sentence(intake)
    write_bare(intake, target, with_data=with_data)
    lines = [sentence, f"written: {target}"]
    if page is not None:
        lines.append("no report: there is nothing to report before labels of two classes")
    if model is not None:
        lines.append("no labeller: there is nothing to keep before labels of two classes")
    counts = bare_counts(intake)
    voice.result(lines, {"sentence": sentence, "counts": counts, "written": [str(target)]})


def _write_page(labelling: "Labelling", page: Path, labels: Path) -> Path:
    try:
        return labelling.report(page)
    except OSError as error:
        raise InvalidInputError(
            f"the report {str(page)!r} cannot be written ({error.strerror or error}); the labels "
            f"are in {str(labels)!r} already."
        ) from error
