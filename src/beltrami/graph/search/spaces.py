"""Spaces: points prepared for one metric, which can say who is near whom.

`open_space` looks at the data and the metric and returns the space that serves them best. Every
space answers the same three questions: the neighbours of its own points, the nearest of its points
to others, and the distances of given pairs.
"""

from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector
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

    def within(self, radius: float) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all ordered pairs of distinct points at most `radius` apart, with distances."""


def open_space(points: Any, metric: Any) -> Space:
    """Prepare points for a metric.

    Parameters
    ----------
    points : array-like or sparse of shape (n, d)
        The data; for ``metric="precomputed"`` a square matrix of distances.
    metric : str or callable
        "euclidean", "cosine" (1 - cos), "angle" (arccos, in radians), "precomputed", or any
        metric of scikit-learn's ``NearestNeighbors``.

    Returns
    -------
    Space
        Ready to be searched.
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


def require_directions(points: Any) -> None:
    """Raise when a row is zero, because it has no angle to anything."""
    # A product with itself, not a power: sparse arrays and dense ones both have it.
    squares = points.multiply(points).sum(axis=1) if issparse(points) else (points**2).sum(axis=1)
    empty = np.flatnonzero(np.asarray(squares).ravel() == 0)
    if empty.size:
        raise InvalidInputError(
            f"{empty.size} row(s) are all zero, the first is row {empty[0]}; a zero row has no "
            "angle to any other. Drop these rows (beltrami.word_counts does so for empty "
            "documents) or use metric='euclidean'."
        )


def without_self(
    indices: IndexMatrix, distances: FloatMatrix, k: int
) -> tuple[IndexMatrix, FloatMatrix]:
    """Drop each row's own number from lists of k + 1; where it is absent, drop the farthest.

    A point with more than k exact duplicates may be missing from its own list: its duplicates
    stand there instead, and they are kept.
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
