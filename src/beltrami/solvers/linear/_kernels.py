"""Compiled loops of conjugate gradients with Laplacians, each beside its dense twin."""

import numpy as np
from scipy.sparse import csr_array

from beltrami.core.compiled import njit, prange

GROUP = 8  # right-hand sides per group: eight float64 fill one cache line


def apply_factor_reference(order, starts, rows, values, pivots, b):
    """Twin of `apply_factor`: solve the two triangular systems as dense matrices.

    Parameters
    ----------
    order, starts, rows, values, pivots : ndarray
        The factor, as `approximate_cholesky` returns it; a zero pivot is pseudo-inverted.
    b : ndarray of shape (n, k)
        Right-hand sides.

    Returns
    -------
    ndarray of shape (n, k)
        The solution.
    """
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

    Parameters
    ----------
    order, starts, rows, values, pivots : ndarray
        The factor, as `approximate_cholesky` returns it; a zero pivot is pseudo-inverted.
    b : ndarray of shape (n, k)
        Right-hand sides.
    out : ndarray of shape (n, k)
        Overwritten.
    """
    n, columns = b.shape
    n_groups = (columns + GROUP - 1) // GROUP
    for group in prange(n_groups):
        # Groups of equal width keep the threads level: 10 columns go as 5 and 5, not 8 and 2.
        left = group * columns // n_groups
        width = (group + 1) * columns // n_groups - left
        x = np.zeros((n, GROUP))
        for p in range(n):
            for c in range(width):
                x[p, c] = b[order[p], left + c]
        for p in range(n):
            own = x[p]
            for q in range(starts[p], starts[p + 1]):
                other = x[rows[q]]
                value = values[q]
                for c in range(GROUP):
                    other[c] += value * own[c]
            scale = 1.0 / pivots[p] if pivots[p] > 0 else 0.0
            for c in range(GROUP):
                own[c] *= scale
        for p in range(n - 1, -1, -1):
            own = x[p]
            for q in range(starts[p], starts[p + 1]):
                other = x[rows[q]]
                value = values[q]
                for c in range(GROUP):
                    own[c] += value * other[c]
            for c in range(width):
                out[order[p], left + c] = own[c]


def grounded_product_reference(indptr, indices, weights, ground, x):
    """Twin of `grounded_product`: (L + diag(ground)) x with a dense Laplacian.

    Parameters
    ----------
    indptr, indices, weights : ndarray
        W in compressed rows, symmetric, empty diagonal.
    ground : ndarray of shape (n,)
        What is added to the diagonal.
    x : ndarray of shape (n, k)
        Any block.

    Returns
    -------
    ndarray of shape (n, k)
        The product.
    """
    dense = csr_array((weights, indices, indptr), shape=(ground.size, ground.size)).toarray()
    return (np.diag(dense.sum(axis=1) + ground) - dense) @ x


@njit(cache=True, parallel=True)
def grounded_product(indptr, indices, weights, ground, x, out):
    """Overwrite ``out`` with (L + diag(ground)) x, from the differences along the edges.

    The diagonal is never formed: next to strong edges it would swallow a weak edge, or a small
    shift, that alone decides how large the solution is. Four neighbours are added per sweep of the
    row, as in the kernel of the filters.

    Parameters
    ----------
    indptr, indices, weights : ndarray
        W in compressed rows, symmetric.
    ground : ndarray of shape (n,)
        What is added to the diagonal.
    x : ndarray of shape (n, k)
        Any block.
    out : ndarray of shape (n, k)
        Overwritten.
    """
    columns = x.shape[1]
    for i in prange(ground.size):
        own, row = x[i], out[i]
        for c in range(columns):
            row[c] = ground[i] * own[c]
        p, end = indptr[i], indptr[i + 1]
        while p + 4 <= end:
            x0, x1, x2, x3 = (
                x[indices[p]],
                x[indices[p + 1]],
                x[indices[p + 2]],
                x[indices[p + 3]],
            )
            w0, w1, w2, w3 = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
            for c in range(columns):
                row[c] += (
                    w0 * (own[c] - x0[c])
                    + w1 * (own[c] - x1[c])
                    + w2 * (own[c] - x2[c])
                    + w3 * (own[c] - x3[c])
                )
            p += 4
        while p < end:
            x0, w0 = x[indices[p]], weights[p]
            for c in range(columns):
                row[c] += w0 * (own[c] - x0[c])
            p += 1
