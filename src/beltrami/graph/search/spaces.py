"""Spaces: points prepared for one metric, which can say who is near whom.

`open_space` looks at the data and the metric and returns the space that serves them best. Every
space answers the same questions: who is nearest to its own points, to others, or within a radius,
and how far given pairs are apart.
"""

from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from beltrami.core.backend import NumpyBackend
from beltrami.core.errors import InvalidInputError
from beltrami.core.threads import threads_in_force
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector, Points
from beltrami.core.validation import check_points
from beltrami.graph.model import Neighbors

ANGULAR = ("cosine", "angle")


class Space(Protocol):
    """Points prepared for one metric."""

    @property
    def n_points(self) -> int:
        """Number of points."""

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
    """Prepare points for a metric.

    Shapes: `points` (n, d).

    - `metric`: "euclidean", "cosine" (1 - cos), "angle" (arccos, in radians), "precomputed", or any
      metric of scikit-learn's ``NearestNeighbors``.
    """
    from beltrami.graph.search.angular import AngularSpace
    from beltrami.graph.search.euclidean import EuclideanSpace
    from beltrami.graph.search.general import GeneralSpace
    from beltrami.graph.search.precomputed import PrecomputedSpace
    from beltrami.graph.search.sparse import SparseSpace

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


def check_queries(queries: Any, n_features: int) -> Points:
    """Return new points as `check_points` does, and see that they have the old ones' columns.

    Shapes: `queries` (m, d); returns (m, d).
    """
    checked = check_points(queries, name="the new points")
    if checked.shape[1] != n_features:
        raise InvalidInputError(
            f"the new points have {checked.shape[1]} features and the graph was built from points "
            f"with {n_features}; give the same columns in the same order."
        )
    return checked


def require_directions(points: Points) -> None:
    """Raise when a row is zero, because it has no angle to anything."""
    # Entries are looked at one by one: of a sum of squares the smallest numbers would vanish.
    filled = points.astype(np.bool_).sum(axis=1)
    empty = np.flatnonzero(np.asarray(filled).ravel() == 0)
    if empty.size:
        raise InvalidInputError(
            f"{empty.size} row(s) are all zero, the first is row {empty[0]}; a zero row has no "
            "angle to any other. Drop these rows (documents without a word that counts, say) "
            "or use metric='euclidean'."
        )


def without_self(
    indices: IndexMatrix, distances: FloatMatrix, k: int
) -> tuple[IndexMatrix, FloatMatrix]:
    """Drop each row's own number from lists of k + 1; where it is absent, drop the farthest.

    A point with more than k exact duplicates may be missing from its own list: its duplicates
    stand there instead, and they are kept.

    Shapes: `indices`, `distances` (n, k + 1); returns `indices, distances` (n, k).
    """
    n = indices.shape[0]
    own = indices == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    keep = ~own
    return indices[keep].reshape(n, k), distances[keep].reshape(n, k)


def angular_distances(chords: FloatMatrix, metric: str) -> FloatMatrix:
    """Turn chord lengths on the unit sphere into "cosine" or "angle" distances.

    With c the chord, 1 - cos = c^2 / 2 and the angle is 2 arcsin(c / 2), which keeps full
    precision at small angles where arccos of a cosine loses half the digits.
    """
    if metric == "cosine":
        return chords**2 / 2
    return 2 * np.arcsin(np.clip(chords / 2, 0, 1))


def chord_length(radius: float, metric: str) -> float:
    """Return the chord that belongs to a "cosine" or "angle" distance, a hair longer."""
    chord = np.sqrt(2 * radius) if metric == "cosine" else 2 * np.sin(min(radius, np.pi) / 2)
    return float(chord) * (1 + 1e-12)


def smallest(values: FloatMatrix, k: int) -> tuple[IndexMatrix, FloatMatrix]:
    """Return columns and values of the `k` smallest entries of each row, ties by column."""
    distances, indices = NumpyBackend().smallest(values, k)
    return indices.astype(np.int32), distances


def pairs_within(
    base: Points, queries: Points | None, radius: float
) -> tuple[IndexVector, IndexVector]:
    """Return pairs of rows at most `radius` apart in Euclidean distance, and a few a hair more.

    Shapes: `base` (n, d), `queries` (m, d); returns `rows, columns` (p,).

    - `queries`: other points; None asks for the pairs of distinct points of the base.
    - `rows`, `columns`: row of the query and row of the base. Measure the distances again: the
      search loses digits.
    """
    from sklearn.neighbors import NearestNeighbors

    squares = base.multiply(base) if issparse(base) else base * base
    rounding = 1e-14 * float(squares.sum(axis=1).max())
    reach = float(np.sqrt((radius * (1 + 1e-9)) ** 2 + rounding))
    index = NearestNeighbors(radius=reach, n_jobs=threads_in_force()).fit(base)
    found = index.radius_neighbors(queries, return_distance=False)
    rows = np.repeat(np.arange(len(found)), [len(near) for near in found])
    return rows, np.concatenate(found).astype(np.int64)
