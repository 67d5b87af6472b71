"""What a learner believes of every row, as far as questions need it."""

from dataclasses import dataclass

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.questions.likeness import Islands

_CLOSE_CALL = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """What is believed of all rows.

    Attributes
    ----------
    probabilities : ndarray of shape (n, k) or None
        Of the classes; None where nothing was learned yet.
    doubts : ndarray of shape (n,) or None
        One minus the lead of the first class over the second; 1 where no label reaches.
    reached : ndarray of shape (n,)
        Whether a label reaches the row.
    piece : ndarray of shape (n,)
        The part of the data that the row lies in, as far as reach is concerned.
    masses : ndarray of shape (n,) or None
        How many rows each stands for; None for itself.
    """

    probabilities: FloatMatrix | None
    doubts: FloatVector | None
    reached: BoolVector
    piece: IndexVector
    masses: FloatVector | None = None

    @classmethod
    def of(
        cls,
        probabilities: FloatMatrix | None,
        reached: BoolVector | None,
        islands: Islands,
        known: IndexVector,
        piece: IndexVector | None = None,
        masses: FloatVector | None = None,
    ) -> "Beliefs":
        """Check what was given, and find out what a label reaches where that was not."""
        n = len(islands.of_row)
        pieces = np.asarray(islands.of_row if piece is None else piece, dtype=np.intp)
        if pieces.shape != (n,):
            raise InvalidInputError(
                f"piece has shape {pieces.shape} and the graph {n} rows; give one number per row."
            )
        if reached is None:
            reached = np.isin(islands.of_row, islands.of_row[known])
        elif np.shape(reached) != (n,):
            raise InvalidInputError(
                f"reached has shape {np.shape(reached)} and the graph {n} rows; give one yes or no "
                "per row."
            )
        if probabilities is None or len(known) == 0:
            return cls(None, None, reached, pieces, masses)
        if np.ndim(probabilities) != 2 or probabilities.shape[0] != n or probabilities.shape[1] < 2:
            raise InvalidInputError(
                f"distributions have shape {np.shape(probabilities)}; with {n} rows of the graph "
                f"they need ({n}, k), k the number of classes, 2 or more."
            )
        top = np.partition(probabilities, probabilities.shape[1] - 2, axis=1)[:, -2:]
        doubts = np.where(reached, 1.0 - (top[:, 1] - top[:, 0]), 1.0)
        return cls(probabilities, doubts, reached, pieces, masses)

    def count_stranded(self, row: int) -> int:
        """Return how many rows that no label reaches lie in the same piece, the row among them."""
        is_stranded = (self.piece == self.piece[row]) & ~self.reached
        if self.masses is not None:
            return round(float(self.masses[is_stranded].sum()))
        return int(np.count_nonzero(is_stranded))

    def rivals(self, row: int) -> tuple[int, int] | None:
        """Return the first and the second class of a row between which it is a close call."""
        if self.probabilities is None or self.doubts is None or self.doubts[row] <= _CLOSE_CALL:
            return None
        second, first = np.argsort(self.probabilities[row])[-2:]
        return int(first), int(second)
