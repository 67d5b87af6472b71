"""The door to linear systems with a Laplacian: check, choose, solve, certify."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from beltrami.core.backend import NumpyBackend, SplitMatrix
from beltrami.core.errors import ConvergenceWarning, InvalidInputError
from beltrami.core.progress import track
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, Seed
from beltrami.core.validation import check_choice, check_positive
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import split_laplacian
from beltrami.solvers.linear.gradients import Descent, conjugate_gradients
from beltrami.solvers.linear.preconditioners import ApproximateCholesky, Jacobi
from beltrami.solvers.model import Solution
from beltrami.solvers.ordering import cache_order

SOLVERS = ("auto", "jacobi", "cholesky", "direct")
_DIRECT_NODES = 500
_MAX_ITER = 20_000
_PATIENCE = 190
"""Further Jacobi steps above which building the factorisation is the shorter way."""


def solve(
    graph: Graph,
    right: Any,
    *,
    shift: Any = 0.0,
    fixed: Any = None,
    kind: str = "combinatorial",
    tol: float = 1e-8,
    solver: str = "auto",
    random_state: Seed = None,
) -> Solution:
    r"""Solve Laplacian systems for many right-hand sides at once.

    .. math:: (L + \mathrm{diag}(s)) X = B

    With `fixed` rows the system is restricted to the others, X = 0 there: the form of harmonic
    functions, for which B already holds W times the known values. Where a component has neither
    shift nor fixed row, L is singular on it: B must sum to zero there (it is checked), and of all
    solutions the one with mean zero is returned.

    Cost: setup O(nnz log n) and about 20 steps for "cholesky"; one product per step and no setup
    for "jacobi". Memory: six n x k blocks and, for "cholesky", some 100 bytes per edge.

    Parameters
    ----------
    graph : Graph
        The graph.
    right : array-like of shape (n,) or (n, k)
        B. Rows listed in `fixed` are ignored.
    shift : float or array-like of shape (n,), default=0
        s, not negative.
    fixed : array-like of int or None, default=None
        Rows held at zero.
    kind : {"combinatorial", "normalized"}, default="combinatorial"
        Which Laplacian L is.
    tol : float, default=1e-8
        Relative error in the energy norm, sqrt(e' A e / x' A x).
    solver : {"auto", "jacobi", "cholesky", "direct"}, default="auto"
        "auto" is direct for small systems; else it starts with Jacobi's preconditioner and turns
        to the approximate Cholesky factorisation when the first steps show that Jacobi is slow.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the factorisation; None means a fixed seed.

    Returns
    -------
    Solution
        Values of shape (n, k), steps and error estimates.

    Warns
    -----
    ConvergenceWarning
        When a column did not reach the tolerance; the solution says so too.

    Examples
    --------
    >>> from beltrami.graph.families import path
    >>> from beltrami.solvers.linear import solve
    >>> solve(path(3), [1.0, 0.0, -1.0]).values.ravel().round(9).tolist()
    [1.0, 0.0, -1.0]
    """
    check_choice(solver, SOLVERS, name="solver")
    check_positive(tol, name="tol")
    matrix = split_laplacian(graph, kind)
    block = _right_hand_sides(right, graph.n_nodes)
    shifts = _shifts(shift, graph.n_nodes)
    free = _free_rows(fixed, graph.n_nodes)
    system = _restricted(SplitMatrix(matrix.diagonal + shifts, matrix.weights), free)
    null = _floating_components(system, shifts, free, graph)
    profile = _null_profile(graph, kind)[free]
    reduced = _in_range(block[free], null, profile)
    seed = int(generator(0 if random_state is None else random_state).integers(2**31 - 1))
    if solver == "direct" or (solver == "auto" and len(free) <= _DIRECT_NODES):
        found, name = _direct(system, reduced, null, profile), "direct"
    else:
        found, name = _iterate(system, reduced, solver, tol=tol, seed=seed)
    _center(found.values, null, profile)
    _warn_unless_converged(found, tol)
    values = np.zeros((graph.n_nodes, block.shape[1]))
    values[free] = found.values
    return Solution(values, found.iterations, found.errors, bool(found.errors.max() <= tol), name)


def _iterate(
    system: SplitMatrix, right: FloatMatrix, solver: str, *, tol: float, seed: int
) -> tuple[Descent, str]:
    order, backend = cache_order(system.weights), NumpyBackend()
    near, block = system.permuted(order), np.ascontiguousarray(right[order])
    with track("solving linear systems", total=_MAX_ITER) as advance:
        patience = _PATIENCE if solver == "auto" else None
        name, found = "jacobi", None
        if solver != "cholesky":
            found = conjugate_gradients(
                near,
                block,
                Jacobi.of(near),
                tol=tol,
                max_iter=_MAX_ITER,
                backend=backend,
                patience=patience,
                progress=advance,
            )
        if found is None or (solver == "auto" and found.errors.max() > tol):
            name, factor = "cholesky", ApproximateCholesky.of(near, seed=seed)
            found = conjugate_gradients(
                near,
                block,
                factor,
                tol=tol,
                max_iter=_MAX_ITER,
                backend=backend,
                progress=advance,
            )
    values = np.empty_like(found.values)
    values[order] = found.values
    return Descent(values, found.errors, found.iterations), name


def _direct(
    system: SplitMatrix, right: FloatMatrix, null: NDArray[np.intp], profile: FloatVector
) -> Descent:
    """Solve by a dense or sparse factorisation; floating components are tied at one row each."""
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    diagonal, block = system.diagonal.copy(), right.copy()
    for component in range(null.max(initial=-1) + 1):
        # Any solution will do: its part along the null vector is removed afterwards.
        anchor = int(np.flatnonzero(null == component)[0])
        diagonal[anchor] += max(diagonal[anchor], 1.0)
    del profile
    factor = splu(csc_array(diags_array(diagonal) - system.weights))
    values = np.reshape(factor.solve(block), block.shape)
    return Descent(values, np.zeros(block.shape[1]), 0)


def _right_hand_sides(right: Any, n: int) -> FloatMatrix:
    block = np.array(right, dtype=np.float64, order="C")
    block = block[:, None] if block.ndim == 1 else block
    if block.ndim != 2 or block.shape[0] != n or block.shape[1] == 0:
        raise InvalidInputError(
            f"the right-hand sides have shape {np.shape(right)} and the graph has {n} nodes; give "
            f"one row per node, ({n},) or ({n}, k)."
        )
    if not np.isfinite(block).all():
        raise InvalidInputError("the right-hand sides contain NaN or infinity.")
    return block


def _shifts(shift: Any, n: int) -> FloatVector:
    shifts = np.asarray(shift, dtype=np.float64)
    if shifts.ndim > 1 or (shifts.ndim == 1 and len(shifts) != n):
        raise InvalidInputError(
            f"shift has shape {shifts.shape}; give a number or one per node, ({n},)."
        )
    if not np.isfinite(shifts).all() or shifts.min(initial=0.0) < 0:
        raise InvalidInputError(
            "shift must be finite and not negative: a negative one can make the system indefinite."
        )
    return np.broadcast_to(shifts, (n,)).copy()


def _free_rows(fixed: Any, n: int) -> NDArray[np.intp]:
    if fixed is None:
        return np.arange(n)
    rows = np.unique(np.asarray(fixed, dtype=np.intp))
    if rows.size and (rows[0] < 0 or rows[-1] >= n):
        raise InvalidInputError(
            f"fixed rows must lie in 0 .. {n - 1}; got {rows[0]} .. {rows[-1]}."
        )
    if rows.size == n:
        raise InvalidInputError("every row is fixed, so there is nothing to solve for.")
    return np.setdiff1d(np.arange(n), rows, assume_unique=True)


def _restricted(matrix: SplitMatrix, free: NDArray[np.intp]) -> SplitMatrix:
    if len(free) == matrix.n_rows:
        return matrix
    return matrix.permuted(free)


def _floating_components(
    system: SplitMatrix, shifts: FloatVector, free: NDArray[np.intp], graph: Graph
) -> NDArray[np.intp]:
    """Number the components of the system on which it is singular; -1 elsewhere."""
    count, membership = connected_components(system.weights, directed=False)
    held = np.zeros(count, dtype=bool)
    held[membership[shifts[free] > 0]] = True
    if len(free) < graph.n_nodes:
        inside = np.zeros(graph.n_nodes, dtype=bool)
        inside[free] = True
        touched = (
            np.asarray(graph.weights[free].sum(axis=1)).ravel()
            - np.asarray(graph.weights[free][:, free].sum(axis=1)).ravel()
        )
        held[membership[touched > 0]] = True
    numbers = np.cumsum(~held) - 1
    return np.where(held[membership], -1, numbers[membership])


def _null_profile(graph: Graph, kind: str) -> FloatVector:
    if kind == "combinatorial":
        return np.ones(graph.n_nodes)
    degrees = graph.degrees
    return np.where(degrees > 0, np.sqrt(degrees), 1.0)


def _component_parts(
    block: FloatMatrix, null: NDArray[np.intp], profile: FloatVector
) -> FloatMatrix:
    """Coefficient of the null vector of its component in each row's columns."""
    inside = null >= 0
    count = int(null.max(initial=-1)) + 1
    parts = np.zeros((count, block.shape[1]))
    np.add.at(parts, null[inside], profile[inside, None] * block[inside])
    sizes = np.bincount(null[inside], weights=profile[inside] ** 2, minlength=count)
    return parts / sizes[:, None]


