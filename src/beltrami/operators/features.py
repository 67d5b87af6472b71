"""Feature maps: points enter, few numbers per point leave whose inner products are a kernel.

Nyström features of landmarks, random Fourier features, and the coordinates themselves. A kernel
machine in m features costs O(n m^2) instead of O(n^3). Part of layer 3.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.sparse import issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.graph.model import Graph
from beltrami.graph.recipes import GraphRecipe
from beltrami.operators.extension import extend_eigenvectors
from beltrami.operators.kernels import CosineKernel, Gram, Kernel, LinearKernel, RbfKernel

_NEGATIVE = 1e-6


class FeatureMap(ABC):
    """Turns points into features, rows of a fit or new ones."""

    n_features: int

    @abstractmethod
    def of_rows(self, rows: IndexVector) -> FloatMatrix:
        """Return the features of rows of the fit."""

    @abstractmethod
    def of_new(self, points: Points) -> FloatMatrix:
        """Return the features of new points."""


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

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Symmetric; overwritten where memory order allows.
    tol : float
        A row is left out when less than this share of the largest diagonal entry is new.

    Returns
    -------
    PivotedCholesky
        The factor.

    Raises
    ------
    InvalidInputError
        When the matrix proves not to be positive semi-definite.
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

        Parameters
        ----------
        gram : Gram
            The kernel and the points.
        landmarks : ndarray of shape (m,)
            Rows of the fit; those that say nothing new are dropped.
        tol : float
            What is taken for nothing, as a share of the largest k(x, x).

        Returns
        -------
        NystromFeatures
            The map.
        """
        block = gram.among(landmarks, landmarks, is_double=True)
        found = pivoted_cholesky((block + block.T) / 2, tol=tol)
        triangle = found.factor[found.pivots]
        whitening = solve_triangular(triangle, np.eye(len(triangle)), lower=True).T
        return cls(gram, landmarks[found.pivots], np.ascontiguousarray(whitening))

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return len(self.landmarks)

    def of_rows(self, rows: IndexVector) -> FloatMatrix:
        """Return the features of rows of the fit."""
        return self._whitened(self.gram.among(rows, self.landmarks))

    def of_new(self, points: Points) -> FloatMatrix:
        """Return the features of new points."""
        return self._whitened(self.gram.at(points, self.landmarks))

    def _whitened(self, block: FloatMatrix) -> FloatMatrix:
        whitened: FloatMatrix = block @ self.whitening.astype(block.dtype)
        return whitened


