"""Lanczos by ARPACK, for a few vectors."""

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from beltrami.core.backend import Backend
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.solvers.eigen.problem import Eigenpairs, EigenProblem


def lanczos_eigenpairs(
    problem: EigenProblem,
    count: int,
    *,
    tol: float,
    backend: Backend,
    rng: np.random.Generator,
) -> Eigenpairs:
    """Return the lowest `count` pairs outside the null space by restarted Lanczos.

    The spectrum is turned over, bound I - A, because the method finds large eigenvalues first, and
    the null vectors, known beforehand, are projected out of every product. A single starting
    vector cannot prove that it has seen every copy of a repeated eigenvalue; the block method can.

    Parameters
    ----------
    problem : EigenProblem
        The problem.
    count : int
        Pairs wanted.
    tol : float
        Residual wanted, relative to the bound of the spectrum.
    backend : Backend
        Supplies the product.
    rng : Generator
        Draws the starting vector.

    Returns
    -------
    Eigenpairs
        As many as converged.
    """
    n, bound = problem.matrix.n_rows, problem.bound
    matrix = backend.matrix(problem.matrix, np.float64)

    def apply(vector: FloatVector) -> FloatMatrix:
        x = backend.block(vector.reshape(n, 1), np.float64)
        problem.null.project_out(x)
        out = np.empty_like(x)
        backend.chebyshev_step(matrix, x, out, alpha=-1.0, beta=0.0, center=bound)
        problem.null.project_out(out)
        return out.ravel()

    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    start = rng.standard_normal(n)
    try:
        values, vectors = eigsh(operator, k=count, which="LA", tol=tol, v0=start)
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
    order = np.argsort(-values)
    return Eigenpairs(bound - values[order], vectors[:, order], 1)
