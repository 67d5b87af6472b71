"""A linear system made ready once: its order, its factors, and solutions that come after another.

What right-hand sides need is worked out when the first of them comes and kept for the next: the
order of the nodes, the sparse factorisation of a small system, the approximate one of a large one.
"""

import warnings
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import ConvergenceWarning, InvalidInputError, SolverError
from beltrami.core.machine.backend import PROCESSOR, Backend, GroundedLaplacian
from beltrami.core.machine.device import backend_for, on_device
from beltrami.core.machine.memory import SCRATCH_BYTES, require_address_space
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.solvers.linear.gradients import ApproximateSolution, conjugate_gradients
from beltrami.solvers.linear.preconditioners import ApproximateCholesky, Jacobi
from beltrami.solvers.linear.problem import LinearProblem
from beltrami.solvers.model import Solution
from beltrami.solvers.ordering import cache_order

_DIRECT_NODES, _DIRECT_DEGREE = 4096, 32
"""Nodes, and entries a row, up to which a sparse factorisation is the shortest way: that of 4,096
images takes 0.2 s; the compiler of the approximate one 20, where it has not seen it before."""

_SURELY_DIRECT = 1000
"""Nodes up to which it is, whatever the entries."""

_MAX_ITER = 20_000
_REFINEMENTS = 6  # of a direct solution, at most
_EXACT = 1e-12  # relative error at which they end
_LONG = 20  # edges from end to end above which Jacobi is slow
_LOOSE = 1e-3  # share of ground in the diagonal below which nothing ties a graph down
_STEPS = 100  # of Jacobi, where it is tried: what a device may save
_PATIENCE = 190  # further Jacobi steps above which building the factorisation is the shorter way


