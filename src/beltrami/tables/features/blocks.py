"""Blocks of a feature matrix: columns of one kind enter, checked numbers leave.

Each block is allocated once and filled in pieces of rows, so a table of n x d float32 numbers costs
one copy.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.tables.columns.kinds import is_text
from beltrami.tables.features.faults import Faults
from beltrami.tables.model import Table, decode_categories

_BLOCK_ROWS = 65_536
_MEDIAN_ROWS = 4096
"""Rows from which the median of a column is taken that has no gap yet."""
_INSTEAD = "Use fewer rows or columns, or store the numbers as float32."


def matrix_rows(
    matrix: NDArray[Any], dtype: np.dtype[Any] | None = None
) -> tuple[FloatMatrix, bool]:
    """Return a matrix as floats, the same array where it is one already, and whether it is ours.

    - `dtype`: which floats; None for those that hold the numbers.
    """
    dtype = _float_type(matrix.dtype) if dtype is None else dtype
    if matrix.dtype == dtype and matrix.flags.c_contiguous:
        return matrix, False
    points = _allocate(matrix.shape, dtype)
    for start in range(0, len(matrix), _BLOCK_ROWS):
        with np.errstate(over="ignore"):
            points[start : start + _BLOCK_ROWS] = matrix[start : start + _BLOCK_ROWS]
    return points, True


def number_rows(columns: list[Any], dtype: np.dtype[Any] | None = None) -> FloatMatrix:
    """Return arrow columns of numbers side by side, with NaN for null.

    - `dtype`: which floats; None for those that hold the numbers of all.
    """
    if dtype is None:
        dtype = np.result_type(*(arrow_float_type(column.type) for column in columns))
    points = _allocate((len(columns[0]), len(columns)), dtype)
    for start in range(0, len(points), _BLOCK_ROWS):
        for position, column in enumerate(columns):
            piece = column.slice(start, _BLOCK_ROWS)
            with np.errstate(over="ignore"):
                points[start : start + len(piece), position] = _to_floats(piece, dtype)
    return points


def fill_numbers(
    points: FloatMatrix, names: tuple[str, ...], instead: FloatVector, faults: Faults, more: str
) -> dict[str, BoolVector]:
    """Fill, in place, what is not finite in columns of numbers, and return the gaps by column.

    `instead` says what with; where it is NaN the median is taken, and put there. `more` is what to
    say of columns with gaps beside that.
    """
    gaps: dict[str, BoolVector] = {}
    for position, bad in _odd_columns(points, names, faults):
        name, value = names[position], _median(points, position, bad, instead)
        faults.note_filled(bad, name, filled_with=f"they take the median, {value:.6g}{more}")
        points[bad, position] = value
        gaps[name] = bad
    return gaps


def alike_gaps(gaps: dict[str, BoolVector]) -> tuple[tuple[str, ...], ...]:
    """Return the columns with gaps; those that have the same ones stand together."""
    alike: dict[bytes, list[str]] = {}
    for name, mask in gaps.items():
        alike.setdefault(mask.tobytes(), []).append(name)
    return tuple(map(tuple, alike.values()))


def gap_block(
    gaps: dict[str, BoolVector], marks: tuple[tuple[str, ...], ...], n_rows: int
) -> FloatMatrix:
    """Return columns of 0 and 1 that say where numbers were missing: a mark for alike columns."""
    block = _allocate((n_rows, len(marks)), np.dtype(np.float32))
    block[:] = 0
    for position, names in enumerate(marks):
        for name in names:
            if name in gaps:
                block[gaps[name], position] = 1
    return block


def list_rows(
    table: Table,
    name: str,
    faults: Faults,
    width: int | None = None,
    dtype: np.dtype[Any] | None = None,
) -> FloatMatrix:
    """Return lists of numbers, all of one length, as rows of a matrix, NaN where there is none.

    - `width`: that length; None for what the first list has.
    - `dtype`: which floats; None for those that hold the numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.columns.column(name)
    lengths = _to_numpy(pc.fill_null(pc.list_value_length(column).cast(pa.int64()), -1))
    present = np.flatnonzero(lengths >= 0)
    usual = width
    if usual is None:
        usual = int(lengths[present[0]]) if present.size else 0
    due = f"the first list {usual}" if width is None else f"those of the fit {usual}"
    odd = present[lengths[present] != usual]
    if usual == 0 or odd.size:
        row = int(odd[0]) if odd.size else 0
        raise InvalidInputError(
            f"the lists in column {name!r} must have one length: row {faults.row(row)} has "
            f"{int(lengths[row])} numbers, and {due}. Vectors of one model have "
            "one length: make those of such rows again, or leave the rows out."
        )
    dtype = arrow_float_type(column.type.value_type) if dtype is None else dtype
    points = _allocate((table.n_rows, usual), dtype)
    points[lengths < 0] = np.nan
    for start in range(0, table.n_rows, _BLOCK_ROWS):
        piece = column.slice(start, _BLOCK_ROWS).drop_null()
        values = pc.list_flatten(piece)
        rows = np.flatnonzero(lengths[start : start + _BLOCK_ROWS] >= 0) + start
        with np.errstate(over="ignore"):
            points[rows] = _to_floats(values, dtype).reshape(-1, usual)
    return points


