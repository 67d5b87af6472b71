"""The null vectors of a Laplacian, known before any arithmetic: one per connected component.

A graph's components enter; what leaves projects their null vectors out of blocks. Eigenproblems
deflate with it, singular linear systems choose one solution of many by it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.machine.backend import PROCESSOR, Backend
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector


@dataclass(frozen=True, slots=True, eq=False)
class NullSpace:
    """Orthonormal null vectors with disjoint supports, one per component, held as one vector.

    Attributes
    ----------
    membership : ndarray of shape (n,)
        Component of each node; -1 for a node that lies in the support of none.
    profile : ndarray of shape (n,)
        Value of its component's null vector at each node; zero outside.
    n_components : int
        Number of null vectors.
    """

    membership: NDArray[np.int32]
    profile: FloatVector
    n_components: int

    @classmethod
    def of(cls, membership: NDArray[np.int32], shape: FloatVector) -> "NullSpace":
        """Normalise `shape`, the null vectors up to their lengths, on each component."""
        inside = membership >= 0
        count = int(membership.max(initial=-1)) + 1
        squares = np.bincount(membership[inside], weights=shape[inside] ** 2, minlength=count)
        profile = np.zeros(len(shape))
        profile[inside] = shape[inside] / np.sqrt(squares[membership[inside]])
        return cls(membership, profile, count)

    def coefficients(self, block: FloatMatrix) -> FloatMatrix:
        """Return the inner product of each null vector with each column, one row per vector."""
        return np.asarray(self._matrix().astype(block.dtype).T @ block)

    def project_out(self, block: Any, backend: Backend = PROCESSOR) -> None:
        """Subtract from each column its part in the null space, in place; O(n) per column.

        The block is one of the backend's.
        """
        if self.n_components == 0:
            return
        if self.n_components == 1:
            profile = backend.vector(self.profile, block.dtype)[:, None]
            block -= profile * (profile.T @ block)
            return
        matrix = self._matrix()
        block -= backend.sparse_product(matrix, backend.sparse_product(matrix.T, block))

    def vectors(self, count: int) -> FloatMatrix:
        """Return the null vectors of the `count` largest components, or of all, as dense columns.

        Components of equal size come in the order of their numbers.
        """
        sizes = np.bincount(self.membership[self.membership >= 0], minlength=self.n_components)
        chosen = np.argsort(-sizes, kind="stable")[:count]
        columns = np.zeros((len(self.membership), len(chosen)))
        for column, component in enumerate(chosen):
            rows = self.membership == component
            columns[rows, column] = self.profile[rows]
        return columns

    def permute(self, order: NDArray[np.intp]) -> "NullSpace":
        """Return the null space with the nodes taken in `order`, a permutation."""
        return NullSpace(self.membership[order], self.profile[order], self.n_components)

    def _matrix(self) -> CsrMatrix:
        """Return the null vectors as the columns of a sparse array with one entry per row."""
        n = len(self.profile)
        columns = np.maximum(self.membership, 0)  # the entry is zero where there is no component
        return csr_array((self.profile, columns, np.arange(n + 1)), shape=(n, self.n_components))