class PreparedSystem:
    """A grounded Laplacian system that keeps what was worked out for earlier right-hand sides.

    Parameters
    ----------
    problem : LinearProblem
        The system.
    solver : {"auto", "jacobi", "cholesky", "direct"}
        As in `solve`.
    seed : int
        Of the approximate factorisation.
    """

    def __init__(self, problem: LinearProblem, *, solver: str, seed: int) -> None:
        self.problem, self._solver, self._seed = problem, solver, seed

    def solve(self, right: Any, *, tol: float) -> Solution:
        """Solve for right-hand sides, (n,) or (n, k), to a relative error in the energy norm."""
        problem = self.problem
        reduced = problem.reduce(_right_hand_sides(right, problem.n_nodes))
        solution, name = self._choose_and_solve(reduced, tol=tol)
        rounding = _representation_errors(problem, reduced, solution.values)
        errors = np.maximum(solution.errors, rounding)
        n_missed = int((~(errors <= tol)).sum())
        if n_missed:
            warnings.warn(
                f"{n_missed} of {len(errors)} systems did not reach the energy-norm tolerance "
                f"{tol:.1e} in {solution.iterations} steps (the worst is at {errors.max():.1e}). "
                "Loosen tol, or add a small shift if the graph is nearly disconnected.",
                ConvergenceWarning,
                stacklevel=3,
            )
        values = problem.expand(solution.values)
        return Solution(values, solution.iterations, errors, n_missed == 0, name)

    def _choose_and_solve(
        self, right: FloatMatrix, *, tol: float
    ) -> tuple[ApproximateSolution, str]:
        """Factorise or iterate, and name the method; "auto" iterates where the factors fail."""
        if self._solver == "direct":
            return self._refine(right), "direct"
        if self._solver == "auto" and self._is_direct:
            try:
                solution = self._refine(right)
            except SolverError:
                pass
            else:
                if solution.errors.max() <= tol:
                    return solution, "direct"
        return self._iterate(right, tol=tol)

    def __getstate__(self) -> dict[str, Any]:
        # Factors are worked out again: they are large, and sparse ones cannot be copied at all.
        return {name: vars(self)[name] for name in ("problem", "_solver", "_seed")}

    @property
    def _is_direct(self) -> bool:
        weights = self.problem.matrix.weights
        n = weights.shape[0]
        is_sparse = bool(weights.nnz <= _DIRECT_DEGREE * n)
        return n <= _SURELY_DIRECT or (n <= _DIRECT_NODES and is_sparse)

    @cached_property
    def _order(self) -> NDArray[Any]:
        return cache_order(self.problem.matrix.weights)

    @cached_property
    def _near(self) -> GroundedLaplacian:
        """The system in an order that is kind to the cache."""
        return self.problem.matrix.permute(self._order)

    @cached_property
    def _cholesky(self) -> ApproximateCholesky:
        return ApproximateCholesky.of(self._near, seed=self._seed)

    @cached_property
    def _is_for_jacobi(self) -> bool:
        return self._solver == "jacobi" or (
            self._solver == "auto" and not _is_slow_for_jacobi(self._near)
        )

    def _iterate(self, right: FloatMatrix, *, tol: float) -> tuple[ApproximateSolution, str]:
        """Run conjugate gradients in units where B is of order one."""
        order, units = self._order, _units(right)
        block = np.ascontiguousarray(right[order] / units)
        with track("solving linear systems", total=1.0) as advance:
            descend = partial(
                conjugate_gradients, self._near, tol=tol, max_iter=_MAX_ITER, progress=advance
            )
            name, solution = "jacobi", None
            if self._is_for_jacobi:
                patience = _PATIENCE if self._solver == "auto" else None
                solution = self._by_jacobi(block, partial(descend, patience=patience))
            if solution is None or (self._solver == "auto" and not solution.errors.max() <= tol):
                name = "cholesky"
                solution = descend(block, self._cholesky, backend=PROCESSOR)
                self._is_for_jacobi = False  # the factors are there now
        values = np.empty_like(solution.values)
        values[order] = solution.values * units
        return ApproximateSolution(values, solution.errors, solution.iterations), name

    def _by_jacobi(self, block: FloatMatrix, descend: Any) -> ApproximateSolution:
        """Iterate with the diagonal on the device that is chosen: no step waits for another row."""
        matrix, n_columns = self._near, block.shape[1]
        n_entries = matrix.weights.nnz + 10.0 * len(block)

        def work(backend: Backend) -> ApproximateSolution:
            solution: ApproximateSolution = descend(
                block, Jacobi.of(matrix, backend), backend=backend
            )
            return solution

        # Six blocks, edges with their ends, and the differences along them for one column.
        n_bytes = 48.0 * (block.size + matrix.weights.nnz)
        backend = backend_for(2.0 * _STEPS * n_columns * n_entries, n_bytes)
        return on_device(backend, work, step="solving linear systems")

    @cached_property
    def _direct(self) -> Any:
        """A sparse factorisation; floating components are tied to ground at one row each."""
        from scipy.sparse import csc_array, diags_array
        from scipy.sparse.linalg import splu

        system, tied = self.problem.matrix, self.problem.matrix.diagonal
        require_address_space(SCRATCH_BYTES, what=f"the sparse factorisation of {len(tied)} rows")
        # Any solution will do: its part along the null vector is removed afterwards.
        numbers, anchors = np.unique(self.problem.null.membership, return_index=True)
        anchors = anchors[numbers >= 0]
        tied[anchors] += np.where(tied[anchors] > 0, tied[anchors], 1.0)
        try:
            matrix = csc_array(diags_array(tied) - system.weights)
            # The diagonal dominates: no pivots but its own, in an order for symmetric matrices.
            return splu(matrix, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise SolverError(
                f"the sparse factorisation of {len(tied)} rows failed ({error}): weights or shifts "
                "are too small next to others for it. Pass solver='cholesky', which never forms "
                "the diagonal, or a larger shift."
            ) from error

    def _refine(self, right: FloatMatrix) -> ApproximateSolution:
        """Solve with the sparse factors, and refine.

        Products keep what rounding took from the factorised diagonal; the energy of the last
        correction is the estimate of the error.
        """
        system, factor = self.problem.matrix, self._direct
        backend, image, correction = PROCESSOR, np.zeros_like(right), np.empty_like(right)
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


def _representation_errors(
    problem: LinearProblem, right: FloatMatrix, values: FloatMatrix
) -> FloatVector:
    """Return the relative energy of rounding the solution's entries: no solver can do better."""
    energy = np.einsum("ij,ij->j", values, right)
    noise = np.einsum("i,ij,ij->j", problem.matrix.diagonal, values, values)
    share = noise / np.where(energy > 0, energy, np.inf)
    return np.asarray(np.finfo(np.float64).eps / 2 * np.sqrt(share))


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
