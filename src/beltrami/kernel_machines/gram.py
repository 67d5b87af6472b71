"""A kernel tied to the points of a fit, and what a kernel's matrix must be."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points
from beltrami.kernel_machines.kernels import Kernel, PrecomputedKernel

_NEGATIVE = 1e-6
"""Share of the largest eigenvalue below which a negative one is taken for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Gram:
    """A kernel tied to the points of a fit: any block of its n x n matrix, and rows of new points.

    Attributes
    ----------
    kernel : Kernel
        The similarity.
    points : ndarray or csr_array of shape (n, d)
        The points; for a precomputed kernel the matrix itself.
    """

    kernel: Kernel
    points: Points

    @property
    def n_points(self) -> int:
        """Number of points of the fit."""
        return int(self.points.shape[0])

    def among(
        self, rows: IndexVector, columns: IndexVector, *, is_double: bool = False
    ) -> FloatMatrix:
        """Return k(x_i, x_j) for the given rows i and columns j, float64 where asked."""
        if isinstance(self.kernel, PrecomputedKernel):
            matrix: FloatMatrix = np.asarray(self.points, dtype=np.float64)
            return np.asarray(matrix[np.ix_(rows, columns)])
        left, right = self.points[rows], self.points[columns]
        if is_double:
            left, right = left.astype(np.float64), right.astype(np.float64)
        return self.kernel.between(left, right)

    def whole(self) -> FloatMatrix:
        """Return the n x n matrix in float64, in an array of its own, symmetric to rounding."""
        double = self.points.astype(np.float64)
        matrix = self.kernel.between(double, double)
        if not self.kernel.is_surely_psd:
            matrix = (matrix + matrix.T) / 2
        return matrix

    def at(self, new: Points, columns: IndexVector) -> FloatMatrix:
        """Return k(x, x_j) for new points x and the given columns j."""
        if isinstance(self.kernel, PrecomputedKernel):
            held: FloatMatrix = np.asarray(new, dtype=np.float64)
            return np.asarray(held[:, columns])
        return self.kernel.between(new, self.points[columns])

    def diagonal(self) -> FloatVector:
        """Return k(x_i, x_i) for all points of the fit."""
        return self.kernel.diagonal(self.points)


def check_precomputed(matrix: Any) -> None:
    """Raise unless a precomputed kernel is dense, square and symmetric."""
    if issparse(matrix):
        raise InvalidInputError("a precomputed kernel must be a dense array, not a sparse one.")
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInputError(
            f"Precomputed metric requires shape (n_queries, n_indexed): the kernel has shape "
            f"{matrix.shape} and fit needs a square one, k(x_i, x_j) for all pairs of rows. For "
            "points, pass a kernel by name."
        )
    scale = float(np.abs(matrix).max(initial=0.0))
    gap = float(np.abs(matrix - matrix.T).max(initial=0.0))
    if gap > 1e-6 * scale:
        raise InvalidInputError(
            f"the precomputed kernel is not symmetric: k(x, y) and k(y, x) differ by up to "
            f"{gap:.3g} where the largest entry is {scale:.3g}. Give k + k.T over two if the "
            "difference is noise."
        )


def check_psd(block: FloatMatrix) -> None:
    """Raise when a symmetric block of a kernel shows that it is not positive semi-definite.

    A negative eigenvalue of k between some of the points proves one of the whole.
    """
    values = np.linalg.eigvalsh(block.astype(np.float64))
    if values[0] < -_NEGATIVE * max(abs(values[-1]), np.finfo(np.float64).tiny):
        raise InvalidInputError(
            f"the kernel is not positive semi-definite: on {len(values)} of the points its "
            f"eigenvalues run from {values[0]:.3g} to {values[-1]:.3g}, and none may be negative, "
            "or the problem has no minimum. Use a Mercer kernel (rbf, linear, poly with coef0 >= "
            "0, cosine), or clip the negative eigenvalues of a precomputed one."
        )
