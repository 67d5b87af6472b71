"""Compiled search for the nearest labels along a graph, beside its twin: arrays in, arrays out."""

from heapq import heappop, heappush

import numpy as np

from beltrami.core.machine.compiled import njit


def nearest_labels_reference(indptr, indices, lengths, sources, k):
    """Twin of `nearest_labels`: all distances from each source in turn, then the k smallest.

    SciPy's shortest paths are not asked, because an edge of length zero is none to them in some
    of their forms.
    """
    n, count = indptr.size - 1, sources.size
    every = np.full((n, max(count, k)), np.inf)
    for number in range(count):
        heap = [(0.0, int(sources[number]))]
        while heap:
            distance, i = heappop(heap)
            if distance >= every[i, number]:
                continue
            every[i, number] = distance
            for p in range(indptr[i], indptr[i + 1]):
                heappush(heap, (distance + float(lengths[p]), int(indices[p])))
    order = np.argsort(every, axis=1, kind="stable")[:, :k]
    distances = np.take_along_axis(every, order, axis=1)
    return np.where(np.isfinite(distances), order, -1), distances


@njit(cache=True)
def nearest_labels(indptr, indices, lengths, sources, k):
    """Return the k sources nearest to each node along the edges, and how far they are.

    One search from all sources together: a node keeps the k best sources heard of so far, by
    (distance, number of the source), and hands on only what enters its list. Entries leave the
    heap in that order, so the one that leaves is final if it still stands in its node's list.
    Cost: O(k nnz (k + log(k nnz))) at worst; most edges bring no news and cost O(1).

    Lengths must not be negative; an infinite one is not an edge. Returned are (n, k) numbers of
    sources, -1 where there is none, and (n, k) distances, infinite there.
    """
    n = indptr.size - 1
    nearest = np.full((n, k), -1, np.int64)
    distances = np.full((n, k), np.inf)
    heap = [(0.0, np.int64(0), np.int64(0)) for _ in range(0)]
    for number in range(sources.size):
        node = np.int64(sources[number])
        if _enter(nearest[node], distances[node], np.int64(number), 0.0):
            heappush(heap, (0.0, np.int64(number), node))
    while len(heap) > 0:
        distance, number, i = heappop(heap)
        q = 0
        while q < k and nearest[i, q] != number:
            q += 1
        if q == k or distances[i, q] != distance:
            continue
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[p])
            beyond = distance + lengths[p]
            if _enter(nearest[j], distances[j], number, beyond):
                heappush(heap, (beyond, number, j))
    return nearest, distances


@njit(cache=True)
def _enter(nearest, distances, number, distance):
    """Put a source into a node's sorted list, if that is news, and say whether it was."""
    last = nearest.size - 1
    worst = distances[last]
    if distance > worst or (distance == worst and number >= nearest[last]):  # an empty place is -1
        return False
    q = 0
    while q < last and nearest[q] != number:
        q += 1
    if nearest[q] == number and distances[q] <= distance:
        return False
    # Place q, of the same source farther away or else the last, is given up.
    while q > 0 and (
        distances[q - 1] > distance or (distances[q - 1] == distance and nearest[q - 1] > number)
    ):
        distances[q] = distances[q - 1]
        nearest[q] = nearest[q - 1]
        q -= 1
    distances[q] = distance
    nearest[q] = number
    return True
