"""Cells that cannot be used: gaps are collected by column, and refused or filled. Layer 1."""

from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector

_SHOWN = 5


class Faults:
    """The gaps found so far, with what to do about them.

    Parameters
    ----------
    name : str
        What to call the table.
    ids : pyarrow.ChunkedArray or None
        Names of the rows for messages; None for row numbers.
    impute : bool
        Whether gaps are filled, and so no fault.
    """

    def __init__(self, name: str, *, ids: Any, impute: bool) -> None:
        self._name, self._ids = name, ids
        self.impute = impute
        self._found: list[str] = []
        self._n_cells = 0
        self._n_columns = 0

    def row(self, row: int) -> str:
        """Return how to call a row."""
        return f"{row}" if self._ids is None else f"{row} (id {self._ids[row].as_py()!r})"

    def gaps(self, missing: BoolVector, column: str, *, filled_with: str) -> None:
        """Note the cells of a column that hold nothing or no finite number.

        Parameters
        ----------
        missing : ndarray of shape (n,)
            True where a cell cannot be used.
        column : str
            The column.
        filled_with : str
            What imputing puts there, for the note.
        """
        n = int(np.count_nonzero(missing))
        if n == 0:
            return
        self._n_cells += n
        self._n_columns += 1
        if self.impute:
            self._found.append(f"{n} gap(s) in {column!r} are filled with {filled_with}")
            return
        rows = ", ".join(self.row(int(row)) for row in np.flatnonzero(missing)[:_SHOWN])
        more = f" and {n - _SHOWN} more" if n > _SHOWN else ""
        self._found.append(f"{column!r}: {n} in row {rows}{more}")

    def require_none(self) -> None:
        """Raise if there are gaps and they are not filled."""
        if self.impute or not self._found:
            return
        shown = "; ".join(self._found[:_SHOWN])
        more = f"; and {self._n_columns - _SHOWN} more columns" if self._n_columns > _SHOWN else ""
        raise InvalidInputError(
            f"{self._n_cells} cell(s) in {self._n_columns} column(s) of {self._name} are empty or "
            f"not finite ({shown}{more}). Distances to such rows are undefined. Fill them, ignore "
            "the columns, or pass --impute (impute=True) to take the column's median."
        )

    def refuse_size(self, value: float, row: int, column: str, limit: float) -> None:
        """Raise because a cell is too large to be squared.

        Parameters
        ----------
        value : float
            What it holds.
        row : int
            Where.
        column : str
            Where.
        limit : float
            What would be allowed.

        Raises
        ------
        InvalidInputError
            Always.
        """
        raise InvalidInputError(
            f"row {self.row(row)} of {self._name} holds {value:.3g} in {column!r}, and the squares "
            f"of distances overflow above {limit:.1g}. Correct the cell, or rescale the column."
        )

    def notes(self) -> tuple[str, ...]:
        """Return what was filled, as lines to print."""
        if len(self._found) <= _SHOWN:
            return tuple(self._found)
        return (
            *self._found[:_SHOWN],
            f"gaps in {self._n_columns - _SHOWN} more columns are filled",
        )
