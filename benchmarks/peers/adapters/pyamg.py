"""pyamg: smoothed aggregation, as CG's preconditioner and inside scipy's LOBPCG.

The hierarchies have pyamg's defaults and are told the true near-null vector: the constant (the
default), or D^1/2 times it for the normalised Laplacian. Setup counts as time, once for all
columns.
"""

import warnings

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import lobpcg

from benchmarks.common.facts import SEED
from benchmarks.peers.adapters.scipy import TOL, normalized_adjacency
from benchmarks.peers.contest import Answer, Problem


def aggregation_cg(problem: Problem) -> Answer:
    """Solve a column at a time by CG with one V-cycle per step."""
    from pyamg import smoothed_aggregation_solver  # noqa: PLC0415 - optional

    hierarchy = smoothed_aggregation_solver(problem["matrix"])
    columns, steps = [], []
    for right in problem["right"].T:
        history: list[float] = []
        columns.append(hierarchy.solve(right, tol=TOL, maxiter=2000, accel="cg", residuals=history))
        steps.append(len(history) - 1)
    return Answer((np.column_stack(columns),), f"{max(steps)} steps")


def aggregation_lobpcg(problem: Problem, p: int) -> Answer:
    """Find p eigenvectors as scikit-learn's ``eigen_solver="amg"`` does.

    The preconditioner is made for the Laplacian shifted by 1e-5, because L itself is singular;
    the known null vector starts the block. Residuals are asked to be 1e-3.
    """
    from pyamg import smoothed_aggregation_solver  # noqa: PLC0415 - optional

    weights = problem["graph"].weights
    n, root = weights.shape[0], np.sqrt(weights.sum(axis=1))
    matrix = csr_array(diags_array(np.ones(n)) - normalized_adjacency(weights))
    shifted = csr_array(matrix + 1e-5 * diags_array(np.ones(n)))
    hierarchy = smoothed_aggregation_solver(shifted, B=root[:, None])
    block = np.random.default_rng(SEED).standard_normal((n, p))
    block[:, 0] = root
    with warnings.catch_warnings():  # the residual it reached is in the table
        warnings.simplefilter("ignore", UserWarning)
        values, vectors = lobpcg(
            matrix, block, M=hierarchy.aspreconditioner(), tol=1e-3, maxiter=200, largest=False
        )
    order = np.argsort(values)
    return Answer((values[order], vectors[:, order]))
