"""The noun of this room: a user's data as named columns, with an optional matrix beside them.

A pyarrow table and an array enter once and are checked to agree; everything else here takes a
`Table`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError

_BLOCK_ROWS = 65_536
MIXED = b"beltrami.mixed"
"""Key of a field's metadata that says which Python types were turned into texts."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """A user's data: named columns, a matrix of numbers, or both; never changed.

    Attributes
    ----------
    name : str
        What to call it in messages, such as "data.csv" or "DataFrame".
    columns : pyarrow.Table
        The named columns; it has none for a plain matrix.
    matrix : ndarray of shape (n, d) or None
        Rows of an array file, pixels of images, or embeddings from a side file. Still on disk where
        it could be mapped, and of the type found there.
    matrix_name : str or None
        What embeddings that stand beside the data are called, such as "vectors.npy"; None where the
        matrix is the data's own.
    index : str or None
        The column that was the index of a data frame or the unnamed first column of a csv.
    delimiter : str or None
        What separated the fields of the file; None where there were no fields.
    decimal : {".", ","} or None
        The sign before decimals, as the user says; None where it is to be found out.
    pictures : Path or None
        The folder whose images the rows are; the column "id" holds their paths below it.
    asked : ndarray of shape (n,) or None
        Whether the label of each row answers a question of ours; None where none does.
    replaced : tuple of str
        Labels in whose place another came from a table beside the data, in words.
    """

    name: str
    columns: Any
    matrix: NDArray[Any] | None = None
    matrix_name: str | None = None
    index: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    pictures: Path | None = None
    asked: NDArray[np.bool_] | None = None
    replaced: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        repeated = [name for name, n in Counter(self.columns.column_names).items() if n > 1]
        if repeated:
            raise InvalidInputError(
                f"{self.name} has {len(repeated)} column name(s) more than once: "
                f"{few_of(repeated)}. Every column needs a name of its own (and a csv file a first "
                "line that holds them)."
            )
        has_both = self.matrix is not None and self.columns.num_columns > 0
        if self.matrix is not None and has_both and len(self.matrix) != self.columns.num_rows:
            raise InvalidInputError(
                f"{self.name} has {self.columns.num_rows} rows and the matrix beside it "
                f"{len(self.matrix)}. Row i of one must belong to row i of the other."
            )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self.columns.num_columns == 0 and self.matrix is not None:
            return len(self.matrix)
        return int(self.columns.num_rows)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(self.columns.column_names)

    def __repr__(self) -> str:
        matrix = "" if self.matrix is None else f", matrix {self.matrix.shape}"
        return f"Table({self.name!r}, {self.n_rows} rows, {len(self.names)} columns{matrix})"

    def without(self, name: str | None) -> Table:
        """Return the table without a column, or itself where it has none of that name."""
        if name not in self.names:
            return self
        return replace(self, columns=self.columns.drop_columns([name]))

    def fingerprint(self) -> str:
        """Return the SHA-256 of the content in hexadecimal.

        The same names, types and values give the same digest, however the rows are split in memory
        and whatever file they came from. Rows are hashed in blocks, so nothing is copied whole.
        """
        digest = hashlib.sha256(f"rows {self.n_rows}".encode())
        for name in self.names:
            column = self.columns.column(name)
            digest.update(f"\ncolumn {name!r}".encode())
            for start in range(0, len(column), _BLOCK_ROWS):
                _hash_column(digest, _join_chunks(column.slice(start, _BLOCK_ROWS)))
        if self.matrix is not None:
            digest.update(f"\nmatrix {self.matrix.shape} {self.matrix.dtype.str}".encode())
            for start in range(0, len(self.matrix), _BLOCK_ROWS):
                block = self.matrix[start : start + _BLOCK_ROWS]
                digest.update(np.ascontiguousarray(block).tobytes())
        return digest.hexdigest()


def few_of(values: Any, limit: int = 5) -> str:
    """Return the first few values for a message, and how many more there are."""
    items = list(values)
    shown = ", ".join(repr(value) for value in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"


def decode_categories(column: Any) -> Any:
    """Return a column with categories written out as their values, and the rest as it is."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def _join_chunks(column: Any) -> Any:
    import pyarrow as pa

    chunks = decode_categories(column).chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _hash_column(digest: Any, array: Any) -> None:
    """Hash the values of a block, whatever lies in memory under its nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.types
    if kind.is_string(array.type) or kind.is_large_string(array.type):
        digest.update(b"text" + np.packbits(_validity(array)).tobytes())
        present = array.drop_null().cast(pa.large_string())
        digest.update(_numbers(pc.binary_length(present)))
        digest.update(_text_bytes(present))
    elif kind.is_integer(array.type) or kind.is_floating(array.type) or kind.is_boolean(array.type):
        digest.update(str(array.type).encode() + np.packbits(_validity(array)).tobytes())
        digest.update(_numbers(array.drop_null()))
    elif is_list(array.type):
        digest.update(b"list" + np.packbits(_validity(array)).tobytes())
        present = array.drop_null()
        digest.update(_numbers(pc.list_value_length(present).cast(pa.int64())))
        _hash_column(digest, pc.list_flatten(present))
    else:
        digest.update(f"{array.type}{array.to_pylist()!r}".encode())


def is_list(kind: Any) -> bool:
    """Say whether an arrow type holds a list in each row."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _validity(array: Any) -> NDArray[np.bool_]:
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=bool)


def _numbers(array: Any) -> bytes:
    return np.ascontiguousarray(array.to_numpy(zero_copy_only=False)).tobytes()


def _text_bytes(array: Any) -> bytes:
    _, offsets, data = array.buffers()
    if data is None or len(array) == 0:
        return b""
    ends = np.frombuffer(offsets, dtype=np.int64)[[array.offset, array.offset + len(array)]]
    return bytes(memoryview(data)[ends[0] : ends[1]])
