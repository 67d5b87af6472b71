"""Cells that cannot be used: gaps are collected by column, and refused or filled; both are told."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Filled:
    """The cells of a column that hold nothing that can be used.

    Attributes
    ----------
    n_cells, n_rows : int
        How many, of how many.
    filled_with : str
        What stands in their place.
    """

    n_cells: int
    n_rows: int
    filled_with: str

    def plus(self, other: "Filled") -> "Filled":
        """Return the cells of both."""
        n_cells, n_rows = self.n_cells + other.n_cells, self.n_rows + other.n_rows
        return Filled(n_cells, n_rows, self.filled_with)

    def __str__(self) -> str:
        share = f"{self.n_cells} of {self.n_rows} cells"
        share += ", more than half," * (2 * self.n_cells > self.n_rows)
        return f"{share} hold nothing that can be used; {self.filled_with}"


class Faults:
    """The gaps found so far, with what to do about them.

    Parameters
    ----------
    name : str
        What to call the table.
    ids : pyarrow.ChunkedArray or None
        Names of the rows for messages; None for row numbers.
    impute : bool
        Whether gaps in a matrix or in vectors are filled, and so no fault.
    is_new : bool, default=False
        Whether the rows come after the recipe was learned: a gap in a matrix or in vectors then
        leaves its row to the person, and is no fault either.
    first : int, default=0
        Number of the first row.
    """

    def __init__(
        self, name: str, *, ids: Any, impute: bool, is_new: bool = False, first: int = 0
    ) -> None:
        self.name, self._ids = name, ids
        self.impute, self.is_new, self._first = impute, is_new, first
        self.filled: dict[str, Filled] = {}
        self.unseen: dict[str, tuple[int, str]] = {}
        self._found: list[str] = []
        self._said: list[str] = []
        self._n_cells = 0
        self._gaps: NDArray[np.intp] | None = None
        self._left: BoolVector | None = None

    def row(self, row: int) -> str:
        """Return how to call a row."""
        number = f"{self._first + row}"
        return number if self._ids is None else f"{number} (id {self._ids[row].as_py()!r})"

    def say(self, line: str) -> None:
        """Note how a column was read."""
        self._said.append(line)

    def note_filled(self, missing: BoolVector, column: str, *, filled_with: str) -> None:
        """Note the cells of a column that hold nothing, and what they were filled with."""
        n = int(np.count_nonzero(missing))
        if n:
            self._gaps = missing + (0 if self._gaps is None else self._gaps)
            self.filled[column] = Filled(n, len(missing), filled_with)

    def note_unseen(self, rows: BoolVector, column: str, cell: Callable[[int], str]) -> None:
        """Note the cells of a column that hold a category which was never seen."""
        n = int(np.count_nonzero(rows))
        if n:
            self._gaps = rows + (0 if self._gaps is None else self._gaps)
            self.unseen[column] = (n, cell(int(np.flatnonzero(rows)[0]))[:40])

    def leave(self, rows: BoolVector) -> None:
        """Note rows of which nothing is known, whatever their columns hold."""
        self._left = rows if self._left is None else self._left | rows

    def find_empty(self, n_rows: int, n_columns: int) -> BoolVector:
        """Return which rows hold nothing in any of the columns, (n,), and note how many.

        Of a matrix there are no columns, and gaps in all of a row are not looked for.
        """
        is_empty: BoolVector = np.zeros(n_rows, dtype=bool)
        if self._left is not None:
            is_empty |= self._left
        if self._gaps is None or not n_columns:
            return is_empty
        is_empty |= np.asarray(self._gaps == n_columns)
        if is_empty.any():
            self.say(
                f"{np.count_nonzero(is_empty)} row(s) hold nothing in any column that is used: "
                "nothing is known of them, and they are left to you"
            )
        return is_empty

    def note_zeros(self, is_zero: BoolVector, name: str) -> None:
        """Note the vectors of zeros, of which distances say nothing; refuse where all are such."""
        n = int(np.count_nonzero(is_zero))
        if n == len(is_zero) and not self.is_new:
            raise InvalidInputError(
                f"all {n} vectors in {name} are zero, so no row is nearer to one than to another. "
                "Make them again: most models give zeros where they know no word of a text."
            )
        if n:
            self.say(
                f"{n} of {len(is_zero)} vectors in {name} are zero, such as that of row "
                f"{self.row(int(np.flatnonzero(is_zero)[0]))}: nothing is known of these rows, and "
                "they are left to you"
            )

    def note_gaps(self, missing: BoolVector, column: str, *, median: float) -> None:
        """Note the cells of a matrix or of vectors that hold no finite number."""
        n = int(np.count_nonzero(missing))
        if self.impute:
            self.note_filled(missing, column, filled_with=f"they take the median, {median:.6g}")
            return
        if self.is_new:
            self.leave(missing)
            self.filled[column] = Filled(n, len(missing), "their rows are left to you")
            return
        self._n_cells += n
        rows = ", ".join(self.row(int(row)) for row in np.flatnonzero(missing)[:_SHOWN])
        more = f" and {n - _SHOWN} more" if n > _SHOWN else ""
        self._found.append(f"{column!r}: {n} in row {rows}{more}")

    def require_none(self) -> None:
        """Raise if there are gaps that may not be filled."""
        n = len(self._found)
        if not n:
            return
        shown = "; ".join(self._found[:_SHOWN])
        more = f"; and {n - _SHOWN} more columns" if n > _SHOWN else ""
        raise InvalidInputError(
            f"{self._n_cells} cell(s) in {n} column(s) of {self.name} are empty or not finite "
            f"({shown}{more}). A vector with a hole in it mostly comes from a broken file, and "
            "distances to it are undefined. Mend or remove these rows, or pass --impute "
            "(impute=True) to take the median of the column."
        )

    def refuse_size(self, value: float, row: int, column: str, limit: float) -> None:
        """Raise because a cell is too large to be squared."""
        raise InvalidInputError(
            f"row {self.row(row)} of {self.name} holds {value:.3g} in {column!r}, and the squares "
            f"of distances overflow above {limit:.1g}. Correct the cell, or rescale the column."
        )

    def notes(self) -> tuple[str, ...]:
        """Return how columns were read and what was filled, as lines to print."""
        return (*self._said, *filled_lines(self.filled))


def filled_lines(filled: dict[str, Filled]) -> list[str]:
    """Return what was filled, as a few lines to print."""
    lines = [f"{column!r}: {one}" for column, one in filled.items()]
    n_more = len(lines) - _SHOWN
    more = [f"gaps in {n_more} more columns are filled"] if n_more > 0 else []
    return [*lines[:_SHOWN], *more]
