"""Landmarks: some of the points stand for all, through the kernel's similarities to them.

A kernel and rows enter; features whose inner products are the kernel's best guess leave (Nyström).
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, IndexVector, Points, Seed
from beltrami.kernel_machines.features import FeatureMap
from beltrami.kernel_machines.gram import Gram

_NEGATIVE = 1e-6
"""Share of the largest diagonal entry below which a negative rest is taken for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class PivotedCholesky:
    """K = R R' to a tolerance, on as many rows as that takes.

    Attributes
    ----------
    pivots : ndarray of shape (r,)
        The rows chosen, each the one whose similarity to itself is explained worst by those before.
    factor : ndarray of shape (m, r)
        R, rows in the order of K; rows `pivots` are lower triangular.
    """

    pivots: IndexVector
    factor: FloatMatrix


def pivoted_cholesky(matrix: FloatMatrix, *, tol: float) -> PivotedCholesky:
    """Factor a positive semi-definite matrix as far as it carries information.

    A row is left out when less than `tol` of the largest diagonal entry is new in it.
    """
    diagonal = np.diagonal(matrix).copy()
    largest = float(diagonal.max(initial=0.0))
    if largest <= 0:
        raise InvalidInputError(
            "the kernel is zero, or negative, between every point and itself; a kernel machine "
            "needs k(x, x) > 0 for some points. Scale the data, or choose another kernel."
        )
    lower, order, rank, _ = dpstrf(np.asfortranarray(matrix), tol=tol * largest, lower=1)
    order, rank = np.asarray(order, dtype=np.intp) - 1, int(rank)
    factor = np.zeros((len(matrix), rank))
    factor[order] = np.tril(lower)[:, :rank]
    left = diagonal - (factor**2).sum(axis=1)
    if left.min() < -_NEGATIVE * largest:
        raise InvalidInputError(
            f"the kernel is not positive semi-definite: a point's similarity to itself comes out "
            f"{-left.min():.3g} below what others explain of it (largest k(x, x) {largest:.3g}). "
            "Use a Mercer kernel (rbf, linear, poly with coef0 >= 0, cosine), or clip the negative "
            "eigenvalues of a precomputed one."
        )
    return PivotedCholesky(order[:rank], factor)


@dataclass(frozen=True, slots=True, eq=False)
class NystromFeatures(FeatureMap):
    """Features whose inner products are the kernel's best guess from some landmarks.

    Attributes
    ----------
    gram : Gram
        The kernel and the points of the fit.
    landmarks : ndarray of shape (m,)
        Rows of the fit, most telling first: the first half is itself a set of landmarks.
    whitening : ndarray of shape (m, m)
        Turns similarities to the landmarks into features; upper triangular, so that the first
        features depend on the first landmarks only.
    """

    gram: Gram
    landmarks: IndexVector
    whitening: FloatMatrix

    @classmethod
    def of(cls, gram: Gram, landmarks: IndexVector, *, tol: float) -> "NystromFeatures":
        """Whiten the similarities to landmarks.

        A landmark is dropped when less than `tol` of the largest k(x, x) is new in it.
        """
        block = gram.among(landmarks, landmarks, is_double=True)
        cholesky = pivoted_cholesky((block + block.T) / 2, tol=tol)
        triangle = cholesky.factor[cholesky.pivots]
        whitening = solve_triangular(triangle, np.eye(len(triangle)), lower=True).T
        return cls(gram, landmarks[cholesky.pivots], np.ascontiguousarray(whitening))

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return len(self.landmarks)

    def of_rows(self, rows: IndexVector) -> FloatMatrix:
        """Return the features of rows of the fit."""
        return self._whiten(self.gram.among(rows, self.landmarks))

    def of_new(self, points: Points) -> FloatMatrix:
        """Return the features of new points."""
        return self._whiten(self.gram.at(points, self.landmarks))

    def _whiten(self, block: FloatMatrix) -> FloatMatrix:
        whitened: FloatMatrix = block @ self.whitening.astype(block.dtype)
        return whitened


def spread_rows(n: int, first: IndexVector, size: int, seed: Seed) -> IndexVector:
    """Return `size` rows out of n, the given ones first and random others after them.

    Of more than `size` given ones a random part is taken.
    """
    random = generator(seed)
    if len(first) >= size:
        return np.sort(random.permutation(first)[:size]).astype(np.intp)
    rest = np.setdiff1d(np.arange(n), first)
    others = random.choice(rest, size=min(size, n) - len(first), replace=False)
    return np.concatenate([first, np.sort(others)]).astype(np.intp)
