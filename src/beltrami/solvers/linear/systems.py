"""The door to linear systems with a Laplacian: check, choose, solve, certify."""

import warnings
from functools import partial
from typing import Any

import numpy as np

from beltrami.core.backend import GroundedLaplacian, NumpyBackend
from beltrami.core.errors import ConvergenceWarning, InvalidInputError, SolverError
from beltrami.core.memory import SCRATCH_BYTES, require_address_space
from beltrami.core.progress import track
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, Seed
from beltrami.core.validation import check_choice, check_positive
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import KINDS
from beltrami.solvers.linear.gradients import ApproximateSolution, conjugate_gradients
from beltrami.solvers.linear.preconditioners import ApproximateCholesky, Jacobi
from beltrami.solvers.linear.problem import LinearProblem
from beltrami.solvers.model import Solution
from beltrami.solvers.ordering import cache_order

_SOLVERS = ("auto", "jacobi", "cholesky", "direct")
_DIRECT_NODES = 1000  # up to here a sparse factorisation is the shortest way
_MAX_ITER = 20_000
_REFINEMENTS = 6  # of a direct solution, at most
_EXACT = 1e-12  # relative error at which they end
_LONG = 20  # edges from end to end above which Jacobi is slow
_LOOSE = 1e-3  # share of ground in the diagonal below which nothing ties a graph down
_PATIENCE = 190  # further Jacobi steps above which building the factorisation is the shorter way


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
    solutions the one with mean zero is returned; for "normalized" both are weighted by the roots of
    the degrees.

    Cost: setup O(nnz log n) and 20 to 30 steps for "cholesky"; one product per step and no setup
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
        "auto" is direct for small systems, where that is accurate; else it starts with Jacobi's
        preconditioner and turns to the approximate Cholesky factorisation when the shape of the
        graph or the first steps show that Jacobi is slow.
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
    >>> from beltrami import solve
    >>> from beltrami.graph.families import path
    >>> solve(path(3), [1.0, 0.0, -1.0]).values.ravel().round(9).tolist()
    [1.0, 0.0, -1.0]
    """
    check_choice(solver, _SOLVERS, name="solver")
    check_choice(kind, KINDS[:2], name="kind")
    check_positive(tol, name="tol")
    block = _right_hand_sides(right, graph.n_nodes)
    problem = LinearProblem.of(graph, kind=kind, shift=shift, fixed=fixed)
    reduced = problem.reduce(block)
    seed = int(generator(0 if random_state is None else random_state).integers(2**31 - 1))
    solution, name = _choose_and_solve(problem, reduced, solver, tol=tol, seed=seed)
    errors = np.maximum(solution.errors, _representation_errors(problem, reduced, solution.values))
    n_missed = int((~(errors <= tol)).sum())
    if n_missed:
        warnings.warn(
            f"{n_missed} of {len(errors)} systems did not reach the energy-norm tolerance "
            f"{tol:.1e} in {solution.iterations} steps (the worst is at {errors.max():.1e}). "
            "Loosen tol, or add a small shift if the graph is nearly disconnected.",
            ConvergenceWarning,
            stacklevel=2,
        )
    values = problem.expand(solution.values)
    return Solution(values, solution.iterations, errors, n_missed == 0, name)


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


def _choose_and_solve(
    problem: LinearProblem, right: FloatMatrix, solver: str, *, tol: float, seed: int
) -> tuple[ApproximateSolution, str]:
    """Factorise or iterate, and name the method; "auto" iterates where the factors fail."""
    if solver == "direct":
        return _direct(problem, right), "direct"
    if solver == "auto" and len(problem.free) <= _DIRECT_NODES:
        try:
            solution = _direct(problem, right)
        except SolverError:
            pass
        else:
            if solution.errors.max() <= tol:
                return solution, "direct"
    return _iterate(problem, right, solver, tol=tol, seed=seed)


def _iterate(
    problem: LinearProblem, right: FloatMatrix, solver: str, *, tol: float, seed: int
) -> tuple[ApproximateSolution, str]:
    """Run conjugate gradients in a cache-friendly order and in units where B is of order one."""
    order = cache_order(problem.matrix.weights)
    near, units = problem.matrix.permute(order), _units(right)
    block = np.ascontiguousarray(right[order] / units)
    with track("solving linear systems", total=1.0) as advance:
        descend = partial(
            conjugate_gradients,
            near,
            block,
            tol=tol,
            max_iter=_MAX_ITER,
            backend=NumpyBackend(),
            progress=advance,
        )
        name, solution = "jacobi", None
        if solver == "jacobi" or (solver == "auto" and not _is_slow_for_jacobi(near)):
            patience = _PATIENCE if solver == "auto" else None
            solution = descend(Jacobi.of(near), patience=patience)
        if solution is None or (solver == "auto" and not solution.errors.max() <= tol):
            factor = ApproximateCholesky.of(near, seed=seed)
            name, solution = "cholesky", descend(factor)
    values = np.empty_like(solution.values)
    values[order] = solution.values * units
    return ApproximateSolution(values, solution.errors, solution.iterations), name


def _is_slow_for_jacobi(matrix: GroundedLaplacian) -> bool:
    """Tell without a step that Jacobi will need many: a long graph that little ties down.

    A step carries information one edge further, and a graph whose nodes, in a good order, are
    joined only to near ones is about n / bandwidth edges long.
    """
    n = len(matrix.ground)
    rows = np.repeat(np.arange(n), np.diff(matrix.weights.indptr))
    bandwidth = int(np.abs(rows - matrix.weights.indices).max(initial=0))
    is_loose = matrix.ground.sum() < _LOOSE * matrix.diagonal.sum()
    return bool(is_loose and bandwidth * _LONG < n)


def _units(right: FloatMatrix) -> FloatVector:
    """Return the power of two below the largest entry of each column, one for a zero column."""
    largest = np.abs(right).max(axis=0)
    return np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))))


def _direct(problem: LinearProblem, right: FloatMatrix) -> ApproximateSolution:
    """Solve by a sparse factorisation; floating components are tied to ground at one row each.

    Refinement follows, with products that keep what rounding took from the factorised diagonal;
    the energy of the last correction is the estimate of the error.
    """
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    system, tied = problem.matrix, problem.matrix.diagonal
    require_address_space(SCRATCH_BYTES, what=f"the sparse factorisation of {len(tied)} rows")
    # Any solution will do: its part along the null vector is removed afterwards.
    numbers, anchors = np.unique(problem.null.membership, return_index=True)
    anchors = anchors[numbers >= 0]
    tied[anchors] += np.where(tied[anchors] > 0, tied[anchors], 1.0)
    try:
        factor = splu(csc_array(diags_array(tied) - system.weights))
    except RuntimeError as error:
        raise SolverError(
            f"the sparse factorisation of {len(tied)} rows failed ({error}): weights or shifts are "
            "too small next to others for it. Pass solver='cholesky', which never forms the "
            "diagonal, or a larger shift."
        ) from error
    backend, image, correction = NumpyBackend(), np.zeros_like(right), np.empty_like(right)
    values, errors = np.zeros_like(right), np.full(right.shape[1], np.inf)
    for _ in range(_REFINEMENTS):
        backend.grounded_product(system, values, image)
        correction[:] = np.reshape(factor.solve(right - image), right.shape)
        values += correction
        backend.grounded_product(system, correction, image)
        wrong = np.einsum("ij,ij->j", correction, image)
        energy = np.einsum("ij,ij->j", values, right)
        errors = np.sqrt(np.maximum(wrong, 0.0) / np.where(energy > 0, energy, 1.0))
        if errors.max() <= _EXACT:
            break
    return ApproximateSolution(values, errors, 0)


def _representation_errors(
    problem: LinearProblem, right: FloatMatrix, values: FloatMatrix
) -> FloatVector:
    """Return the relative energy of rounding the solution's entries: no solver can do better."""
    energy = np.einsum("ij,ij->j", values, right)
    noise = np.einsum("i,ij,ij->j", problem.matrix.diagonal, values, values)
    share = noise / np.where(energy > 0, energy, np.inf)
    return np.asarray(np.finfo(np.float64).eps / 2 * np.sqrt(share))
