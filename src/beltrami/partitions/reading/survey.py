"""The first pass: counts, moments, labels and ids of every partition, and what is wrong with them.

`SurveyTask` runs wherever a partition is worked on; `join_facts` puts the facts together in the
order of names, so that the sums have the same bits whoever worked on what.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.moments import Moments
from beltrami.partitions.model import PartFacts, Partition, Survey
from beltrami.partitions.reading.identity import IdRuns
from beltrami.partitions.reading.layout import Layout
from beltrami.tables import Roles, Table, TableOptions
from beltrami.tables.columns.kinds import is_text
from beltrami.tables.columns.labels import label_cells, require_classes
from beltrami.tables.columns.slips import label_slips
from beltrami.tables.model import few_of

_ENTRIES = 2**21  # numbers in a batch
_LEAST_ROWS, _MOST_ROWS = 512, 2**16


def batch_rows(n_columns: int) -> int:
    """Return how many rows are read at a time: the same on every machine, for the same bits."""
    return int(np.clip(_ENTRIES // max(n_columns, 1), _LEAST_ROWS, _MOST_ROWS))


@dataclass(frozen=True, slots=True, eq=False)
class SurveyTask:
    """What a worker needs to know for the first pass.

    Attributes
    ----------
    layout : Layout
        How partitions are read.
    options : TableOptions
        For the labels.
    runs : Path
        Folder for hashes of ids.
    """

    layout: Layout
    options: TableOptions
    runs: Path

    def __call__(self, partition: Partition, _: None = None) -> PartFacts:
        """Look at one partition."""
        layout = self.layout
        d = layout.n_columns
        n_rows = n_empty = n_missing = id_bytes = 0
        moments, largest = Moments.none(d), np.zeros(d)
        labels: Counter[Any] = Counter()
        run = IdRuns(self.runs, partition.name)
        for batch in partition.batches(layout.types, batch_rows(d)):
            numbers = layout.numbers(batch)
            moments = moments.merge(Moments.of_finite(numbers))
            with np.errstate(invalid="ignore"):
                largest = np.fmax(largest, np.nan_to_num(np.fmax.reduce(np.abs(numbers), axis=0)))
            given = given_labels(batch, layout, self.options, partition.name, n_rows)
            is_given = given != np.array(None)
            labels.update(given[is_given].tolist())
            n_empty += int((~is_given).sum())
            if layout.roles.id is not None:
                ids = batch.column(layout.roles.id)
                n_missing += ids.null_count
                id_bytes += ids.nbytes
                run.add(ids)
            n_rows += batch.num_rows
        if layout.roles.id is not None:
            run.write()
        return PartFacts(n_rows, moments, largest, labels, n_empty, n_missing, id_bytes)


def given_labels(
    batch: Any, layout: Layout, options: TableOptions, name: str, start: int
) -> NDArray[Any]:
    """Return the labels of a batch, None where there is none; those beside it come on top.

    - `name`, `start`: of the partition, and where in it the batch begins.
    """
    labels = _own_labels(batch, layout.roles, options)
    if name in layout.beside:
        rows, newer = layout.beside[name].between(start, start + batch.num_rows)
        labels[rows] = newer
    return labels


def _own_labels(batch: Any, roles: Roles, options: TableOptions) -> NDArray[Any]:
    """Return the labels that stand in a batch.

    Cells that hold something are few as a rule, and only they are looked at one by one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = np.full(batch.num_rows, None, dtype=object)
    if roles.label is None:
        return labels
    column = batch.column(roles.label)
    is_held = column.is_valid()
    if is_text(column.type):
        is_held = pc.and_(is_held, pc.not_equal(pc.utf8_trim_whitespace(column), ""))
        is_held = pc.fill_null(is_held, False)
    elif pa.types.is_floating(column.type):
        is_held = pc.and_(is_held, pc.fill_null(pc.invert(pc.is_nan(column)), False))
    rows = np.flatnonzero(is_held.to_numpy())
    if not rows.size:
        return labels
    held = Table(roles.label, pa.table({roles.label: column.take(pa.array(rows))}))
    labels[rows] = label_cells(held, roles.label, options.unlabeled)
    return labels


