"""How many eigenvalues lie below a number, estimated from a few Lanczos runs.

The filter of the block method must be told where the wanted eigenvalues end before any of them is
known. Random vectors see the spectrum through its density, and forty steps resolve it enough.
"""

from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from beltrami.core.machine.backend import Backend
from beltrami.core.types import FloatVector

_VECTORS = 8
_STEPS = 40  # Lanczos steps of each


def eigenvalue_estimate(
    matrix: Any, n: int, rank: float, *, backend: Backend, rng: np.random.Generator
) -> float:
    """Return a number below which about `rank` of the n eigenvalues of a float32 matrix lie.

    Stochastic Lanczos quadrature: the Ritz values of a random unit vector, weighted by the squares
    of the first entries of the tridiagonal eigenvectors, are the Gauss nodes of the spectral
    density. No orthogonalisation is needed: repeated Ritz values share their weight.
    """
    x = backend.block(rng.standard_normal((n, _VECTORS)), np.float32)
    x /= backend.vector(np.sqrt(backend.column_dots(x, x)), np.float32)
    older = backend.block(np.zeros((n, _VECTORS)), np.float32)
    image = backend.block(np.zeros((n, _VECTORS)), np.float32)
    steps = min(_STEPS, n)
    diagonal, coupling = np.zeros((steps, _VECTORS)), np.zeros((steps, _VECTORS))
    for step in range(steps):
        backend.product(matrix, x, image)
        if step > 0:
            image -= backend.vector(coupling[step - 1], np.float32) * older
        diagonal[step] = backend.column_dots(image, x)
        image -= backend.vector(diagonal[step], np.float32) * x
        coupling[step] = np.sqrt(backend.column_dots(image, image))
        image /= backend.vector(np.maximum(coupling[step], 1e-20), np.float32)
        older, x, image = x, image, older
    return _quantile(diagonal, coupling, rank / n)


def _quantile(diagonal: FloatVector, coupling: FloatVector, share: float) -> float:
    """Return the number below which that share of the density lies, over all columns."""
    nodes, masses = [], []
    for column in range(diagonal.shape[1]):
        ritz, vectors = eigh_tridiagonal(diagonal[:, column], coupling[:-1, column])
        nodes.append(ritz)
        masses.append(vectors[0] ** 2 / diagonal.shape[1])
    order = np.argsort(np.concatenate(nodes))
    below = np.cumsum(np.concatenate(masses)[order])
    return float(np.interp(share, below, np.concatenate(nodes)[order]))
