"""Approximate inverses of A = diag(d) - W: what makes conjugate gradients short.

Each is a frozen object with one verb, ``apply(residual, out)``. Jacobi costs nothing to set up and
suffices on graphs that mix fast; the approximate Cholesky factorisation takes a second per few
million edges and keeps the number of steps near twenty on any graph.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beltrami.core.backend import SplitMatrix
from beltrami.core.types import FloatMatrix, FloatVector

COPIES = 2
"""Parts into which an edge is split before sampling; see docs/decisions/0005."""


class Preconditioner(Protocol):
    """An approximate inverse."""

    @property
    def name(self) -> str:
        """What the solution calls it."""

    def apply(self, residual: FloatMatrix, out: FloatMatrix) -> None:
        """Overwrite `out` with the approximate inverse times `residual`."""


@dataclass(frozen=True, slots=True, eq=False)
class Jacobi:
    """Division by the diagonal."""

    inverse: FloatMatrix
    name: str = "jacobi"

    @classmethod
    def of(cls, matrix: SplitMatrix) -> "Jacobi":
        """Invert the diagonal; zero stays zero."""
        inverse = np.zeros_like(matrix.diagonal)
        np.divide(1.0, matrix.diagonal, out=inverse, where=matrix.diagonal > 0)
        return cls(inverse[:, None])

    def apply(self, residual: FloatMatrix, out: FloatMatrix) -> None:
        """Divide each row by its diagonal entry."""
        np.multiply(residual, self.inverse, out=out)


@dataclass(frozen=True, slots=True, eq=False)
class ApproximateCholesky:
    r"""A sampled Cholesky factorisation, :math:`A \approx P' L D L' P`.

    Nodes are eliminated in order of current degree; the clique of fill edges that exact
    elimination would add is replaced by a random tree with the same expectation [KyngSachdeva16]_,
    [GaoKyngSpielman23]_. The factor has 1.5 to 5 times the entries of A, whatever the graph.

    Attributes
    ----------
    order : ndarray of shape (n,)
        Node eliminated at each position.
    starts, rows, values : ndarray
        Columns of -L below the diagonal, by position.
    pivots : ndarray of shape (n,)
        D; zero for the last node of a component that nothing ties down.
    """

    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: FloatVector
    pivots: FloatVector
    name: str = "cholesky"

    @classmethod
    def of(cls, matrix: SplitMatrix, *, seed: int, copies: int = COPIES) -> "ApproximateCholesky":
        """Factorise.

        Parameters
        ----------
        matrix : SplitMatrix
            diag(d) - W with d_i >= sum_j w_ij: what d exceeds the row sum by is an edge to ground.
        seed : int
            Of the sampling; the same seed gives the same factor.
        copies : int, default=2
            Parts per edge: more parts, more fill, fewer steps.

        Returns
        -------
        ApproximateCholesky
            The factor.
        """
        from beltrami.solvers import _kernels

        weights = matrix.weights
        sums = np.asarray(weights.sum(axis=1)).ravel()
        excess = matrix.diagonal - sums
        # What is left of a row sum after rounding is not an edge to ground.
        ground = np.where(excess > 4e-16 * np.diff(weights.indptr) * matrix.diagonal, excess, 0.0)
        return cls(
            *_kernels.approximate_cholesky(
                weights.indptr, weights.indices, weights.data, ground, copies, seed
            )
        )

    def apply(self, residual: FloatMatrix, out: FloatMatrix) -> None:
        """Solve with the factor."""
        from beltrami.solvers import _kernels

        _kernels.apply_factor(
            self.order, self.starts, self.rows, self.values, self.pivots, residual, out
        )
