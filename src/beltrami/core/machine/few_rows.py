"""The loops of the iterative solvers in NumPy, for blocks of few rows.

Up to some thousand rows a step takes milliseconds either way, and a compiler that has not seen the
loop before takes seconds. Each overwrites what its compiled twin in ``_loops.py`` overwrites.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector

FEW_ROWS, _FEW_ENTRIES = 4096, 2**20
"""Rows of a block, and entries of a matrix, up to which these serve."""

_AT_ONCE = 2**22
"""Differences along edges that are held at once."""


def is_small(weights: CsrMatrix) -> bool:
    """Say whether products with a matrix are short without a compiled loop."""
    return bool(weights.shape[0] <= FEW_ROWS and weights.nnz <= _FEW_ENTRIES)


def chebyshev_step(
    weights: CsrMatrix,
    diagonal: FloatVector,
    x: FloatMatrix,
    out: FloatMatrix,
    alpha: float,
    beta: float,
    center: float,
) -> None:
    """Overwrite `out` with alpha (diag(d) - W - center I) x + beta out."""
    kind = x.dtype.type
    image = weights @ x
    image *= kind(-alpha)
    # A part of the rows may look at further columns, which come after them.
    image += (kind(alpha) * (diagonal - kind(center)))[:, None] * x[: len(diagonal)]
    if beta == 0:
        out[:] = image
    else:
        out *= kind(beta)
        out += image


def grounded_product(
    weights: CsrMatrix, ground: FloatVector, x: FloatMatrix, out: FloatMatrix
) -> None:
    """Overwrite `out` with (L + G) x, summed over differences along edges."""
    n_entries = weights.indices.size
    rows = np.repeat(np.arange(len(x)), np.diff(weights.indptr))
    parts = np.ones(n_entries), np.arange(n_entries), weights.indptr
    sums = csr_array(parts, shape=(len(x), n_entries))
    width = max(_AT_ONCE // max(n_entries, 1), 1)
    for start in range(0, x.shape[1], width):
        columns = x[:, start : start + width]
        flows = weights.data[:, None] * (columns[rows] - columns[weights.indices])
        out[:, start : start + width] = np.asarray(sums @ flows)
    out += ground[:, None] * x


def column_dots(left: FloatMatrix, right: FloatMatrix) -> NDArray[np.float64]:
    """Return the inner products of matching columns, summed in float64."""
    dots: NDArray[np.float64] = np.einsum("ij,ij->j", left, right, dtype=np.float64)
    return dots


def advance(
    x: FloatMatrix,
    residual: FloatMatrix,
    direction: FloatMatrix,
    image: FloatMatrix,
    alpha: FloatVector,
) -> None:
    """Take one conjugate-gradient step in place, each column with its own length."""
    x += alpha * direction
    residual -= alpha * image


def redirect(direction: FloatMatrix, gradient: FloatMatrix, beta: FloatVector) -> None:
    """Overwrite `direction` with gradient + beta direction."""
    direction *= beta
    direction += gradient
