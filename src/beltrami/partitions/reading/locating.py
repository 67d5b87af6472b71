"""Where rows are: ids as they are written in results enter, partitions and places in them leave."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import IndexVector
from beltrami.partitions.model import Partition
from beltrami.tables.reading.joining import id_texts

_ROWS = 2**16

Over = Callable[[str, Any, Sequence[Partition]], list[Any]]
"""A pass over partitions that gives one result for each."""


@dataclass(frozen=True, slots=True, eq=False)
class LocateTask:
    """What a worker needs to know to find rows by their ids.

    Attributes
    ----------
    column : str
        Of the ids.
    kind : arrow type
        As which it is read.
    wanted : arrow array
        Ids, as texts.
    """

    column: str
    kind: Any
    wanted: Any

    def __call__(self, partition: Partition, _: None = None) -> tuple[IndexVector, IndexVector]:
        """Return which of the ids a partition has, and in which of its rows."""
        import pyarrow.compute as pc

        which, rows, start = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for batch in partition.batches({self.column: self.kind}, _ROWS):
            found = pc.index_in(id_texts(batch.column(self.column)), value_set=self.wanted)
            own = found.fill_null(-1).to_numpy(zero_copy_only=False)
            held = np.flatnonzero(own >= 0)
            which.append(own[held].astype(np.int64))
            rows.append(held + start)
            start += batch.num_rows
        return np.concatenate(which), np.concatenate(rows)


def find_ids(
    title: str, partitions: Sequence[Partition], column: str, kind: Any, wanted: Any, over: Over
) -> tuple[IndexVector, IndexVector]:
    """Return partition and row of each id, -1 where no row has it."""
    parts, rows = np.full(len(wanted), -1), np.full(len(wanted), -1)
    found = over(title, LocateTask(column, kind, wanted), partitions)
    for place, one in enumerate(found):
        if one is not None:
            parts[one[0]], rows[one[0]] = place, one[1]
    return parts, rows


def find_numbers(
    sizes: Sequence[int], wanted: Sequence[str]
) -> tuple[IndexVector, NDArray[np.int64]]:
    """Return partition and row of each number of a row through all partitions, -1 for none."""
    ends = np.cumsum([*sizes])
    total = int(ends[-1]) if len(ends) else 0
    is_number = np.array([one.isascii() and one.isdigit() and int(one) < total for one in wanted])
    numbers = np.array([int(one) if ok else 0 for one, ok in zip(wanted, is_number, strict=True)])
    parts = np.searchsorted(ends, numbers, side="right")
    rows = numbers - np.concatenate([[0], ends])[parts]
    return np.where(is_number, parts, -1), np.where(is_number, rows, -1)
