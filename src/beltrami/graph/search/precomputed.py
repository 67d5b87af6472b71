"""Distances that the user computed, dense or sparse."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.core.validation import check_points
from beltrami.graph.model import Neighbors
from beltrami.graph.search.spaces import without_self


@dataclass(frozen=True, slots=True, eq=False)
class PrecomputedSpace:
    """Points known only by their distances.

    A sparse matrix holds the distances of near pairs; what is not stored is far. Its stored zeros
    are distances of duplicates and count.
    """

    matrix: FloatMatrix | CsrMatrix

    @classmethod
    def of(cls, matrix: Any) -> "PrecomputedSpace":
        """Check the matrix: square, finite, not negative."""
        if issparse(matrix):
            checked: FloatMatrix | CsrMatrix = csr_array(matrix, dtype=np.float64, copy=True)
            values = checked.data
        else:
            checked = np.asarray(check_points(matrix), dtype=np.float64)
            values = checked
        if checked.shape[0] != checked.shape[1]:
            raise InvalidInputError(
                f"metric='precomputed' wants a square matrix of distances and got shape "
                f"{checked.shape}. For points, name their metric instead."
            )
        if not np.isfinite(values).all() or (values.size and values.min() < 0):
            raise InvalidInputError(
                "precomputed distances must be finite and not negative. Similarities must be "
                "turned into distances first, or given as weights to Graph.from_matrix."
            )
        return cls(checked)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.matrix.shape[0])

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return the `k` nearest points of each query, given its distances to all points."""
        rows = np.asarray(check_points(queries), dtype=np.float64)
        if rows.shape[1] != self.n_points:
            raise InvalidInputError(
                f"new points need their distances to all {self.n_points} points of the fit, one "
                f"column each, and came with {rows.shape[1]} columns."
            )
        return _smallest(rows, k)

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""
        found, distances = _smallest(self._dense()[np.ix_(rows, base)], k)
        return base[found], distances

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points."""
        return np.asarray(self._dense()[rows, columns])

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:  # noqa: ARG002
        """Return the `k` nearest other points of each point."""
        if issparse(self.matrix):
            return Neighbors(*_stored_neighbors(csr_array(self.matrix), k))
        indices, distances = without_self(*_smallest(self._dense(), k + 1), k)
        return Neighbors(indices, distances)

    def within(self, radius: float) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all ordered pairs of distinct points at most `radius` apart."""
        if issparse(self.matrix):
            stored = self.matrix.tocoo()
            rows, columns, values = stored.row, stored.col, stored.data
        else:
            dense = self._dense()
            rows, columns = np.nonzero(dense <= radius)
            values = dense[rows, columns]
        keep = (values <= radius) & (rows != columns)
        return rows[keep], columns[keep], values[keep]

    def _dense(self) -> FloatMatrix:
        if issparse(self.matrix):
            raise InvalidInputError(
                "sparse precomputed distances do not say how far the other points are, so the "
                "graph's components cannot be bridged. Pass connect='keep' or connect='raise', or "
                "give more distances."
            )
        return np.asarray(self.matrix)


def _smallest(values: FloatMatrix, k: int) -> tuple[IndexMatrix, FloatMatrix]:
    from beltrami.core.backend import NumpyBackend

    distances, indices = NumpyBackend().smallest(values, k)
    return indices.astype(np.int32), distances


def _stored_neighbors(matrix: CsrMatrix, k: int) -> tuple[IndexMatrix, FloatMatrix]:
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    off_diagonal = rows != matrix.indices
    rows, columns = rows[off_diagonal], matrix.indices[off_diagonal]
    values = matrix.data[off_diagonal]
    counts = np.bincount(rows, minlength=n)
    if counts.min() < k:
        raise InvalidInputError(
            f"{int((counts < k).sum())} row(s) of the sparse distances hold fewer than "
            f"n_neighbors={k} other points (the least: {counts.min()}). Store more distances or "
            "lower n_neighbors."
        )
    order = np.lexsort((columns, values, rows))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    taken = order[(starts[:, None] + np.arange(k)).ravel()]
    return columns[taken].reshape(n, k).astype(np.int32), values[taken].reshape(n, k)
