"""k-means with bounds on the sizes of the clusters, in every group of points.

`constrained_kmeans` does the work; `ConstrainedKMeans` is the estimator.
"""

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import ConvergenceWarning, InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import serial_blas
from beltrami.core.randomness import generator
from beltrami.core.telling.progress import Advance, track
from beltrami.core.types import FloatMatrix, FloatVector, Points, Seed
from beltrami.core.validation import check_count, check_nonnegative
from beltrami.graph.fitting import checked_points, graph_tags
from beltrami.separation.assignment import SizeBounds, assign, size_bounds

_SAMPLE, _SAMPLE_PER_CLUSTER = 5000, 100  # points that starts are compared on, at least
_EQUAL = 1e-6  # relative difference of sums of squares that are called equal
_SMALL = 1024  # entries of the centres up to which products run on one thread
_STEP = "size-constrained k-means"


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Clusters of points, and how they were found.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each point; the bounds hold.
    centers : ndarray of shape (k, d)
        Means of the clusters; of a cluster without points, where it was last.
    inertia : float
        Sum of squared distances of the points to the centres of their clusters.
    converged : bool
        Whether the centres came to rest.
    history : ndarray of shape (n_iter,)
        Sum of squares after each round on all points; it never rises.
    prices : ndarray of shape (n_groups, k)
        Of the last assignment.
    """

    labels: NDArray[np.int32]
    centers: FloatMatrix
    inertia: float
    converged: bool
    history: FloatVector
    prices: FloatMatrix


def constrained_kmeans(
    points: Points,
    n_clusters: int,
    lower: Any = 0,
    upper: Any = None,
    groups: Any = None,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    tol: float = 1e-4,
    start: FloatMatrix | None = None,
    rng: np.random.Generator,
) -> Partition:
    r"""Group points around centres, with bounds on the sizes of the groups.

    .. math:: \min_{l, c} \sum_i \|x_i - c_{l_i}\|^2 \quad \text{with} \quad
              a_{gh} \le \#\{i \in g : l_i = h\} \le b_{gh}

    Two steps alternate [BradleyBennettDemiriz00]_: the best labels within the bounds for fixed
    centres, by `assign`, which starts from the prices of the round before; then means. Neither can
    raise the sum. A cluster that may be empty, and is, takes the point farthest from its centre
    that the bounds let go. Starts are drawn by k-means++. Above 5000 points and 100 per cluster,
    they run on a sample of that size, with the same share of each group and bounds to scale; the
    best one goes on with all points.

    - `lower`, `upper`: fewest and most points of each cluster, in each group: numbers, or arrays
      of shape (k,) or (n_groups, k); None for no upper bound.
    - `groups`: group of each point, integers from 0; None means one group.
    - `tol`: least sum of squared moves of the centres, in units of the mean variance of a column.
    - `start`: centres, (k, d), to start from on all points, instead of `n_init` drawn ones.
    """
    n, d = points.shape
    if n_clusters > n:
        raise InvalidInputError(f"n_clusters={n_clusters} clusters need as many points, not {n}.")
    bounds = SizeBounds.of(lower, upper, groups, n_points=n, n_clusters=n_clusters)
    require_memory(
        8 * n * (2 * n_clusters + (d if isinstance(points, np.ndarray) else 0)),
        what=f"k-means of {n} points around {n_clusters} centres",
        instead="Cluster a sample of the points, or use fewer clusters.",
    )
    middle = np.zeros(d)
    if isinstance(points, np.ndarray):  # centred, the squares lose no digits
        middle = points.mean(axis=0, dtype=np.float64)
        points = points - middle
    whole = _Problem.of(points.astype(np.float64, copy=False), bounds, tol)
    # Products with few and short centres gain nothing by threads and wait long for busy ones.
    with serial_blas() if n_clusters * d <= _SMALL else nullcontext():
        best = _best_of(whole, None if start is None else start - middle, n_init, max_iter, rng)
    if not best.converged:
        late = f"the centres still moved after max_iter={max_iter} rounds of k-means. The bounds "
        late += "hold and the sum of squares could be lower; raise max_iter or tol."
        warnings.warn(late, ConvergenceWarning, stacklevel=2)
    inertia = float(_distances(whole, best.labels, best.centers).sum())
    return replace(best, centers=best.centers + middle, inertia=inertia)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Points, their squared lengths, the bounds, and the squared move that counts as rest."""

    points: Any
    squares: FloatVector
    bounds: SizeBounds
    rest: float

    @classmethod
    def of(cls, points: Any, bounds: SizeBounds, tol: float) -> "_Problem":
        n, d = points.shape
        squares = (points * points).sum(axis=1)
        variance = max(squares.sum() / n - (points.mean(axis=0) ** 2).sum(), 0.0) / d
        return cls(points, squares, bounds, tol * variance)


