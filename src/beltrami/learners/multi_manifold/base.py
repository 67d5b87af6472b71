"""Base class of the multi-manifold learners: regions are found, and an estimator fitted in each."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from beltrami.core.randomness import generator
from beltrami.core.types import BoolVector, FloatMatrix, IndexVector, Points, Seed
from beltrami.core.validation import check_choice, check_positive
from beltrami.graph.fitting import checked_points
from beltrami.learners.base import PartialLabelLearner
from beltrami.learners.model import Labeled
from beltrami.learners.multi_manifold.region_count import (
    RegionCuts,
    checked_n_regions,
    choose_count,
    largest_count,
)
from beltrami.learners.multi_manifold.region_models import checked_estimator, fit_regional
from beltrami.separation.separate import regions_at, shape_graph
from beltrami.separation.shapes import checked_size

_MOST_COLUMNS = 100  # up to which shapes are measured in the columns themselves
_PROJECTED = 50  # principal components otherwise
_CARVINGS = ("vote", "voronoi")


class RegionLearner(PartialLabelLearner):
    """A learner that separates the points into regions and fits an estimator in each."""

    estimator: Any
    n_regions: int | str
    n_neighbors: int | str
    noise: float
    bandwidth: float
    carve: str
    random_state: Seed

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Separate the points of X into regions and learn from the labels in each.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point, labelled or not, in any order.
        y : array-like of shape (n,)
            Labels, with unlabelled rows marked.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each label counts; 0 makes the row unlabelled. The estimator must take weights.

        Returns
        -------
        MultiManifoldClassifier or MultiManifoldRegressor
            Itself, fitted.
        """
        points = checked_points(self, X, reset=True)
        check_choice(self.carve, _CARVINGS, name="carve")
        estimator = self._estimator()
        labeled = self._read(y, points.shape[0], sample_weight)
        self._separate(points, labeled)
        self.model_ = fit_regional(estimator, points, labeled, self.regions_, self.n_regions_)
        self.estimators_ = self.model_.parts
        self._fit_scores = self.model_.scores(points, self.regions_)
        self._learn(labeled)
        del self._fit_scores  # needed once
        return self

    def predict_regions(self, X: Any) -> IndexVector:
        """Return the regions of points, of the fit or new.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m,)
            Regions, 0 to ``n_regions_ - 1``.
        """
        check_is_fitted(self)
        return self._regions_of(checked_points(self, X, reset=False))

    def _estimator(self) -> Any:
        if self.estimator is None:
            return self._default()
        return checked_estimator(self.estimator, classifies=is_classifier(self))

    @abstractmethod
    def _default(self) -> Any:
        """Return what is fitted where no estimator is given."""

    def _separate(self, points: Points, labeled: Labeled) -> None:
        """Find the regions of all rows."""
        noise = check_positive(self.noise, name="noise")
        bandwidth = check_positive(self.bandwidth, name="bandwidth")
        if self.n_neighbors != "auto":
            checked_size(self.n_neighbors, points.shape[0])
        rule = checked_n_regions(self.n_regions, len(labeled.rows))
        self.shape_graph_, self.node_regions_, self.choice_ = None, None, None
        self.n_regions_ = 1
        self.regions_ = np.zeros(points.shape[0], dtype=np.intp)
        self.projection_ = None
        most = largest_count(rule, len(labeled.rows))
        if most == 1:
            return
        rng = generator(self.random_state)
        self.projection_ = _projection(points, rng)
        separated = shape_graph(
            self._project(points),
            labeled.rows,
            n_neighbors=self.n_neighbors,
            noise=noise,
            bandwidth=bandwidth,
            rng=rng,
        )
        cuts = RegionCuts.of(separated, labeled, most, rng)
        self.choice_ = choose_count(cuts, rule, self._estimator(), points, labeled)
        self.n_regions_ = int(self.choice_.value)
        self.shape_graph_ = separated
        self.node_regions_ = cuts.nodes(self.n_regions_)
        self.regions_ = self._regions_of(points)
        self.regions_[separated.rows] = self.node_regions_  # twins may lie in different regions

    def _project(self, points: Points) -> FloatMatrix:
        """Return points as their shapes are measured: dense, in not too many columns."""
        if self.projection_ is not None:
            return np.asarray(self.projection_.transform(points), dtype=np.float64)
        dense = points.toarray() if issparse(points) else points
        return np.ascontiguousarray(dense, dtype=np.float64)

    def _regions_of(self, points: Points) -> IndexVector:
        if self.shape_graph_ is None or self.node_regions_ is None or self.n_regions_ == 1:
            return np.zeros(points.shape[0], dtype=np.intp)
        return regions_at(self.shape_graph_, self.node_regions_, self._project(points), self.carve)

    def _scores(self, labeled: Labeled) -> FloatMatrix:  # noqa: ARG002
        return self._fit_scores

    def _reach(self, labeled: Labeled) -> BoolVector:  # noqa: ARG002
        return self._has_answer(self._fit_scores)

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        scores = self.model_.scores(points, self._regions_of(points))
        return scores, self._has_answer(scores)

    def _has_answer(self, scores: FloatMatrix) -> BoolVector:
        """Say which rows an estimator gave an answer for."""
        return np.ones(len(scores), dtype=np.bool_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _projection(points: Points, rng: np.random.Generator) -> Any:
    """Return the map to the leading principal components, None where columns are few."""
    from sklearn.decomposition import PCA

    n, d = points.shape
    if d <= _MOST_COLUMNS:
        return None
    solver = "arpack" if issparse(points) else "auto"
    size, seed = min(_PROJECTED, min(n, d) - 1), int(rng.integers(2**31 - 1))
    return PCA(size, svd_solver=solver, random_state=seed).fit(points)
