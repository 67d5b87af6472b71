"""Parts of a recipe for columns of one kind each: learned from a table, and made of any other.

Each part reads its columns by their names, so that neither their order nor others matter. What is
made of a row rests on the part and on that row alone, but for last bits.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.tables.columns.kinds import is_binary, is_number, is_text
from beltrami.tables.columns.numerals import NumberStyle
from beltrami.tables.features.blocks import (
    alike_gaps,
    category_cells,
    fill_numbers,
    gap_block,
    list_rows,
    matrix_rows,
    number_rows,
    one_hot,
    settle_medians,
    without_gaps,
)
from beltrami.tables.features.faults import Faults
from beltrami.tables.features.numbers import known_style, read_numbers, require_lists
from beltrami.tables.features.scales import column_scales, common_spread, has_units, standardize
from beltrami.tables.model import Table, decode_categories

_MISSING = "missing"


@dataclass(frozen=True, slots=True, eq=False)
class MatrixPart:
    """The rows of a matrix.

    Attributes
    ----------
    dtype : str
        Of the numbers.
    instead : ndarray of shape (d,)
        What stands where a number is missing.
    """

    dtype: str
    instead: FloatVector

    @classmethod
    def learn(cls, matrix: NDArray[Any], faults: Faults) -> tuple["MatrixPart", FloatMatrix]:
        """Return the part, and the matrix as it makes it."""
        rows, is_ours = matrix_rows(matrix)
        instead = np.full(rows.shape[1], np.nan)
        points = without_gaps(rows, _numbered(rows.shape[1]), instead, faults, is_ours=is_ours)
        settle_medians(points, instead)
        return cls(rows.dtype.str, instead), points

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return _numbered(len(self.instead))

    def make(self, matrix: NDArray[Any], faults: Faults) -> FloatMatrix:
        """Return the rows of a matrix that was not there when the part was learned."""
        if matrix.shape[1] != len(self.instead):
            raise InvalidInputError(
                f"{faults.name} has rows of {matrix.shape[1]} numbers, and the labeller learned "
                f"from {len(self.instead)}. Make the rows by what made those."
            )
        rows, is_ours = matrix_rows(matrix, np.dtype(self.dtype))
        return without_gaps(rows, self.names, self.instead, faults, is_ours=is_ours)


@dataclass(frozen=True, slots=True, eq=False)
class VectorPart:
    """A column of lists of numbers.

    Attributes
    ----------
    name : str
        Of the column.
    dtype : str
        Of the numbers.
    instead : ndarray of shape (d,)
        What stands where a number is missing.
    """

    name: str
    dtype: str
    instead: FloatVector

    @classmethod
    def learn(cls, table: Table, name: str, faults: Faults) -> tuple["VectorPart", FloatMatrix]:
        """Return the part, and the vectors as it makes them."""
        rows = list_rows(table, name, faults)
        part = cls(name, rows.dtype.str, np.full(rows.shape[1], np.nan))
        points = without_gaps(rows, part.names, part.instead, faults)
        settle_medians(points, part.instead)
        return part, points

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(f"{self.name}[{i}]" for i in range(len(self.instead)))

    def make(self, table: Table, faults: Faults) -> FloatMatrix:
        """Return the vectors of a table, the fill where there are none."""
        whole = require_lists(table, self.name, np.dtype(self.dtype))
        rows = list_rows(whole, self.name, faults, len(self.instead), np.dtype(self.dtype))
        return without_gaps(rows, self.names, self.instead, faults)


@dataclass(frozen=True, slots=True, eq=False)
class NumberPart:
    """Columns of numbers.

    Attributes
    ----------
    columns : tuple of str
        Their names.
    styles : tuple of tuple of str
        How each writes its numbers in texts: sign of decimals, of thousands, unit and an example.
    dtype : str
        Of the numbers.
    instead : ndarray of shape (d,)
        What stands where one is missing.
    marks : tuple of tuple of str
        Columns whose gaps are marked; those that share a mark stand together.
    scale : {"none", "common", "standard"}
        Whether they are divided by one spread, or standardised each.
    centers, spreads : ndarray of shape (d,)
        What is taken off, and divided by.
    """

    columns: tuple[str, ...]
    styles: tuple[tuple[str, ...], ...]
    dtype: str
    instead: FloatVector
    marks: tuple[tuple[str, ...], ...]
    scale: Literal["none", "common", "standard"]
    centers: FloatVector
    spreads: FloatVector

    @classmethod
    def learn(
        cls,
        table: Table,
        columns: tuple[str, ...],
        styles: dict[str, tuple[NumberStyle, ...]],
        faults: Faults,
        *,
        is_beside: bool,
    ) -> tuple["NumberPart", list[FloatMatrix]]:
        """Return the part, and the blocks that it makes: numbers, and marks of gaps.

        - `is_beside`: whether columns of other kinds that are no texts stand beside them.
        """
        chosen = [known_style(table, name, styles.get(name, ()), faults) for name in columns]
        pairs = zip(columns, chosen, strict=True)
        rows = number_rows([read_numbers(table, name, style, faults) for name, style in pairs])
        instead = np.full(len(columns), np.nan)
        gaps = fill_numbers(rows, columns, instead, faults, ", and a column marks them")
        settle_medians(rows, instead)
        scale: Literal["none", "common", "standard"] = "none"
        centers: FloatVector = np.zeros(len(columns))
        spreads: FloatVector = np.ones(len(columns))
        if gaps and not (is_beside or has_units(rows, columns)):
            scale, spreads = "common", np.full(len(columns), common_spread(rows))
        elif gaps or is_beside:
            scale = "standard"
            centers, spreads = column_scales(rows)
        written = tuple((one.decimal, one.thousands, one.unit, one.example) for one in chosen)
        marks = alike_gaps(gaps)
        part = cls(columns, written, rows.dtype.str, instead, marks, scale, centers, spreads)
        return part, part._finish(rows, gaps)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of all blocks are called."""
        shown = (
            f"{first} was missing" + (f" (and {len(more)} more)" if more else "")
            for first, *more in self.marks
        )
        return (*self.columns, *shown)

    @property
    def note(self) -> str:
        """What is done to the numbers; "" for nothing."""
        if self.scale == "common":
            return f"numbers are divided by their common spread, {self.spreads[0]:.6g}"
        is_plain = self.scale == "none"
        return "" if is_plain else "numeric columns are standardised beside the others"

    def make(self, table: Table, faults: Faults) -> list[FloatMatrix]:
        """Return the blocks for the rows of a table."""
        chosen = [NumberStyle(*style) for style in self.styles]
        pairs = zip(self.columns, chosen, strict=True)
        cells = [read_numbers(table, name, style, faults) for name, style in pairs]
        rows = number_rows(cells, np.dtype(self.dtype))
        return self._finish(rows, fill_numbers(rows, self.columns, self.instead, faults, ""))

    def _finish(self, rows: FloatMatrix, gaps: dict[str, BoolVector]) -> list[FloatMatrix]:
        """Put filled numbers on their scale, in place, and set the marks beside them."""
        if self.scale == "common":
            rows /= float(self.spreads[0])
        elif self.scale == "standard":
            standardize(rows, self.centers, self.spreads)
        return [rows, gap_block(gaps, self.marks, len(rows))] if self.marks else [rows]


