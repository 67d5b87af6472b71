"""The eigenproblem as the methods see it: a symmetric matrix and its known null vectors.

A Laplacian has one zero eigenvalue per connected component, and its eigenvector is known. These
vectors are projected out, never computed: single-vector Lanczos misses repeated eigenvalues, and
thirty zeros would cost any method thirty vectors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.backend import SplitMatrix
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import spectral_bound, split_laplacian
from beltrami.solvers.nullspace import NullSpace

ROUNDING = 1e-13
"""Residual, relative to the spectral bound, below which float64 products cannot be trusted."""


@dataclass(frozen=True, slots=True, eq=False)
class EigenProblem:
    """Find the lowest eigenvectors of `matrix` outside `null`.

    Attributes
    ----------
    matrix : SplitMatrix
        Symmetric, positive semi-definite.
    null : NullSpace
        Its null vectors.
    bound : float
        No eigenvalue is larger.
    """

    matrix: SplitMatrix
    null: NullSpace
    bound: float

    @classmethod
    def of(cls, graph: Graph, kind: str) -> "EigenProblem":
        """Set up the combinatorial or the normalised problem of a graph."""
        matrix = split_laplacian(graph, kind)
        _, membership = graph.components()
        shape = np.ones(graph.n_nodes)
        if kind == "normalized":
            degrees = graph.degrees
            shape = np.where(degrees > 0, np.sqrt(degrees), 1.0)
        return cls(matrix, NullSpace.of(membership, shape), spectral_bound(matrix))

    def permute(self, order: NDArray[np.intp]) -> "EigenProblem":
        """Return the problem with the nodes taken in `order`, a permutation."""
        return EigenProblem(self.matrix.permute(order), self.null.permute(order), self.bound)

    def scale(self, factor: float) -> "EigenProblem":
        """Return the problem whose eigenvalues are `factor` times these.

        A power of two loses nothing.
        """
        weights = self.matrix.weights.copy()
        weights.data = weights.data * factor
        matrix = SplitMatrix(self.matrix.diagonal * factor, weights)
        return EigenProblem(matrix, self.null, self.bound * factor)


@dataclass(frozen=True, slots=True, eq=False)
class Eigenpairs:
    """What a method returns: the lowest pairs outside the null space.

    Attributes
    ----------
    values : ndarray of shape (q,)
        Ascending.
    vectors : ndarray of shape (n, q)
        Orthonormal, orthogonal to the null space.
    iterations : int
        Rounds.
    """

    values: FloatVector
    vectors: FloatMatrix
    iterations: int

    def with_vectors(self, vectors: FloatMatrix) -> "Eigenpairs":
        """Return the same values with other vectors."""
        return Eigenpairs(self.values, vectors, self.iterations)
