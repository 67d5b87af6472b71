"""A user's table made ready: roles of columns guessed or given, features, ids and labels."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import Points
from beltrami.tables import (
    Features,
    GivenLabels,
    Roles,
    Table,
    feature_matrix,
    guess_roles,
    label_column,
    read_table,
    row_ids,
)
from beltrami.tables.reading.source import side_tables


@dataclass(frozen=True, slots=True, eq=False)
class Intake:
    """A table, read.

    Attributes
    ----------
    table : Table
        As it came.
    roles : Roles
        What each column is for.
    features : Features
        Numbers to compare rows by.
    ids : ndarray of shape (n,)
        What rows are called.
    labels : ndarray of shape (n,)
        Labels, None where there is none.
    notes : tuple of str
        What a person should know, such as labels that differ by case only.
    files : tuple of Path
        What was read, and is never written over.
    told : tuple of str
        Where labels came from, if not from the data alone.
    counted : str
        How many labels there are, and what was counted as none; "" without a column of labels.
    """

    table: Table
    roles: Roles
    features: Features
    ids: NDArray[Any]
    labels: NDArray[Any]
    notes: tuple[str, ...]
    files: tuple[Path, ...] = ()
    told: tuple[str, ...] = ()
    counted: str = ""

    @property
    def points(self) -> Points:
        """The features as a matrix."""
        return self.features.points

    @property
    def metric(self) -> str:
        """How rows are compared, where the kind of features says so; else "auto"."""
        return "auto" if self.features.metric == "euclidean" else self.features.metric

    @property
    def scale(self) -> str:
        """Whether columns are put on one scale: surely where their units differ."""
        return "standard" if self.features.is_mixed else "auto"

    def lines(self) -> list[str]:
        """Return what was read, for a person."""
        warned = (f"warning: {note}" for note in self.notes)
        counted = [self.counted] if self.counted else []
        return [*self.roles.lines(), *counted, *self.told, *self.features.lines(), *warned]


def take_in(
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
    labels: Any = None,
    unlabeled: Any = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    impute: bool = False,
    min_classes: int = 2,
) -> Intake:
    """Read a table and make it ready.

    - `label`: column of the labels; None looks for one called label, class, target and the like.
    - `id`: column of the ids; None looks for one, else row numbers serve.
    - `features`, `text`: columns to compare rows by, and those of them that hold texts; None
      guesses.
    - `categories`, `numbers`: columns that are of that kind, whatever they look like; the others
      are guessed as ever.
    - `embeddings`: a matrix with as many rows, to compare rows by.
    - `labels`: tables of ids and labels, joined on the ids; they come on top of those in the
      source.
    - `unlabeled`: what marks a row without a label, besides empty cells; "" says that nothing else
      does, and that -1 is a class.
    - `decimal`: sign before the decimals of numbers in texts, where the cells do not tell.
    - `impute`: whether what is not finite in a matrix or in vectors is filled, by medians.
    - `min_classes`: classes that must have a label; 0 where labels are not needed.
    """
    data = read_table(
        source, embeddings=embeddings, delimiter=delimiter, decimal=decimal, id=id, label=label
    )
    table = read_table(
        data, labels=labels, delimiter=delimiter, id=id, label=label, unlabeled=unlabeled
    )
    roles = guess_roles(
        table,
        label=label,
        id=id,
        features=features,
        text=text,
        categories=categories,
        numbers=numbers,
        ignore=ignore,
        require_label=min_classes > 0,
    )
    _require_whole_columns(table, roles)
    given: GivenLabels | None = None
    if roles.label is not None:
        given = label_column(table, roles, unlabeled=unlabeled, min_classes=min_classes)
    values = np.full(table.n_rows, None, dtype=object) if given is None else given.values
    named = (ignore, features or (), text or (), categories or (), numbers or ())
    ids = row_ids(table, _with_meant_id(table, roles, named))
    matrix = feature_matrix(table, roles, impute=impute)
    read = (source, embeddings, *side_tables(labels))
    paths = (one for one in read if isinstance(one, str | os.PathLike))
    return Intake(
        table,
        roles,
        matrix,
        ids,
        values,
        () if given is None else given.notes,
        tuple(Path(path).resolve() for path in paths),
        _side_lines(data, labels, roles, values),
        "" if given is None else given.line,
    )


def _side_lines(data: Table, labels: Any, roles: Roles, given: NDArray[Any]) -> tuple[str, ...]:
    """Say what came from tables of labels beside the data."""
    sides = side_tables(labels)
    if not sides:
        return ()
    names = [Path(one).name if isinstance(one, str | os.PathLike) else "a table" for one in sides]
    own = 0
    if roles.label in data.names:
        texts = data.columns.column(roles.label).to_pylist()
        own = sum(one is not None and str(one).strip() != "" for one in texts)
    known = sum(one is not None for one in given)
    said = f"{own:,} in the data, {known:,} with those of {', '.join(names)}, which come on top"
    return (f"labels: {said}",)


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


def _with_meant_id(table: Table, roles: Roles, spoken_for: Sequence[Sequence[str]]) -> Roles:
    """Take a column called "id" at its word where most of its values name one row only."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if roles.id is not None:
        return roles
    for name in table.names:
        kind = table.columns.schema.field(name).type
        is_key = pa.types.is_integer(kind) or pa.types.is_string(kind)
        is_taken = name == roles.label or any(name in names for names in spoken_for)
        if name.strip().lower() == "id" and is_key and not is_taken:
            n_distinct = pc.count_distinct(table.columns.column(name)).as_py()
            if 2 * n_distinct > table.n_rows:
                return replace(roles, id=name)
    return roles