@dataclass(frozen=True, slots=True, eq=False)
class CategoryPart:
    """Columns of categories.

    Attributes
    ----------
    columns : tuple of str
        Their names.
    values : tuple of tuple of str
        The categories of each as texts, in the order of their columns of 0 and 1.
    has_gap : tuple of bool
        Whether cells that hold nothing have a column, too.
    is_number : tuple of bool
        Whether the column held numbers or truth values, so that texts are read as such.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    has_gap: tuple[bool, ...]
    is_number: tuple[bool, ...]

    @classmethod
    def learn(
        cls, table: Table, columns: tuple[str, ...], faults: Faults
    ) -> tuple["CategoryPart", FloatMatrix]:
        """Return the part, and the columns of 0 and 1 that it makes.

        Cells that hold nothing are a category of their own, and are noted in `faults`.
        """
        values, has_gap, are_numbers, cells = [], [], [], []
        for name in columns:
            column = category_cells(table.columns.column(name))
            # A category of the user's may be called "missing", too: gaps get a column of their own.
            values.append(tuple(map(_spelled, sorted({one for one in column if one is not None}))))
            has_gap.append(any(one is None for one in column))
            are_numbers.append(is_number(decode_categories(table.columns.column(name)).type))
            cells.append(column)
        part = cls(columns, tuple(values), tuple(has_gap), tuple(are_numbers))
        return part, part._finish(cells, faults)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of 0 and 1 are called."""
        triples = zip(self.columns, self.values, self.has_gap, strict=True)
        return tuple(
            f"{name}={value}"
            for name, values, has_gap in triples
            for value in (*values, *[_MISSING] * has_gap)
        )

    def make(self, table: Table, faults: Faults) -> FloatMatrix:
        """Return columns of 0 and 1 for a table; a category that was never seen has none."""
        named = zip(self.columns, self.is_number, strict=True)
        return self._finish([_cells(table, *one) for one in named], faults)

    def _finish(self, cells: list[list[Any]], faults: Faults) -> FloatMatrix:
        codes, sizes = [], []
        for name, column, values, has_gap in zip(
            self.columns, cells, self.values, self.has_gap, strict=True
        ):
            places = {value: place for place, value in enumerate(values)}
            gap = len(values) if has_gap else -1
            known = (gap if one is None else places.get(_spelled(one), -2) for one in column)
            code = np.fromiter(known, dtype=np.int64, count=len(column))
            gaps = np.fromiter((one is None for one in column), dtype=bool, count=len(column))
            own = f"they are a category of their own, {_MISSING!r}"
            faults.note_filled(
                gaps, name, filled_with=own if has_gap else "they are of no category"
            )
            faults.note_unseen(code == -2, name, partial(_shown, column))
            codes.append(np.maximum(code, -1))
            sizes.append(len(values) + has_gap)
        return one_hot(codes, sizes)


def _numbered(width: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(width))


def _cells(table: Table, name: str, are_numbers: bool) -> list[Any]:
    """Return the cells of new rows; texts as numbers where the fit had numbers."""
    import pyarrow as pa

    column = decode_categories(table.columns.column(name))
    if pa.types.is_nested(column.type) or is_binary(column.type):
        raise InvalidInputError(
            f"column {name!r} of {table.name} holds {column.type}, and categories are due. Write "
            "them as they were when the labeller learned."
        )
    cells = category_cells(column)
    if not (are_numbers and is_text(column.type)):
        return cells
    read = {cell: _number(cell) for cell in set(cells) if cell is not None}
    return [read.get(cell) for cell in cells]


def _number(text: str) -> Any:
    """Return the number or truth value that a text writes, None for NaN; the text for no such."""
    word = text.strip()
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    for kind in (int, float) if "_" not in word else ():
        try:
            value = kind(word)
        except ValueError:
            continue
        return value if value == value else None  # noqa: PLR0124
    return text


def _spelled(value: Any) -> str:
    """Return a category as a text, alike for whole numbers of any type."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(value)


def _shown(column: list[Any], row: int) -> str:
    return str(column[row])
