"""Approximate inverses of grounded Laplacians: what makes conjugate gradients short.

Each is a frozen object with one verb, ``apply(residual, out)``. Jacobi costs nothing to set up and
suffices on graphs that mix fast; the approximate Cholesky factorisation takes about a second per
million edges and then needs 17 to 29 steps on graphs of every kind tried.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.backend import Backend, GroundedLaplacian
from beltrami.core.types import FloatMatrix, FloatVector

_COPIES = 2
"""Parts into which an edge is split before sampling; see docs/decisions/0005."""


class Preconditioner(Protocol):
    """An approximate inverse."""

    def apply(self, residual: Any, out: Any) -> None:
        """Overwrite `out` with the approximate inverse times `residual`."""


@dataclass(frozen=True, slots=True, eq=False)
class Jacobi:
    """Division by the diagonal, on any device."""

    inverse: Any
    backend: Backend

    @classmethod
    def of(cls, matrix: GroundedLaplacian, backend: Backend) -> "Jacobi":
        """Invert the diagonal; zero stays zero."""
        diagonal = matrix.diagonal
        inverse = np.zeros_like(diagonal)
        np.divide(1.0, diagonal, out=inverse, where=diagonal > 0)
        return cls(backend.vector(inverse, np.float64), backend)

    def apply(self, residual: Any, out: Any) -> None:
        """Divide each row by its diagonal entry."""
        self.backend.scale_rows(residual, self.inverse, out)


@dataclass(frozen=True, slots=True, eq=False)
class ApproximateCholesky:
    r"""A sampled Cholesky factorisation, :math:`A \approx P' L D L' P`.

    Nodes are eliminated in order of current degree; the clique of fill edges that exact
    elimination would add is replaced by a random tree with the same expectation [KyngSachdeva16]_,
    [GaoKyngSpielman23]_. With two copies the factor has 2 to 5 times the entries of A on the graphs
    tried.

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

    @classmethod
    def of(
        cls, matrix: GroundedLaplacian, *, seed: int, copies: int = _COPIES
    ) -> "ApproximateCholesky":
        """Factorise; the same seed gives the same factor.

        More copies, the parts of each edge, mean more fill and fewer steps.
        """
        from beltrami.solvers import _loops

        weights = matrix.weights
        return cls(
            *_loops.approximate_cholesky(
                weights.indptr, weights.indices, weights.data, matrix.ground, copies, seed
            )
        )

    def apply(self, residual: FloatMatrix, out: FloatMatrix) -> None:
        """Solve with the factor."""
        from beltrami.solvers.linear import _loops

        _loops.apply_factor(
            self.order, self.starts, self.rows, self.values, self.pivots, residual, out
        )
