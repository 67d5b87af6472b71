"""Sparse points of many dimensions, such as word counts: exact search by an inverted index.

Each query touches only the points that share a feature with it, so the cost is the sum over
features of the squared number of rows that have it, and never a dense row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array

from beltrami.core.progress import track
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.core.validation import check_points
from beltrami.graph.model import Neighbors
from beltrami.graph.search.spaces import (
    ANGULAR,
    angular_distances,
    require_directions,
    without_self,
)

_QUERY_BLOCK = 2048
_PAIR_BLOCK = 65536


@dataclass(frozen=True, slots=True, eq=False)
class SparseSpace:
    """Sparse points under "euclidean", "cosine" or "angle".

    Attributes
    ----------
    points : csr_array of shape (n, d)
        Rows scaled to length one where directions are compared.
    squares : ndarray of shape (n,)
        Squared lengths of the rows.
    metric : str
        The metric.
    """

    points: CsrMatrix
    squares: FloatVector
    metric: str

    @classmethod
    def of(cls, points: CsrMatrix, metric: str) -> "SparseSpace":
        """Prepare points."""
        prepared = _prepared(points, metric)
        return cls(prepared, _squares(prepared), metric)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.points.shape[0])

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return rows and distances of the `k` points nearest to each query."""
        if self.metric in ANGULAR:
            require_directions(queries)
        prepared = _prepared(csr_array(check_points(queries)), self.metric)
        return self._search(prepared, _squares(prepared), self.points, self.squares, k)

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""
        found, distances = self._search(
            self.points[rows], self.squares[rows], self.points[base], self.squares[base], k
        )
        return base[found], distances

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points."""
        out = np.empty(len(rows))
        for start in range(0, len(rows), _PAIR_BLOCK):
            pairs = slice(start, start + _PAIR_BLOCK)
            gap = self.points[rows[pairs]] - self.points[columns[pairs]]
            out[pairs] = np.sqrt(_squares(csr_array(gap)))
        return self._in_metric(out)

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:  # noqa: ARG002
        """Return the `k` nearest other points of each point; always exact."""
        found = self._search(self.points, self.squares, self.points, self.squares, k + 1)
        indices, distances = without_self(*found, k)
        return Neighbors(indices, distances)

    def within(self, radius: float) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all ordered pairs of distinct points at most `radius` apart."""
        from sklearn.neighbors import radius_neighbors_graph

        chord = radius
        if self.metric == "cosine":
            chord = float(np.sqrt(2 * radius))
        elif self.metric == "angle":
            chord = float(2 * np.sin(min(radius, np.pi) / 2))
        graph = radius_neighbors_graph(self.points, chord, mode="distance", include_self=False)
        rows = np.repeat(np.arange(self.n_points), np.diff(graph.indptr))
        return rows, graph.indices, self._in_metric(np.asarray(graph.data, dtype=np.float64))

    def _in_metric(self, chords: FloatMatrix) -> FloatMatrix:
        return angular_distances(chords, self.metric) if self.metric in ANGULAR else chords

    def _search(
        self,
        queries: CsrMatrix,
        query_squares: FloatVector,
        base: CsrMatrix,
        base_squares: FloatVector,
        k: int,
    ) -> tuple[IndexMatrix, FloatMatrix]:
        import numba

        from beltrami.graph import _kernels

        # The largest <x, y> - |y|^2 / 2 is the smallest |x - y|^2 = |x|^2 - 2 (<x, y> - |y|^2 / 2).
        columns = csc_array(base)
        found, scores = [], []
        with track("searching neighbours (sparse)", total=queries.shape[0]) as advance:
            for start in range(0, queries.shape[0], _QUERY_BLOCK):
                block = queries[start : start + _QUERY_BLOCK]
                near, score = _kernels.sparse_top(
                    block.indptr,
                    block.indices,
                    block.data,
                    columns.indptr,
                    columns.indices,
                    columns.data,
                    -base_squares / 2,
                    k,
                    numba.config.NUMBA_NUM_THREADS,
                )
                found.append(near)
                scores.append(score)
                advance(block.shape[0])
        squared = query_squares[:, None] - 2 * np.concatenate(scores)
        return np.concatenate(found), self._in_metric(np.sqrt(np.maximum(squared, 0)))


def _squares(points: CsrMatrix) -> FloatVector:
    return np.asarray(points.multiply(points).sum(axis=1), dtype=np.float64).ravel()


def _prepared(points: CsrMatrix, metric: str) -> CsrMatrix:
    exact = points.astype(np.float64)
    if metric not in ANGULAR:
        return exact
    return csr_array(diags_array(1 / np.sqrt(_squares(exact))) @ exact)
