"""Eigenvectors carried to new points by Nyström's formula."""

import numpy as np

from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector
from beltrami.core.validation import check_choice

_SMALLEST_DENOMINATOR = 0.05
"""Share of d(x) below which the denominator is not let fall: a bounded answer, always finite."""


def extend_eigenvectors(
    weights: CsrMatrix, vectors: FloatMatrix, values: FloatVector, *, kind: str
) -> FloatMatrix:
    r"""Return the values of eigenvectors at new points.

    With w(x, x_i) the weights from the new point to the old ones and d(x) their sum,

    .. math:: e_j(x) = \frac{\sum_i w(x, x_i) e_j(i)}{d(x) - \lambda_j}
              \quad\text{for } L e = \lambda e, \qquad
              f_j(x) = \frac{\sum_i w(x, x_i) f_j(i)}{d(x) (1 - \lambda_j)}
              \quad\text{for } L f = \lambda D f,

    which is the eigenvalue equation read at x. The size of the denominator is kept above 0.05 d(x).
    A point with no weight to any old one gets zeros. Cost: one product with the new weights.
    `weights` are w of shape (m, n), from new to old, `vectors` the e or f of shape (n, p) with
    eigenvalues `values`; the result has shape (m, p).
    """
    check_choice(kind, ("combinatorial", "random_walk"), name="kind")
    degrees = np.asarray(weights.sum(axis=1)).ravel()[:, None]
    spread = values[None, :] if kind == "combinatorial" else degrees * values[None, :]
    difference = degrees - spread
    size = np.maximum(np.abs(difference), _SMALLEST_DENOMINATOR * degrees)
    denominator = np.where(difference < 0, -size, size)
    extended = np.zeros((weights.shape[0], vectors.shape[1]))
    np.divide(weights @ vectors, denominator, out=extended, where=degrees > 0)
    return extended


def walk_factors(values: FloatVector) -> FloatVector:
    """Return the denominators of `extend_eigenvectors` for the random walk, over d(x), (p,)."""
    difference = 1.0 - values
    size = np.maximum(np.abs(difference), _SMALLEST_DENOMINATOR)
    return np.asarray(np.where(difference < 0, -size, size))
