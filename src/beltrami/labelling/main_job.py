"""The main job: a table with a few labels enters, every row labelled leaves."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.machine.device import describe_device
from beltrami.core.telling.progress import enter_stage, job
from beltrami.core.telling.stages import FIT, Stage
from beltrami.core.types import Seed
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.front_door.deciding.forecast import Forecast
from beltrami.front_door.insight import note_asked
from beltrami.labelling.intake import Intake, take_in
from beltrami.labelling.options import N_QUESTIONS, LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.tables import TableOptions


def label(
    source: Any,
    label: str | None = None,
    *,
    id: str | None = None,  # noqa: A002 - the word of the command line
    features: Sequence[str] | None = None,
    text: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    numbers: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    embeddings: Any = None,
    text_model: Path | str | None = None,
    labels: Any = None,
    unlabeled: Any = None,
    decimal: str | None = None,
    impute: bool = False,
    method: str = "auto",
    risk: float | None = None,
    n_questions: int = N_QUESTIONS,
    time_budget: float | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Labelling:
    """Label every row of a table from the few that have a label.

    Reads the table, guesses what its columns are for, fits `ManifoldClassifier`, and says which
    rows to label next and which given labels look wrong.

    Parameters
    ----------
    source : path, DataFrame, Table, array or dict
        The data: parquet, arrow, csv, tsv, jsonl, npy, npz, a folder of images, or an object.
    label : str or None, default=None
        Column of the labels; None looks for one called label, class, target and the like.
    id : str or None, default=None
        Column of the ids; None looks for one, else row numbers serve.
    features, text : sequence of str or None, default=None
        Columns to compare rows by, and those of them that hold texts; None guesses.
    categories, numbers : sequence of str or None, default=None
        Columns that are of that kind, whatever they look like; the others are guessed as ever.
    ignore : sequence of str, default=()
        Columns to leave out.
    embeddings : path, str, array, table or None, default=None
        Vectors to compare rows by, alone: a file, the name of a column of lists, or an object.
    text_model : path or None, default=None
        Folder of a static embedding model, by which texts become vectors; None weighs their words.
    labels : path, DataFrame, list of these or None, default=None
        Tables of ids and labels, joined on the ids, on top of those in the source.
    unlabeled : object, default=None
        What marks a row without a label, besides empty cells; "" says that nothing else does, and
        that -1 is a class.
    decimal : {".", ","} or None, default=None
        Sign before the decimals of numbers in texts, where the cells do not tell.
    impute : bool, default=False
        Whether what is not finite in a matrix or in vectors is filled, by medians.
    method : str, default="auto"
        As in `ManifoldClassifier`.
    risk : float or None, default=None
        Largest expected share of wrong ones among accepted labels; None accepts all.
    n_questions : int, default=20
        Rows to suggest for labelling; 0 for none.
    time_budget : float or None, default=None
        Seconds after which no further method is tried.
    random_state : int, Generator, RandomState or None, default=0
        Seeds what is drawn.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    Labelling
        With ``frame``, ``write(path)`` and ``report(path)``.

    Examples
    --------
    >>> import beltrami as bt
    >>> moons = bt.two_moons(200, random_state=0)
    >>> table = {"x": moons.points[:, 0], "y": moons.points[:, 1]}
    >>> table["kind"] = [f"moon {c}" if i % 20 == 0 else "" for i, c in enumerate(moons.targets)]
    >>> found = bt.label(table, "kind", n_questions=0)
    >>> found.counts["given"], found.counts["labelled"]
    (10, 190)
    """
    table_options = TableOptions(
        label=label,
        id=id,
        features=features or (),
        text=text or (),
        categories=categories or (),
        numbers=numbers or (),
        ignore=ignore,
        embeddings=embeddings,
        text_model=text_model,
        labels=labels,
        unlabeled=unlabeled,
        decimal=decimal,
        impute=impute,
    )
    learning_options = LearningOptions(
        method=method,
        risk=risk,
        time_budget=time_budget,
        random_state=random_state,
        n_questions=n_questions,
        n_jobs=n_jobs,
    )
    with job(Stage.READ, *FIT, *[Stage.ASK] * (n_questions > 0)):
        return label_rows(take_in(source, table_options), learning_options)


def label_rows(
    intake: Intake, options: LearningOptions, learner: ManifoldClassifier | None = None
) -> Labelling:
    """Label the rows of a table that was read already; None makes the learner for a table."""
    learner = make_learner(intake, options) if learner is None else learner
    learner.fit(intake.points, intake.labels, sample_weight=intake.weights)
    if intake.table.asked is not None:
        note_asked(learner, np.flatnonzero(intake.table.asked))
    return conclude(intake, learner, options)


def conclude(intake: Intake, learner: ManifoldClassifier, options: LearningOptions) -> Labelling:
    """Say what a learner has found that was fitted to a table, or settled after updates.

    The table's labels must be those that it learned from. The result rests on them, the points and
    the seed alone: whoever has settled a learner gets the bytes that a fresh fit gives.
    """
    questions = ()
    if options.n_questions:
        enter_stage(Stage.ASK)
        questions = learner.query(options.n_questions, return_reasons=True)[1]
    issues = learner.label_issues()
    issues = replace(issues, names=intake.ids[issues.rows])
    return Labelling(intake, learner, questions, issues, _facts(intake, options))


def make_learner(intake: Intake, options: LearningOptions) -> ManifoldClassifier:
    """Return the classifier for a table: the metric of its features, and their scale."""
    # The table was read already: None is a gap, and -1 among the labels is a class.
    return ManifoldClassifier(
        options.method,
        metric=intake.metric,
        scale=intake.scale,
        risk=options.risk,
        time_budget=options.time_budget,
        unlabeled=float("nan"),
        random_state=options.random_state,
        n_jobs=options.n_jobs,
    )


def forecast_lines(intake: Intake, options: LearningOptions, *, has_page: bool) -> list[str]:
    """Say how long the labelling will take, where that is long."""
    n_rows, n_columns = intake.points.shape
    n_classes = len(set(intake.labels[intake.is_given]))
    sizes = Forecast(n_rows, n_columns, intake.given.n_given, n_classes)
    seconds = sizes.seconds(
        options.method,
        time_budget=options.time_budget,
        has_questions=options.n_questions > 0,
        has_page=has_page,
    )
    return [line for line in [sizes.line(seconds)] if line]


def _facts(intake: Intake, options: LearningOptions) -> dict[str, str]:
    """Return what it takes to do the same again."""
    from beltrami import __version__

    roles, table = intake.roles, intake.table
    rows = table.without(roles.label)
    used = [*roles.vectors, *roles.text, *roles.numeric, *roles.categorical]
    left_out = [f"{name!r} is ignored: {reason}" for name, reason in roles.ignored.items()]
    reading = {"delimiter": table.delimiter, "decimal": table.decimal}
    beside = {}
    if intake.has_embeddings:  # rows can be found again without them
        alone = replace(table, columns=table.columns.select([]))
        beside = {
            "columns_sha256": replace(rows, matrix=None).fingerprint(),
            "embeddings_sha256": alone.fingerprint(),
        }
    if roles.embeddings is not None:
        beside = {"embeddings": roles.embeddings, **beside}
    return {
        "beltrami": __version__,
        "data": table.name,
        "data_sha256": table.fingerprint(),
        "rows_sha256": rows.fingerprint(),
        **beside,
        **{name: sign for name, sign in reading.items() if sign is not None},
        "label_column": str(roles.label),
        "labels": (intake.given.line or intake.side_note).removeprefix("labels: "),
        "labels_from": intake.side_note or "the data",
        "id_column": str(roles.id),
        "features": f"{len(used)} column(s): {', '.join(used)}" if used else "matrix",
        "treatment": "; ".join([*intake.treatment, *left_out]) or "none",
        "parameters": str(options),
        "seed": str(options.random_state),
        "numpy": np.__version__,
        "device": describe_device(),
    }
