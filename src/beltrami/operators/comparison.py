"""Whether rows can be compared: metrics that are known, numbers that do not overflow, near pairs.

Points or dissimilarities enter; nothing, or an error that says what to do, leaves.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import CsrMatrix, FloatMatrix, Points

_LARGEST = 1e152  # squares of differences, summed over 4,000 columns, stay below 1e308


def check_comparable(points: Points, metric: Any, *, is_new: bool = False) -> None:
    """Raise unless rows can be compared: a known metric, no overflow, usable dissimilarities.

    Dissimilarities need not be symmetric, nor obey the triangle inequality; the diagonal is not
    read, and of a sparse matrix the stored ones only. New rows are compared with those of a fit, so
    their matrix need not be square.
    """
    _check_metric(metric)
    values = np.asarray(points.data if issparse(points) else points)
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest > _LARGEST:
        raise InvalidInputError(
            f"the largest number in the data is {largest:.3g}, and its square is beyond what a "
            f"computer can hold. Scale the data to below {_LARGEST:.0e}."
        )
    if metric == "precomputed":
        _check_dissimilarities(points, values, is_new=is_new)


def _check_metric(metric: Any) -> None:
    from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS
    from sklearn.neighbors import VALID_METRICS

    known = {"angle", "precomputed", *PAIRWISE_DISTANCE_FUNCTIONS, *VALID_METRICS["brute"]}
    if not callable(metric) and (not isinstance(metric, str) or metric not in known):
        raise InvalidInputError(
            f"metric={metric!r} is not known. Use 'euclidean', 'cosine', 'angle', 'precomputed', "
            "another metric of scikit-learn's, or a function of two rows."
        )


def _check_dissimilarities(matrix: Points, values: FloatMatrix, *, is_new: bool) -> None:
    if matrix.shape[0] != matrix.shape[1] and not is_new:
        raise InvalidInputError(
            f"metric='precomputed' wants a square matrix of dissimilarities and got shape "
            f"{matrix.shape}. For vectors, name their metric instead, for example 'euclidean'."
        )
    n_negative = int((values < 0).sum())
    if n_negative:
        raise InvalidInputError(
            f"{n_negative} dissimilarities are negative, the smallest {float(values.min()):.4g}. "
            "Similarities must be turned round first, for example by subtracting them from their "
            "largest."
        )
    if issparse(matrix) and not is_new:
        require_neighbors(np.diff(without_diagonal(csr_array(matrix)).indptr))


def without_diagonal(matrix: Any) -> CsrMatrix:
    """Drop a point's stored dissimilarity to itself; stored zeros of others are kept."""
    stored = csr_array(matrix, dtype=np.float64, copy=True)
    rows = np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))
    keep = rows != stored.indices
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=stored.shape[0]))])
    return csr_array((stored.data[keep], stored.indices[keep], starts), shape=stored.shape)


def require_neighbors(counts: Any) -> None:
    """Raise when a row holds no near pair; `counts` are the stored neighbours of each."""
    empty = np.flatnonzero(np.asarray(counts) == 0)
    if empty.size:
        raise InvalidInputError(
            f"{empty.size} row(s) of the sparse matrix hold no neighbour, the first is row "
            f"{empty[0]}; such a point could stand anywhere. Store at least one dissimilarity to "
            "another point in every row, or drop these rows."
        )
