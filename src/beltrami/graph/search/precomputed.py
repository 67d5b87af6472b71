"""Distances that the user computed, dense or sparse."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.core.validation import check_points
from beltrami.graph.model import Neighbors
from beltrami.graph.search.distances import smallest, without_self

_SYMMETRY_RTOL = 1e-5  # distances may come from float32


@dataclass(frozen=True, slots=True, eq=False)
class PrecomputedSpace:
    """Points known only by their distances.

    A sparse matrix holds the distances of near pairs; what is not stored is far. Its stored zeros
    are distances of duplicates and count.
    """

    matrix: FloatMatrix | CsrMatrix

    @classmethod
    def of(cls, matrix: Any) -> "PrecomputedSpace":
        """Check the matrix: square, finite, not negative, and symmetric where it is dense."""
        checked = check_points(matrix, name="the matrix of distances")
        if checked.shape[0] != checked.shape[1]:
            raise InvalidInputError(
                f"metric='precomputed' wants a square matrix of distances and got shape "
                f"{checked.shape}. For points, name their metric instead."
            )
        if issparse(checked):
            stored: CsrMatrix = csr_array(checked.astype(np.float64))
            _require_nonnegative(stored.data)
            return cls(stored)
        dense = np.asarray(checked, dtype=np.float64)
        _require_nonnegative(dense)
        _require_symmetric(dense)
        return cls(dense)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.matrix.shape[0])

    @property
    def euclidean(self) -> None:
        """No dense points stand for these."""

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return the `k` nearest points of each query, given its distances to all points."""
        return smallest(self._queries(queries), k)

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""
        indices, distances = smallest(self._dense()[np.ix_(rows, base)], k)
        return base[indices], distances

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points; of a sparse matrix, of stored pairs."""
        if issparse(self.matrix):
            there, back = self.matrix[rows, columns], self.matrix[columns, rows]
            return np.asarray(np.maximum(there, back))
        return np.asarray(self._dense()[rows, columns])

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:  # noqa: ARG002
        """Return the `k` nearest other points of each point."""
        if issparse(self.matrix):
            return Neighbors(*_stored_neighbors(csr_array(self.matrix), k))
        indices, distances = without_self(*smallest(self._dense(), k + 1), k)
        return Neighbors(indices, distances)

    def within(
        self, radius: float, queries: Any = None
    ) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all pairs of a query, or another own point, and a point within `radius`."""
        if queries is None and issparse(self.matrix):
            stored = self.matrix.tocoo()
            rows, columns, values = stored.coords[0], stored.coords[1], stored.data
            keep = (values <= radius) & (rows != columns)
            return rows[keep], columns[keep], values[keep]
        dense = self._dense() if queries is None else self._queries(queries)
        near = dense <= radius
        if queries is None:
            np.fill_diagonal(near, val=False)
        starts, ends = np.nonzero(near)
        return starts, ends, dense[starts, ends]

    def _queries(self, queries: Any) -> FloatMatrix:
        if issparse(queries):
            raise InvalidInputError(
                "the distances of new points came as a sparse matrix, which does not say how far "
                "the unstored ones are. Give a dense array with one column per old point."
            )
        rows = np.asarray(check_points(queries, name="the new distances"), dtype=np.float64)
        if rows.shape[1] != self.n_points:
            raise InvalidInputError(
                f"new points need their distances to all {self.n_points} points of the fit, one "
                f"column each, and came with {rows.shape[1]} columns."
            )
        _require_nonnegative(rows)
        return rows

    def _dense(self) -> FloatMatrix:
        if issparse(self.matrix):
            raise InvalidInputError(
                "sparse precomputed distances do not say how far the other points are, so the "
                "graph's components cannot be bridged. Pass connect='keep' or connect='raise', or "
                "give more distances."
            )
        return np.asarray(self.matrix)


def _require_nonnegative(values: FloatMatrix) -> None:
    if values.size and values.min() < 0:
        raise InvalidInputError(
            f"precomputed distances must not be negative, and {int((values < 0).sum())} are, the "
            f"lowest {values.min():.3g}. Similarities must be turned into distances first, or "
            "given as weights to Graph.from_matrix."
        )


def _require_symmetric(dense: FloatMatrix) -> None:
    gap = float(np.abs(dense - dense.T).max())
    if gap > _SYMMETRY_RTOL * float(dense.max()):
        raise InvalidInputError(
            f"precomputed distances must be symmetric and differ from their mirror by up to "
            f"{gap:.3g}; which of the two is meant is not known. Pass (D + D.T) / 2 or "
            "np.minimum(D, D.T)."
        )


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
            f"{k} other points (the least: {counts.min()}), as many as n_neighbors and the rule "
            "of weights look at. Store more distances or lower n_neighbors."
        )
    order = np.lexsort((columns, values, rows))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    taken = order[(starts[:, None] + np.arange(k)).ravel()]
    return columns[taken].reshape(n, k).astype(np.int32), values[taken].reshape(n, k)
