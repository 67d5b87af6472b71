"""Kernel ridge regression of a few rows, for every strength and with every row left out.

A kernel between labelled rows, targets and weights enter; multipliers, intercepts and exact
leave-one-out predictions leave, for any strength from one eigendecomposition.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.solvers.least_squares import HeldOut


@dataclass(frozen=True, slots=True, eq=False)
class KernelRidgePath:
    r"""Solutions of kernel ridge regression for every strength.

    Minimises :math:`\sum_i w_i (y_i - f_i)^2 + \lambda \lVert f \rVert_K^2` over
    :math:`f = K c + b`, where b is zero without an intercept and else not penalised.

    Attributes
    ----------
    left, right : ndarray of shape (l, r) and (r, l)
        K as a product: the kernel itself and the identity, or a factor and its transpose.
    roots : ndarray of shape (l,)
        Roots of the weights.
    free : ndarray of shape (l,)
        The intercept's direction, of length one, or zeros.
    values : ndarray of shape (q,)
        Eigenvalues of the weighted kernel outside that direction; not negative.
    vectors : ndarray of shape (l, q)
        Its eigenvectors there: all of them, or those that a factor of lower rank has.
    """

    left: FloatMatrix
    right: FloatMatrix | None
    roots: FloatVector
    free: FloatVector
    values: FloatVector
    vectors: FloatMatrix

    @classmethod
    def of(cls, kernel: FloatMatrix, weights: FloatVector, *, intercept: bool) -> "KernelRidgePath":
        """Decompose a kernel, (l, l)."""
        roots, free = _directions(weights, intercept=intercept)
        inner = _outside(free, _outside(free, kernel * roots[:, None] * roots).T)
        values, vectors = eigh((inner + inner.T) / 2, overwrite_a=True, check_finite=False)
        return cls(kernel, None, roots, free, np.maximum(values, 0.0), _inside(free, vectors))

    @classmethod
    def of_factor(
        cls, factor: FloatMatrix, weights: FloatVector, *, intercept: bool
    ) -> "KernelRidgePath":
        """Decompose a kernel FF', F of shape (l, r) with r < l, in O(l r^2)."""
        roots, free = _directions(weights, intercept=intercept)
        inner = _outside(free, factor * roots[:, None])
        vectors, sizes, _ = svd(inner, full_matrices=False, check_finite=False)
        return cls(factor, factor.T, roots, free, sizes**2, _inside(free, vectors))

    def multipliers(self, targets: FloatMatrix, strength: float) -> tuple[FloatMatrix, FloatVector]:
        """Return the multipliers, (l, k), and intercepts, (k,), of one strength."""
        scaled = self.roots[:, None] * targets
        scaled -= np.outer(self.free, self.free @ scaled)
        along = self.vectors.T @ scaled
        rest = self.vectors @ (along / (self.values + strength)[:, None])
        if self.right is not None:  # what no eigenvector reaches is left to the residual
            rest += (scaled - self.vectors @ along) / strength
        rest -= np.outer(self.free, self.free @ rest)
        multipliers: FloatMatrix = self.roots[:, None] * rest
        if not self.free.any():
            return multipliers, np.zeros(targets.shape[1])
        inner = multipliers if self.right is None else self.right @ multipliers
        left, weights = targets - self.left @ inner, self.roots**2
        return multipliers, np.asarray(weights @ left / weights.sum())

    def held_out(self, targets: FloatMatrix, strength: float) -> HeldOut:
        """Return what each row is predicted to be by the others, for one strength.

        The strength stays as it is when a row is left out.
        """
        scaled = self.roots[:, None] * targets
        scaled -= np.outer(self.free, self.free @ scaled)
        # Residuals and what leverage leaves, not one minus the other: under a weak penalty both
        # are small.
        damped = strength / (self.values + strength)
        along = self.vectors.T @ scaled
        residuals = self.vectors @ (damped[:, None] * along)
        room = self.vectors**2 @ damped
        if self.right is not None:
            residuals += scaled - self.vectors @ along
            room += np.maximum(1 - self.free**2 - (self.vectors**2).sum(axis=1), 0.0)
        is_predicted = room > np.finfo(np.float64).eps * damped.min(initial=1.0)
        lengths = (np.where(is_predicted, room, 1.0) * self.roots)[:, None]
        return HeldOut(targets - residuals / lengths, is_predicted)


def _directions(weights: FloatVector, *, intercept: bool) -> tuple[FloatVector, FloatVector]:
    roots = np.sqrt(weights)
    free = roots / np.linalg.norm(roots) if intercept else np.zeros_like(roots)
    return roots, free


def _mirror(free: FloatVector) -> FloatVector:
    """Return the unit vector whose reflection takes the intercept's direction to the first axis."""
    mirror = free.copy()
    mirror[0] += 1.0 if mirror[0] >= 0 else -1.0
    return np.asarray(mirror / np.linalg.norm(mirror))


def _outside(free: FloatVector, matrix: FloatMatrix) -> FloatMatrix:
    """Return the rows of a matrix in coordinates outside the intercept's direction."""
    if not free.any():
        return matrix
    mirror = _mirror(free)
    return np.asarray(matrix - 2 * np.outer(mirror, mirror @ matrix))[1:]


def _inside(free: FloatVector, vectors: FloatMatrix) -> FloatMatrix:
    """Return vectors in those coordinates as vectors over all rows."""
    if not free.any():
        return vectors
    mirror, padded = _mirror(free), np.vstack([np.zeros((1, vectors.shape[1])), vectors])
    return np.asarray(padded - 2 * np.outer(mirror, mirror @ padded))
