"""Neighbour probabilities of many points under one wide kernel: a product of features, never n x n.

Where everyone is everyone's neighbour, the kernel matrix has low rank, and products with it cost
O(n m) for m landmarks. What the product gets wrong is measured on exact rows.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.types import FloatMatrix, FloatVector, Points
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.kernels import RbfKernel
from beltrami.kernel_machines.landmarks import NystromFeatures, spread_rows

_LANDMARKS = (400, 800, 1600)
_TOLERANCE = 0.02
_ROWS = 200
_BLOCK = 8192


@dataclass(frozen=True, slots=True, eq=False)
class FactoredNeighborhood:
    """P from features whose inner products are the kernel.

    Attributes
    ----------
    features : ndarray of shape (n, m)
        Phi, float32.
    totals : ndarray of shape (n,)
        What the rows of the kernel sum to, the diagonal left out.
    diagonal : ndarray of shape (n,)
        What the features say of k(x, x).
    entropy : float
        Sum of the entropies of the rows of P, from exact rows.
    error : float
        Relative error of P times smooth functions, on exact rows.
    """

    features: FloatMatrix
    totals: FloatVector
    diagonal: FloatVector
    entropy: float
    error: float

    @classmethod
    def of(cls, points: Points, width: float) -> "FactoredNeighborhood":
        """Take as many landmarks as it needs to be right to two per cent."""
        gram, n = Gram(RbfKernel(width), points), points.shape[0]
        random = np.random.default_rng(0)
        for size in _LANDMARKS:
            require_memory(
                4.0 * n * size,
                what=f"{size} features of {n} points",
                instead="Use mode='practical', which keeps near pairs only.",
            )
            landmarks = spread_rows(n, np.zeros(0, dtype=np.intp), min(size, n), random)
            features = _features(NystromFeatures.of(gram, landmarks, tol=1e-7), n)
            neighborhood = _measure(features, gram, random)
            if neighborhood.error <= _TOLERANCE:
                return neighborhood
        raise InvalidInputError(
            f"{_LANDMARKS[-1]} landmarks leave an error of {neighborhood.error:.1%} in the "
            f"neighbour probabilities of {n} points, above {_TOLERANCE:.0%}: the kernel is too "
            "narrow for this form. Use mode='practical', which keeps near pairs only."
        )

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.features)

    @property
    def pull(self) -> FloatVector:
        """Row sums of P + P'."""
        column_sums: FloatVector = self._multiply_transposed(np.ones((self.n_points, 1))).ravel()
        return 1 + column_sums

    def multiply(self, values: FloatMatrix) -> FloatMatrix:
        """Return (P + P') times a matrix with one row per point."""
        forward = self._multiply_kernel(values) / self.totals[:, None]
        product: FloatMatrix = forward + self._multiply_transposed(values)
        return product

    def _multiply_transposed(self, values: FloatMatrix) -> FloatMatrix:
        return self._multiply_kernel(values / self.totals[:, None])

    def _multiply_kernel(self, values: FloatMatrix) -> FloatMatrix:
        """Return K times values, without its diagonal."""
        narrow = values.astype(self.features.dtype)
        product = (self.features @ (self.features.T @ narrow)).astype(np.float64)
        product -= self.diagonal[:, None] * values
        return product


def _features(maps: NystromFeatures, n: int) -> FloatMatrix:
    features = np.empty((n, maps.n_features), dtype=np.float32)
    for start in range(0, n, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, n))
        features[rows] = maps.of_rows(rows)
    return features


def _measure(
    features: FloatMatrix, gram: Gram, random: np.random.Generator
) -> FactoredNeighborhood:
    """Make P of features, and measure it on exact rows: its entropy, and its error."""
    diagonal = np.einsum("ij,ij->i", features, features).astype(np.float64)
    sums = features.sum(axis=0, dtype=np.float64).astype(np.float32)
    totals = (features @ sums).astype(np.float64) - diagonal
    n = len(features)
    rows = np.sort(random.choice(n, size=min(_ROWS, n), replace=False))
    exact = gram.among(rows, np.arange(n)).astype(np.float64)
    exact[np.arange(len(rows)), rows] = 0.0
    sums_of_rows = exact.sum(axis=1, keepdims=True)
    if not (sums_of_rows > 0).all():
        return FactoredNeighborhood(features, np.ones(n), diagonal, 0.0, 1.0)
    exact /= sums_of_rows
    entropy = -float(xlogy(exact, exact).sum(axis=1).mean()) * n
    draft = FactoredNeighborhood(features, np.maximum(totals, 1e-12), diagonal, entropy, np.inf)
    smooth = np.asarray(gram.points @ random.standard_normal((gram.points.shape[1], 8)))
    smooth = smooth - smooth.mean(axis=0)
    right = exact @ smooth
    ours = (draft._multiply_kernel(smooth) / draft.totals[:, None])[rows]
    error = float(np.linalg.norm(ours - right) / np.linalg.norm(right))
    return FactoredNeighborhood(features, draft.totals, diagonal, entropy, error)
