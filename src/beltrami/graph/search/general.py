"""Any other metric, through scikit-learn's neighbour search."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.threads import threads_in_force
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector, Points
from beltrami.graph.model import Neighbors
from beltrami.graph.search.distances import check_queries, smallest, without_self

_QUERY_BLOCK = 256  # rows that are compared with all points at a time


@dataclass(frozen=True, slots=True, eq=False)
class GeneralSpace:
    """Points under any metric that scikit-learn knows, or a callable of two rows."""

    points: Points
    metric: Any

    @classmethod
    def of(cls, points: Points, metric: Any) -> "GeneralSpace":
        """Prepare points, and try the metric on two of them so that a wrong name fails here."""
        from sklearn.metrics import pairwise_distances

        try:
            pairwise_distances(points[:1], points[-1:], metric=metric)
        except (ValueError, TypeError) as error:
            raise InvalidInputError(
                f"metric={metric!r} cannot be used on these data ({error}). Known to Beltrami: "
                "'euclidean', 'cosine', 'angle', 'precomputed', and scikit-learn's metrics such as "
                "'manhattan', 'chebyshev', 'correlation', 'hamming'."
            ) from error
        return cls(points, metric)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.points.shape[0])

    @property
    def euclidean(self) -> None:
        """No dense points stand for these."""

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return rows and distances of the `k` points nearest to each query."""
        return self._search(check_queries(queries, self.points.shape[1]), self.points, k)

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""
        indices, distances = self._search(self.points[rows], self.points[base], k)
        return base[indices], distances

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points."""
        from sklearn.metrics import pairwise_distances

        return np.array(
            [
                pairwise_distances(
                    self.points[i : i + 1], self.points[j : j + 1], metric=self.metric
                )[0, 0]
                for i, j in zip(rows, columns, strict=True)
            ]
        )

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:  # noqa: ARG002
        """Return the `k` nearest other points of each point; always exact."""
        indices, distances = without_self(*self.nearest(self.points, k + 1), k)
        return Neighbors(indices, distances)

    def within(
        self, radius: float, queries: Any = None
    ) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all pairs of a query, or another own point, and a point within `radius`."""
        from sklearn.neighbors import NearestNeighbors

        points = None if queries is None else check_queries(queries, self.points.shape[1])
        index = NearestNeighbors(metric=self.metric, n_jobs=threads_in_force()).fit(self.points)
        graph = index.radius_neighbors_graph(points, radius=radius, mode="distance")
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        return rows, graph.indices, np.asarray(graph.data, dtype=np.float64)

    def _search(self, queries: Points, base: Points, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        from sklearn.neighbors import NearestNeighbors

        # One more than asked shows where the k-th place is tied; those rows are looked at whole.
        n_listed = min(k + 1, base.shape[0])
        index = NearestNeighbors(
            n_neighbors=n_listed, metric=self.metric, n_jobs=threads_in_force()
        )
        distances, indices = index.fit(base).kneighbors(queries)
        tied = distances[:, k - 1] >= distances[:, -1] * (1 - 1e-12)
        order = np.lexsort((indices, distances), axis=1)[:, :k]
        indices = np.take_along_axis(indices, order, axis=1)
        distances = np.take_along_axis(distances, order, axis=1)
        if n_listed > k and tied.any():
            indices[tied], distances[tied] = self._whole_rows(queries[tied], base, k)
        return indices.astype(np.int32), distances.astype(np.float64)

    def _whole_rows(self, queries: Points, base: Points, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        from sklearn.metrics import pairwise_distances

        blocks = []
        for start in range(0, queries.shape[0], _QUERY_BLOCK):
            block = queries[start : start + _QUERY_BLOCK]
            blocks.append(smallest(pairwise_distances(block, base, metric=self.metric), k))
        indices, distances = zip(*blocks, strict=True)
        return np.concatenate(indices), np.concatenate(distances)
