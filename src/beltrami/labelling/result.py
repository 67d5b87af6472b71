"""The result of a labelling: every row with its label and confidence, as a table and in words."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.files import require_no_input
from beltrami.core.markup import bullets, grid, paragraph
from beltrami.core.telling.progress import enter_stage, job
from beltrami.core.telling.stages import Stage
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.labelling.intake import Intake
from beltrami.labelling.showing.contents import LINE_LENGTH, RowContents, with_preview
from beltrami.labelling.showing.own_columns import facts_of_own, own_columns, relative_path
from beltrami.questions import Question
from beltrami.report.sentences import count_rows, evidence, headline
from beltrami.review.issues import LabelIssues
from beltrami.tables import write_table
from beltrami.tables.own_results import SOURCES, Source

_FIRST_ROWS = 5
"""Rows that a notebook shows of a result."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labelling:
    """Every row labelled, as far as that can be answered for.

    Attributes
    ----------
    intake : Intake
        What came in.
    learner : ManifoldClassifier
        Fitted.
    questions : tuple of Question
        Rows to label next.
    issues : LabelIssues
        Given labels that look wrong.
    facts : dict of str to str
        Version, parameters, seed, hash of the data: what it takes to do it again.
    source : ndarray of shape (n,)
        Who labelled each row, or why nobody did: 0 the user, 1 we, 2 left to the user, 3 reached by
        no label.
    codes : ndarray of shape (n,)
        Position of each row's class in ``learner.classes_``; -1 where no label reaches.

    Examples
    --------
    >>> import numpy as np
    >>> import beltrami as bt
    >>> heights = np.concatenate([np.linspace(0, 1, 50), np.linspace(3, 4, 50)])
    >>> sizes = ["small"] + 24 * [""] + ["small"] + 24 * [""] + ["large"] + 48 * [""] + ["large"]
    >>> found = bt.label({"height": heights, "size": sizes}, "size", n_questions=3)
    >>> found.counts
    {'rows': 100, 'given': 4, 'labelled': 96, 'abstained': 0, 'unreached': 0}
    >>> found.columns["label"][[40, 60]].tolist(), found.columns["source"][:2].tolist()
    (['small', 'large'], ['human', 'propagated'])
    >>> found.headline
    '96 rows labelled from your 4 labels, none left to you.'
    >>> len(found.questions), len(found.issues)
    (3, 0)
    """

    intake: Intake
    learner: ManifoldClassifier
    questions: tuple[Question, ...]
    issues: LabelIssues
    facts: dict[str, str]

    source: NDArray[np.intp] = field(init=False)
    codes: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        learner, intake = self.learner, self.intake
        source = row_sources(
            learner.reached_, learner.accepted_, intake.features.is_empty, intake.is_given
        )
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "codes", _codes(intake, learner, source))

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The result, column by column.

        ``label`` is empty where the label is not accepted; ``guess`` is the likeliest class all the
        same, for rows that a label reaches. ``second_label`` is the likeliest other class, and
        ``margin`` how much less likely it is: below 0 only where a given label is doubtful. Labels
        of a project also have ``how``, ``annotator`` and ``updated_at``.
        """
        learner, source, first = self.learner, self.source, self.codes
        second, margin = runners_up(learner.label_distributions_, first)
        classes = np.array([*learner.classes_.tolist(), None], dtype=object)
        guess = classes[first]
        is_given = source == Source.GIVEN
        guess[is_given] = self.intake.labels[is_given]
        accepted = guess.copy()
        accepted[~np.isin(source, (Source.GIVEN, Source.LABELLED))] = None
        rank = np.full(len(source), None, dtype=object)
        for place, question in enumerate(self.questions, start=1):
            rank[question.row] = place
        return {
            "id": self.intake.ids,
            "label": accepted,
            "source": np.array(SOURCES, dtype=object)[source],
            "confidence": np.round(learner.confidence_, 6),
            "guess": guess,
            "second_label": classes[second],
            "margin": np.round(margin, 6),
            "reached": learner.reached_,
            "ask_rank": rank,
            **self.intake.origins,
        }

    @property
    def frame(self) -> Any:
        """Result as a pandas DataFrame, or a pyarrow Table where pandas is not installed."""
        columns = self.columns
        try:
            import pandas as pd
        except ImportError:
            import pyarrow as pa

            return pa.table({name: values.tolist() for name, values in columns.items()})
        return pd.DataFrame(columns).astype({"ask_rank": "Int64"})

    @property
    def counts(self) -> dict[str, int]:
        """Count of rows: all, and by source."""
        numbers = np.bincount(self.source, minlength=len(Source)).tolist()
        return {"rows": len(self.source)} | {one.name.lower(): numbers[one] for one in Source}

    @property
    def headline(self) -> str:
        """How many rows have a label now, and how many are left."""
        return headline(self.counts)

    @property
    def evidence(self) -> tuple[str, ...]:
        """What is known of how right the labels are: what is estimated, and what was tested."""
        labelled = self.learner.confidence_[self.source == Source.LABELLED]
        expected = float(labelled.mean()) if labelled.size else float("nan")
        return evidence(self.counts, expected, self.learner.risk, self.learner.report_)

    @property
    def sentence(self) -> str:
        """The result in a few sentences."""
        return " ".join([self.headline, *self.evidence])

    @property
    def contents(self) -> RowContents:
        """What each row is, for a person."""
        return RowContents.of(self.intake)

    def __repr__(self) -> str:
        return f"<Labelling of {self.intake.table.name}: {self.sentence}>"

    def _repr_html_(self) -> str:
        """Return the same with the counts and the first rows, for a notebook."""
        counts = [f"{count:,}" for count in self.counts.values()]
        return (
            paragraph(self.headline, *self.evidence)
            + grid(self.counts, [counts])
            + bullets(self.learner.report_.warnings)
            + grid(("id", "row", "guess", "source", "confidence"), self._first_rows())
        )

    def _first_rows(self) -> list[tuple[Any, ...]]:
        """Return a few rows as a notebook shows them."""
        rows = range(min(_FIRST_ROWS, len(self.source)))
        classes = [*map(str, self.learner.classes_), "-"]
        previews = self.contents.previews(rows, LINE_LENGTH)
        confidence = self.learner.confidence_
        return [
            (
                self.intake.ids[row],
                previews[row],
                classes[self.codes[row]],
                SOURCES[self.source[row]],
                f"{confidence[row]:.2f}",
            )
            for row in rows
        ]

    def lines(self, written: Path | None = None, *, project: Path | str | None = None) -> list[str]:
        """Return the summary.

        Parameters
        ----------
        written : Path or None, default=None
            Where the labels are, for the command that proves them.
        project : path or None, default=None
            Where people gave the labels, for the command that shows them again.

        Returns
        -------
        list of str
            At most twelve lines.
        """
        counts, report = self.counts, self.learner.report_
        lines = [self.sentence]
        if counts["labelled"] and written is not None:
            lines.append(f"To prove it: beltrami audit {shlex.quote(str(written))}")
        lines += [f"! {line}" for line in report.warnings[:3]]
        lines.append(report.verdict)
        baseline = report.best_baseline
        if baseline is not None:
            error = 1 - report.held_out_accuracy
            lines.append(
                f"held-out error {error:.1%}; beside it {baseline.title}: {baseline.error:.1%}"
            )
        if counts["unreached"]:
            lines.append(f"{counts['unreached']:,} rows share no part of the data with a label")
        if len(self.issues):
            place = "`beltrami check`"
            if project is not None:
                place = f"the review of `beltrami studio {shlex.quote(str(project))}`"
            lines.append(f"{len(self.issues)} given label(s) look wrong; see {place}")
        if self.questions:
            first = self.questions[0]
            preview = self.contents.preview(first.row, LINE_LENGTH)
            lines.append(
                f"label next: {with_preview(self.intake.ids[first.row], preview)}: {first.reason}; "
                f"settles about {count_rows(first.settles)}"
            )
        return lines

    def write(self, path: Path | str, *, with_data: bool = False) -> Path:
        """Write the result, atomically, in the format that the name ends in.

        Parameters
        ----------
        path : path
            Ending in .parquet, .csv, .tsv, .jsonl, .arrow or .feather, the text formats also .gz.
            Not a file that was read.
        with_data : bool, default=False
            Whether the columns of the data stand beside. One whose name is that of a column of ours
            gets a prefix, and a warning says so; those of ids and labels are not written twice.

        Returns
        -------
        Path
            Where it is.
        """
        target = Path(path)
        require_no_input(target, self.intake.files)
        enter_stage(Stage.WRITE)
        columns, facts = self.columns, self.facts
        if self.intake.source is not None:
            facts = facts | {"data_path": relative_path(self.intake.source, target)}
        if with_data:
            own = columns_beside(self.intake, columns, target)
            columns, facts = columns | own, facts | facts_of_own(own, self.intake.table)
        write_table(target, columns, facts)
        return target

    def save(self, path: Path | str) -> Path:
        """Keep what answers the rows of other tables in one file, written whole or not at all.

        `beltrami.load` brings it back, and ``beltrami apply`` answers by it. The file holds arrays
        and JSON, nothing that is run: the prepared rows of the fit, what their columns were for and
        how they became numbers.

        Parameters
        ----------
        path : path
            Where to. Not a file that was read.

        Returns
        -------
        Path
            Where it is.
        """
        from beltrami.labelling.kept.table_labeller import TableLabeller

        require_no_input(Path(path), self.intake.files)
        return TableLabeller.of(self).save(path)

    def report(self, path: Path | str, *, with_map: bool = True) -> Path:
        """Write the page that shows the result: one HTML file that needs no network.

        Parameters
        ----------
        path : path
            Where to.
        with_map : bool, default=True
            Whether to draw the map, which takes some seconds for many rows.

        Returns
        -------
        Path
            Where it is.
        """
        from beltrami.labelling.showing.page import page_of
        from beltrami.report.page.render import save_page

        require_no_input(Path(path), self.intake.files)
        with job(*[Stage.MAP] * with_map, Stage.PAGE):
            page = page_of(self, with_map=with_map)
            enter_stage(Stage.PAGE)
            return save_page(page, Path(path))


def columns_beside(intake: Intake, ours: Iterable[str], target: Path) -> dict[str, Any]:
    """Return the columns of the data but for those that ours of the same name hold."""
    roles = intake.roles
    pairs = (("id", roles.id), ("label", roles.label))
    twice = {name for role, name in pairs if name and name.strip().casefold() == role}
    return own_columns(intake.table, ours, target, hidden=twice)


def row_sources(
    reached: BoolVector,
    accepted: BoolVector,
    is_empty: BoolVector | None,
    is_given: BoolVector | None = None,
) -> NDArray[np.intp]:
    """Return the `Source` of each row.

    - `reached`, `accepted`: rows that a label reaches, and rows whose label of ours is accepted.
    - `is_empty`: rows that hold nothing, and are left to the person; None for none.
    - `is_given`: rows whose label somebody gave, which stands; None for none.
    """
    source = np.where(reached, Source.ABSTAINED, Source.UNREACHED)
    source[accepted] = Source.LABELLED
    if is_empty is not None:
        source[is_empty] = Source.ABSTAINED
    if is_given is not None:
        source[is_given] = Source.GIVEN
    return np.asarray(source, dtype=np.intp)


def _codes(
    intake: Intake, learner: ManifoldClassifier, source: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the given class of each row, else the likeliest one; -1 where no label reaches."""
    likeliest = learner.label_distributions_.argmax(axis=1)
    codes = np.where(source == Source.UNREACHED, -1, likeliest)
    code_of = {value: code for code, value in enumerate(learner.classes_.tolist())}
    is_given = source == Source.GIVEN
    codes[is_given] = list(map(code_of.__getitem__, intake.labels[is_given]))
    return np.asarray(codes, dtype=np.intp)


def runners_up(
    distributions: FloatMatrix, first: NDArray[np.intp]
) -> tuple[NDArray[np.intp], FloatVector]:
    """Return the likeliest class but the first, and the lead of the first; -1 and 0 for none."""
    rows = np.arange(len(distributions))
    rest = distributions.copy()
    rest[rows, first] = -1.0
    second = rest.argmax(axis=1)
    lead = distributions[rows, first] - distributions[rows, second]
    return np.where(first < 0, -1, second), np.where(first < 0, 0.0, lead)
