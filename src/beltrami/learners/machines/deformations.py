"""The deformed kernels of one fit: made when asked for, kept while they serve.

Which way each is made, exactly, by landmarks or by features, is decided here once for all machines;
so is what that costs in accuracy.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beltrami.core.types import FloatMatrix, IndexVector, Points, Seed
from beltrami.graph.model import Graph
from beltrami.graph.recipes import GraphRecipe
from beltrami.kernel_machines.approximation import KernelApproximation
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
    kernel_error,
)
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.kernels import resolve_kernel
from beltrami.kernel_machines.landmarks import NystromFeatures, spread_rows
from beltrami.kernel_machines.roughness import LaplacianPower, Roughness
from beltrami.learners.machines.tuning import Shape, Strengths, held_out_scores, ridge_path
from beltrami.learners.model import Labeled
from beltrami.solvers.eigen import eigenbasis

_JUDGES = 500
"""Landmarks that judge a shape where the points are many."""

_SAMPLE = 300
"""Points on which the error of the approximated kernel is measured."""


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
    kernel : kernel, "precomputed" or callable
        As the learner has it; a width is put into it.
    points : Points
        On which the kernel is evaluated.
    smoothness : LaplacianPower
        Makes a roughness of a power.
    graph : Graph
        Of the points.
    approximation : KernelApproximation or None
        What stands for the kernel; None where it is exact.
    landmarks : ndarray of shape (m,)
        Rows drawn for the approximation, as many as it has features.
    slow : SlowFeatures or None
        Eigenfunctions of the graph, in units of the kernel.
    seed : int, Generator, RandomState or None
        Draws random features.
    """

    kernel: Any
    points: Points
    smoothness: LaplacianPower
    graph: Graph
    approximation: KernelApproximation | None
    landmarks: IndexVector
    slow: SlowFeatures | None
    seed: Seed
    _kept: dict[tuple[Shape, str, int], Deformation] = field(default_factory=dict, init=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}}

    def gram_of(self, width: float) -> Gram:
        """Return the kernel of a width, with the points."""
        return Gram(resolve_kernel(self.kernel, width=width), self.points)

    def roughness_of(self, power: int) -> Roughness:
        """Return the roughness of a power."""
        return self.smoothness.on(self.graph, power)

    @property
    def is_exact(self) -> bool:
        """Whether nothing stands for the kernel."""
        return self.approximation is None

    @property
    def has_judges(self) -> bool:
        """Whether fewer landmarks than all judge a shape."""
        return len(self.landmarks) > _JUDGES

    def judge(self, shape: Shape, *, has_one_ratio: bool) -> Deformation:
        """Return a deformed kernel that is good enough to compare shapes by.

        `has_one_ratio` says that it will be asked for one ratio of the penalties only.
        """
        return self._get(shape, min(_JUDGES, len(self.landmarks)), has_one_ratio=has_one_ratio)

    def final(self, shape: Shape, *, has_one_ratio: bool) -> Deformation:
        """Return the deformed kernel to fit with.

        `has_one_ratio` says that it will be asked for one ratio of the penalties only.
        """
        return self._get(shape, len(self.landmarks), has_one_ratio=has_one_ratio)

    def _get(self, shape: Shape, size: int, *, has_one_ratio: bool) -> Deformation:
        way = "features"
        if self.is_exact:
            way = "factored" if has_one_ratio else "modal"
        key = (shape, way, size)
        if key not in self._kept:
            if way == "features" and size > _JUDGES:
                # The largest array of all: one of them at a time.
                self._kept = {old: kept for old, kept in self._kept.items() if old[2] < size}
            self._kept[key] = self._deform(shape, way, size)
        return self._kept[key]

    def _deform(self, shape: Shape, way: str, size: int) -> Deformation:
        gram, roughness = self.gram_of(shape.width), self.roughness_of(shape.power)
        if way == "factored":
            return FactoredDeformation.of(gram, roughness)
        if way == "modal":
            return ModalDeformation.of(gram, roughness)
        features, kept = None, None
        for (other, _, other_size), one in self._kept.items():
            if other.width == shape.width and other_size == size:  # of another power
                assert isinstance(one, FeatureDeformation)
                features, kept = one.features, one.form.kept
        features = self._features(gram, size) if features is None else features
        is_final = size == len(self.landmarks)
        return FeatureDeformation.of(features, roughness, keeps=is_final, kept=kept)

    def _features(self, gram: Gram, size: int) -> FeatureMap:
        assert self.approximation is not None
        rows = self.landmarks
        if size < len(rows):
            rows = rows[spread_rows(len(rows), rows[:0], size, 0)]
        features = self.approximation.feature_map(gram, rows, self.seed)
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
        if self.approximation is None or not isinstance(deformed, FeatureDeformation):
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
        return Approximation(self.approximation.method, features.n_features, n_slow, error, change)


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
    """
    basis = eigenbasis(graph, count, kind="random_walk", random_state=seed)
    lengths = np.sqrt(np.mean(basis.vectors**2, axis=0))
    scales = np.sqrt(size / len(lengths)) / np.where(lengths > 0, lengths, 1.0)
    values = (basis.vectors * scales).astype(dtype)
    return SlowFeatures(graph, recipe, points, values, basis.values)