def _best_of(
    whole: _Problem, start: Any, n_init: int, max_iter: int, rng: np.random.Generator
) -> Partition:
    """Return the best of several descents; from many points only the best of a sample's."""
    from sklearn.cluster import kmeans_plusplus

    n, k = len(whole.squares), whole.bounds.n_clusters
    size, trial = max(_SAMPLE, _SAMPLE_PER_CLUSTER * k), whole
    if start is not None:
        with track(_STEP, total=max_iter) as advance:
            return _descend(whole, start, max_iter, advance)
    if n > size:
        rows, bounds = whole.bounds.draw_sample(n, size, rng)
        trial = _Problem(whole.points[rows], whole.squares[rows], bounds, whole.rest)
    with track(_STEP, total=(n_init + (trial is not whole)) * max_iter) as advance:
        seeds = rng.integers(2**31 - 1, size=n_init).tolist()
        drawn = (kmeans_plusplus(trial.points, k, random_state=seed)[0] for seed in seeds)
        runs = [_descend(trial, centers, max_iter, advance) for centers in drawn]
        least = min(run.inertia for run in runs)
        # The first among equals: rounding must not decide how clusters are numbered.
        best = next(run for run in runs if run.inertia <= (1 + _EQUAL) * least)
        if trial is not whole:
            best = _descend(whole, best.centers, max_iter, advance, best.prices)
    return best


def _descend(
    problem: _Problem, centers: FloatMatrix, max_iter: int, advance: Advance, prices: Any = None
) -> Partition:
    """Alternate assignment and means until the centres rest."""
    bounds = problem.bounds
    history: list[float] = []
    converged = False
    while not converged and len(history) < max_iter:
        costs = (centers**2).sum(axis=1) - 2 * (problem.points @ centers.T)
        best = assign(costs, bounds.lower, bounds.upper, groups=bounds.groups, start=prices)
        means = _reseed_empty(problem, best.labels, _means(problem, best.labels, centers))
        moved, centers, prices = ((means - centers) ** 2).sum(), means, best.prices
        sizes = np.bincount(best.labels, minlength=bounds.n_clusters)
        spread = problem.squares.sum() - sizes @ (centers**2).sum(axis=1)
        history.append(max(float(spread), 0.0))
        # Equal sums: the same labels, or others that are as good.
        converged = moved <= problem.rest or history[-1] >= min(history[:-1], default=np.inf)
        advance(1)
    advance(max_iter - len(history))
    return Partition(best.labels, centers, history[-1], converged, np.array(history), best.prices)


def _means(problem: _Problem, labels: NDArray[np.int32], centers: FloatMatrix) -> FloatMatrix:
    """Return the means of the clusters; an empty one keeps its centre."""
    n, k = len(labels), problem.bounds.n_clusters
    belongs = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
    sums: Any = belongs.T @ problem.points  # sparse if they are
    sums = sums if isinstance(sums, np.ndarray) else sums.toarray()
    sizes = np.bincount(labels, minlength=k)[:, None]
    means: FloatMatrix = np.divide(sums, sizes, out=centers.copy(), where=sizes > 0)
    return means


def _distances(problem: _Problem, labels: NDArray[np.int32], centers: FloatMatrix) -> FloatVector:
    """Return the squared distance of every point to the centre of its cluster."""
    if isinstance(problem.points, np.ndarray):
        return np.asarray(((problem.points - centers[labels]) ** 2).sum(axis=1))
    products = np.asarray(problem.points @ centers.T)[np.arange(len(labels)), labels]
    lengths = problem.squares + (centers**2).sum(axis=1)[labels]
    return np.asarray(np.maximum(lengths - 2 * products, 0))


