"""Feature maps: points enter, few numbers per point leave whose inner products are a kernel.

Random Fourier features, the coordinates themselves, eigenfunctions of a graph, and these side by
side; those of landmarks have a module of their own. A kernel machine in m features costs O(n m^2)
instead of O(n^3).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.core.validation import check_positive
from beltrami.graph.model import Graph
from beltrami.graph.recipes import GraphRecipe
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.kernels import CosineKernel, Kernel, LinearKernel, RbfKernel
from beltrami.operators.extension import extend_eigenvectors


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
        """Draw waves for an RBF kernel."""
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
        values = extend_eigenvectors(tie.weights, self.values, self.eigenvalues, kind="random_walk")
        is_old = tie.twins >= 0
        values[is_old] = self.values[tie.twins[is_old]]
        return values.astype(self.values.dtype)


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

    The RBF kernel gets `n_features` random ones; the others have d.
    """
    check_explicit(kernel)
    if isinstance(kernel, RbfKernel):
        width = check_positive(kernel.width, name="width")
        return FourierFeatures.of(points, width, n_features, seed)
    return CoordinateFeatures(points, is_cosine=isinstance(kernel, CosineKernel))


def check_explicit(kernel: Kernel) -> None:
    """Raise unless a kernel has an explicit feature map."""
    if not isinstance(kernel, RbfKernel | LinearKernel | CosineKernel):
        raise InvalidInputError(
            f"approximation='features' has no feature map for {type(kernel).__name__}; it serves "
            "the rbf, linear and cosine kernels. Take approximation='nystrom', which serves every "
            "kernel."
        )


def kernel_error(features: FeatureMap, gram: Gram, rows: IndexVector) -> float:
    """Return how far the features' inner products are from the kernel on a sample, relative."""
    truth: Any = gram.among(rows, rows, is_double=True)
    block = features.of_rows(rows).astype(np.float64)
    norm = float(np.linalg.norm(truth))
    return float(np.linalg.norm(truth - block @ block.T)) / norm if norm > 0 else 0.0
