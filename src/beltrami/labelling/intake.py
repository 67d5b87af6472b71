"""A user's table made ready: roles of columns guessed or given, features, ids and labels."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import BoolVector, FloatVector, Points
from beltrami.tables import (
    Features,
    GivenLabels,
    Roles,
    Table,
    TableOptions,
    feature_matrix,
    guess_roles,
    join_side_labels,
    label_column,
    read_table,
    row_ids,
)
from beltrami.tables.columns.roles import MATRIX_LINE
from beltrami.tables.model import few_of
from beltrami.tables.options import DEFAULTS
from beltrami.tables.own_results import refuse_result
from beltrami.tables.reading.images import SIDE


@dataclass(frozen=True, slots=True, eq=False)
class Intake:
    """A table, read.

    Attributes
    ----------
    table : Table
        As it came, with labels from tables beside it.
    roles : Roles
        What each column is for.
    features : Features
        Numbers to compare rows by.
    ids : ndarray of shape (n,)
        What rows are called.
    given : GivenLabels
        Labels, None where there is none, and what a person should know of them.
    side_note : str
        What came from tables of labels beside the data; "" for nothing.
    files : tuple of Path
        What was read, and is never written over.
    source : Path or None
        Which of them holds the data; None where they came as an object.
    has_embeddings : bool
        Whether the matrix of the table stood beside the data.
    weights : ndarray of shape (n,) or None
        How much each label counts; None where all count the same.
    origins : dict of str to ndarray of shape (n,)
        Columns that the result has too: who gave a label, how and when, where that is known.
    """

    table: Table
    roles: Roles
    features: Features
    ids: NDArray[Any]
    given: GivenLabels
    side_note: str = ""
    files: tuple[Path, ...] = ()
    source: Path | None = None
    has_embeddings: bool = False
    weights: FloatVector | None = None
    origins: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def points(self) -> Points:
        """The features as a matrix."""
        return self.features.points

    @property
    def labels(self) -> NDArray[Any]:
        """Label of each row, None where there is none."""
        return self.given.values

    @property
    def is_given(self) -> BoolVector:
        """Whether each row has a label."""
        return np.asarray(self.labels != np.array(None), dtype=bool)

    @property
    def metric(self) -> str:
        """How rows are compared, where the kind of features says so; else "auto"."""
        return "auto" if self.features.metric == "euclidean" else self.features.metric

    @property
    def scale(self) -> str:
        """Whether columns are put on one scale: surely where their units differ."""
        return "standard" if self.features.has_units else "auto"

    @property
    def treatment(self) -> tuple[str, ...]:
        """What was done to the features, and what `scale` tells the learner to do."""
        is_scaled = self.scale == "standard"
        scaled = ("columns have different units and are standardised",) if is_scaled else ()
        return (*self.features.notes, *scaled)

    def lines(self) -> list[str]:
        """Return what was read, for a person."""
        labels = [line for line in (self.given.line, self.side_note) if line]
        warned = (f"warning: {note}" for note in self.given.notes)
        roles, features = self.roles.lines(), str(self.features)
        if self.table.pictures is not None and self.roles.uses_matrix and not self.has_embeddings:
            roles.remove(MATRIX_LINE)
            features = f"features: {len(self.ids):,} pictures, made grey, {SIDE} by {SIDE} pixels"
        return [*roles, *labels, features, *self.treatment, *warned]


def take_in(source: Any, options: TableOptions = DEFAULTS) -> Intake:
    """Read a table and make it ready."""
    enter_stage(Stage.READ)
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    data = read_table(source, options)
    refuse_result(data, options, path)
    table = join_side_labels(data, options)
    roles = guess_roles(table, options)
    _require_whole_columns(table, roles)
    given = label_column(table, roles, options)
    ids = row_ids(table, roles)
    enter_stage(Stage.PREPARE)
    features = feature_matrix(table, roles, impute=options.impute, text_model=options.text_model)
    beside = options.beside if table.matrix_name is not None else options.side_labels
    files = (one for one in (source, *beside) if isinstance(one, str | os.PathLike))
    return Intake(
        table,
        roles,
        features,
        ids,
        given,
        _side_note(data, roles, given, options.side_labels, table.replaced),
        tuple(Path(path).resolve() for path in files),
        None if path is None else path.resolve(),
        table.matrix_name is not None,
    )


def _side_note(
    data: Table,
    roles: Roles,
    given: GivenLabels,
    sides: tuple[Any, ...],
    replaced: tuple[str, ...],
) -> str:
    """Say what came from tables of labels beside the data, and which labels gave way to them."""
    if not sides:
        return ""
    names = [Path(one).name if isinstance(one, str | os.PathLike) else "a table" for one in sides]
    n_inside = 0
    if roles.label in data.names:
        cells = data.columns.column(roles.label).to_pylist()
        n_inside = sum(cell is not None and str(cell).strip() != "" for cell in cells)
    note = (
        f"labels: {n_inside:,} in the data, {given.n_given:,} with those of {', '.join(names)}, "
        "which come on top"
    )
    if replaced:
        note += f"; {len(replaced):,} in place of another ({few_of(replaced, 3)})"
    return note


def _require_whole_columns(table: Table, roles: Roles) -> None:
    """Refuse to leave out a column for a few odd cells: the answer would rest on the others."""
    if not roles.broken or roles.uses_matrix or roles.vectors or roles.text:
        return
    name = roles.broken[0]
    more = f" So do {len(roles.broken) - 1} other column(s)." if len(roles.broken) > 1 else ""
    raise InvalidInputError(
        f"column {name!r} of {table.name} holds values of several types: {roles.ignored[name]}."
        f"{more} Mend it, or leave it out: --ignore {name!r} (ignore=[{name!r}])."
    )
