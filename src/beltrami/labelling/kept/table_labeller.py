"""A labeller that is kept with the recipe of its table: files and frames enter, answers leave."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix, Points
from beltrami.front_door.kept.labeller import KeptLabeller, Verdict
from beltrami.labelling.frames import frame_like
from beltrami.labelling.kept.answers import Answers, NewLabels, answer_table, new_labels
from beltrami.tables import Table, TableOptions, read_table
from beltrami.tables.columns.naming import known_name
from beltrami.tables.features.faults import Faults
from beltrami.tables.features.recipe import Recipe
from beltrami.tables.model import decode_categories
from beltrami.tables.reading.objects import table_from_object

if TYPE_CHECKING:
    from beltrami.labelling.result import Labelling

ROWS = 2**14
"""Rows that are answered together, whatever file they come from and however it holds them."""


@dataclass(frozen=True, slots=True)
class KeptRoles:
    """What the columns of a table were for that a labeller was learned from.

    Attributes
    ----------
    id, label : str or None
        The columns of ids and of labels.
    marker : str
        What marked a row without a label, besides empty cells; "" for nothing.
    decimal : {".", ","} or None
        Sign before decimals, as the user said.
    has_id : bool
        Whether other tables must have the column of ids, too.
    """

    id: str | None
    label: str | None
    marker: str = ""
    decimal: str | None = None
    has_id: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TableLabeller:
    """A labeller that takes tables as they come: it was learned from one and answers others.

    It is what `beltrami.load` returns of a file that `Labelling.save` or ``beltrami label --save``
    wrote. What is said of a row rests on the file and on that row alone, but for last bits.

    Attributes
    ----------
    labeller : KeptLabeller
        What answers points.
    recipe : Recipe
        How rows become points.
    roles : KeptRoles
        Which columns held ids and labels.
    usual : float
        Share of the rows that it was learned from which lie as far from the others as rows that it
        calls unlike.
    facts : dict of str to str
        Where it comes from: version, data with their hash, parameters.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import beltrami as bt
    >>> moons = bt.two_moons(200, random_state=0)
    >>> table = {"x": moons.points[:, 0], "y": moons.points[:, 1]}
    >>> table["kind"] = [f"moon {c}" if i % 20 == 0 else "" for i, c in enumerate(moons.targets)]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "moons.beltrami"
    >>> labeller = bt.load(bt.label(table, "kind", n_questions=0).save(path))
    >>> answers = labeller.apply({"x": [1.0, 50.0], "y": [-0.5, 50.0]})
    >>> answers["label"], answers["unlike"]
    (['moon 1', None], [False, True])
    """

    labeller: KeptLabeller
    recipe: Recipe
    roles: KeptRoles
    usual: float
    facts: dict[str, str]

    @classmethod
    def of(cls, labelling: "Labelling") -> Self:
        """Take what answers other tables from a labelled one."""
        intake, learner = labelling.intake, labelling.learner
        labeller = KeptLabeller.of(learner)
        roles = intake.roles
        kept = KeptRoles(roles.id, roles.label, intake.given.marker, intake.table.decimal)
        usual = float(labeller.own_unlike(learner).mean())
        return cls(labeller, intake.features.recipe, kept, usual, labelling.facts)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return self.labeller.classes_

    def apply(self, source: Any) -> Any:
        """Return the answers to the rows of a table, as a table of the kind that came.

        Parameters
        ----------
        source : DataFrame, Table, array, dict or path
            Rows, with the columns that were learned from, in any order; others may stand beside
            them. It may have no rows: what leaves then shows names and types.

        Returns
        -------
        DataFrame, Table or dict
            Of pandas with the same index, of polars, or of arrow; a dict of lists for a dict, and a
            table of arrow for the rest. The columns are those of ``beltrami label``: ``id``,
            ``label``, ``source``, ``confidence``, ``guess``, ``second_label``, ``margin`` and
            ``reached``, and ``unlike`` for rows unlike what was learned from. Labels in the column
            of labels stay; their source is "human".
        """
        is_path = isinstance(source, str | Path)
        table = read_table(source, self.reading()) if is_path else table_from_object(source)
        return frame_like(self.answer(table).table, source, is_numbered=self._id(table) is None)

    def predict(self, source: Any) -> NDArray[Any]:
        """Return the classes of the rows of a table.

        Parameters
        ----------
        source : DataFrame, Table, array, dict or path
            Rows.

        Returns
        -------
        ndarray of shape (m,)
            Classes; the marker of unlabelled rows where no label reaches.
        """
        return self.labeller.predict(self._points(source))

    def predict_proba(self, source: Any) -> FloatMatrix:
        """Return the probabilities of the classes.

        Parameters
        ----------
        source : DataFrame, Table, array, dict or path
            Rows.

        Returns
        -------
        ndarray of shape (m, k)
            Rows sum to one; the shares of the labels where no label reaches.
        """
        return self.labeller.predict_proba(self._points(source))

    def judge(self, source: Any) -> Verdict:
        """Return all that is said of the rows of a table, whatever labels it holds.

        Parameters
        ----------
        source : DataFrame, Table, array, dict or path
            Rows.

        Returns
        -------
        Verdict
            Probabilities, classes, and which of them may be used.
        """
        points, is_empty = self._made(source)
        verdict = self.labeller.judge(points)
        return replace(verdict, accepted=verdict.accepted & ~is_empty)

    def save(self, path: Path | str) -> Path:
        """Write it to a file again, whole or not at all.

        Parameters
        ----------
        path : path
            Where to.

        Returns
        -------
        Path
            Where it is.
        """
        from beltrami.labelling.kept.keeping import write_table_labeller

        return write_table_labeller(self, Path(path))

    def with_jobs(self, n_jobs: int | None) -> "TableLabeller":
        """Return the same with another number of threads.

        Parameters
        ----------
        n_jobs : int or None
            Threads; None for all.

        Returns
        -------
        TableLabeller
            With them.
        """
        return replace(self, labeller=replace(self.labeller, n_jobs=n_jobs))

    def found_in(self, text_model: Any) -> "TableLabeller":
        """Return the same with its model of texts in some folder; raise where there is none.

        Parameters
        ----------
        text_model : path or None
            The folder; None for the one that it learned with.

        Returns
        -------
        TableLabeller
            With that folder, whose files are those of the fit.
        """
        return replace(self, recipe=self.recipe.found_in(text_model))

    def with_id(self, column: str | None) -> "TableLabeller":
        """Return the same with rows called by another column, which must be there.

        Parameters
        ----------
        column : str or None
            Its name; None changes nothing.

        Returns
        -------
        TableLabeller
            With that column of ids.
        """
        if column is None:
            return self
        return replace(self, roles=replace(self.roles, id=column, has_id=True))

    def reading(self, **options: Any) -> TableOptions:
        """Return how a file is read: as the one was that was learned from.

        Parameters
        ----------
        **options : object
            Fields of the options on tables, which come on top.

        Returns
        -------
        TableOptions
            For `read_table`.
        """
        decimal = self.roles.decimal or ("," if self.recipe.has_commas else None)
        return TableOptions(
            label=self.roles.label, id=self.roles.id, decimal=decimal, min_classes=0, **options
        )

    def answer(self, table: Table, labels: NewLabels | None = None, first: int = 0) -> Answers:
        """Answer all rows of a table, in blocks.

        Parameters
        ----------
        table : Table
            Rows.
        labels : NewLabels or None, default=None
            How labels that people gave in it are read; None for what the table tells.
        first : int, default=0
            Number of its first row.

        Returns
        -------
        Answers
            A table of them, and what was odd about the rows.
        """
        labels = self.labels_of(table) if labels is None else labels
        blocks = [
            self._answer(rows, labels, first + start) for start, rows in blocks_of(table, ROWS)
        ]
        return Answers.joined(blocks)

    def labels_of(self, table: Table) -> NewLabels:
        """Return how labels that people gave in a table are read, by its types.

        Parameters
        ----------
        table : Table
            It may have no rows.

        Returns
        -------
        NewLabels
            For `answer`.
        """
        name = self.roles.label
        held = [decode_categories(table.columns.column(name)).type] if name in table.names else []
        return new_labels(name, self.roles.marker, self.classes_, held)

    def _answer(self, rows: Table, labels: NewLabels, first: int) -> Answers:
        id_column = self._id(rows)
        ids = None if id_column is None else decode_categories(rows.columns.column(id_column))
        faults = Faults(
            rows.matrix_name or rows.name,
            ids=ids,
            impute=self.recipe.impute,
            is_new=True,
            first=first,
        )
        verdict, is_empty = self._judged(rows, faults)
        named = np.arange(first, first + rows.n_rows) if ids is None else ids
        given = labels.given(rows)
        answers = answer_table(named, verdict, is_empty, labels, given)
        n_empty = int(is_empty.sum())
        filled, unseen = dict(faults.filled), dict(faults.unseen)
        return Answers(answers, filled, unseen, n_empty, given.n_marked)

    def _judged(self, rows: Table, faults: Faults) -> tuple[Verdict | None, BoolVector]:
        """Return what is said of rows, and which of them hold nothing; None for no rows."""
        if rows.n_rows == 0:
            return None, np.zeros(0, dtype=bool)
        points, is_empty = self.recipe.make(rows, faults)
        return self.labeller.judge(points), is_empty

    def _id(self, table: Table) -> str | None:
        if self.roles.has_id and self.roles.id is not None:
            return known_name(self.roles.id, table, "id")
        return self.roles.id if self.roles.id in table.names else table.index

    def _points(self, source: Any) -> Points:
        return self._made(source)[0]

    def _made(self, source: Any) -> tuple[Points, BoolVector]:
        """Return the rows of a table as points, and which of them hold nothing."""
        table = read_table(source, self.reading())
        faults = Faults(table.name, ids=None, impute=self.recipe.impute, is_new=True)
        return self.recipe.make(table, faults)

    def __repr__(self) -> str:
        return (
            f"<TableLabeller learned from {self.facts.get('data', 'a table')}: {self.labeller!r}>"
        )


def blocks_of(table: Table, n_rows: int) -> Iterator[tuple[int, Table]]:
    """Yield the rows of a table in blocks, with the number of the first; one block for no rows."""
    for start in range(0, max(table.n_rows, 1), n_rows):
        matrix = None if table.matrix is None else table.matrix[start : start + n_rows]
        yield start, replace(table, columns=table.columns.slice(start, n_rows), matrix=matrix)
