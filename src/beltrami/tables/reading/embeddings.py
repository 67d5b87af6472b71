"""Embeddings that a user brings: what was said enters, a matrix in the order of the rows leaves.

They are a file or an object beside the data, whose rows are those of the table in its order, or
have ids; or a column of the table, which is left to `guess_roles`.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.tables.columns.kinds import is_number
from beltrami.tables.columns.naming import find_id, known_name
from beltrami.tables.features.blocks import list_rows
from beltrami.tables.features.faults import Faults
from beltrami.tables.model import Table, few_of, is_list
from beltrami.tables.options import TableOptions
from beltrami.tables.reading.joining import column_called, id_texts, require_once

_ENDINGS = (".npy", ".npz", ".parquet", ".arrow", ".feather", ".jsonl", ".ndjson")
_VECTOR_NAMES = {"embedding", "embeddings", "vector", "vectors"}


def embeddings_file(said: str | os.PathLike[str], table: Table) -> Path | None:
    """Return the file that a user means, or None for a column of the table."""
    path = Path(said)
    is_kind = path.suffix.lower() in _ENDINGS
    if isinstance(said, str) and said in table.names:
        if is_kind and path.exists():
            raise InvalidInputError(
                f"embeddings={said!r} is a column of {table.name} and a file, too. Write "
                f"{os.path.join('.', said)!r} for the file, or rename one of them."  # noqa: PTH118
            )
        return None
    if is_kind and not path.is_dir():
        return path
    if isinstance(said, str) and not path.exists() and path.name == said and not path.suffix:
        known_name(said, table, "embeddings")  # says which are there
    raise InvalidInputError(
        f"embeddings={str(said)!r} is no column of {table.name}, and no file of a kind that holds "
        f"vectors: {', '.join(_ENDINGS)}. Save them with one row per row of {table.name}: "
        "numpy.save('vectors.npy', array)."
    )


def vectors_of_rows(side: Table, table: Table, options: TableOptions) -> NDArray[Any]:
    """Return the vectors of a table beside the data, a row for each row of the data.

    Where the side table has ids, rows are matched by them, as texts, and vectors of other ids are
    left out. Else they are in the order of the data. What is not finite is left as it is.
    """
    matrix = _vectors(side)
    order = _order(side, table, options)
    if order is None:
        if len(matrix) != table.n_rows:
            raise InvalidInputError(
                f"the embeddings in {side.name} have {len(matrix)} rows and {table.name} has "
                f"{table.n_rows}. Row i of one must belong to row i of the other; or give ids with "
                "the vectors: numpy.savez('vectors.npz', ids=ids, vectors=array)."
            )
        return matrix
    if len(order) == len(matrix) and np.array_equal(order, np.arange(len(order))):
        return matrix
    require_memory(
        float(len(order)) * matrix.shape[1] * matrix.itemsize,
        what=f"the embeddings in {side.name}, in the order of {table.name}",
        instead="Save them in that order, without ids, as an npy file, which is not read whole.",
    )
    ordered: NDArray[Any] = matrix[order]
    return ordered


def _vectors(side: Table) -> NDArray[Any]:
    if side.matrix is not None:
        return side.matrix
    schema = side.columns.schema
    lists = [one.name for one in schema if is_list(one.type) and is_number(one.type.value_type)]
    usual = [name for name in lists if name.strip().lower() in _VECTOR_NAMES]
    chosen = usual if len(usual) == 1 else lists
    if len(chosen) != 1:
        what = f"{len(lists)} columns of vectors" if lists else "no column of vectors"
        raise InvalidInputError(
            f"{side.name} has {what}, and it must be clear which holds the embeddings: one column "
            f"of lists of numbers, called 'embedding' where there are others. It has "
            f"{few_of([f'{one.name} ({one.type})' for one in schema])}."
        )
    return list_rows(side, chosen[0], Faults(side.name, ids=None, impute=False))


def _order(side: Table, table: Table, options: TableOptions) -> NDArray[np.int64] | None:
    """Return which vector each row of the table has; None where there are no ids to tell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    id_name = find_id(table) if options.id is None else known_name(options.id, table, "id")
    numbers = pa.array(range(table.n_rows))
    ids = id_texts(numbers if id_name is None else table.columns.column(id_name))
    side_name = column_called(side, {"id", "ids", id_name or "id"})
    if side_name is None and id_name is not None:
        side_name = _likely_ids(side, ids)
    if side_name is None:
        return None
    side_ids = id_texts(side.columns.column(side_name))
    require_once(side_ids, side.name)
    places = pc.index_in(ids, value_set=side_ids)
    if places.null_count:
        lost = ids.filter(pc.is_null(places))
        rows = "row numbers" if id_name is None else f"column {id_name!r}"
        raise InvalidInputError(
            f"{places.null_count} of {table.n_rows} rows of {table.name} have no vector in "
            f"{side.name}: their ids ({rows}) are not in its column {side_name!r}, such as "
            f"{few_of(lost.to_pylist())}. Add them; or leave the ids out of {side.name} if its "
            "rows are in the order of the data."
        )
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)


def _likely_ids(side: Table, ids: Any) -> str | None:
    """Return a column that names the vectors by ids of the table, whatever it is called."""
    import pyarrow.compute as pc

    name = find_id(side)
    if name is None:
        return None
    is_known = pc.is_in(id_texts(side.columns.column(name)), value_set=ids)
    return name if pc.any(is_known).as_py() else None