def _reseed_empty(
    problem: _Problem, labels: NDArray[np.int32], centers: FloatMatrix
) -> FloatMatrix:
    """Give each empty cluster, in place, the farthest point free to go; return the new means."""
    k, bounds = problem.bounds.n_clusters, problem.bounds
    codes = bounds.codes(len(labels))
    for empty in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        counts = np.bincount(codes * k + labels, minlength=bounds.lower.size)
        free = (counts > bounds.lower.ravel())[codes * k + labels]
        free &= bounds.upper[codes, empty] > 0
        far = np.where(free, _distances(problem, labels, centers), 0.0)
        if far.max() > 0:
            labels[far.argmax()] = empty
            centers = _means(problem, labels, centers)
    return centers


class ConstrainedKMeans(
    ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator
):
    r"""k-means with bounds on how many points each cluster has, in each group of points.

    .. math:: \min_{l, c} \sum_i \|x_i - c_{l_i}\|^2 \quad \text{with} \quad
              a_{gh} \le \#\{i \in g : l_i = h\} \le b_{gh}

    for groups g and clusters h [BradleyBennettDemiriz00]_, as `constrained_kmeans` does it. The
    bounds always hold in `labels_`. Without bounds this is k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; at most the number of points.
    min_size : int, array-like of shape (n_clusters,), dict or None, default=None
        Fewest points of each cluster, in each group: one number for all, one for each, or a dict
        from the value of a group to either; groups that it does not name have no bound.
    max_size : int, array-like of shape (n_clusters,), dict or None, default=None
        Most points, likewise.
    groups : array-like of shape (n,) or None, default=None
        Group of each point of the fit: values of any type that can be a key of a dict.
    n_init : int, default=10
        Starts, drawn by k-means++; the best is kept. Of many points they are compared on a sample,
        so that all ten together take about as long as the run on all points that follows.
    max_iter : int, default=300
        Most rounds of assignment and means from a start.
    tol : float, default=1e-4
        Least sum of squared moves of the centres, in units of the mean variance of a column.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point, 0 to n_clusters - 1.
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Means of the clusters.
    inertia_ : float
        Sum of squared distances of the points to the centres of their clusters.
    n_iter_ : int
        Rounds on all points.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import ConstrainedKMeans
    >>> points = np.array([[0.0], [0.1], [0.2], [5.0]])
    >>> model = ConstrainedKMeans(2, min_size=2, random_state=0).fit(points)
    >>> np.bincount(model.labels_).tolist(), round(model.inertia_, 3)
    ([2, 2], 11.525)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        min_size: Any = None,
        max_size: Any = None,
        groups: Any = None,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.min_size = min_size
        self.max_size = max_size
        self.groups = groups
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Cluster the points of X.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point.
        y : None
            Ignored.

        Returns
        -------
        ConstrainedKMeans
            Itself, fitted.
        """
        points = checked_points(self, X, reset=True)
        n, k = points.shape[0], check_count(self.n_clusters, name="n_clusters")
        bounds = size_bounds(self.min_size, self.max_size, self.groups, n_points=n, n_clusters=k)
        partition = constrained_kmeans(
            points,
            k,
            bounds.lower,
            bounds.upper,
            bounds.groups,
            n_init=check_count(self.n_init, name="n_init"),
            max_iter=check_count(self.max_iter, name="max_iter"),
            tol=check_nonnegative(self.tol, name="tol"),
            rng=generator(self.random_state),
        )
        self.labels_, self.cluster_centers_ = partition.labels, partition.centers
        self.inertia_, self.n_iter_ = partition.inertia, len(partition.history)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the nearest centre of each point.

        Bounds say nothing of new points, so there are none here; for the points of the fit this
        may differ from `labels_`.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m,)
            Clusters.
        """
        from sklearn.metrics import pairwise_distances_argmin

        check_is_fitted(self)
        points = checked_points(self, X, reset=False)
        return np.asarray(pairwise_distances_argmin(points, self.cluster_centers_), dtype=np.int32)

    def transform(self, X: Any) -> FloatMatrix:
        """Return the distances of points to the centres.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m, n_clusters)
            Euclidean distances.
        """
        from sklearn.metrics import euclidean_distances

        check_is_fitted(self)
        points = checked_points(self, X, reset=False)
        return np.asarray(euclidean_distances(points, self.cluster_centers_))

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def __sklearn_tags__(self) -> Any:
        return graph_tags(super().__sklearn_tags__(), None)
