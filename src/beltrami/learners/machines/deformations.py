"""The deformed kernels of one fit: made when asked for, kept while they serve.

Which way each is made, exactly, by landmarks or by features, is decided here once for all machines;
so is what that costs in accuracy.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beltrami.core.types import FloatMatrix, IndexVector, Points, Seed
from beltrami.graph.model import Graph
from beltrami.graph.recipes import GraphRecipe
from beltrami.kernel_machines.deformation import (
    Deformation,
    FactoredDeformation,
    FeatureDeformation,
    ModalDeformation,
)
from beltrami.kernel_machines.features import (
    FeatureMap,
    SlowFeatures,
    StackedFeatures,
    explicit_features,
    kernel_error,
)
from beltrami.kernel_machines.kernels import Gram
from beltrami.kernel_machines.landmarks import NystromFeatures, spread_rows
from beltrami.kernel_machines.roughness import Roughness
from beltrami.learners.machines.tuning import Shape, Strengths, held_out_scores, ridge_path
from beltrami.learners.model import Labeled
from beltrami.solvers.eigen import eigenbasis

_JUDGES = 500
"""Landmarks that judge a shape where the points are many."""

_FEATURE_TOL = 1e-6
_SAMPLE = 300


@dataclass(frozen=True, slots=True)
class Approximation:
    """How the kernel was approximated, and what that costs.

    Attributes
    ----------
    method : str
        "none", "nystrom" or "features".
    n_features : int
        Features in place of points, eigenfunctions included; 0 for "none".
    n_eigenfunctions : int
        Eigenfunctions of the graph among them.
    kernel_error : float
        Distance of the features' inner products from the kernel on a sample, relative;
        eigenfunctions left aside.
    held_out_change : float
        What dropping half of the landmarks changes: the share of labels whose held-out class is
        another, or for values the root mean square of the change over that of the targets. NaN
        where it is not known.
    """

    method: str
    n_features: int = 0
    n_eigenfunctions: int = 0
    kernel_error: float = 0.0
    held_out_change: float = 0.0


@dataclass(eq=False)
class Deformations:
    """Deformed kernels of one set of points, by shape; kept ones are not pickled.

    Attributes
    ----------
    gram_of : callable
        Kernel and points for a width.
    roughness_of : callable
        Roughness for a power.
    method : str
        "none", "nystrom" or "features".
    landmarks : ndarray of shape (m,)
        Rows of the fit that stand for all.
    slow : SlowFeatures or None
        Eigenfunctions of the graph, in units of the kernel.
    seed : int, Generator, RandomState or None
        Draws random features.
    """

    gram_of: Callable[[float], Gram]
    roughness_of: Callable[[int], Roughness]
    method: str
    landmarks: IndexVector
    slow: SlowFeatures | None
    seed: Seed
    _kept: dict[tuple[Shape, str, int], Deformation] = field(default_factory=dict, init=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}}

    def judge(self, shape: Shape, *, has_one_ratio: bool) -> Deformation:
        """Return a deformed kernel that is good enough to compare shapes by.

        - `has_one_ratio`: whether it will be asked for one ratio of the penalties only.
        """
        return self._found(shape, min(_JUDGES, len(self.landmarks)), has_one_ratio=has_one_ratio)

    def final(self, shape: Shape, *, has_one_ratio: bool) -> Deformation:
        """Return the deformed kernel to fit with.

        - `has_one_ratio`: whether it will be asked for one ratio of the penalties only.
        """
        return self._found(shape, len(self.landmarks), has_one_ratio=has_one_ratio)

    def _found(self, shape: Shape, size: int, *, has_one_ratio: bool) -> Deformation:
        method = self.method
        if method == "none":
            method, size = ("factored" if has_one_ratio else "none"), 0
        key = (shape, method, size)
        if key not in self._kept:
            if size == len(self.landmarks):  # the largest array of all: one of them at a time
                self._kept = {old: kept for old, kept in self._kept.items() if old[2] < size}
            self._kept[key] = self._made(shape, method, size)
        return self._kept[key]

    def _made(self, shape: Shape, method: str, size: int) -> Deformation:
        gram, roughness = self.gram_of(shape.width), self.roughness_of(shape.power)
        if method == "factored":
            return FactoredDeformation.of(gram, roughness)
        if method == "none":
            return ModalDeformation.of(gram, roughness)
        is_final = size == len(self.landmarks)
        return FeatureDeformation.of(self._features(gram, size), roughness, keeps=is_final)

    def _features(self, gram: Gram, size: int) -> FeatureMap:
        if self.method == "nystrom":
            landmarks = self.landmarks
            if size < len(landmarks):
                landmarks = landmarks[spread_rows(len(landmarks), landmarks[:0], size, 0)]
            features: FeatureMap = NystromFeatures.of(gram, landmarks, tol=_FEATURE_TOL)
        else:
            features = explicit_features(gram.kernel, gram.points, n_features=size, seed=self.seed)
        return features if self.slow is None else StackedFeatures(self.slow, features)

    def certificate(
        self,
        shape: Shape,
        deformed: Deformation,
        labeled: Labeled,
        strengths: Strengths,
        *,
        intercept: bool,
    ) -> Approximation:
        """Estimate what the approximation costs."""
        if not isinstance(deformed, FeatureDeformation):
            return Approximation("none")
        features, n_slow = deformed.features, 0
        base = features
        if isinstance(features, StackedFeatures):
            base, n_slow = features.second, features.first.n_features
        n = deformed.n_points
        rows = spread_rows(n, self.landmarks[:0], min(n, _SAMPLE), 0)
        error = kernel_error(base, self.gram_of(shape.width), rows)
        change = float("nan")
        if isinstance(base, NystromFeatures):
            half = deformed.leading(n_slow + max(base.n_features // 2, 1))
            change = _change(deformed, half, labeled.sample(), strengths, intercept=intercept)
        return Approximation(self.method, features.n_features, n_slow, error, change)


def _change(
    whole: Deformation,
    half: Deformation,
    labeled: Labeled,
    strengths: Strengths,
    *,
    intercept: bool,
) -> float:
    scores: list[FloatMatrix] = [
        held_out_scores(
            ridge_path(one, labeled, strengths.ratio, intercept=intercept),
            labeled,
            strengths.ambient,
        )
        for one in (whole, half)
    ]
    if labeled.targets.shape[1] > 1:
        return float(np.mean(scores[0].argmax(axis=1) != scores[1].argmax(axis=1)))
    spread = float(np.sqrt(np.mean((labeled.targets - labeled.mean) ** 2)))
    moved = float(np.sqrt(np.mean((scores[0] - scores[1]) ** 2)))
    return moved / spread if spread > 0 else 0.0


def slow_features(
    graph: Graph,
    recipe: GraphRecipe,
    points: Points,
    count: int,
    size: float,
    seed: Seed,
    dtype: Any,
) -> SlowFeatures:
    r"""Return the slowest functions on a graph as features.

    Eigenvectors of :math:`L f = \lambda D f`, scaled alike so that their squares add up to `size`
    at a point on average: beside a kernel of that size they weigh the same.

    Shapes: `points` (n, d).
    """
    basis = eigenbasis(graph, count, kind="random_walk", random_state=seed)
    lengths = np.sqrt(np.mean(basis.vectors**2, axis=0))
    scales = np.sqrt(size / len(lengths)) / np.where(lengths > 0, lengths, 1.0)
    values = (basis.vectors * scales).astype(dtype)
    return SlowFeatures(graph, recipe, points, values, basis.values)
