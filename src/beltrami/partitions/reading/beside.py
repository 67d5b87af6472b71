"""Labels that stand beside partitions: tables of ids and labels enter, labels of rows leave.

They come on top of those in the partitions: they are the newer ones.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import IndexVector
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.model import Failure, Partition
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.locating import find_ids, find_numbers
from beltrami.tables import Table, TableOptions, read_table
from beltrami.tables.columns.kinds import is_text
from beltrami.tables.model import few_of
from beltrami.tables.reading.formats import read_as_it_stands
from beltrami.tables.reading.joining import require_once, side_labels

_TITLE = "joining labels by ids"
_ROWS = 2**16
_WHOLE = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True, eq=False)
class BesideLabels:
    """Labels of rows of a partition that do not stand in it.

    Attributes
    ----------
    rows : ndarray of shape (s,)
        The rows, rising.
    labels : ndarray of shape (s,)
        What they are.
    """

    rows: IndexVector
    labels: NDArray[Any]

    def between(self, start: int, end: int) -> tuple[IndexVector, NDArray[Any]]:
        """Return those of a stretch of rows, counted from its first."""
        low, high = np.searchsorted(self.rows, [start, end])
        return self.rows[low:high] - start, self.labels[low:high]


def with_read_labels(options: TableOptions) -> TableOptions:
    """Return options whose tables of labels are read."""
    sides = []
    for one in options.side_labels:
        is_path = isinstance(one, str | os.PathLike)
        delimiter = options.delimiter
        sides.append(
            read_as_it_stands(Path(one), delimiter=delimiter) if is_path else read_table(one)
        )
    return replace(options, labels=sides or None)


def label_prints(options: TableOptions) -> dict[str, str]:
    """Return a hash of the tables of labels that were read, as a fact of the job."""
    sides = options.side_labels
    return {"labels": " ".join(one.fingerprint() for one in sides)} if sides else {}


def join_beside(
    partitions: Sequence[Partition],
    layout: Layout,
    options: TableOptions,
    passes: Passes,
    *,
    has_column: bool,
) -> Layout:
    """Return a layout that knows the labels beside the partitions, by rows of these.

    Raises where an id stands twice in one table, or is that of no row.

    - `has_column`: whether any partition has a column of labels.
    """
    if not options.side_labels:
        return layout
    given: dict[str, Any] = {}
    for side in options.side_labels:
        given |= _read(side, layout, options)
    parts, rows = _find(partitions, layout, list(given), passes)
    lost = [one for one, place in zip(given, parts, strict=True) if place < 0]
    if lost:
        named = layout.roles.id
        ids = "row numbers through all of them" if named is None else f"column {named!r}"
        unread = few_of([one.name for one in passes.failures])
        ids += f"; {unread} cannot be read and not counted" if unread else ""
        raise InvalidInputError(
            f"{len(lost):,} of {len(given):,} ids with a label are those of no row in the "
            f"partitions ({ids}): {few_of(lost)}. Correct them, or name the id column."
        )
    values, kind = _typed(list(given.values()), layout, has_column=has_column)
    beside = {}
    for place in np.unique(parts):
        own = np.flatnonzero(parts == place)
        own = own[np.argsort(rows[own], kind="stable")]
        beside[partitions[place].name] = BesideLabels(rows[own], values[own])
    note = f"labels: {len(given):,} beside the partitions, which come on top"
    types = layout.types | {str(layout.roles.label): kind}
    return replace(layout, types=types, beside=beside, notes=(*layout.notes, note))


def require_labels_read(layout: Layout, failures: Sequence[Failure]) -> None:
    """Raise where labels beside are those of rows in partitions that cannot be read."""
    lost = [one for one in failures if one.name in layout.beside]
    if lost:
        n_labels = sum(len(layout.beside[one.name].rows) for one in lost)
        raise InvalidInputError(
            f"{n_labels:,} label(s) beside the partitions are those of rows in "
            f"{few_of([one.name for one in lost])}, which cannot be read ({lost[0]}). Put back "
            "what can be read, or leave these labels out."
        )


def with_numbers_noted(layout: Layout, n_read: int, failures: Sequence[Failure]) -> Layout:
    """Return a layout that says which rows numbers of labels count, where some cannot be read."""
    if not (layout.beside and failures):
        return layout
    note = (
        f"labels beside go by numbers of rows through the {n_read:,} partitions that can be read, "
        f"without {few_of([one.name for one in failures])}"
    )
    return replace(layout, notes=(*layout.notes, note))


def _read(side: Table, layout: Layout, options: TableOptions) -> dict[str, Any]:
    """Return the labels of a table by the ids as texts."""
    import pyarrow as pa

    roles = layout.roles
    names = {"id", roles.id or "id"}, {"label", str(roles.label)}
    ids, labels = side_labels(side, pa.array([], pa.large_string()), *names, options)
    require_once(ids, side.name)
    pairs = zip(ids.to_pylist(), labels.to_pylist(), strict=True)
    return {one: label for one, label in pairs if label is not None and str(label).strip()}


def _find(
    partitions: Sequence[Partition], layout: Layout, ids: list[str], passes: Passes
) -> tuple[IndexVector, IndexVector]:
    import pyarrow as pa

    role = layout.roles.id
    if role is None:
        sizes = passes.over(_TITLE, count_rows, partitions)
        return find_numbers([one or 0 for one in sizes], ids)
    wanted = pa.array(ids, pa.large_string())
    return find_ids(_TITLE, partitions, role, layout.types[role], wanted, passes.over)


def count_rows(partition: Partition, _: None = None) -> int:
    """Return how many rows a partition has."""
    return sum(batch.num_rows for batch in partition.batches({}, _ROWS))


def _typed(values: list[Any], layout: Layout, *, has_column: bool) -> tuple[NDArray[Any], Any]:
    """Return labels as the column in the partitions has them, and the type that holds both."""
    import pyarrow as pa

    name = str(layout.roles.label)
    kind = layout.types[name]
    if has_column and not is_text(kind) and all(map(_WHOLE.fullmatch, map(str, values))):
        values = list(map(int, values))
    is_whole = all(isinstance(one, int) and not isinstance(one, bool) for one in values)
    if not has_column and is_whole:
        kind = pa.int64()
    found = np.empty(len(values), dtype=object)
    if is_text(kind):
        found[:] = list(map(str, values))
    elif is_whole and not pa.types.is_boolean(kind):
        found[:] = values
    elif pa.types.is_boolean(kind) and all(str(one).lower() in _TRUTH for one in values):
        found[:] = [_TRUTH[str(one).lower()] for one in values]
    else:
        odd = next(one for one in values if not isinstance(one, int))
        raise InvalidInputError(
            f"the labels in column {name!r} of the partitions are of type {kind}, and a label "
            f"beside them is {odd!r}. Write both as texts, or both as numbers."
        )
    return found, kind


_TRUTH = {"true": True, "false": False}
