"""Blocks of a feature matrix: columns of one kind enter, checked numbers leave.

Each block is allocated once and filled in pieces of rows, so a table of n x d float32 numbers costs
one copy. Layer 1.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.data.tables.delimited import NULL_WORDS
from beltrami.data.tables.faults import Faults
from beltrami.data.tables.kinds import is_number, is_text
from beltrami.data.tables.model import Table, plain

_BLOCK_ROWS = 65_536
_MISSING = "missing"
_INSTEAD = "Use fewer rows or columns, or store the numbers as float32."


def matrix_block(matrix: NDArray[Any], faults: Faults) -> FloatMatrix:
    """Return a matrix as finite floats, the same array where it is one already.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
        Numbers of any real type.
    faults : Faults
        Takes the cells that cannot be used.

    Returns
    -------
    ndarray of shape (n, d)
        float32 or float64.
    """
    dtype = _float_type(matrix.dtype)
    points: FloatMatrix = matrix
    is_ours = matrix.dtype != dtype or not matrix.flags.c_contiguous
    if is_ours:
        points = _allocated(matrix.shape, dtype)
        for start in range(0, len(matrix), _BLOCK_ROWS):
            points[start : start + _BLOCK_ROWS] = matrix[start : start + _BLOCK_ROWS]
    return _checked(points, [f"x{i}" for i in range(points.shape[1])], faults, is_ours=is_ours)


def number_block(table: Table, names: tuple[str, ...], faults: Faults) -> FloatMatrix:
    """Return numeric columns side by side.

    Parameters
    ----------
    table : Table
        The data.
    names : tuple of str
        Columns of numbers, truth values, or numbers written as texts.
    faults : Faults
        Takes the cells that cannot be used.

    Returns
    -------
    ndarray of shape (n, d)
        float32 if every column fits into it, else float64.
    """
    columns = [_numbers(table.columns.column(name), name) for name in names]
    dtype = np.result_type(*(_arrow_float_type(column.type) for column in columns))
    points = _allocated((table.n_rows, len(names)), dtype)
    for start in range(0, table.n_rows, _BLOCK_ROWS):
        for position, column in enumerate(columns):
            piece = column.slice(start, _BLOCK_ROWS)
            with np.errstate(over="ignore"):
                points[start : start + len(piece), position] = _filled(piece, dtype)
    return _checked(points, list(names), faults)


def vector_block(table: Table, name: str, faults: Faults) -> FloatMatrix:
    """Return a column of lists of numbers, all of one length, as a matrix.

    Parameters
    ----------
    table : Table
        The data.
    name : str
        The column.
    faults : Faults
        Takes the cells that cannot be used.

    Returns
    -------
    ndarray of shape (n, d)
        float32 if the lists hold that, else float64.

    Raises
    ------
    InvalidInputError
        When the lists differ in length.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.columns.column(name)
    lengths = _to_numpy(pc.fill_null(pc.list_value_length(column).cast(pa.int64()), -1))
    present = np.flatnonzero(lengths >= 0)
    width = int(lengths[present[0]]) if present.size else 0
    odd = present[lengths[present] != width]
    if width == 0 or odd.size:
        row = int(odd[0]) if odd.size else 0
        raise InvalidInputError(
            f"the lists in column {name!r} must have one length: row {faults.row(row)} has "
            f"{int(lengths[row])} numbers, and the first list {width}."
        )
    dtype = _arrow_float_type(column.type.value_type)
    points = _allocated((table.n_rows, width), dtype)
    points[lengths < 0] = np.nan
    for start in range(0, table.n_rows, _BLOCK_ROWS):
        piece = column.slice(start, _BLOCK_ROWS).drop_null()
        values = pc.list_flatten(piece)
        rows = np.flatnonzero(lengths[start : start + _BLOCK_ROWS] >= 0) + start
        points[rows] = _filled(values, dtype).reshape(-1, width)
    return _checked(points, [f"{name}[{i}]" for i in range(width)], faults)


