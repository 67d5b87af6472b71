"""What the spaces share: checks of queries, chords and angles, lists without the point itself."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.backend import NumpyBackend
from beltrami.core.machine.threads import threads_in_force
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector, Points
from beltrami.core.validation import check_points

ANGULAR = ("cosine", "angle")

QUERY_BLOCK = 8192
"""Rows of dense queries at a time: enough to keep all cores busy, few enough to show progress."""


def check_queries(queries: Any, n_features: int) -> Points:
    """Return new points as `check_points` does, and see that they have the old ones' columns."""
    checked = check_points(queries, name="the new points")
    if checked.shape[1] != n_features:
        raise InvalidInputError(
            f"the new points have {checked.shape[1]} features and the graph was built from points "
            f"with {n_features}; give the same columns in the same order."
        )
    return checked


def dense_queries(queries: Any, n_features: int) -> FloatMatrix:
    """Return new points as `check_queries` does, and as a dense array."""
    checked = check_queries(queries, n_features)
    return checked.toarray() if issparse(checked) else np.asarray(checked)


def require_directions(points: Points) -> None:
    """Raise when a row is zero, because it has no angle to anything."""
    # Entries are looked at one by one: of a sum of squares the smallest numbers would vanish.
    n_entries = points.astype(np.bool_).sum(axis=1)
    empty = np.flatnonzero(np.asarray(n_entries).ravel() == 0)
    if empty.size:
        raise InvalidInputError(
            f"{empty.size} row(s) are all zero, the first is row {empty[0]}; a zero row has no "
            "angle to any other. Drop these rows (documents without a word that counts, say) "
            "or use metric='euclidean'."
        )


def without_self(
    indices: IndexMatrix, distances: FloatMatrix, k: int, own: IndexVector | None = None
) -> tuple[IndexMatrix, FloatMatrix]:
    """Drop each row's own number from lists of k + 1; where it is absent, drop the farthest.

    Lists are those of all points in order, or of the points `own`.

    A point with more than k exact duplicates may be missing from its own list: its duplicates
    stand there instead, and they are kept.
    """
    n = indices.shape[0]
    dropped = indices == (np.arange(n) if own is None else own)[:, None]
    dropped[~dropped.any(axis=1), -1] = True
    keep = ~dropped
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
    """Return the chord of a "cosine" or "angle" distance, a hair longer against rounding."""
    chord = np.sqrt(2 * radius) if metric == "cosine" else 2 * np.sin(min(radius, np.pi) / 2)
    return float(chord) * (1 + 1e-12)


def smallest(values: FloatMatrix, k: int) -> tuple[IndexMatrix, FloatMatrix]:
    """Return columns and values of the `k` smallest entries of each row, ties by column."""
    distances, indices = NumpyBackend().smallest(values, k)
    return indices.astype(np.int32), distances


def pair_distances(
    left: FloatMatrix, right: FloatMatrix, rows: IndexVector, columns: IndexVector
) -> FloatVector:
    """Return the Euclidean distances of pairs: a row of the left, and one of the right."""
    from beltrami.graph import _loops

    result: FloatVector = _loops.pair_distances(left, right, rows, columns)
    return result


def pairs_within(
    base: Points, queries: Points | None, radius: float
) -> tuple[IndexVector, IndexVector]:
    """Return pairs of rows at most `radius` apart in Euclidean distance, and a few a hair more.

    The first of a pair is a row of the queries, or of the base where there are none, and the
    second another row of the base. Points are float64 and near the origin. Measure the distances
    again: the search loses digits.
    """
    from sklearn.neighbors import NearestNeighbors

    squares = base.multiply(base) if issparse(base) else base * base
    rounding = 1e-14 * float(squares.sum(axis=1).max())
    reach = float(np.sqrt((radius * (1 + 1e-9)) ** 2 + rounding))
    index = NearestNeighbors(radius=reach, n_jobs=threads_in_force()).fit(base)
    lists = index.radius_neighbors(queries, return_distance=False)
    rows = np.repeat(np.arange(len(lists)), [len(near) for near in lists])
    return rows, np.concatenate(lists).astype(np.int64)
