"""Blocks of a feature matrix: columns of one kind enter, checked numbers leave.

Each block is allocated once and filled in pieces of rows, so a table of n x d float32 numbers costs
one copy.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.tables.columns.kinds import is_number, is_text, numbers_kind
from beltrami.tables.columns.numerals import NumberStyle, null_word_counts, parse_numbers
from beltrami.tables.features.faults import Faults
from beltrami.tables.model import Table, decode_categories

_BLOCK_ROWS = 65_536
_MISSING = "missing"
_INSTEAD = "Use fewer rows or columns, or store the numbers as float32."


def matrix_block(matrix: NDArray[Any], faults: Faults) -> FloatMatrix:
    """Return a matrix as finite floats, the same array where it is one already."""
    dtype = _float_type(matrix.dtype)
    points: FloatMatrix = matrix
    is_ours = matrix.dtype != dtype or not matrix.flags.c_contiguous
    if is_ours:
        points = _allocate(matrix.shape, dtype)
        for start in range(0, len(matrix), _BLOCK_ROWS):
            points[start : start + _BLOCK_ROWS] = matrix[start : start + _BLOCK_ROWS]
    return _without_gaps(points, [f"x{i}" for i in range(points.shape[1])], faults, is_ours=is_ours)


def number_block(
    table: Table,
    names: tuple[str, ...],
    styles: dict[str, tuple[NumberStyle, ...]],
    faults: Faults,
) -> tuple[FloatMatrix, dict[str, BoolVector]]:
    """Return numeric columns side by side, with medians where a cell holds no finite number.

    The columns hold numbers, truth values, or numbers written as texts. The gaps are returned by
    column, and noted in `faults`, as is how texts were read.
    """
    columns = [_numbers(table, name, styles.get(name, ()), faults) for name in names]
    dtype = np.result_type(*(arrow_float_type(column.type) for column in columns))
    points = _allocate((table.n_rows, len(names)), dtype)
    for start in range(0, table.n_rows, _BLOCK_ROWS):
        for position, column in enumerate(columns):
            piece = column.slice(start, _BLOCK_ROWS)
            with np.errstate(over="ignore"):
                points[start : start + len(piece), position] = _to_floats(piece, dtype)
    gaps: dict[str, BoolVector] = {}
    for position, bad, median in _odd_columns(points, list(names), faults):
        name = names[position]
        faults.note_filled(
            bad, name, filled_with=f"they take the median, {median:.6g}, and a column marks them"
        )
        points[bad, position] = median
        gaps[name] = bad
    return points, gaps


def gap_block(gaps: dict[str, BoolVector]) -> tuple[FloatMatrix, list[str]]:
    """Return columns of 0 and 1 that say where numbers were missing; like ones share a column."""
    alike: dict[bytes, list[str]] = {}
    for name, mask in gaps.items():
        alike.setdefault(mask.tobytes(), []).append(name)
    firsts = [names[0] for names in alike.values()]
    block = _allocate((len(gaps[firsts[0]]), len(firsts)), np.dtype(np.float32))
    for position, name in enumerate(firsts):
        block[:, position] = gaps[name]
    shown = [
        f"{names[0]} was missing" + (f" (and {len(names) - 1} more)" if len(names) > 1 else "")
        for names in alike.values()
    ]
    return block, shown


def vector_block(table: Table, name: str, faults: Faults) -> FloatMatrix:
    """Return a column of lists of numbers, all of one length, as a matrix without gaps."""
    points = list_rows(table, name, faults)
    return _without_gaps(points, [f"{name}[{i}]" for i in range(points.shape[1])], faults)


def list_rows(table: Table, name: str, faults: Faults) -> FloatMatrix:
    """Return lists of numbers, all of one length, as rows of a matrix, NaN where there is none."""
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
            f"{int(lengths[row])} numbers, and the first list {width}. Vectors of one model have "
            "one length: make those of such rows again, or leave the rows out."
        )
    dtype = arrow_float_type(column.type.value_type)
    points = _allocate((table.n_rows, width), dtype)
    points[lengths < 0] = np.nan
    for start in range(0, table.n_rows, _BLOCK_ROWS):
        piece = column.slice(start, _BLOCK_ROWS).drop_null()
        values = pc.list_flatten(piece)
        rows = np.flatnonzero(lengths[start : start + _BLOCK_ROWS] >= 0) + start
        points[rows] = _to_floats(values, dtype).reshape(-1, width)
    return points


def zero_rows(points: FloatMatrix) -> BoolVector:
    """Return which rows of a matrix are all zero, (n,)."""
    is_zero = np.zeros(len(points), dtype=bool)
    for start in range(0, len(points), _BLOCK_ROWS):
        is_zero[start : start + _BLOCK_ROWS] = ~points[start : start + _BLOCK_ROWS].any(axis=1)
    return is_zero


def category_block(
    table: Table, names: tuple[str, ...], faults: Faults
) -> tuple[FloatMatrix, list[str]]:
    """Return categories as columns of 0 and 1, in the order of their names.

    Cells that hold nothing are a category of their own, and are noted in `faults`.
    """
    coded: list[tuple[NDArray[np.int64], int]] = []
    categories: list[str] = []
    for name in names:
        cells = _categories(decode_categories(table.columns.column(name)))
        gaps = np.fromiter((cell is None for cell in cells), dtype=bool, count=len(cells))
        faults.note_filled(
            gaps, name, filled_with=f"they are a category of their own, {_MISSING!r}"
        )
        # A category of the user's may be called "missing", too: gaps get a column of their own.
        values = sorted({cell for cell in cells if cell is not None})
        numbers = {value: i for i, value in enumerate(values)} | {None: len(values)}
        codes = np.array([numbers[cell] for cell in cells], dtype=np.int64)
        categories += [f"{name}={value}" for value in values]
        if gaps.any():
            categories.append(f"{name}={_MISSING}")
        coded.append((codes, len(values) + bool(gaps.any())))
    block = _allocate((table.n_rows, len(categories)), np.dtype(np.float32))
    block[:] = 0
    start = 0
    for codes, n_values in coded:
        block[np.arange(len(codes)), start + codes] = 1
        start += n_values
    return block, categories


def _categories(column: Any) -> list[Any]:
    """Return cells as texts or numbers, None for null, NaN and blank texts."""
    import pyarrow as pa

    if pa.types.is_temporal(column.type):
        column = column.cast(pa.string())
    cells = column.to_pylist()
    if is_text(column.type):
        return [cell if cell is not None and cell.strip() else None for cell in cells]
    return [None if cell is None or cell != cell else cell for cell in cells]  # noqa: PLR0124


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


def _numbers(table: Table, name: str, styles: tuple[NumberStyle, ...], faults: Faults) -> Any:
    """Return a column as arrow numbers; texts are read as such."""
    import pyarrow as pa

    values = decode_categories(table.columns.column(name))
    if is_number(values.type):
        return values.cast(pa.float64()) if pa.types.is_decimal(values.type) else values
    styles = styles or numbers_kind(name, values).styles
    if len(styles) > 1:
        one, other = (style.reading.rpartition(" ")[2] for style in styles)
        raise InvalidInputError(
            f"column {name!r} of {table.name} holds {styles[0].example!r}, which may be {one} or "
            f"{other}: nothing tells whether the sign parts decimals or thousands. Say which sign "
            f"comes before decimals with --decimal . or --decimal , (decimal='.' or decimal=','), "
            f"or leave the column out: --ignore {name!r} (ignore=[{name!r}])."
        )
    if not styles[0].is_plain:
        faults.say(f"column {name!r} is read as numbers: {styles[0].reading}")
    for word, count in null_word_counts(values).items():
        faults.say(f"column {name!r}: {count} cell(s) hold {word!r} and count as missing")
    return parse_numbers(values, styles[0])


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


def _without_gaps(
    points: FloatMatrix, names: list[str], faults: Faults, *, is_ours: bool = True
) -> FloatMatrix:
    """Return the finite points of a matrix or of vectors: refuse gaps, or fill them if asked."""
    filled = points
    for position, bad, median in _odd_columns(points, names, faults):
        faults.note_gaps(bad, names[position], median=median)
        if faults.impute:
            # What was handed in, or mapped from disk, is never written to.
            if filled is points and not is_ours:
                filled = _allocate(points.shape, points.dtype)
                filled[:] = points
            filled[bad, position] = median
    faults.require_none()
    return filled


def _odd_columns(
    points: FloatMatrix, names: list[str], faults: Faults
) -> Iterator[tuple[int, BoolVector, float]]:
    """Yield the columns with cells that are not finite, these cells, and the median of the rest.

    What is too large to be squared is refused.
    """
    limit = float(np.sqrt(np.finfo(points.dtype).max / (4.0 * points.shape[1])))
    if _all_small(points, limit):
        return
    for position, name in enumerate(names):
        column = points[:, position]
        bad: BoolVector = ~np.isfinite(column)
        large = np.flatnonzero(np.abs(np.where(bad, 0, column)) > limit)
        if large.size:
            row = int(large[0])
            faults.refuse_size(float(column[row]), row, name, limit)
        if bad.any():
            yield position, bad, float(np.median(column[~bad])) if not bad.all() else 0.0


def _all_small(points: FloatMatrix, limit: float) -> bool:
    """Say whether all are finite and small enough, in one pass without a copy."""
    for start in range(0, len(points), _BLOCK_ROWS):
        block = points[start : start + _BLOCK_ROWS]
        # NaN fails both comparisons.
        if not (float(block.min()) >= -limit and float(block.max()) <= limit):
            return False
    return True