@dataclass(frozen=True, slots=True, eq=False)
class FourierFeatures(FeatureMap):
    """Random waves whose inner products tend to the RBF kernel [RahimiRecht07]_.

    Attributes
    ----------
    points : ndarray or csr_array of shape (n, d)
        Of the fit.
    frequencies : ndarray of shape (d, m / 2)
        One wave per column, with a cosine and a sine each.
    """

    points: Points
    frequencies: FloatMatrix

    @classmethod
    def of(cls, points: Points, width: float, n_features: int, seed: Seed) -> "FourierFeatures":
        """Draw waves for an RBF kernel.

        Parameters
        ----------
        points : ndarray or csr_array of shape (n, d)
            Of the fit.
        width : float
            Of the kernel.
        n_features : int
            How many features, rounded up to an even number.
        seed : int, Generator, RandomState or None
            Draws the frequencies.

        Returns
        -------
        FourierFeatures
            The map.
        """
        shape = (points.shape[1], (n_features + 1) // 2)
        frequencies = generator(seed).standard_normal(shape) / width
        return cls(points, frequencies.astype(points.dtype))

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return 2 * int(self.frequencies.shape[1])

    def of_rows(self, rows: IndexVector) -> FloatMatrix:
        """Return the features of rows of the fit."""
        return self.of_new(self.points[rows])

    def of_new(self, points: Points) -> FloatMatrix:
        """Return the features of new points."""
        phases = np.asarray(points @ self.frequencies.astype(points.dtype))
        waves = np.hstack([np.cos(phases), np.sin(phases)])
        waves *= waves.dtype.type(1 / np.sqrt(self.frequencies.shape[1]))
        return waves


@dataclass(frozen=True, slots=True, eq=False)
class CoordinateFeatures(FeatureMap):
    """The coordinates themselves, whose inner products are the linear kernel.

    Attributes
    ----------
    points : ndarray or csr_array of shape (n, d)
        Of the fit.
    is_cosine : bool
        Whether rows are first scaled to length one.
    """

    points: Points
    is_cosine: bool

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return int(self.points.shape[1])

    def of_rows(self, rows: IndexVector) -> FloatMatrix:
        """Return the features of rows of the fit."""
        return self.of_new(self.points[rows])

    def of_new(self, points: Points) -> FloatMatrix:
        """Return the features of new points."""
        block: FloatMatrix = points.toarray() if issparse(points) else np.array(points)
        if self.is_cosine:
            norms = np.linalg.norm(block, axis=1, keepdims=True)
            np.divide(block, norms, out=block, where=norms > 0)
        return block


@dataclass(frozen=True, slots=True, eq=False)
class SlowFeatures(FeatureMap):
    r"""Eigenfunctions of a graph, :math:`L f = \lambda D f`, at its points and at new ones.

    Attributes
    ----------
    graph : Graph
        The graph.
    recipe : KnnGraph or RadiusGraph
        What attaches new points to it.
    points : ndarray or csr_array of shape (n, d)
        Its points.
    values : ndarray of shape (n, p)
        The functions at the points, each scaled as it is to weigh.
    eigenvalues : ndarray of shape (p,)
        Their eigenvalues.
    """

    graph: Graph
    recipe: GraphRecipe
    points: Points
    values: FloatMatrix
    eigenvalues: FloatVector

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return int(self.values.shape[1])

    def of_rows(self, rows: IndexVector) -> FloatMatrix:
        """Return the features of rows of the fit."""
        return np.asarray(self.values[rows])

    def of_new(self, points: Points) -> FloatMatrix:
        """Return the features of new points; one of the fit keeps its own."""
        tie = self.recipe.attach(self.graph, self.points, points)
        found = extend_eigenvectors(tie.weights, self.values, self.eigenvalues, kind="random_walk")
        is_old = tie.twins >= 0
        found[is_old] = self.values[tie.twins[is_old]]
        return found.astype(self.values.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class StackedFeatures(FeatureMap):
    """Features of two maps side by side: the kernels of the two, added.

    Attributes
    ----------
    first, second : FeatureMap
        The maps.
    """

    first: FeatureMap
    second: FeatureMap

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return self.first.n_features + self.second.n_features

    def of_rows(self, rows: IndexVector) -> FloatMatrix:
        """Return the features of rows of the fit."""
        return np.hstack([self.first.of_rows(rows), self.second.of_rows(rows)])

    def of_new(self, points: Points) -> FloatMatrix:
        """Return the features of new points."""
        return np.hstack([self.first.of_new(points), self.second.of_new(points)])


def explicit_features(
    kernel: Kernel, points: Points, *, n_features: int, seed: Seed
) -> FourierFeatures | CoordinateFeatures:
    """Return features of a kernel that has an explicit map.

    Parameters
    ----------
    kernel : Kernel
        RBF, linear or cosine.
    points : ndarray or csr_array of shape (n, d)
        Of the fit.
    n_features : int
        How many random features the RBF kernel gets; the others have d.
    seed : int, Generator, RandomState or None
        Draws them.

    Returns
    -------
    FourierFeatures or CoordinateFeatures
        The map.
    """
    match kernel:
        case RbfKernel(width):
            return FourierFeatures.of(points, width, n_features, seed)
        case LinearKernel():
            return CoordinateFeatures(points, is_cosine=False)
        case CosineKernel():
            return CoordinateFeatures(points, is_cosine=True)
    raise InvalidInputError(
        f"approximation='features' has no feature map for {type(kernel).__name__}; it serves the "
        "rbf, linear and cosine kernels. Take approximation='nystrom', which serves every kernel."
    )


def kernel_error(features: FeatureMap, gram: Gram, rows: IndexVector) -> float:
    """Return how far the features' inner products are from the kernel on a sample.

    Parameters
    ----------
    features : FeatureMap
        The approximation.
    gram : Gram
        The truth.
    rows : ndarray of shape (s,)
        The sample.

    Returns
    -------
    float
        Frobenius norm of the difference over that of the kernel.
    """
    truth: Any = gram.among(rows, rows, is_double=True)
    found = features.of_rows(rows).astype(np.float64)
    norm = float(np.linalg.norm(truth))
    return float(np.linalg.norm(truth - found @ found.T)) / norm if norm > 0 else 0.0


def spread_rows(n: int, first: IndexVector, size: int, seed: Seed) -> IndexVector:
    """Return `size` rows out of n, the given ones first and random others after them.

    Parameters
    ----------
    n : int
        Number of rows.
    first : ndarray of shape (l,)
        Rows that come first; a random part of them when there are more than `size`.
    size : int
        How many rows to return, at most n.
    seed : int, Generator, RandomState or None
        Draws the others.

    Returns
    -------
    ndarray of shape (size,)
        Without repetition.
    """
    random = generator(seed)
    if len(first) >= size:
        return np.sort(random.permutation(first)[:size]).astype(np.intp)
    rest = np.setdiff1d(np.arange(n), first)
    others = random.choice(rest, size=min(size, n) - len(first), replace=False)
    return np.concatenate([first, np.sort(others)]).astype(np.intp)
