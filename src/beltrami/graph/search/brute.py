"""Brute force on compact points: every query against every point, by products of matrices."""

import numpy as np
from numpy.typing import NDArray

from beltrami.core.threads import map_ranges

_QUERIES = 512  # of a range: enough for a product of matrices, few enough to share out evenly

Compact = NDArray[np.float32]


def nearest_of_all(
    queries: Compact, base: Compact, k: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return squared distances and rows of the `k` points nearest to each query, nearest first."""
    import faiss

    parts = map_ranges(
        lambda begin, stop: faiss.knn(queries[begin:stop], base, k), len(queries), _QUERIES
    )
    if not parts:
        return np.empty((0, k), dtype=np.float32), np.empty((0, k), dtype=np.int64)
    squares, rows = (np.concatenate([part[place] for part in parts]) for place in range(2))
    return squares, rows
