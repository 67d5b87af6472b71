"""The heat operator exp(tL), whose quadratic form f' exp(tL) f says how rough f is; never formed.

A penalty must grow with frequency, so the thesis's exp(-tL) (section 3.7) is the inverse of the
penalty: the heat flow, which is here too. The penalty also charges a constant f its own square.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from scipy.special import ive

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.backend import Backend, SplitMatrix
from beltrami.core.machine.device import backend_for, on_device
from beltrami.core.types import FloatMatrix
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import spectral_bound, split_laplacian

_LARGEST_EXPONENT = 20.0
"""Largest t lambda: a constant must come out of exp(tL) as itself, from terms of size exp(20)."""

_COEFFICIENT_FLOOR = 1e-17  # of the largest coefficient; what is below is lost in rounding


def heat_operator(graph: Graph, t: float, *, kind: str = "combinatorial") -> LinearOperator:
    r"""Return exp(tL) as an operator; a negative `t` gives the heat flow exp(-\|t\| L).

    The exponential is expanded in Chebyshev polynomials on the interval that holds the spectrum;
    their coefficients are scaled Bessel functions and the sum stops at rounding level.

    Parameters
    ----------
    graph : Graph
        The graph.
    t : float
        Time, of either sign.
    kind : {"combinatorial", "normalized"}, default="combinatorial"
        Which Laplacian.

    Returns
    -------
    LinearOperator of shape (n, n)
        Symmetric positive definite.

    Examples
    --------
    >>> from beltrami.graph.families import path
    >>> from beltrami.operators.smoothness import heat_operator
    >>> heat = heat_operator(path(3), -100.0) @ [3.0, 0.0, 0.0]  # after a long time it is even
    >>> heat.round(6)
    array([1., 1., 1.])
    """
    if not np.isfinite(t):
        raise InvalidInputError(f"t={t!r} must be a finite number.")
    matrix = split_laplacian(graph, kind)
    half = spectral_bound(matrix) / 2
    if t * 2 * half > _LARGEST_EXPONENT:
        raise InvalidInputError(
            f"exp(tL) with t={t:.3g} and eigenvalues up to {2 * half:.3g} grows so large at high "
            "frequencies that rounding there drowns the low ones; take t below "
            f"{_LARGEST_EXPONENT / (2 * half):.3g}, or work in an eigenbasis."
        )
    if half == 0 or t == 0:
        return _symmetric_operator(matrix.n_rows, np.array)
    coefficients = _exponential_coefficients(t * half)

    def apply(block: FloatMatrix) -> FloatMatrix:
        products = 2.0 * len(coefficients) * matrix.weights.nnz * block.shape[1]
        backend = backend_for(products, 32.0 * block.size + 12.0 * matrix.weights.nnz)
        return on_device(
            backend,
            lambda device: _chebyshev_sum(device, matrix, block, coefficients, half),
            step="spreading heat",
        )

    return _symmetric_operator(matrix.n_rows, apply)


def _exponential_coefficients(z: float) -> NDArray[np.float64]:
    """Return the coefficients of exp(z (1 + y)) in Chebyshev polynomials of y on [-1, 1]."""
    size = int(abs(z) + 12 * np.sqrt(abs(z)) + 40)
    k = np.arange(size)
    # exp(z + z y) = exp(z + |z|) sum_k c_k ive(k, |z|) sign(z)^k T_k(y), c_0 = 1 and else 2.
    values = ive(k, abs(z)) * np.where(k == 0, 1.0, 2.0) * np.sign(z) ** k * np.exp(z + abs(z))
    significant = np.flatnonzero(np.abs(values) > _COEFFICIENT_FLOOR * np.abs(values).max())
    return np.asarray(values[: significant[-1] + 1])


def _chebyshev_sum(
    backend: Backend,
    matrix: SplitMatrix,
    block: FloatMatrix,
    coefficients: NDArray[np.float64],
    half: float,
) -> FloatMatrix:
    """Sum c_k T_k(L / half - I) block by the three-term recurrence."""
    step, here = backend.chebyshev_step, backend.matrix(matrix, np.float64)
    older, newer = backend.block(block, np.float64), backend.empty(block.shape, np.float64)
    step(here, older, newer, alpha=1 / half, beta=0.0, center=half)
    total = float(coefficients[0]) * older
    for index, coefficient in enumerate(coefficients[1:].tolist(), start=1):
        if index > 1:
            step(here, newer, older, alpha=2 / half, beta=-1.0, center=half)
            older, newer = newer, older
        total += coefficient * newer
    result: FloatMatrix = backend.host(total)
    return result


def _symmetric_operator(n: int, apply: Any) -> LinearOperator:
    def matmat(block: FloatMatrix) -> FloatMatrix:
        columns = np.ascontiguousarray(np.reshape(block, (n, -1)), dtype=np.float64)
        result: FloatMatrix = apply(columns)
        return result

    def matvec(vector: FloatMatrix) -> FloatMatrix:
        return matmat(vector).ravel()

    return LinearOperator(
        shape=(n, n), dtype=np.float64, matvec=matvec, rmatvec=matvec, matmat=matmat, rmatmat=matmat
    )
