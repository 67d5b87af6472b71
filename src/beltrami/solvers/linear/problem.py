"""The linear system as the methods see it: a grounded Laplacian and the null vectors left in it.

A graph, a shift and fixed rows enter; shifts and edges to fixed rows become edges to ground, kept
apart from the diagonal because rounding would swallow the weak ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.backend import GroundedLaplacian
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector
from beltrami.graph.model import Graph
from beltrami.solvers.nullspace import NullSpace

_INCONSISTENT = 1e-8  # share of a right-hand side along a null vector that is no rounding
_NOISE = 1e-12  # the same beside its largest entry in other components


@dataclass(frozen=True, slots=True, eq=False)
class LinearProblem:
    r"""Solve (L + G) Y = B on the free rows, G the edges to ground.

    A normalised system is the same system in other units: with x = R y and R the diagonal matrix
    of the roots of the degrees, (R^{-1} L R^{-1} + S) x = b is (L + R S R) y = R b, and the energy
    of y is that of x. So only grounded Laplacians are ever solved, which are diagonally dominant.

    Attributes
    ----------
    matrix : GroundedLaplacian
        L + G.
    null : NullSpace
        In the units of x: one vector per component that nothing ties to ground.
    roots : ndarray of shape (m,)
        R; ones for the combinatorial kind.
    free : ndarray of shape (m,)
        The rows to solve for.
    n_nodes : int
        Rows in all.
    """

    matrix: GroundedLaplacian
    null: NullSpace
    roots: FloatVector
    free: NDArray[np.intp]
    n_nodes: int

    @classmethod
    def of(cls, graph: Graph, *, kind: str, shift: Any, fixed: Any) -> "LinearProblem":
        """Set up (L + diag(shift)) X = B with X = 0 on the `fixed` rows, or say what is wrong."""
        n, weights, roots = graph.n_nodes, graph.weights, np.ones(graph.n_nodes)
        if kind == "normalized":
            degrees = graph.degrees
            roots = np.where(degrees > 0, np.sqrt(degrees), 1.0)
        ground = _shifts(shift, n) * roots**2
        free, held = _split_rows(fixed, n)
        if held.size:
            rows = weights[free]
            weights = rows[:, free]
            ground = ground[free] + np.asarray(rows[:, held].sum(axis=1)).ravel()
        null = NullSpace.of(_floating(weights, ground), roots[free])
        return cls(GroundedLaplacian(weights, ground), null, roots[free], free, n)

    def reduce(self, block: FloatMatrix) -> FloatMatrix:
        """Return the right-hand sides of the grounded system on the free rows, in its range.

        Raises where those of a component without ground do not sum to zero: no solution exists.
        """
        right = np.array(block[self.free], order="C")
        if self.null.n_components:
            _require_consistent(right, self.null)
            self.null.project_out(right)
        return right * self.roots[:, None]

    def expand(self, solution: FloatMatrix) -> FloatMatrix:
        """Return the solution in the user's rows and units, zero on the fixed ones.

        Its part in the null space is taken out.
        """
        values = solution * self.roots[:, None]
        self.null.project_out(values)
        expanded = np.zeros((self.n_nodes, values.shape[1]))
        expanded[self.free] = values
        return expanded


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


def _split_rows(fixed: Any, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the free rows and the fixed ones."""
    numbers = np.asarray([] if fixed is None else fixed)
    if numbers.size and numbers.dtype.kind not in "iu":
        raise InvalidInputError(
            f"fixed must hold row numbers and has dtype {numbers.dtype}. For a mask pass "
            "np.flatnonzero(mask)."
        )
    rows = np.unique(numbers.astype(np.intp))
    if rows.size and (rows[0] < 0 or rows[-1] >= n):
        raise InvalidInputError(
            f"fixed rows must lie in 0 .. {n - 1}; got {rows[0]} .. {rows[-1]}."
        )
    if rows.size == n:
        raise InvalidInputError("every row is fixed, so there is nothing to solve for.")
    return np.setdiff1d(np.arange(n), rows, assume_unique=True), rows


def _floating(weights: CsrMatrix, ground: FloatVector) -> NDArray[np.int32]:
    """Return the number of each node's component among those without ground, -1 for the others."""
    count, membership = connected_components(weights, directed=False)
    grounded = np.zeros(count, dtype=bool)
    grounded[membership[ground > 0]] = True
    numbers = np.where(grounded, -1, np.cumsum(~grounded) - 1)
    return np.asarray(numbers[membership], dtype=np.int32)


def _require_consistent(right: FloatMatrix, null: NullSpace) -> None:
    parts, sizes = np.abs(null.coefficients(right)), null.coefficients(np.abs(right))
    lengths = null.coefficients(np.ones((len(right), 1)))
    largest = np.abs(right).max(axis=0)
    bad = parts > _INCONSISTENT * sizes + _NOISE * lengths * largest
    if bad.any():
        raise InvalidInputError(
            f"the system is singular on {int(bad.any(axis=1).sum())} component(s) of the graph and "
            "the right-hand side does not sum to zero there (weighted by the roots of the degrees "
            "for kind='normalized'), so no solution exists. Subtract its mean on each component, "
            "or pass a shift or a fixed row in each."
        )
