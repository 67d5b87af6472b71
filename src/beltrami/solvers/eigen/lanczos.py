"""Lanczos by ARPACK, for a few vectors."""

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from beltrami.core.errors import SolverError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.solvers.eigen.problem import ROUNDING, Eigenpairs, EigenProblem

_MAX_RUNS = 4  # with ever tighter tolerances
_N_MISSED = 4  # pairs looked for at a time among those that a run may have missed


def lanczos_eigenpairs(
    problem: EigenProblem,
    count: int,
    *,
    tol: float,
    rng: np.random.Generator,
) -> Eigenpairs:
    """Return the lowest `count` pairs outside the null space by restarted Lanczos.

    The spectrum is turned over, c I - A with c twice the bound, because the method finds large
    eigenvalues first, and the null vectors, known beforehand, are projected out of every product:
    to it they have the eigenvalue 0, below all others. A single starting vector cannot see every
    copy of a repeated eigenvalue; what it missed is looked for by further runs on the complement of
    what was found, until one of them finds nothing lower. Residuals meet `tol`, relative to the
    largest eigenvalue wanted; `SolverError` where ARPACK gives up.
    """
    search = _Search(problem, rng)
    pairs = search.accurate(count, tol)
    for _ in range(count):
        missed = search.run(min(_N_MISSED, search.room(pairs)), pairs.vectors, search.last_tol)
        lower = missed.values < pairs.values[-1] * (1 - tol) - ROUNDING * problem.bound
        if not lower.any():
            break
        values = np.concatenate([pairs.values, missed.values[lower]])
        order = np.argsort(values, kind="stable")[:count]
        vectors = np.hstack([pairs.vectors, missed.vectors[:, lower]])[:, order]
        pairs = Eigenpairs(values[order], vectors, pairs.iterations + 1)
    return pairs


class _Search:
    """Runs of ARPACK on one problem, each outside what is already known."""

    def __init__(self, problem: EigenProblem, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        self.turn = 2 * problem.bound
        self.last_tol = 0.0

    def room(self, pairs: Eigenpairs) -> int:
        """Dimension of the complement of the null space and of these pairs."""
        return self.problem.matrix.n_rows - self.problem.null.n_components - len(pairs.values)

    def accurate(self, count: int, tol: float) -> Eigenpairs:
        """Tighten ARPACK's tolerance, relative to the turned spectrum, until ours is met."""
        known = np.zeros((self.problem.matrix.n_rows, 0))
        self.last_tol = 0.1 * tol
        for _ in range(_MAX_RUNS):
            pairs = self.run(count, known, self.last_tol)
            target = 0.1 * tol * float(pairs.values[-1]) / self.turn
            if self.last_tol <= max(2 * target, ROUNDING):
                break
            self.last_tol = max(target, ROUNDING)
        return pairs

    def run(self, count: int, known: FloatMatrix, tol: float) -> Eigenpairs:
        """Return the lowest `count` pairs orthogonal to the null space and to `known`."""
        matrix, n = self.problem.matrix, self.problem.matrix.n_rows
        turned = (self.turn - matrix.diagonal)[:, None]
        if count == 0:
            return Eigenpairs(np.zeros(0), np.zeros((n, 0)), 0)

        def purge(block: FloatMatrix) -> None:
            self.problem.null.project_out(block)
            block -= known @ (known.T @ block)

        def apply(vector: FloatVector) -> FloatVector:
            x = np.array(vector, dtype=np.float64).reshape(n, 1)
            purge(x)
            # One column, and ARPACK keeps it on the host: threads would cost more than they bring.
            out = turned * x + matrix.weights @ x
            purge(out)
            return np.asarray(out).ravel()

        start = self.rng.standard_normal((n, 1))
        purge(start)
        operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
        try:
            values, vectors = eigsh(operator, k=count, which="LA", tol=tol, v0=start.ravel())
        except ArpackNoConvergence as stopped:
            raise SolverError(
                f"Lanczos found {len(stopped.eigenvalues)} of {count} eigenvectors before ARPACK "
                "gave up: the wanted eigenvalues are too close together for it. Pass "
                "solver='chebyshev', or loosen tol."
            ) from stopped
        order = np.argsort(-values)
        return Eigenpairs(self.turn - values[order], vectors[:, order], 1)
