"""Brute force on compact points: every query against every point, by products of matrices."""

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.threads import map_ranges

_QUERIES = 256  # of a range: enough for a product of matrices, few enough to share out evenly
_MANY = 256  # neighbours from which lists are sorted at the end, and not kept in order on the way
_STRIDE = 256  # groups of one product, whose entries stay in the cache
_GROUP = 64  # points whose nearest alone is kept at first
_WORTH = 64  # times as many groups as are looked into again: below, to look costs more

Compact = NDArray[np.float32]


def nearest_of_all(
    queries: Compact, base: Compact, k: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return squared distances and rows of the `k` points nearest to each query, nearest first."""
    import faiss

    halves = np.einsum("ij,ij->i", base, base) / 2

    def part(begin: int, stop: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        if len(base) >= _WORTH * _GROUP * k:
            return _nearest_by_groups(queries[begin:stop], base, halves, k)
        if k >= _MANY:
            return _nearest_by_sorting(queries[begin:stop], base, halves, k)
        squares, rows = faiss.knn(queries[begin:stop], base, k)
        return squares, rows

    parts = map_ranges(part, len(queries), _QUERIES)
    if not parts:
        return np.empty((0, k), dtype=np.float32), np.empty((0, k), dtype=np.int64)
    squares, rows = (np.concatenate([part[place] for part in parts]) for place in range(2))
    return squares, rows


def _nearest_by_sorting(
    queries: Compact, base: Compact, halves: NDArray[np.float32], k: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return what `nearest_of_all` does, for many neighbours."""
    gaps = halves - queries @ base.T
    chosen = np.argpartition(gaps, k - 1, axis=1)[:, :k]
    gaps = np.take_along_axis(gaps, chosen, axis=1)
    order = np.argsort(gaps, axis=1)
    own = np.einsum("ij,ij->i", queries, queries)[:, None]
    squares = own + 2 * np.take_along_axis(gaps, order, axis=1)
    return squares, np.take_along_axis(chosen, order, axis=1)


def _nearest_by_groups(
    queries: Compact, base: Compact, halves: NDArray[np.float32], k: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return what `nearest_of_all` does: the k nearest lie in the k groups with the nearest points.

    A group is every 256th of 16,384 points in a row; <x, y> - |y|^2 / 2 is largest for the nearest.
    """
    n, size = len(base), _GROUP * _STRIDE
    tops = np.empty((len(queries), -(-n // size), _STRIDE), dtype=np.float32)
    closeness = np.empty((len(queries), size), dtype=np.float32)
    for place, start in enumerate(range(0, n, size)):
        some = slice(start, min(start + size, n))
        own = closeness[:, : some.stop - start]
        np.matmul(queries, base[some].T, out=own)
        own -= halves[some]
        closeness[:, some.stop - start :] = -np.inf
        np.max(closeness.reshape(-1, _GROUP, _STRIDE), axis=1, out=tops[:, place])
    chosen = np.argpartition(-tops.reshape(len(queries), -1), k - 1, axis=1)[:, :k]
    firsts = chosen // _STRIDE * size + chosen % _STRIDE
    squares = np.empty((len(queries), k), dtype=np.float32)
    rows = np.empty((len(queries), k), dtype=np.int64)
    for i, query in enumerate(queries):
        members = (firsts[i][:, None] + _STRIDE * np.arange(_GROUP)).ravel()
        members = members[members < n]
        difference = base[members] - query
        lengths = np.einsum("ij,ij->i", difference, difference)
        nearest = np.argpartition(lengths, k - 1)[:k]
        nearest = nearest[np.argsort(lengths[nearest], kind="stable")]
        squares[i], rows[i] = lengths[nearest], members[nearest]
    return squares, rows
