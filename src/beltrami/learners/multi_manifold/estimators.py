"""Learners for data on several manifolds: find the pieces, then learn in each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, Seed
from beltrami.graph.fitting import checked_points
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.base import PartialLabelClassifier, PartialLabelRegressor
from beltrami.learners.machines.laplacian_rls import LaplacianRLSClassifier, LaplacianRLSRegressor
from beltrami.learners.model import Labeled
from beltrami.learners.multi_manifold.base import RegionLearner

_NO_GRAPH = KnnGraph(1, connect="keep")  # for machines that make no use of theirs


class MultiManifoldClassifier(RegionLearner, PartialLabelClassifier):
    r"""Classify data that lie on several manifolds: find the pieces, then learn in each.

    Where manifolds cross, touch, or differ in density or dimension, no one smooth function fits all
    of the data, but unlabelled points show the pieces ([Zhu09]_, "An SSL Algorithm"):

    1. the covariance of the neighbours of a point says how the data lie there; it is measured on a
       sparse subset that holds every labelled row;
    2. a graph on the subset joins neighbours x, y by the Mahalanobis distance of the shape at x
       with weights :math:`\exp(-H^2 / (2 \sigma^2))`, H the Hellinger distance of their shapes;
    3. the graph is cut into regions by its ratio cut, each with enough labelled and unlabelled
       points, and the cut is carried to all of space;
    4. an estimator is fitted to the labels of each region.

    With one region it is the estimator itself. By default one region is among the candidates, so
    the regions must win on held-out labels.

    Departures from the slides: neighbourhoods grow until they see through the noise; the number of
    regions is chosen by held-out labels; near crossings points are carved by shape. The slides'
    own: ``n_neighbors=round(log(n))``, ``n_regions="slides"``, ``carve="voronoi"``.

    Cost: O(n^2 d / log n) time with a small constant, for searches; O(n d) memory; and the
    estimator's, once per region and candidate.

    Parameters
    ----------
    estimator : BaseEstimator or None, default=None
        Any classifier of scikit-learn or of this library. One that learns from unlabelled rows gets
        those of its region. None means `LaplacianRLSClassifier` with ``gamma_i=0``: kernel ridge
        regression with width and strength by exact leave-one-out.
    n_regions : int or {"auto", "slides", "eigengap"}, default="auto"
        How many. "auto" tries a ladder of numbers from 1 to :math:`\log^2 n` for n labels, at most
        20, and takes the least error on held-out labels, if it is below that of one region by a
        standard error; "slides" takes log n; "eigengap" the largest gap of the graph's eigenvalues.
    n_neighbors : int or "auto", default="auto"
        Neighbours that make a local covariance. "auto" takes the smallest of log n, 2 log n,
        4 log n, ... whose covariances are about as flat as the flattest.
    noise : float, default=0.01
        Least variance of a shape in every direction, as a share of the typical local variance.
    bandwidth : float, default=0.2
        :math:`\sigma` of the weights.
    carve : {"vote", "voronoi"}, default="vote"
        How a point that is not a node gets its region: by the nodes that its own shape links it to,
        where the nearest ones disagree; or always by the nearest.
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.
    random_state : int, Generator, RandomState or None, default=None
        Draws the subset and the starts of k-means.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    regions_ : ndarray of shape (n,)
        The region of each row.
    n_regions_ : int
        How many there are.
    estimators_ : list
        The fitted estimator of each region, whose classes are places in ``classes_``; a
        `region_models.Constant` where a region has one class only.
    choice_ : Choice or None
        Numbers of regions tried, their losses, and why one was taken.
    shape_graph_ : ShapeGraph or None
        The graph that was cut; None where labels are too few for regions.
    node_regions_ : ndarray of shape (s,) or None
        Regions of its nodes, which are ``shape_graph_.rows``.
    projection_ : PCA or None
        What shapes are seen through above 100 columns: the first 50 principal components.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one.
    label_distributions_ : ndarray of shape (n, k)
        Probabilities of the estimators, as calibrated as they are.
    confidence_ : ndarray of shape (n,)
        Probability of the class in ``transduction_``.
    reached_ : ndarray of shape (n,)
        Whether a label reaches the row. Every region has a label, so this is False only where the
        estimator itself gives no answer, as this library's do far from all labels.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import MultiManifoldClassifier, dollar_sign
    >>> dollar = dollar_sign(2000, random_state=0)
    >>> truth = (dollar.extras["position"] > 0.5) ^ (dollar.extras["manifold"] == 1)
    >>> labels = np.full(2000, -1)
    >>> labels[::20] = truth[::20]
    >>> learner = MultiManifoldClassifier(random_state=0).fit(dollar.points, labels)
    >>> bool(np.mean(learner.transduction_ == truth) > 0.95)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_regions: int | str = "auto",
        n_neighbors: int | str = "auto",
        noise: float = 0.01,
        bandwidth: float = 0.2,
        carve: str = "vote",
        unlabeled: Any = "auto",
        classes: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_regions = n_regions
        self.n_neighbors = n_neighbors
        self.noise = noise
        self.bandwidth = bandwidth
        self.carve = carve
        self.unlabeled = unlabeled
        self.classes = classes
        self.random_state = random_state

    def _default(self) -> Any:
        return LaplacianRLSClassifier(gamma_i=0.0, graph=_NO_GRAPH, unlabeled=-1)

    def _has_answer(self, scores: FloatMatrix) -> BoolVector:
        return np.asarray(scores.any(axis=1))


