"""Dense points compared by direction: rows are scaled to length one, then it is Euclidean."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.graph.model import Neighbors
from beltrami.graph.search.approximate import Plan
from beltrami.graph.search.cells import Cells
from beltrami.graph.search.distances import (
    angular_distances,
    chord_length,
    dense_queries,
    require_directions,
)
from beltrami.graph.search.euclidean import EuclideanSpace


@dataclass(frozen=True, slots=True, eq=False)
class AngularSpace:
    """Points on the unit sphere; distances are "cosine" or "angle"."""

    sphere: EuclideanSpace
    metric: str

    @classmethod
    def of(cls, points: FloatMatrix, metric: str) -> "AngularSpace":
        """Scale the points to length one; none may be zero."""
        return cls(EuclideanSpace.of(_directions(points)), metric)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.sphere.n_points

    @property
    def euclidean(self) -> EuclideanSpace:
        """Dense points whose Euclidean distances order all pairs as this space does."""
        return self.sphere

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return rows and distances of the `k` points nearest to each query."""
        indices, chords = self.sphere.nearest(self._queries(queries), k)
        return indices, angular_distances(chords, self.metric)

    def nearest_in_cells(
        self, queries: Any, k: int, cells: Cells, plan: Plan
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return what `nearest` does, as far as a plan finds it in the cells of the points."""
        chords = self.sphere.nearest_in_cells(self._queries(queries), k, cells, plan)
        return chords[0], angular_distances(chords[1], self.metric)

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""
        indices, chords = self.sphere.nearest_between(rows, base, k)
        return indices, angular_distances(chords, self.metric)

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points."""
        return angular_distances(self.sphere.distances(rows, columns), self.metric)

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:
        """Return the `k` nearest other points of each point."""
        lists = self.sphere.neighbors(k, search=search, rng=rng)
        return replace(lists, distances=angular_distances(lists.distances, self.metric))

    def within(
        self, radius: float, queries: Any = None
    ) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all pairs of a query, or another own point, and a point within `radius`."""
        directions = None if queries is None else self._queries(queries)
        rows, columns, chords = self.sphere.within(chord_length(radius, self.metric), directions)
        return rows, columns, angular_distances(chords, self.metric)

    def _queries(self, queries: Any) -> FloatMatrix:
        points = dense_queries(queries, self.sphere.points.shape[1])
        require_directions(points)
        return _directions(points)


def _directions(points: FloatMatrix) -> FloatMatrix:
    """Return rows scaled to length one."""
    # By the largest entry first, so that no square leaves the range of floats.
    exact = points / np.abs(points).max(axis=1, keepdims=True).astype(np.float64)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    directions: FloatMatrix = exact.astype(points.dtype, copy=False)
    return directions
