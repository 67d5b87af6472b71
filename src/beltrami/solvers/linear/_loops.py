"""The compiled loop that applies a sampled factor, beside its dense twin."""

import numpy as np

from beltrami.core.machine.compiled import njit, prange

_GROUP = 8  # right-hand sides per group: eight float64 fill one cache line


def apply_factor_reference(order, starts, rows, values, pivots, b):
    """Twin of `apply_factor`: solve the two triangular systems as dense matrices."""
    n = order.size
    lower = np.eye(n)
    for position in range(n):
        column = slice(starts[position], starts[position + 1])
        lower[rows[column], position] -= values[column]
    halfway = np.linalg.solve(lower, b[order])
    scaled = np.where(pivots[:, None] > 0, halfway / np.where(pivots > 0, pivots, 1)[:, None], 0.0)
    x = np.empty_like(b)
    x[order] = np.linalg.solve(lower.T, scaled)
    return x


@njit(cache=True, parallel=True)
def apply_factor(order, starts, rows, values, pivots, b, out):
    """Overwrite ``out`` with the solution of (L D L') out = b, groups of columns in parallel.

    The factor is as `approximate_cholesky` returns it; a zero pivot is pseudo-inverted.
    """
    n, columns = b.shape
    n_groups = (columns + _GROUP - 1) // _GROUP
    for group in prange(n_groups):
        # Groups of equal width keep the threads level: 10 columns go as 5 and 5, not 8 and 2.
        left = group * columns // n_groups
        width = (group + 1) * columns // n_groups - left
        x = np.zeros((n, _GROUP))
        for p in range(n):
            for c in range(width):
                x[p, c] = b[order[p], left + c]
        for p in range(n):
            own = x[p]
            for q in range(starts[p], starts[p + 1]):
                other = x[rows[q]]
                value = values[q]
                for c in range(_GROUP):
                    other[c] += value * own[c]
            scale = 1.0 / pivots[p] if pivots[p] > 0 else 0.0
            for c in range(_GROUP):
                own[c] *= scale
        for p in range(n - 1, -1, -1):
            own = x[p]
            for q in range(starts[p], starts[p + 1]):
                other = x[rows[q]]
                value = values[q]
                for c in range(_GROUP):
                    own[c] += value * other[c]
            for c in range(width):
                out[order[p], left + c] = own[c]