def _in_range(block: FloatMatrix, null: NDArray[np.intp], profile: FloatVector) -> FloatMatrix:
    """Check that the right-hand sides are orthogonal to the null vectors, and make them exactly so."""
    if null.max(initial=-1) < 0:
        return np.ascontiguousarray(block)
    parts = _component_parts(block, null, profile)
    largest = np.abs(block).max(initial=0.0)
    if np.abs(parts).max() > 1e-8 * largest:
        bad = int((np.abs(parts).max(axis=1) > 1e-8 * largest).sum())
        raise InvalidInputError(
            f"the system is singular on {bad} component(s) of the graph and the right-hand side "
            "does not sum to zero there, so no solution exists. Subtract its mean on each "
            "component, or pass a shift or a fixed row in each."
        )
    result = np.array(block, order="C")
    _center(result, null, profile)
    return result


def _center(block: FloatMatrix, null: NDArray[np.intp], profile: FloatVector) -> None:
    """Subtract the null vectors' part on floating components, in place."""
    if null.max(initial=-1) < 0:
        return
    inside = null >= 0
    parts = _component_parts(block, null, profile)
    block[inside] -= profile[inside, None] * parts[null[inside]]


def _warn_unless_converged(found: Descent, tol: float) -> None:
    missed = int((found.errors > tol).sum())
    if missed:
        warnings.warn(
            f"{missed} of {len(found.errors)} systems did not reach the energy-norm tolerance "
            f"{tol:.1e} in {found.iterations} steps (the worst is at {found.errors.max():.1e}). "
            "Loosen tol, or add a small shift if the graph is nearly disconnected.",
            ConvergenceWarning,
            stacklevel=3,
        )
