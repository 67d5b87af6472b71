"""Spectral clustering: the graph is cut where it is thin."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, Seed
from beltrami.core.validation import check_choice, check_count
from beltrami.graph.fitting import (
    GraphParameters,
    attach_to_fit,
    checked_points,
    fitted_graph,
    graph_tags,
)
from beltrami.graph.model import Graph
from beltrami.operators.extension import extend_eigenvectors
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.model import Basis

_KIND = {"ncut": "random_walk", "ratio": "combinatorial"}


@dataclass(frozen=True, slots=True, eq=False)
class CutReport:
    r"""How good a partition is, beside what any partition could be.

    With cut(A) the weight leaving A and vol(A) the sum of its degrees, the conductance of A is
    cut(A) / min(vol(A), vol(rest)). The best conductance h of any two-way cut obeys Cheeger's
    inequality :math:`\lambda_2 / 2 \le h \le \sqrt{2 \lambda_2}` with the second eigenvalue of
    the normalised Laplacian.

    Attributes
    ----------
    conductances : ndarray of shape (k,)
        Of each cluster.
    objective : float
        The normalised cut, sum of cut/vol, or the ratio cut, sum of cut/size.
    cheeger_lower, cheeger_upper : float
        Bounds on h.
    """

    conductances: FloatVector
    objective: float
    cheeger_lower: float
    cheeger_upper: float


class SpectralClustering(ClusterMixin, GraphParameters):
    r"""Cut a neighbourhood graph into clusters.

    The normalised cut :math:`\sum_a \mathrm{cut}(A_a)/\mathrm{vol}(A_a)` or the ratio cut
    :math:`\sum_a \mathrm{cut}(A_a)/|A_a|` is minimised over partitions, relaxed to the first
    eigenvectors of L f = lambda D f or L f = lambda f, whose rows are then grouped by k-means.
    For the normalised cut the rows are first scaled to length one.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; at most the number of points.
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``.
    objective : {"ncut", "ratio"}, default="ncut"
        Which cut.
    n_init : int, default=10
        Starts of k-means; the best is kept.
    tol : float, default=1e-3
        Of `eigenbasis`: k-means needs the span of the vectors only.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the solver and k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point, 0 to n_clusters - 1.
    cut_ : CutReport
        Conductance of each cluster, the objective, and Cheeger's bounds.
    graph_ : Graph
        The graph.
    basis_ : Basis
        The eigenvectors.

    Examples
    --------
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from beltrami import KnnGraph, SpectralClustering, two_moons
    >>> moons = two_moons(400, random_state=0)
    >>> clusters = SpectralClustering(2, graph=KnnGraph(8), random_state=0).fit(moons.points)
    >>> adjusted_rand_score(moons.targets, clusters.labels_)  # one moon each
    1.0
    >>> upper, lower = clusters.predict([[0.0, 1.0], [1.0, -0.5]])
    >>> bool(upper != lower)
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        graph: Any = None,
        objective: str = "ncut",
        n_init: int = 10,
        tol: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.graph = graph
        self.objective = objective
        self.n_init = n_init
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
        SpectralClustering
            Itself, fitted.
        """
        from sklearn.cluster import KMeans

        points = checked_points(self, X, reset=True)
        check_choice(self.objective, tuple(_KIND), name="objective")
        k = check_count(self.n_clusters, name="n_clusters")
        if k > points.shape[0]:
            raise InvalidInputError(
                f"n_clusters={k} clusters need at least as many points, and X has "
                f"{points.shape[0]}."
            )
        rng = generator(self.random_state)
        self.graph_, self.recipe_ = fitted_graph(self.graph, points)
        self.basis_ = eigenbasis(
            self.graph_,
            min(max(k, 2), self.graph_.n_nodes),
            kind=_KIND[self.objective],
            tol=self.tol,
            random_state=rng,
        )
        rows = self._rows(self.basis_.vectors[:, :k])
        self.kmeans_ = KMeans(k, n_init=self.n_init, random_state=int(rng.integers(2**31 - 1)))
        self.labels_ = self.kmeans_.fit(rows).labels_
        self.points_ = points
        # The normalised cut's own basis already holds the eigenvalue that bounds every cut.
        known = self.basis_ if self.objective == "ncut" else None
        self.cut_ = cut_report(self.graph_, self.labels_, self.objective, basis=known)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the clusters of new points: extend the eigenvectors, take the nearest centre.

        A point that no edge joins to the points of the fit, which a `RadiusGraph` may leave, gets
        -1: nothing is known of it.

        Parameters
        ----------
        X : array-like or sparse of shape (k, d)
            New points.

        Returns
        -------
        ndarray of shape (k,)
            Clusters.
        """
        check_is_fitted(self)
        points = checked_points(self, X, reset=False)
        k = self.kmeans_.n_clusters
        weights = attach_to_fit(self, points).weights
        extended = extend_eigenvectors(
            weights,
            self.basis_.vectors[:, :k],
            self.basis_.values[:k],
            kind=_KIND[self.objective],
        )
        clusters: NDArray[np.int32] = self.kmeans_.predict(self._rows(extended))
        clusters[np.diff(weights.indptr) == 0] = -1
        return clusters

    def _rows(self, vectors: FloatMatrix) -> FloatMatrix:
        if self.objective == "ratio":
            return np.ascontiguousarray(vectors)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        rows: FloatMatrix = np.divide(
            vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0
        )
        return rows

    def __sklearn_tags__(self) -> Any:
        return graph_tags(super().__sklearn_tags__(), self.graph)


def cut_report(
    graph: Graph,
    labels: NDArray[Any],
    objective: str = "ncut",
    *,
    basis: Basis | None = None,
) -> CutReport:
    """Measure a partition of a graph.

    `basis` holds at least two eigenvectors of the normalised problem, where they are known already.
    """
    k = int(labels.max()) + 1
    degrees = graph.degrees
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.weights.indptr))
    crossing = labels[rows] != labels[graph.weights.indices]
    cuts = np.bincount(labels[rows][crossing], weights=graph.weights.data[crossing], minlength=k)
    volumes = np.bincount(labels, weights=degrees, minlength=k)
    sizes = np.bincount(labels, minlength=k)
    smaller = np.minimum(volumes, degrees.sum() - volumes)
    if basis is None:
        basis = eigenbasis(graph, min(2, graph.n_nodes), kind="normalized")
    second, doubt = float(basis.values[:2][-1]), float(basis.residuals[:2][-1])
    return CutReport(
        conductances=_quotient(cuts, smaller),
        objective=float(_quotient(cuts, volumes if objective == "ncut" else sizes).sum()),
        # The computed value is at least the true one, and at most its residual above it.
        cheeger_lower=max(second - doubt, 0.0) / 2,
        cheeger_upper=float(np.sqrt(2 * second)),
    )


def _quotient(top: NDArray[Any], bottom: NDArray[Any]) -> FloatVector:
    """Quotient with 0 / 0 = 0: a whole component has no cut and possibly no rest."""
    quotient: FloatVector = np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0)
    return quotient
