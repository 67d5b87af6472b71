"""The direct method, for small graphs and for nearly all eigenvectors."""

from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import diags_array

from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import serial_blas
from beltrami.solvers.eigen.problem import Eigenpairs, EigenProblem

_SMALL = 384  # rows up to which threads cost more than they bring
_MODEST = 1000  # the same of a few lowest pairs, on a busy machine


def dense_eigenpairs(problem: EigenProblem, count: int) -> Eigenpairs:
    """Return the lowest `count` pairs outside the null space by LAPACK.

    Null vectors are lifted to the top of the spectrum before the factorisation, so what is returned
    is orthogonal to them to rounding. Divide and conquer finds all pairs: asked for a few, LAPACK
    goes one by one, which took 9 s where all take 0.6 (1,797 digits). Cost: O(n^3) time, four n x n
    arrays.
    """
    n = problem.matrix.n_rows
    require_memory(
        4 * 8.0 * n**2,
        what=f"the dense eigenproblem of {n} nodes",
        instead="Ask for fewer eigenvectors, at most a fifth of the nodes, so that the iterative "
        "solver can serve.",
    )
    matrix = (diags_array(problem.matrix.diagonal) - problem.matrix.weights).toarray()
    null = problem.null
    lift = 2 * problem.bound
    same = null.membership[:, None] == null.membership[None, :]
    matrix += lift * np.where(same, np.outer(null.profile, null.profile), 0.0)
    with serial_blas() if n <= _MODEST else nullcontext():
        values, vectors = eigh(matrix, driver="evd", overwrite_a=True)
    return Eigenpairs(values[:count], np.ascontiguousarray(vectors[:, :count]), 0)


def small_eigh(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all eigenvalues, ascending, and eigenvectors of a projected symmetric matrix."""
    if len(matrix) > _SMALL:
        values, vectors = np.linalg.eigh(matrix)
    else:
        with serial_blas():
            values, vectors = np.linalg.eigh(matrix)
    return values, vectors
