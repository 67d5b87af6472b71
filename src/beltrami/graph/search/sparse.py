"""Sparse points of many dimensions, such as word counts: exact search by an inverted index.

Products are added up over the rows that share a feature with the query, so the cost is the sum
over features of the squared number of rows that have it, and a scan of n scores per query; the
data are never made dense.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array

from beltrami.core.machine.memory import require_memory
from beltrami.core.telling.progress import track
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.graph.model import Neighbors
from beltrami.graph.search.distances import (
    ANGULAR,
    angular_distances,
    check_queries,
    chord_length,
    pairs_within,
    require_directions,
    without_self,
)

_QUERY_BLOCK = 2048  # rows searched between two reports of progress
_SLACK = 2  # candidates beyond k, against near ties that rounding swaps


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
        """Take the points in float64, scaled to length one where directions are compared."""
        prepared = _prepare(points, metric)
        return cls(prepared, _squares(prepared), metric)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.points.shape[0])

    @property
    def euclidean(self) -> None:
        """No dense points stand for these."""

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return rows and distances of the `k` points nearest to each query."""
        return self._search(self._queries(queries), self.points, self.squares, k)

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""
        indices, distances = self._search(
            self.points[rows], self.points[base], self.squares[base], k
        )
        return base[indices], distances

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points."""
        return self._in_metric(_pair_distances(self.points, self.points, rows, columns))

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:  # noqa: ARG002
        """Return the `k` nearest other points of each point; always exact."""
        lists = self._search(self.points, self.points, self.squares, k + 1)
        return Neighbors(*without_self(*lists, k))

    def within(
        self, radius: float, queries: Any = None
    ) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all pairs of a query, or another own point, and a point within `radius`."""
        chord = chord_length(radius, self.metric) if self.metric in ANGULAR else radius
        others = None if queries is None else self._queries(queries)
        rows, columns = pairs_within(self.points, others, chord)
        left = self.points if others is None else others
        chords = _pair_distances(left, self.points, rows, columns)
        keep = chords <= chord
        return rows[keep], columns[keep], self._in_metric(chords[keep])

    def _queries(self, queries: Any) -> CsrMatrix:
        checked = check_queries(queries, self.points.shape[1])
        if self.metric in ANGULAR:
            require_directions(checked)
        return _prepare(csr_array(checked), self.metric)

    def _in_metric(self, chords: FloatMatrix) -> FloatMatrix:
        return angular_distances(chords, self.metric) if self.metric in ANGULAR else chords

    def _search(
        self,
        queries: CsrMatrix,
        base: CsrMatrix,
        base_squares: FloatVector,
        k: int,
    ) -> tuple[IndexMatrix, FloatMatrix]:
        import numba

        from beltrami.graph import _loops

        n_candidates = min(k + _SLACK, base.shape[0])
        n_threads = numba.config.NUMBA_NUM_THREADS
        require_memory(
            12.0 * base.nnz
            + 8.0 * n_threads * base.shape[0]
            + 24.0 * queries.shape[0] * n_candidates,
            what=f"the search among {base.shape[0]} sparse points with {base.nnz} entries",
            instead="Give fewer rows, or fewer columns, for example by TruncatedSVD.",
            share=1.0,
        )
        # The largest <x, y> - |y|^2 / 2 is the smallest |x - y|^2 = |x|^2 - 2 (<x, y> - |y|^2 / 2).
        columns = csc_array(base)
        blocks = []
        with track("searching neighbours (sparse)", total=queries.shape[0]) as advance:
            for start in range(0, queries.shape[0], _QUERY_BLOCK):
                block = queries[start : start + _QUERY_BLOCK]
                near, _ = _loops.sparse_top(
                    block.indptr,
                    block.indices,
                    block.data,
                    columns.indptr,
                    columns.indices,
                    columns.data,
                    -base_squares / 2,
                    n_candidates,
                    n_threads,
                )
                blocks.append(near)
                advance(block.shape[0])
        return self._rank(queries, base, np.concatenate(blocks), k)

    def _rank(
        self, queries: CsrMatrix, base: CsrMatrix, candidates: IndexMatrix, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Order candidates by their distances, taken by differences so that no digits cancel."""
        rows = np.repeat(np.arange(len(candidates)), candidates.shape[1])
        chords = _pair_distances(queries, base, rows, candidates.ravel()).reshape(candidates.shape)
        order = np.lexsort((candidates, chords), axis=1)[:, :k]
        nearest = np.take_along_axis(chords, order, axis=1)
        return np.take_along_axis(candidates, order, axis=1), self._in_metric(nearest)


def _pair_distances(
    left: CsrMatrix, right: CsrMatrix, rows: IndexVector, columns: IndexVector
) -> FloatVector:
    from beltrami.graph import _loops

    result: FloatVector = _loops.sparse_pair_distances(
        left.indptr, left.indices, left.data, right.indptr, right.indices, right.data, rows, columns
    )
    return result


def _squares(points: CsrMatrix) -> FloatVector:
    return np.asarray(points.multiply(points).sum(axis=1), dtype=np.float64).ravel()


def _prepare(points: CsrMatrix, metric: str) -> CsrMatrix:
    exact: CsrMatrix = csr_array(points.astype(np.float64))
    if metric in ANGULAR:
        # By the largest entry first, so that no square leaves the range of floats.
        exact = _divide_rows(exact, abs(exact).max(axis=1).toarray().ravel())
        exact = _divide_rows(exact, np.sqrt(_squares(exact)))
    exact.sort_indices()
    return exact


def _divide_rows(points: CsrMatrix, lengths: FloatVector) -> CsrMatrix:
    return csr_array(diags_array(1 / lengths) @ points)
