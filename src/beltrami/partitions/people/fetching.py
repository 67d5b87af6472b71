"""Rows as people know them: places of rows enter, a table with all their own columns leaves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.telling.stages import Stage
from beltrami.core.types import IndexVector
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.model import Partition
from beltrami.tables import Table
from beltrami.tables.model import decode_categories

_COPIES = 3
"""Copies of the rows that are made on the way."""
_HEAD_ROWS = 256
"""By which the size of a row is estimated."""


@dataclass(frozen=True, slots=True, eq=False)
class FetchTask:
    """What a worker needs to know to look rows up.

    Attributes
    ----------
    types : dict of str to arrow type
        Columns that all partitions agree on, and as what.
    """

    types: Mapping[str, Any]

    def __call__(self, partition: Partition, wanted: tuple[IndexVector, str]) -> Any:
        """Return rows of a partition that is what it was, by its fingerprint then."""
        places, fingerprint = wanted
        require_same(partition, fingerprint)
        return partition.rows(places, self.types)


def require_same(partition: Partition, fingerprint: str) -> None:
    """Raise where a partition is no longer what it was when it was labelled."""
    if partition.fingerprint() != fingerprint:
        raise InvalidInputError(
            "it has changed since it was labelled, so another row could be shown. Put it back, or "
            "label again into a new folder"
        )


def fetch_rows(
    partitions: Sequence[Partition],
    fingerprints: Mapping[str, str],
    parts: IndexVector,
    rows: IndexVector,
    types: Mapping[str, Any],
    passes: Passes,
) -> Table:
    """Return rows with all columns of their own, in the order that they are asked for.

    A column of several types is read as the widest, else as text; a partition without it has gaps.

    - `parts`, `rows`: (m,), the place of the partition of each row, and its own in that.
    """
    held, part_of = np.unique(parts, return_inverse=True)
    asked = [partitions[place] for place in held]
    _require_room(asked[0], len(rows), passes)
    wanted, where = [], np.empty(len(rows), dtype=np.int64)
    start = 0
    for number, one in enumerate(asked):
        own = np.flatnonzero(part_of == number)
        places, position = np.unique(rows[own], return_inverse=True)
        where[own] = start + position
        start += len(places)
        wanted.append((places, fingerprints[one.name]))
    found = passes.over(Stage.FETCH, FetchTask(types), asked, wanted)
    if passes.failures:
        raise InvalidInputError(
            f"rows of {len(passes.failures)} partition(s) cannot be shown. {passes.failures[0]}."
        )
    return Table("rows of the partitions", _joined(found).take(where))


def _require_room(partition: Partition, n_rows: int, passes: Passes) -> None:
    """Raise where the rows would not fit into memory, judged by the first of one partition."""
    (size,) = passes.over(Stage.FETCH, _row_bytes, [partition], is_rest=True)
    require_memory(
        _COPIES * n_rows * (size or 0),
        what=f"the columns of {n_rows:,} rows",
        instead="Let fewer rows learn (--representatives).",
    )


def _row_bytes(partition: Partition, _: None = None) -> float:
    """Return how large a row of a partition is, about."""
    head = partition.head(_HEAD_ROWS)
    return float(head.nbytes / max(head.num_rows, 1))


def _joined(tables: Sequence[Any]) -> Any:
    """Return the rows of all, under columns of one type each."""
    import pyarrow as pa

    plain = [
        pa.table({name: decode_categories(one.column(name)) for name in one.column_names})
        for one in tables
    ]
    for name in dict.fromkeys(name for one in plain for name in one.column_names):
        kinds = {one.schema.field(name).type for one in plain if name in one.column_names}
        if len(kinds) > 1 and not _is_joinable(name, kinds):
            plain = [_as_text(one, name) for one in plain]
    return pa.concat_tables(plain, promote_options="permissive").combine_chunks()


def _is_joinable(name: str, kinds: set[Any]) -> bool:
    import pyarrow as pa

    try:
        pa.unify_schemas(
            [pa.schema([(name, kind)]) for kind in kinds], promote_options="permissive"
        )
    except pa.ArrowException:
        return False
    return True


def _as_text(table: Any, name: str) -> Any:
    """Return a table with a column of it as texts."""
    import pyarrow as pa

    if name not in table.column_names:
        return table
    column = table.column(name)
    try:
        texts = column.cast(pa.large_string())
    except pa.ArrowException:
        texts = pa.array([None if one is None else str(one) for one in column.to_pylist()])
        texts = texts.cast(pa.large_string())
    return table.set_column(table.column_names.index(name), name, texts)
