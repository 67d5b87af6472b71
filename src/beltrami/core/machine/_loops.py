"""Compiled loops over sparse rows and dense blocks, each beside its NumPy twin.

The twin, named ``*_reference``, is the specification; tests hold the compiled loop to it. Matrices
arrive as the three CSR arrays of W and a diagonal d, and stand for A = diag(d) - W.
"""

import numpy as np
from scipy.sparse import csr_array

from beltrami.core.machine.compiled import njit, prange


def chebyshev_step_reference(indptr, indices, weights, diagonal, x, out, alpha, beta, center):
    """Twin of `chebyshev_step`: alpha (A - center I) x + beta out, written to be believed."""
    n = diagonal.size
    matrix = csr_array((weights, indices, indptr), shape=(n, n))
    return alpha * ((diagonal - center)[:, None] * x - matrix @ x) + beta * out


@njit(cache=True, parallel=True)
def chebyshev_step(indptr, indices, weights, diagonal, x, out, alpha, beta, center):
    """Overwrite ``out`` with alpha (A - center I) x + beta out, in one pass over the rows.

    Four neighbours are added per sweep of the row: the row is read and written once for four
    gathered rows, which is what bounds the speed.
    """
    columns = x.shape[1]
    for i in prange(diagonal.size):
        row = out[i]
        own = x[i]
        scale = alpha * (diagonal[i] - center)
        if beta == 0:
            for c in range(columns):
                row[c] = scale * own[c]
        else:
            for c in range(columns):
                row[c] = scale * own[c] + beta * row[c]
        p = indptr[i]
        end = indptr[i + 1]
        while p + 4 <= end:
            x0 = x[indices[p]]
            x1 = x[indices[p + 1]]
            x2 = x[indices[p + 2]]
            x3 = x[indices[p + 3]]
            w0 = alpha * weights[p]
            w1 = alpha * weights[p + 1]
            w2 = alpha * weights[p + 2]
            w3 = alpha * weights[p + 3]
            for c in range(columns):
                row[c] -= w0 * x0[c] + w1 * x1[c] + w2 * x2[c] + w3 * x3[c]
            p += 4
        while p < end:
            x0 = x[indices[p]]
            w0 = alpha * weights[p]
            for c in range(columns):
                row[c] -= w0 * x0[c]
            p += 1


def advance_reference(x, residual, direction, image, alpha):
    """Twin of `advance`: x + alpha direction, residual - alpha image."""
    return x + alpha * direction, residual - alpha * image


@njit(cache=True, parallel=True)
def advance(x, residual, direction, image, alpha):
    """Take one conjugate-gradient step in place, each column with its own length."""
    for i in prange(x.shape[0]):
        for c in range(x.shape[1]):
            x[i, c] += alpha[c] * direction[i, c]
            residual[i, c] -= alpha[c] * image[i, c]


def redirect_reference(direction, gradient, beta):
    """Twin of `redirect`: gradient + beta direction."""
    return gradient + beta * direction


@njit(cache=True, parallel=True)
def redirect(direction, gradient, beta):
    """Overwrite ``direction`` with gradient + beta direction, column by column."""
    for i in prange(direction.shape[0]):
        for c in range(direction.shape[1]):
            direction[i, c] = gradient[i, c] + beta[c] * direction[i, c]


def column_dots_reference(left, right):
    """Twin of `column_dots`: the diagonal of left' right."""
    return np.einsum("ij,ij->j", left, right, dtype=np.float64)


@njit(cache=True, parallel=True)
def column_dots(left, right):
    """Return the inner product of each pair of columns, accumulated in float64 by row chunks.

    The chunks do not depend on the number of threads, so neither does the result.
    """
    n, columns = left.shape
    chunk = 4096
    n_chunks = (n + chunk - 1) // chunk
    partial = np.zeros((n_chunks, columns))
    for k in prange(n_chunks):
        for i in range(k * chunk, min(n, (k + 1) * chunk)):
            for c in range(columns):
                partial[k, c] += np.float64(left[i, c]) * np.float64(right[i, c])
    total = np.zeros(columns)
    for k in range(n_chunks):
        for c in range(columns):
            total[c] += partial[k, c]
    return total


def grounded_product_reference(indptr, indices, weights, ground, x):
    """Twin of `grounded_product`: (L + diag(ground)) x with a dense Laplacian."""
    dense = csr_array((weights, indices, indptr), shape=(ground.size, ground.size)).toarray()
    return (np.diag(dense.sum(axis=1) + ground) - dense) @ x


@njit(cache=True, parallel=True)
def grounded_product(indptr, indices, weights, ground, x, out):
    """Overwrite ``out`` with (L + diag(ground)) x, from the differences along the edges.

    The diagonal is never formed: next to strong edges it would swallow a weak edge, or a small
    shift, that alone decides how large the solution is. Four neighbours are added per sweep of the
    row, as in `chebyshev_step`.
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
