"""Spaces: points prepared for one metric, which can say who is near whom.

`open_space` looks at the data and the metric and returns the space that serves them best. Every
space answers the same questions: who is nearest to its own points, to others, or within a radius,
and how far given pairs are apart.
"""

from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector, Points
from beltrami.core.validation import check_points
from beltrami.graph.model import Neighbors
from beltrami.graph.search.angular import AngularSpace
from beltrami.graph.search.distances import ANGULAR, require_directions
from beltrami.graph.search.euclidean import EuclideanSpace
from beltrami.graph.search.general import GeneralSpace
from beltrami.graph.search.precomputed import PrecomputedSpace
from beltrami.graph.search.sparse import SparseSpace


class Space(Protocol):
    """Points prepared for one metric."""

    @property
    def n_points(self) -> int:
        """Number of points."""

    @property
    def euclidean(self) -> EuclideanSpace | None:
        """Dense points whose Euclidean distances order all pairs as this space does, if any."""

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return rows and distances of the `k` points nearest to each query."""

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points."""

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:
        """Return the `k` nearest other points of each point."""

    def within(
        self, radius: float, queries: Any = None
    ) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return the pairs of a query, or another own point, and a point within `radius`."""


def open_space(points: Any, metric: Any) -> Space:
    """Prepare points for a metric, or a square matrix of distances for "precomputed".

    Other metrics are "euclidean", "cosine" (1 - cos), "angle" (arccos, in radians), and any of
    scikit-learn's ``NearestNeighbors``.
    """
    if metric == "precomputed":
        return PrecomputedSpace.of(points)
    checked = check_points(points)
    if not callable(metric) and not isinstance(metric, str):
        raise InvalidInputError(f"metric={metric!r} must be a name or a callable of two rows.")
    if metric in ANGULAR:
        require_directions(checked)
    if metric in ("euclidean", "l2", *ANGULAR) and issparse(checked):
        return SparseSpace.of(checked, "euclidean" if metric == "l2" else metric)
    if metric in ("euclidean", "l2"):
        return EuclideanSpace.of(np.asarray(checked))
    if metric in ANGULAR:
        return AngularSpace.of(np.asarray(checked), metric)
    return GeneralSpace.of(checked, metric)


def open_part(points: Points, metric: Any, rows: IndexVector) -> Space:
    """Prepare some of the points, or what a matrix of distances says of them, for a metric."""
    part = points[rows]
    return open_space(part[:, rows] if metric == "precomputed" else part, metric)
