"""Dense points under the Euclidean distance: trees in few dimensions, faiss in many.

Products run in float32 on centred data, where they are fastest; the distances that leave are
recomputed in float64 for a few more candidates than asked, so the order is that of the true
distances.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.progress import track
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.graph.model import Neighbors
from beltrami.graph.search.approximate import approximate_candidates
from beltrami.graph.search.spaces import without_self

TREE_DIMENSIONS = 8
"""Up to here a k-d tree beats brute force; above, its boxes overlap too much."""

EXACT_COST = 4e12
"""n^2 d up to which brute force is the default: about a minute and a half on two cores."""

_QUERY_BLOCK = 8192
_SLACK = 2  # candidates beyond k, against swapped near ties in float32


@dataclass(frozen=True, slots=True, eq=False)
class EuclideanSpace:
    """Dense points under the Euclidean distance.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        As given.
    compact : ndarray of shape (n, d), float32
        Centred and scaled to unit spread, for the search.
    mean : ndarray of shape (d,)
        What was subtracted.
    scale : float
        What it was divided by.
    """

    points: FloatMatrix
    compact: NDArray[np.float32]
    mean: FloatVector
    scale: float

    @classmethod
    def of(cls, points: FloatMatrix) -> "EuclideanSpace":
        """Prepare points."""
        mean = points.mean(axis=0, dtype=np.float64)
        # Unit spread keeps float32 squares away from overflow and underflow, whatever the units.
        spread = max(np.max(points.max(axis=0) - mean), np.max(mean - points.min(axis=0)))
        scale = float(spread) if spread > 0 else 1.0
        return cls(points, _compact(points, mean, scale), mean, scale)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.points.shape[0])

    def nearest(self, queries: FloatMatrix, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return rows and distances of the `k` points nearest to each query."""
        compact = _compact(queries, self.mean, self.scale)
        return self._search(queries, compact, self.points, self.compact, k)

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""
        found, distances = self._search(
            self.points[rows], self.compact[rows], self.points[base], self.compact[base], k
        )
        return base[found], distances

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points."""
        from beltrami.graph import _kernels

        result: FloatVector = _kernels.pair_distances(self.points, self.points, rows, columns)
        return result

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:
        """Return the `k` nearest other points of each point."""
        if search == "approximate" or (search == "auto" and self._brute_force_is_dear()):
            candidates, recall, n_sampled = approximate_candidates(self.compact, k + 1, rng=rng)
            indices, distances = _rerank(self.points, self.points, candidates, k + 1)
        else:
            indices, distances = self.nearest(self.points, k + 1)
            recall, n_sampled = 1.0, 0
        indices, distances = without_self(indices, distances, k)
        return Neighbors(indices, distances, recall=recall, n_sampled=n_sampled)

    def within(self, radius: float) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all ordered pairs of distinct points at most `radius` apart."""
        from sklearn.neighbors import radius_neighbors_graph

        graph = radius_neighbors_graph(self.points, radius, mode="distance", include_self=False)
        rows = np.repeat(np.arange(self.n_points), np.diff(graph.indptr))
        return rows, graph.indices, np.asarray(graph.data, dtype=np.float64)

    def _brute_force_is_dear(self) -> bool:
        n, d = self.points.shape
        return d > TREE_DIMENSIONS and float(n) ** 2 * d > EXACT_COST

    def _search(
        self,
        queries: FloatMatrix,
        compact_queries: NDArray[np.float32],
        base: FloatMatrix,
        compact_base: NDArray[np.float32],
        k: int,
    ) -> tuple[IndexMatrix, FloatMatrix]:
        wanted = min(k + _SLACK, base.shape[0])
        if base.shape[1] <= TREE_DIMENSIONS:
            candidates = _tree_candidates(queries, base, wanted)
        else:
            candidates = _flat_candidates(compact_queries, compact_base, wanted)
        return _rerank(queries, base, candidates, k)


def _compact(points: FloatMatrix, mean: FloatVector, scale: float) -> NDArray[np.float32]:
    compact = np.empty(points.shape, dtype=np.float32)
    for start in range(0, len(points), _QUERY_BLOCK):
        rows = slice(start, start + _QUERY_BLOCK)
        compact[rows] = (points[rows] - mean) / scale
    return compact


def _tree_candidates(queries: FloatMatrix, base: FloatMatrix, k: int) -> IndexMatrix:
    from scipy.spatial import KDTree

    # Splitting at midpoints, not medians, keeps the tree shallow over many equal coordinates.
    tree = KDTree(base, balanced_tree=False)
    blocks = []
    with track("searching neighbours", total=len(queries)) as advance:
        for start in range(0, len(queries), 8 * _QUERY_BLOCK):
            block = queries[start : start + 8 * _QUERY_BLOCK]
            blocks.append(np.reshape(tree.query(block, k=k, workers=-1)[1], (len(block), k)))
            advance(len(block))
    return np.concatenate(blocks).astype(np.int64, copy=False)


def _flat_candidates(
    queries: NDArray[np.float32], base: NDArray[np.float32], k: int
) -> IndexMatrix:
    import faiss

    blocks = []
    with track("searching neighbours", total=len(queries)) as advance:
        for start in range(0, len(queries), _QUERY_BLOCK):
            block = queries[start : start + _QUERY_BLOCK]
            blocks.append(faiss.knn(block, base, k)[1])
            advance(len(block))
    return np.concatenate(blocks)


def _rerank(
    queries: FloatMatrix, base: FloatMatrix, candidates: IndexMatrix, k: int
) -> tuple[IndexMatrix, FloatMatrix]:
    from beltrami.graph import _kernels

    indices, distances = _kernels.rerank(queries, base, candidates, k)
    return indices, distances
