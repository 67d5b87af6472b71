"""The nouns of this layer: a basis and a solution, each with its certificate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """The lowest eigenvectors of a graph Laplacian, with the evidence that they are.

    Attributes
    ----------
    values : ndarray of shape (p,)
        Eigenvalues, ascending.
    vectors : ndarray of shape (n, p)
        Eigenvectors; orthonormal, in the D inner product for ``kind="random_walk"``. The entry of
        largest magnitude of each is positive. float64, or float32 where that was asked for.
    residuals : ndarray of shape (p,)
        Norm of A v - lambda v for each, of the symmetric problem that was solved.
    iterations : int
        Rounds of the solver; 0 where it was direct.
    converged : bool
        Whether every residual met the tolerance.
    kind : str
        "combinatorial", "normalized" or "random_walk".
    solver : str
        "dense", "lanczos", "chebyshev" or "multilevel".
    n_zero : int
        Eigenvalues that are numerically zero. With no near-disconnection it is the number of
        connected components, up to p.
    n_connected : int
        Connected components of the graph.
    orthogonality : float
        Largest ``|V'V z - z|`` over a few random unit vectors z; V of the symmetric problem.

    Examples
    --------
    >>> from beltrami import KnnGraph, circle, eigenbasis
    >>> ring = KnnGraph(2, weights="binary").build(circle(12, spacing="even").points)
    >>> basis = eigenbasis(ring, 3)
    >>> basis.vectors.shape, basis.n_zero, basis.converged
    ((12, 3), 1, True)
    >>> bool(basis.residuals.max() < 1e-12)
    True
    """

    values: FloatVector
    vectors: FloatMatrix
    residuals: FloatVector
    iterations: int
    converged: bool
    kind: str
    solver: str
    n_zero: int
    n_connected: int
    orthogonality: float

    def __repr__(self) -> str:
        n, p = self.vectors.shape
        state = "converged" if self.converged else "NOT converged"
        return (
            f"Basis({p} eigenvectors of {n} nodes, {self.kind}; {self.solver}, {state} in "
            f"{self.iterations} rounds, largest residual {self.residuals.max(initial=0.0):.1e}, "
            f"{self.n_zero} zero eigenvalues for {self.n_connected} components)"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The solution of linear systems, with the evidence that it is one.

    Attributes
    ----------
    values : ndarray of shape (n, k)
        One column per right-hand side.
    iterations : int
        Steps taken by the slowest column; 0 where the solver was direct.
    errors : ndarray of shape (k,)
        Estimated relative error of each column in the energy norm.
    converged : bool
        Whether every error met the tolerance.
    solver : str
        "jacobi", "cholesky" (approximate, with conjugate gradients) or "direct".

    Examples
    --------
    >>> from beltrami import Graph, solve
    >>> path = Graph.from_matrix([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> solution = solve(path, [1.0, 0.0, -1.0])  # a unit current from the first node to the last
    >>> solution.values.ravel().round(9).tolist(), solution.converged
    ([1.0, 0.0, -1.0], True)
    """

    values: FloatMatrix
    iterations: int
    errors: NDArray[np.float64]
    converged: bool
    solver: str

    def __repr__(self) -> str:
        n, k = self.values.shape
        state = "converged" if self.converged else "NOT converged"
        return (
            f"Solution({k} columns of {n}; {self.solver}, {state} in {self.iterations} steps, "
            f"largest error {self.errors.max(initial=0.0):.1e})"
        )
