"""Labels and ids of the rows: columns of any type enter, Python objects leave."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.tables.columns.kinds import is_text
from beltrami.tables.columns.roles import Roles
from beltrami.tables.columns.slips import is_minus_one, label_slips, number_value
from beltrami.tables.model import MIXED, Table, decode_categories, few_of
from beltrami.tables.options import DEFAULTS, TableOptions

_MANY_CLASSES = 20
_LARGEST = 2**53


class OpenMarkerError(InvalidInputError):
    """It is open whether -1 is a class or marks rows without a label.

    Parameters
    ----------
    words : str
        What to say.
    marker : str
        How it is written.
    column : str
        Where.
    n_rows : int
        How often.
    """

    def __init__(self, words: str, marker: str, column: str, n_rows: int) -> None:
        super().__init__(words)
        self.marker, self.column, self.n_rows = marker, column, n_rows


@dataclass(frozen=True, slots=True, eq=False)
class GivenLabels:
    """What people said of the rows.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Texts, integers or truth values as Python objects, None for rows without a label.
    n_empty : int
        Rows whose cell is empty.
    n_marked : int
        Rows whose cell holds the marker of rows without a label.
    marker : str
        That marker; "" for none.
    notes : tuple of str
        What looks like a slip, such as classes that differ by case or spaces only.
    has_column : bool
        Whether the table has a column of labels at all.
    """

    values: NDArray[Any]
    n_empty: int
    n_marked: int = 0
    marker: str = ""
    notes: tuple[str, ...] = ()
    has_column: bool = True

    @property
    def n_given(self) -> int:
        """How many rows have a label."""
        return len(self.values) - self.n_empty - self.n_marked

    @property
    def line(self) -> str:
        """How many labels there are, and what was counted as none; "" without a column of them."""
        if not self.has_column:
            return ""
        n_open = self.n_empty + self.n_marked
        given = f"labels: {self.n_given} given"
        if not n_open:
            return f"{given}, no row without one"
        empty = f"{self.n_empty} empty cell{'s' if self.n_empty != 1 else ''}"
        marked = f"{self.n_marked} marked {self.marker!r}"
        parts = [empty] * (self.n_empty > 0) + [marked] * (self.n_marked > 0)
        rows = "row" if n_open == 1 else "rows"
        return f"{given}, {n_open} {rows} without one ({', '.join(parts)})"


def label_column(table: Table, roles: Roles, options: TableOptions = DEFAULTS) -> GivenLabels:
    """Return the label of every row, with None for those that have none.

    Null, NaN and blank texts are rows without a label, and so is what the user names as the marker
    of such rows; every other value is a class, as it is written. Whole floats, which a gap makes of
    integers in many files, become integers again.
    """
    if roles.label is None and options.min_classes > 0:
        raise InvalidInputError(f"no label column is named, so {table.name} has no labels.")
    if roles.label is None:
        none = np.full(table.n_rows, None, dtype=object)
        return GivenLabels(none, n_empty=table.n_rows, has_column=False)
    name = roles.label
    values = _values(table, name)
    marker = marker_text(options.unlabeled)
    labels = _unmarked(values, marker)
    counts = Counter(value for value in labels if value is not None)
    n_empty = sum(value is None for value in values)
    n_marked = len(values) - n_empty - counts.total()
    require_classes(counts, name, n_empty, len(values), options)
    notes = label_slips(counts, name)
    if marker and not n_marked:
        notes.append(f"no row of column {name!r} holds the marker {marker!r}")
    return GivenLabels(labels, n_empty, n_marked, marker, tuple(notes))


def label_cells(table: Table, name: str, unlabeled: Any = None) -> NDArray[Any]:
    """Return the label of every row as `label_column`; what all say together is not judged."""
    return _unmarked(_values(table, name), marker_text(unlabeled))


def require_classes(
    counts: Counter[Any], name: str, n_empty: int, n_rows: int, options: TableOptions
) -> None:
    """Raise where the labels of all rows, counted, cannot be classes or tell none apart.

    - `n_empty`, `n_rows`: rows whose cell is empty, and in all.
    """
    if options.unlabeled is None and not n_empty:
        _require_no_minus_one(counts, name)
    _require_several(counts, name, n_rows, options.min_classes)
    _require_no_numbers(counts, name)


def _unmarked(values: list[Any], marker: str) -> NDArray[Any]:
    """Return values as an array, None for the marker of rows without a label."""
    labels = np.full(len(values), None, dtype=object)
    for row, value in enumerate(values):
        if value is not None and not (marker and str(value).strip() == marker):
            labels[row] = value
    return labels


def marker_text(unlabeled: Any) -> str:
    """Return the marker as a text; None, NaN and their like are gaps anyway."""
    is_nothing = unlabeled is None or type(unlabeled).__name__ in ("NAType", "NaTType")
    if is_nothing or (isinstance(unlabeled, float) and math.isnan(unlabeled)):
        return ""
    return str(unlabeled).strip()


def row_ids(table: Table, roles: Roles) -> NDArray[Any]:
    """Return the id of every row: the values of the id column, or row numbers from 0."""
    ids = np.empty(table.n_rows, dtype=object)
    if roles.id is None:
        ids[:] = range(table.n_rows)
        return ids
    ids[:] = _scalars(decode_categories(table.columns.column(roles.id)), roles.id)
    missing = [row for row, value in enumerate(ids) if value is None]
    if missing:
        raise InvalidInputError(
            f"{len(missing)} of {len(ids)} ids in column {roles.id!r} are missing, in rows "
            f"{few_of(missing)}. Fill them, or name another id column."
        )
    twice = [value for value, n in Counter(ids).items() if n > 1]
    if twice:
        raise InvalidInputError(
            f"{len(twice)} id(s) in column {roles.id!r} occur more than once: {few_of(twice)}. "
            "Every row needs an id of its own; make them different, name another id column, or "
            "ignore this one to go by row numbers."
        )
    return ids


def _values(table: Table, name: str) -> list[Any]:
    """Return labels as texts, integers or truth values, None for null and blank."""
    field = table.columns.schema.field(name)
    if field.metadata and MIXED in field.metadata:
        raise InvalidInputError(
            f"the label column {name!r} mixes values of several types "
            f"({field.metadata[MIXED].decode()}), so it is open whether 1 and '1' are one class. "
            "Turn all into texts or all into integers."
        )
    column = decode_categories(table.columns.column(name))
    values = _scalars(column, name)
    if is_text(column.type):
        nulls = [row for row, value in enumerate(values) if value is not None and "\0" in value]
        if nulls:  # arrays of texts cannot tell it from the end
            raise InvalidInputError(
                f"{len(nulls)} label(s) in column {name!r} hold a null character, in rows "
                f"{few_of(nulls)}. Take it out."
            )
        return [value if value is not None and value.strip() else None for value in values]
    numbers = (value for value in values if isinstance(value, int | float))
    large = [value for value in numbers if abs(value) > _LARGEST]
    if large and not math.isinf(large[0]):
        raise InvalidInputError(
            f"the label column {name!r} holds numbers such as {large[0]}, which are too large to "
            "be told apart for sure. Turn them into texts."
        )
    floats = [value for value in values if isinstance(value, float)]
    if not floats:
        return values
    odd = [value for value in floats if not value.is_integer()]
    if odd:
        raise InvalidInputError(_no_classes(name, odd[0]))
    return [None if value is None else int(value) for value in values]


def _no_classes(name: str, example: Any) -> str:
    return (
        f"the label column {name!r} holds numbers that are not whole, such as {example}, and so no "
        "classes. Name another column, or turn the numbers into classes first; a number to predict "
        "is the work of bt.ManifoldRegressor, in Python."
    )


def _scalars(column: Any, name: str) -> list[Any]:
    """Return Python texts, integers, floats or truth values; dates as texts; NaN as None."""
    import pyarrow as pa

    types, kind = pa.types, column.type
    if is_text(kind) or types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind):
        values: list[Any] = column.to_pylist()
        return values
    convert: Callable[[Any], Any]
    if types.is_floating(kind) or types.is_decimal(kind):
        convert = float
    elif types.is_temporal(kind):
        column, convert = column.cast(pa.string()), str
    else:
        raise InvalidInputError(
            f"column {name!r} holds values of type {kind}, which are neither labels nor ids. Use "
            "texts or integers."
        )
    scalars = [None if value is None else convert(value) for value in column.to_pylist()]
    return [None if isinstance(value, float) and math.isnan(value) else value for value in scalars]


def _require_no_minus_one(counts: Counter[Any], name: str) -> None:
    """Raise where -1 stands in a column without gaps: a class, or the lack of one."""
    minus_ones = [(value, count) for value, count in counts.items() if is_minus_one(value)]
    if not minus_ones:
        return
    value, count = minus_ones[0]
    raise OpenMarkerError(
        f"{count} of {counts.total()} rows hold {value} in the label column {name!r}, and no cell "
        f"is empty, so it is open whether {value} is a class or marks rows without a label. If it "
        f"marks them, pass --unlabeled {value} (unlabeled={value!r}); if it is a class and only "
        'empty cells are gaps, pass --unlabeled "" (unlabeled="").',
        str(value).strip(),
        name,
        count,
    )


def _require_no_numbers(counts: Counter[Any], name: str) -> None:
    """Raise where texts are numbers to predict: not all whole, and hardly one of them twice."""
    numbers = {value: number_value(value) for value in counts}
    if None in numbers.values():
        return
    odd = [value for value, number in numbers.items() if number is not None and number % 1]
    if odd and (len(counts) > _MANY_CLASSES or 2 * len(counts) > counts.total()):
        raise InvalidInputError(_no_classes(name, odd[0]))


def _require_several(counts: Counter[Any], name: str, n_rows: int, min_classes: int) -> None:
    if len(counts) >= min_classes:
        return
    if not counts:
        raise InvalidInputError(
            f"the label column {name!r} holds no label: all {n_rows} rows are unlabelled. Label a "
            "few rows of each class."
        )
    only = next(iter(counts))
    raise InvalidInputError(
        f"all {counts[only]} labels in column {name!r} are of one class, {only!r}, and "
        f"{min_classes} are needed to tell them apart."
    )
