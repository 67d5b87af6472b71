"""scipy: ARPACK at the well-conditioned end of the spectrum, Jacobi-CG, and SuperLU."""

from collections import Counter

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import cg, eigsh, splu

from benchmarks.common.facts import SEED
from benchmarks.peers.contest import Answer, Problem

TOL = 1e-8
"""Relative residual to which every peer solves linear systems."""


def normalized_adjacency(weights: csr_array) -> csr_array:
    """Return D^-1/2 W D^-1/2."""
    root = diags_array(1 / np.sqrt(weights.sum(axis=1)))
    return csr_array(root @ weights @ root)


def arpack(problem: Problem, p: int, kind: str = "normalized") -> Answer:
    """Find the largest eigenvalues of D^-1/2 W D^-1/2, or of c I - L with c = 2 max degree.

    No factorisation, whose fill explodes on these graphs. The tolerance asks for an absolute
    residual of 1e-3; ARPACK usually returns less.
    """
    weights = problem["graph"].weights
    degrees = weights.sum(axis=1)
    if kind == "normalized":
        top, matrix = 1.0, normalized_adjacency(weights)
    else:
        top = 2 * float(degrees.max())
        matrix = csr_array(diags_array(top - degrees) + weights)
    start = np.random.default_rng(SEED).standard_normal(len(degrees))
    values, vectors = eigsh(matrix, k=p, which="LA", tol=1e-3 / top, v0=start)
    order = np.argsort(-values)
    return Answer((top - values[order], vectors[:, order]))


def jacobi_cg(problem: Problem) -> Answer:
    """Solve a column at a time with the diagonal as preconditioner."""
    matrix, columns, steps = problem["matrix"], [], Counter()
    jacobi = diags_array(1 / matrix.diagonal())
    for number, right in enumerate(problem["right"].T):
        x, info = cg(
            matrix,
            right,
            rtol=TOL,
            maxiter=20_000,
            M=jacobi,
            callback=lambda _, number=number: steps.update([number]),
        )
        if info:
            raise RuntimeError("scipy's cg did not converge")
        columns.append(x)
    return Answer((np.column_stack(columns),), f"{max(steps.values())} steps")


def superlu(problem: Problem) -> Answer:
    """Factorise once, in SuperLU's symmetric mode (``spsolve`` would do so for every column)."""
    factor = splu(
        csc_array(problem["matrix"]),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return Answer((factor.solve(problem["right"]),), f"{factor.L.nnz:,} non-zeros in L")
