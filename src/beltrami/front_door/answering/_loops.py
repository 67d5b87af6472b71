"""Compiled loops of answering new points, beside their twins.

Nothing here knows of estimators: arrays in, arrays out. Every row is worked on by itself, so that
its answer does not depend on the rows beside it, nor on the number of threads.
"""

import numpy as np

from beltrami.core.machine.compiled import njit, prange

_ROWS = 256  # rows that walk down the trees together: these and a tree stay in the cache


def gather_sums_reference(near, weights, values):
    """Twin of `gather_sums`."""
    return np.einsum("ij,ijk->ik", weights, values[near].astype(np.float64))


@njit(cache=True, parallel=True)
def gather_sums(near, weights, values):
    """Return the weighted sums of the values of each row's neighbours, (m, k), in float64.

    ``near`` and ``weights`` have shape (m, w), ``values`` (n, k); sums go from the first neighbour.
    """
    m, width = near.shape
    k = values.shape[1]
    sums = np.zeros((m, k))
    for i in prange(m):
        own = sums[i]
        for p in range(width):
            weight = weights[i, p]
            if weight != 0.0:
                row = values[near[i, p]]
                for c in range(k):
                    own[c] += weight * np.float64(row[c])
    return sums


def walk_trees_reference(cells, roots, columns, thresholds, left, right, shares):
    """Twin of `walk_trees`, one row and one tree at a time."""
    total = np.zeros((len(cells), shares.shape[1]))
    for i, row in enumerate(cells):
        for root in roots:
            node = root
            while columns[node] >= 0:
                goes_left = np.float64(row[columns[node]]) <= thresholds[node]
                node = left[node] if goes_left else right[node]
            total[i] += shares[node]
    return total


@njit(cache=True, parallel=True)
def walk_trees(cells, roots, columns, thresholds, left, right, shares):
    """Return the sums over all trees of the shares at the leaves that rows come to, (m, c).

    A node asks whether the row's number in its column, a single, is at most its threshold, a
    double: both are compared as doubles. A leaf has column -1. Sums go from the first tree on.
    """
    m, k = len(cells), shares.shape[1]
    total = np.zeros((m, k))
    n_blocks = (m + _ROWS - 1) // _ROWS
    for block in prange(n_blocks):
        first, last = block * _ROWS, min((block + 1) * _ROWS, m)
        for t in range(roots.size):
            for i in range(first, last):
                node = roots[t]
                while columns[node] >= 0:
                    if np.float64(cells[i, columns[node]]) <= thresholds[node]:
                        node = left[node]
                    else:
                        node = right[node]
                for c in range(k):
                    total[i, c] += shares[node, c]
    return total