def category_block(
    table: Table, names: tuple[str, ...], faults: Faults
) -> tuple[FloatMatrix, list[str]]:
    """Return categories as columns of 0 and 1, in the order of their names.

    Parameters
    ----------
    table : Table
        The data.
    names : tuple of str
        Columns of texts.
    faults : Faults
        Takes the cells that hold nothing; when they are filled, "missing" is a category of its own.

    Returns
    -------
    block : ndarray of shape (n, d)
        float32.
    categories : list of str
        "column=value" for each of the d columns.
    """
    import pyarrow.compute as pc

    coded: list[tuple[NDArray[np.int64], int]] = []
    categories: list[str] = []
    for name in names:
        column = plain(table.columns.column(name))
        gaps = np.asarray(_to_numpy(column.is_null()), dtype=bool)
        faults.gaps(gaps, name, filled_with=f"the category {_MISSING!r}")
        # A category of the user's may be called "missing", too: gaps get a column of their own.
        values = sorted(pc.unique(column).drop_null().to_pylist())
        numbers = {value: i for i, value in enumerate(values)} | {None: len(values)}
        codes = np.array([numbers[value] for value in column.to_pylist()], dtype=np.int64)
        categories += [f"{name}={value}" for value in values]
        if gaps.any():
            categories.append(f"{name}={_MISSING}")
        coded.append((codes, len(values) + bool(gaps.any())))
    faults.require_none()
    block = _allocated((table.n_rows, len(categories)), np.dtype(np.float32))
    block[:] = 0
    start = 0
    for codes, n_values in coded:
        block[np.arange(len(codes)), start + codes] = 1
        start += n_values
    return block, categories


def _allocated(shape: tuple[int, ...], dtype: np.dtype[Any]) -> FloatMatrix:
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


def _arrow_float_type(kind: Any) -> np.dtype[Any]:
    try:
        return _float_type(np.dtype(kind.to_pandas_dtype()))
    except (NotImplementedError, TypeError):
        return np.dtype(np.float64)


def _numbers(column: Any, name: str) -> Any:
    """Return a column as arrow numbers; texts are read as such."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = plain(column)
    if is_number(values.type):
        return values.cast(pa.float64()) if pa.types.is_decimal(values.type) else values
    if not is_text(values.type):
        raise InvalidInputError(f"column {name!r} holds {values.type} and no numbers.")
    trimmed = pc.utf8_trim_whitespace(values)
    words = pa.array(NULL_WORDS, values.type)
    present = pc.if_else(pc.is_in(trimmed, words), pa.scalar(None, values.type), trimmed)
    unsigned = pc.replace_substring_regex(present, r"^\+", "")
    try:
        return unsigned.cast(pa.float64())
    except pa.ArrowException as error:
        raise InvalidInputError(
            f"column {name!r} holds texts that are no numbers ({error})."
        ) from error


def _filled(piece: Any, dtype: np.dtype[Any]) -> FloatVector:
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
        found: NDArray[Any] = array.to_numpy()
        return found
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _checked(
    points: FloatMatrix, names: list[str], faults: Faults, *, is_ours: bool = True
) -> FloatMatrix:
    """Return finite points: refuse or fill gaps, and refuse what cannot be squared."""
    limit = float(np.sqrt(np.finfo(points.dtype).max / (4.0 * points.shape[1])))
    if _all_small(points, limit):
        return points
    filled = points
    for position, name in enumerate(names):
        column = points[:, position]
        bad: BoolVector = ~np.isfinite(column)
        large = np.flatnonzero(np.abs(np.where(bad, 0, column)) > limit)
        if large.size:
            row = int(large[0])
            faults.refuse_size(float(column[row]), row, name, limit)
        if not bad.any():
            continue
        median = float(np.median(column[~bad])) if not bad.all() else 0.0
        faults.gaps(bad, name, filled_with=f"its median, {median:.6g}")
        if faults.impute:
            # What was handed in, or mapped from disk, is never written to.
            if filled is points and not is_ours:
                filled = _allocated(points.shape, points.dtype)
                filled[:] = points
            filled[bad, position] = median
    faults.require_none()
    return filled


def _all_small(points: FloatMatrix, limit: float) -> bool:
    """Say whether all are finite and small enough, in one pass without a copy."""
    for start in range(0, len(points), _BLOCK_ROWS):
        block = points[start : start + _BLOCK_ROWS]
        # NaN fails both comparisons.
        if not (float(block.min()) >= -limit and float(block.max()) <= limit):
            return False
    return True