def zero_rows(points: FloatMatrix) -> BoolVector:
    """Return which rows of a matrix are all zero, (n,)."""
    is_zero = np.zeros(len(points), dtype=bool)
    for start in range(0, len(points), _BLOCK_ROWS):
        is_zero[start : start + _BLOCK_ROWS] = ~points[start : start + _BLOCK_ROWS].any(axis=1)
    return is_zero


def category_cells(column: Any) -> list[Any]:
    """Return cells as texts or numbers, None for null, NaN and blank texts."""
    import pyarrow as pa

    column = decode_categories(column)
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.string())
    cells = column.to_pylist()
    if is_text(column.type):
        return [cell if cell is not None and cell.strip() else None for cell in cells]
    return [None if cell is None or cell != cell else cell for cell in cells]  # noqa: PLR0124


def one_hot(codes: list[NDArray[np.int64]], sizes: list[int]) -> FloatMatrix:
    """Return codes as columns of 0 and 1, column by column; -1 is no category at all."""
    block = _allocate((len(codes[0]), sum(sizes)), np.dtype(np.float32))
    block[:] = 0
    start = 0
    for column, n_values in zip(codes, sizes, strict=True):
        rows = np.flatnonzero(column >= 0)
        block[rows, start + column[rows]] = 1
        start += n_values
    return block


def _allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> FloatMatrix:
    require_memory(
        float(np.prod(shape, dtype=np.float64)) * dtype.itemsize,
        what=f"the feature matrix of {shape[0]} x {shape[1]} numbers",
        instead=_INSTEAD,
    )
    return np.empty(shape, dtype=dtype)


def _float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return float32 for what fits into it without loss, else float64."""
    fits = dtype.kind == "b" or dtype.itemsize <= 2 or dtype == np.float32
    return np.dtype(np.float32 if fits and dtype.kind in "fiub" else np.float64)


def arrow_float_type(kind: Any) -> np.dtype[Any]:
    """Return float32 for an arrow type that fits into it without loss, else float64."""
    try:
        return _float_type(np.dtype(kind.to_pandas_dtype()))
    except (NotImplementedError, TypeError):
        return np.dtype(np.float64)


def _to_floats(piece: Any, dtype: np.dtype[Any]) -> FloatVector:
    """Return a piece of a column with NaN for null."""
    import pyarrow as pa

    if piece.null_count or pa.types.is_boolean(piece.type):
        target = pa.float32() if dtype == np.float32 else pa.float64()
        piece = piece.cast(pa.uint8()) if pa.types.is_boolean(piece.type) else piece
        piece = piece.cast(target, safe=False)
    return np.asarray(_to_numpy(piece))


def _to_numpy(array: Any) -> NDArray[Any]:
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        values: NDArray[Any] = array.to_numpy()
        return values
    return np.asarray(array.to_numpy(zero_copy_only=False))


def without_gaps(
    points: FloatMatrix,
    names: tuple[str, ...],
    instead: FloatVector,
    faults: Faults,
    *,
    is_ours: bool = True,
) -> FloatMatrix:
    """Return the finite points of a matrix or of vectors: refuse gaps, or fill them if asked.

    `instead` as in `fill_numbers`.
    """
    filled = points
    for position, bad in _odd_columns(points, names, faults):
        median = _median(points, position, bad, instead)
        faults.note_gaps(bad, names[position], median=median)
        if faults.impute or faults.is_new:
            # What was handed in, or mapped from disk, is never written to.
            if filled is points and not is_ours:
                filled = _allocate(points.shape, points.dtype)
                filled[:] = points
            filled[bad, position] = median
    faults.require_none()
    return filled


def settle_medians(points: FloatMatrix, instead: FloatVector) -> None:
    """Put the medians of some rows in the place of NaN, for gaps that may come in other rows."""
    unknown = np.flatnonzero(np.isnan(instead))
    if unknown.size:
        sample = np.asarray(points[:: max(len(points) // _MEDIAN_ROWS, 1)])
        instead[unknown] = np.median(sample[:, unknown], axis=0)


def _median(points: FloatMatrix, position: int, bad: BoolVector, instead: FloatVector) -> float:
    """Return what fills a column, which is its median unless it is known."""
    if np.isnan(instead[position]):
        column = points[:, position]
        instead[position] = float(np.median(column[~bad])) if not bad.all() else 0.0
    return float(instead[position])


def _odd_columns(
    points: FloatMatrix, names: tuple[str, ...], faults: Faults
) -> Iterator[tuple[int, BoolVector]]:
    """Yield the columns with cells that are not finite, and these cells.

    What is too large to be squared is refused.
    """
    limit = float(np.sqrt(np.finfo(points.dtype).max / (4.0 * points.shape[1])))
    if not len(points) or _all_small(points, limit):
        return
    for position, name in enumerate(names):
        column = points[:, position]
        bad: BoolVector = ~np.isfinite(column)
        large = np.flatnonzero(np.abs(np.where(bad, 0, column)) > limit)
        if large.size:
            row = int(large[0])
            faults.refuse_size(float(column[row]), row, name, limit)
        if bad.any():
            yield position, bad


def _all_small(points: FloatMatrix, limit: float) -> bool:
    """Say whether all are finite and small enough, in one pass without a copy."""
    for start in range(0, len(points), _BLOCK_ROWS):
        block = points[start : start + _BLOCK_ROWS]
        # NaN fails both comparisons.
        if not (float(block.min()) >= -limit and float(block.max()) <= limit):
            return False
    return True