class MultiManifoldRegressor(RegionLearner, PartialLabelRegressor):
    r"""Predict values on several manifolds: find the pieces, then learn in each.

    The value may jump from one manifold to the next and be smooth on each. Regions and estimators
    as in `MultiManifoldClassifier`; [Zhu09]_, "An SSL Algorithm". With several regions a value is
    held within the labels of its region.

    Parameters
    ----------
    estimator : BaseEstimator or None, default=None
        Any regressor of scikit-learn or of this library. One that learns from unlabelled rows gets
        those of its region. None means `LaplacianRLSRegressor` with ``gamma_i=0``: kernel ridge
        regression with width and strength by exact leave-one-out.
    n_regions : int or {"auto", "slides", "eigengap"}, default="auto"
        How many; "auto" takes the least absolute error on held-out labels, if it is below that of
        one region by a standard error.
    n_neighbors : int or "auto", default="auto"
        Neighbours that make a local covariance.
    noise : float, default=0.01
        Least variance of a shape in every direction, as a share of the typical local variance.
    bandwidth : float, default=0.2
        :math:`\sigma` of the weights.
    carve : {"vote", "voronoi"}, default="vote"
        How a point that is not a node gets its region.
    random_state : int, Generator, RandomState or None, default=None
        Draws the subset and the starts of k-means.

    Attributes
    ----------
    regions_ : ndarray of shape (n,)
        The region of each row.
    n_regions_ : int
        How many there are.
    estimators_ : list
        The fitted estimator of each region, or a `region_models.Constant` where it has one label.
    choice_ : Choice or None
        Numbers of regions tried, their losses, and why one was taken.
    shape_graph_ : ShapeGraph or None
        The graph that was cut; None where labels are too few for regions.
    node_regions_ : ndarray of shape (s,) or None
        Regions of its nodes.
    projection_ : PCA or None
        What shapes are seen through above 100 columns.
    transduction_ : ndarray of shape (n,)
        The value of each row: the given one where there is one.
    reached_ : ndarray of shape (n,)
        True everywhere: every region has a label.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import MultiManifoldRegressor, dollar_sign
    >>> dollar = dollar_sign(2000, random_state=0)
    >>> values = np.full(2000, np.nan)
    >>> values[::20] = dollar.targets[::20]
    >>> learner = MultiManifoldRegressor(random_state=0).fit(dollar.points, values)
    >>> bool(np.sqrt(np.mean((learner.transduction_ - dollar.targets) ** 2)) < 0.5)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_regions: int | str = "auto",
        n_neighbors: int | str = "auto",
        noise: float = 0.01,
        bandwidth: float = 0.2,
        carve: str = "vote",
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_regions = n_regions
        self.n_neighbors = n_neighbors
        self.noise = noise
        self.bandwidth = bandwidth
        self.carve = carve
        self.random_state = random_state

    def _default(self) -> Any:
        return LaplacianRLSRegressor(gamma_i=0.0, graph=_NO_GRAPH)

    def _learn(self, labeled: Labeled) -> None:
        self.reached_ = self._reach(labeled)
        values: FloatVector = self._scores(labeled)[:, 0]
        values[labeled.rows] = labeled.targets[:, 0]
        self.transduction_ = values

    def predict(self, X: Any) -> FloatVector:
        """Return the values of points, of the fit or new.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m,)
            What the estimator of each point's region says, held within the labels of the region
            where there are several.
        """
        check_is_fitted(self)
        values: NDArray[Any] = self._scores_at(checked_points(self, X, reset=False))[0][:, 0]
        return values
