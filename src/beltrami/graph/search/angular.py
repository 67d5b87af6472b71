"""Dense points compared by direction: rows are scaled to length one, then it is Euclidean."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.graph.model import Neighbors
from beltrami.graph.search.euclidean import EuclideanSpace
from beltrami.graph.search.spaces import angular_distances, require_directions


@dataclass(frozen=True, slots=True, eq=False)
class AngularSpace:
    """Points on the unit sphere; distances are "cosine" or "angle"."""

    sphere: EuclideanSpace
    metric: str

    @classmethod
    def of(cls, points: FloatMatrix, metric: str) -> "AngularSpace":
        """Prepare points."""
        return cls(EuclideanSpace.of(_directions(points)), metric)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.sphere.n_points

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return rows and distances of the `k` points nearest to each query."""
        require_directions(queries)
        indices, chords = self.sphere.nearest(_directions(np.asarray(queries)), k)
        return indices, angular_distances(chords, self.metric)

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
        found = self.sphere.neighbors(k, search=search, rng=rng)
        return Neighbors(
            found.indices,
            angular_distances(found.distances, self.metric),
            recall=found.recall,
            n_sampled=found.n_sampled,
        )

    def within(self, radius: float) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all ordered pairs of distinct points at most `radius` apart."""
        chord = (
            np.sqrt(2 * radius) if self.metric == "cosine" else 2 * np.sin(min(radius, np.pi) / 2)
        )
        rows, columns, chords = self.sphere.within(float(chord))
        return rows, columns, angular_distances(chords, self.metric)


def _directions(points: FloatMatrix) -> FloatMatrix:
    lengths = np.linalg.norm(points.astype(np.float64, copy=False), axis=1, keepdims=True)
    return (points / lengths).astype(points.dtype, copy=False)