def join_facts(
    partitions: Sequence[Partition],
    facts: Sequence[PartFacts],
    layout: Layout,
    options: TableOptions,
) -> Survey:
    """Put the facts of all partitions together, or raise with what is wrong with them."""
    moments = Moments.none(layout.n_columns)
    labels: Counter[Any] = Counter()
    for one in facts:
        moments = moments.merge(one.moments)
        labels.update(one.labels)
    n_rows = tuple(one.n_rows for one in facts)
    notes = [*_empty_note(partitions, n_rows), *_gap_notes(layout, moments, sum(n_rows))]
    _require_ids(partitions, facts, layout)
    _require_small(partitions, facts, layout)
    _require_whole_vectors(layout, moments, sum(n_rows), options)
    name, n_empty = str(layout.roles.label), sum(one.n_empty for one in facts)
    require_classes(labels, name, n_empty, sum(n_rows), options)
    notes += label_slips(labels, name)
    return Survey(n_rows, moments, labels, tuple(notes), sum(one.id_bytes for one in facts))


def _empty_note(partitions: Sequence[Partition], n_rows: tuple[int, ...]) -> list[str]:
    empty = [one.name for one, n in zip(partitions, n_rows, strict=True) if n == 0]
    if len(empty) == len(partitions):
        raise InvalidInputError(f"all {len(empty)} partition(s) are without rows: {few_of(empty)}.")
    if not empty:
        return []
    return [f"{len(empty)} partition(s) have columns and no rows: {few_of(empty)}"]


def _columns(layout: Layout) -> list[str]:
    """Return the name of each number in a row."""
    return [
        name if width == 1 else f"{name}[{place}]"
        for name, width in layout.widths.items()
        for place in range(width)
    ]


def _gap_notes(layout: Layout, moments: Moments, total: int) -> list[str]:
    gaps = total - moments.count
    holed = [
        f"{name!r}: {int(n):,} of {total:,} cells hold nothing that can be used; they take the mean"
        for name, n in zip(_columns(layout), gaps, strict=True)
        if n
    ]
    more = [f"gaps in {len(holed) - 5} more columns take the mean"] * (len(holed) > 5)
    return [*holed[:5], *more]


def _require_whole_vectors(
    layout: Layout, moments: Moments, total: int, options: TableOptions
) -> None:
    gaps = (total - moments.count).astype(int)
    names = _columns(layout)
    start = 0
    for name, width in layout.widths.items():
        own = gaps[start : start + width]
        if name in layout.roles.vectors and own.any() and not options.impute:
            place = int(np.flatnonzero(own)[0]) + start
            raise InvalidInputError(
                f"{int(own.sum()):,} numbers in the vectors of column {name!r} are empty or not "
                f"finite, such as {gaps[place]:,} in {names[place]!r}. Mend these rows, or pass "
                "--impute (impute=True) to take the mean."
            )
        start += width


def _require_ids(
    partitions: Sequence[Partition], facts: Sequence[PartFacts], layout: Layout
) -> None:
    missing = [
        (one.name, fact.n_missing_ids)
        for one, fact in zip(partitions, facts, strict=True)
        if fact.n_missing_ids
    ]
    if missing:
        name, n = missing[0]
        raise InvalidInputError(
            f"{sum(count for _, count in missing):,} ids in column {layout.roles.id!r} are "
            f"missing, {n:,} of them in {name}. Fill them, or ignore the column to go by row "
            f"numbers (--ignore {layout.roles.id})."
        )


def _require_small(
    partitions: Sequence[Partition], facts: Sequence[PartFacts], layout: Layout
) -> None:
    limit = float(np.sqrt(np.finfo(layout.dtype).max / (4.0 * layout.n_columns)))
    for one, fact in zip(partitions, facts, strict=True):
        large = np.flatnonzero(fact.largest > limit)
        if large.size:
            raise InvalidInputError(
                f"{one.name} holds {fact.largest[large[0]]:.3g} in {_columns(layout)[large[0]]!r}, "
                f"and the squares of distances overflow above {limit:.1g}. Correct the cell, or "
                "rescale the column."
            )
