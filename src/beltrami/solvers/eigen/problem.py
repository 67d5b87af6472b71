"""The eigenproblem as the methods see it: a symmetric matrix and its known null vectors.

A Laplacian has one zero eigenvalue per connected component, and its eigenvector is known. These
vectors are projected out, never computed: single-vector Lanczos misses repeated eigenvalues, and
thirty zeros would cost any method thirty vectors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.backend import SplitMatrix
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import spectral_bound, split_laplacian


@dataclass(frozen=True, slots=True, eq=False)
class NullSpace:
    """Orthonormal null vectors with disjoint supports, one per component, held as one vector.

    Attributes
    ----------
    membership : ndarray of shape (n,)
        Component of each node.
    profile : ndarray of shape (n,)
        Value of its component's null vector at each node.
    n_components : int
        Number of components.
    """

    membership: NDArray[np.int32]
    profile: FloatVector
    n_components: int

    def project_out(self, block: FloatMatrix) -> None:
        """Subtract from each column its part in the null space, in place; O(n) per column."""
        profile = self.profile.astype(block.dtype)[:, None]
        if self.n_components == 1:
            block -= profile * (profile.T @ block)
            return
        order = np.argsort(self.membership, kind="stable")
        starts = np.searchsorted(self.membership[order], np.arange(self.n_components))
        parts = np.add.reduceat((profile * block)[order], starts, axis=0)
        block -= profile * parts[self.membership]

    def vectors(self, count: int) -> FloatMatrix:
        """Return the null vectors of the `count` largest components as dense columns."""
        sizes = np.bincount(self.membership, minlength=self.n_components)
        chosen = np.argsort(-sizes, kind="stable")[:count]
        columns = np.zeros((len(self.membership), len(chosen)))
        for column, component in enumerate(chosen):
            rows = self.membership == component
            columns[rows, column] = self.profile[rows]
        return columns

    def permuted(self, order: NDArray[np.intp]) -> "NullSpace":
        """Return the null space with the nodes taken in `order`."""
        return NullSpace(self.membership[order], self.profile[order], self.n_components)


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
        count, membership = graph.components()
        profile = np.ones(graph.n_nodes)
        if kind == "normalized":
            degrees = graph.degrees
            profile = np.where(degrees > 0, np.sqrt(degrees), 1.0)
        lengths = np.sqrt(np.bincount(membership, weights=profile**2, minlength=count))
        null = NullSpace(membership, profile / lengths[membership], count)
        return cls(matrix, null, spectral_bound(matrix))

    def permuted(self, order: NDArray[np.intp]) -> "EigenProblem":
        """Return the problem with the nodes taken in `order`."""
        return EigenProblem(self.matrix.permuted(order), self.null.permuted(order), self.bound)


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
