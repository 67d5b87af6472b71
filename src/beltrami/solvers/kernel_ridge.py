"""Kernel ridge regression of a few rows, for every strength and with every row left out.

A kernel between labelled rows, targets and weights enter; multipliers, intercepts and exact
leave-one-out predictions leave, for any strength from one eigendecomposition. Part of layer 4.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.solvers.least_squares import HeldOut, held_out_values


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
        Its eigenvectors: all l of them, or those that a factor of lower rank has.
    """

    left: FloatMatrix
    right: FloatMatrix | None
    roots: FloatVector
    free: FloatVector
    values: FloatVector
    vectors: FloatMatrix

    @classmethod
    def of(cls, kernel: FloatMatrix, weights: FloatVector, *, intercept: bool) -> "KernelRidgePath":
        """Decompose a kernel.

        Parameters
        ----------
        kernel : ndarray of shape (l, l)
            Symmetric, positive semi-definite to rounding.
        weights : ndarray of shape (l,)
            How much each row counts; positive.
        intercept : bool
            Whether there is one.

        Returns
        -------
        KernelRidgePath
            Ready for any strength.
        """
        roots, free = _directions(weights, intercept=intercept)
        scaled = kernel * roots[:, None] * roots
        # (I - qq') K (I - qq'), one side after the other.
        scaled -= np.outer(free, free @ scaled)
        scaled -= np.outer(scaled @ free, free)
        values, vectors = eigh((scaled + scaled.T) / 2, overwrite_a=True, check_finite=False)
        return cls(kernel, None, roots, free, np.maximum(values, 0.0), vectors)

    @classmethod
    def of_factor(
        cls, factor: FloatMatrix, weights: FloatVector, *, intercept: bool
    ) -> "KernelRidgePath":
        """Decompose a kernel FF' of rank below the number of rows, in O(l r^2).

        Parameters
        ----------
        factor : ndarray of shape (l, r)
            F.
        weights : ndarray of shape (l,)
            How much each row counts; positive.
        intercept : bool
            Whether there is one.

        Returns
        -------
        KernelRidgePath
            Ready for any strength.
        """
        roots, free = _directions(weights, intercept=intercept)
        scaled = factor * roots[:, None]
        scaled -= np.outer(free, free @ scaled)
        vectors, sizes, _ = svd(scaled, full_matrices=False, overwrite_a=True, check_finite=False)
        return cls(factor, factor.T, roots, free, sizes**2, vectors)

    def multipliers(self, targets: FloatMatrix, strength: float) -> tuple[FloatMatrix, FloatVector]:
        """Return the solution for one strength.

        Parameters
        ----------
        targets : ndarray of shape (l, k)
            y, one column per problem.
        strength : float
            lambda, above zero.

        Returns
        -------
        multipliers : ndarray of shape (l, k)
            c.
        intercepts : ndarray of shape (k,)
            b.
        """
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

        Parameters
        ----------
        targets : ndarray of shape (l, k)
            y.
        strength : float
            lambda; it stays as it is when a row is left out.

        Returns
        -------
        HeldOut
            Exact; in units of the targets.
        """
        scaled = self.roots[:, None] * targets
        shrink = self.values / (self.values + strength)
        fitted = np.outer(self.free, self.free @ scaled)
        fitted += self.vectors @ (shrink[:, None] * (self.vectors.T @ (scaled - fitted)))
        leverages = self.free**2 + self.vectors**2 @ shrink
        found = held_out_values(scaled, fitted, leverages)
        return HeldOut(found.values / self.roots[:, None], found.has_say)


def _directions(weights: FloatVector, *, intercept: bool) -> tuple[FloatVector, FloatVector]:
    roots = np.sqrt(weights)
    free = roots / np.linalg.norm(roots) if intercept else np.zeros_like(roots)
    return roots, free
