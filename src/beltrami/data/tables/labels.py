"""Labels and ids of the rows: columns of any type enter, Python objects leave. Layer 1."""

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.data.model import UNLABELED
from beltrami.data.tables.kinds import is_text
from beltrami.data.tables.model import MIXED, Table, listed, plain
from beltrami.data.tables.roles import Roles

_MANY_CLASSES = 20
_LARGEST = 2**53


def label_column(
    table: Table, roles: Roles, *, unlabeled: Any = None, min_classes: int = 2
) -> tuple[NDArray[Any], list[str]]:
    """Return the label of every row, with None for those that have none.

    Null, NaN and blank texts are unlabelled, and -1 among integers and only there. Whole floats,
    which a gap makes of integers in many files, become integers again. Names of classes are kept
    as they are written.

    Parameters
    ----------
    table : Table
        The data.
    roles : Roles
        Names the label column.
    unlabeled : object, default=None
        A further marker of unlabelled rows, such as "?"; compared as written.
    min_classes : int, default=2
        How many classes there must be at least; 0 accepts a column without labels.

    Returns
    -------
    labels : ndarray of shape (n,)
        Texts, integers or truth values as Python objects, None for unlabelled rows.
    warnings : list of str
        What looks like a slip, such as classes that differ by case or spaces only.

    Raises
    ------
    InvalidInputError
        When there is no label column, nothing in it, one class only, or no classes at all.
    """
    if roles.label is None:
        raise InvalidInputError(f"no label column is named, so {table.name} has no labels.")
    name = roles.label
    values = _values(table, name)
    marker = None if unlabeled is None else str(unlabeled).strip()
    labels = np.full(len(values), None, dtype=object)
    for row, value in enumerate(values):
        if value is not None and not _is_unlabeled(value, marker):
            labels[row] = value
    counts = Counter(value for value in labels if value is not None)
    n_minus_one = sum(value == UNLABELED for value in values if type(value) is int)
    _require_classes(counts, name, len(values), n_minus_one, min_classes)
    return labels, _warnings(counts, name)


def row_ids(table: Table, roles: Roles) -> NDArray[Any]:
    """Return the id of every row: the values of the id column, or row numbers from 0.

    Parameters
    ----------
    table : Table
        The data.
    roles : Roles
        Names the id column, or none.

    Returns
    -------
    ndarray of shape (n,)
        Python objects, all different.

    Raises
    ------
    InvalidInputError
        When an id is missing or occurs twice.
    """
    ids = np.empty(table.n_rows, dtype=object)
    if roles.id is None:
        ids[:] = range(table.n_rows)
        return ids
    ids[:] = _scalars(plain(table.columns.column(roles.id)), roles.id)
    missing = [row for row, value in enumerate(ids) if value is None]
    if missing:
        raise InvalidInputError(
            f"{len(missing)} of {len(ids)} ids in column {roles.id!r} are missing, in rows "
            f"{listed(missing)}. Fill them, or name another id column."
        )
    twice = [value for value, n in Counter(ids).items() if n > 1]
    if twice:
        raise InvalidInputError(
            f"{len(twice)} id(s) in column {roles.id!r} occur more than once: {listed(twice)}. "
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
    column = plain(table.columns.column(name))
    values = _scalars(column, name)
    if is_text(column.type):
        nulls = [row for row, value in enumerate(values) if value is not None and "\0" in value]
        if nulls:  # arrays of texts cannot tell it from the end
            raise InvalidInputError(
                f"{len(nulls)} label(s) in column {name!r} hold a null character, in rows "
                f"{listed(nulls)}. Take it out."
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
        raise InvalidInputError(
            f"the label column {name!r} holds numbers that are not whole, such as {odd[0]}, and so "
            "no classes. Name another column, or turn the numbers into classes first."
        )
    return [None if value is None else int(value) for value in values]


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
    found = [None if value is None else convert(value) for value in column.to_pylist()]
    return [None if isinstance(value, float) and math.isnan(value) else value for value in found]


def _is_unlabeled(value: Any, marker: str | None) -> bool:
    if type(value) is int and value == UNLABELED:
        return True
    return marker is not None and str(value).strip() == marker


def _require_classes(
    counts: Counter[Any], name: str, n_rows: int, n_minus_one: int, min_classes: int
) -> None:
    if len(counts) >= min_classes:
        return
    if not counts:
        raise InvalidInputError(
            f"the label column {name!r} holds no label: all {n_rows} rows are unlabelled. Label a "
            "few rows of each class."
        )
    hint = ""
    if n_minus_one:
        hint = (
            f" {n_minus_one} rows hold -1, which marks unlabelled rows among integers; write "
            "another value if it is a class of yours."
        )
    only = next(iter(counts))
    raise InvalidInputError(
        f"all {counts[only]} labels in column {name!r} are of one class, {only!r}, and "
        f"{min_classes} are needed to tell them apart.{hint}"
    )


def _warnings(counts: Counter[Any], name: str) -> list[str]:
    texts = [value for value in counts if isinstance(value, str)]
    groups: dict[str, list[str]] = defaultdict(list)
    for value in texts:
        folded = unicodedata.normalize("NFKC", value).casefold()
        groups[" ".join(folded.split())].append(value)
    warnings = [
        f"labels {listed(sorted(group))} differ only by case or spaces and count as "
        f"{len(group)} classes; correct them if they are one"
        for group in groups.values()
        if len(group) > 1
    ]
    numbers = [value for value in texts if value.strip().lstrip("+-").replace(".", "", 1).isdigit()]
    if numbers and len(numbers) < len(texts):
        word = next(value for value in texts if value not in numbers)
        warnings.append(
            f"column {name!r} mixes numbers such as {numbers[0]!r} and words such as {word!r}; all "
            "are taken as texts"
        )
    if str(UNLABELED) in texts:
        warnings.append(
            f"'{UNLABELED}' is a text in column {name!r} and counts as a class; name it as the "
            "marker of unlabelled rows if it is one"
        )
    n = counts.total()
    if len(counts) > _MANY_CLASSES and 2 * len(counts) > n:
        warnings.append(
            f"column {name!r} has {len(counts)} classes for {n} labels; is it a column of classes?"
        )
    return warnings
