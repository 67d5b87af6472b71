"""Nearest neighbours along the graph: the labels with the shortest paths to a point vote."""

from typing import Any

import numpy as np

from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import thread_limit
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector, Points
from beltrami.core.validation import check_choice, check_count
from beltrami.graph.model import Graph
from beltrami.graph.search import open_space
from beltrami.graph.weights import WEIGHT_FLOOR
from beltrami.learners.base import GraphClassifier
from beltrami.learners.leave_one_out import mean_of_others
from beltrami.learners.model import Labeled, LeftOut

_WEIGHTS = ("uniform", "distance")
_TIE = 1e-9
"""Shares of votes that differ by less are a tie, which the nearest voter decides."""


class GeodesicNeighborsClassifier(GraphClassifier):
    r"""Classify by the labelled points that are nearest along the graph.

    The distance of two points is the length of the shortest path between them over the edges of
    the graph of all points, labelled or not,

    .. math:: d(x, z) = \min_{x = x_0 \sim x_1 \sim \dots \sim x_m = z} \sum_r \ell(x_{r-1}, x_r),

    and with N(x) the `n_neighbors` labelled points of least d(x, i) every point gets

    .. math:: \operatorname{argmax}_c \sum_{i \in N(x)} w_i \, v_i(x) \, [y_i = c],

    where w is the weight of the label and v is 1, or 1 / d for ``weights="distance"``. The thesis
    names the case of one neighbour "geodesic nearest neighbors" ([Belkin03]_, sec. 3.3) and warns
    that a little noise can change its answers: a single short cut through the gap between two
    classes is enough. It has no other parameter, which makes it a fair baseline.

    An edge is as long as its two points are apart in the metric of the recipe that made the graph,
    so identical points are at distance zero; in a graph that was given, whose points say nothing,
    an edge of weight w has length 1 / w. At equal distance the label with the lower row number is
    the nearer one, except that no label is nearer to a labelled row than its own. Where fewer
    labels than `n_neighbors` reach a point, these vote. Where the votes are equal (their shares
    within 1e-9), the class of the nearest voter wins.

    New points get the mean of the votes of their neighbours in the graph, by edge weight; a point
    of the fit gets its own. Cost: one search from all labels together, at most
    O(k nnz (k + log nnz)) for k neighbours, a second for 60,000 points and five of them.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many labelled points vote.
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``.
    weights : {"uniform", "distance"}, default="uniform"
        Whether votes count the same or by 1 / distance; a voter at distance zero then silences
        all that are not. A label's ``sample_weight`` multiplies its vote.
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one, the marker where no label reaches.
    label_distributions_ : ndarray of shape (n, k)
        Shares of the votes; the shares of all labels where none reaches.
    confidence_ : ndarray of shape (n,)
        Share of the class in ``transduction_``; 0 where no label reaches.
    reached_ : ndarray of shape (n,)
        Whether a label shares the row's component of the graph.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Row numbers of the labelled points that voted, nearest first; -1 where there were fewer.
    distances_ : ndarray of shape (n, n_neighbors)
        Their distances along the graph; infinite where there were fewer.
    graph_ : Graph
        With its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import GeodesicNeighborsClassifier, two_moons
    >>> moons = two_moons(300, random_state=0)
    >>> y = np.full(300, -1)
    >>> y[::30] = moons.targets[::30]
    >>> learner = GeodesicNeighborsClassifier().fit(moons.points, y)
    >>> bool((learner.transduction_ == moons.targets).mean() > 0.95)
    True
    """

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        graph: Any = None,
        weights: str = "uniform",
        unlabeled: Any = "auto",
        classes: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.weights = weights
        self.unlabeled = unlabeled
        self.classes = classes

    def _prepare(self, labeled: Labeled) -> None:  # noqa: ARG002
        if self.recipe_ is None:
            self._lengths: FloatVector = 1 / np.maximum(self.graph_.weights.data, WEIGHT_FLOOR)
            return
        with thread_limit(self.recipe_.n_jobs):
            self._lengths = _edge_lengths(self.graph_, self.points_, self.recipe_.metric)

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        check_choice(self.weights, _WEIGHTS, name="weights")
        k = check_count(self.n_neighbors, name="n_neighbors")
        nearest, self.distances_ = self._nearest(labeled, k)
        self.neighbors_ = np.where(nearest >= 0, labeled.rows[nearest], -1)
        return _votes(nearest, self.distances_, labeled, by_distance=self.weights == "distance")

    def _nearest(self, labeled: Labeled, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return the places among the labels of the k nearest to each node, and their distances."""
        from beltrami.learners.geodesic import _loops

        edges, rows = self.graph_.weights, labeled.rows
        require_memory(
            32.0 * self.graph_.n_nodes * k,
            what=f"a list of {k} labels for each of {self.graph_.n_nodes} points",
            instead="Lower n_neighbors.",
        )
        nearest, distances = _loops.nearest_labels(
            edges.indptr, edges.indices, self._lengths, rows, min(k, len(rows))
        )
        nearest[rows], distances[rows] = _own_first(nearest[rows], distances[rows])
        missing = ((0, 0), (0, k - nearest.shape[1]))
        return (
            np.pad(nearest, missing, constant_values=-1),
            np.pad(distances, missing, constant_values=np.inf),
        )

    def _left_out(self) -> LeftOut:
        """Take one label more, and drop a labelled row's own: it is the first in its list."""
        labeled = self._labeled
        width = self.neighbors_.shape[1] + 1
        nearest, distances = self._nearest(labeled, width)
        others, distances = nearest[labeled.rows, 1:], distances[labeled.rows, 1:]
        scores = _votes(others, distances, labeled, by_distance=self.weights == "distance")
        alone = others[:, 0] < 0
        scores[alone] = mean_of_others(labeled)[alone]
        return LeftOut(labeled.rows, labeled.targets, scores, labeled.weights)


def _edge_lengths(graph: Graph, points: Points, metric: Any) -> FloatVector:
    """Return the distances of the ends of all stored edges, each pair measured once."""
    n, ends = graph.n_nodes, graph.weights.indices.astype(np.int64)
    starts = np.repeat(np.arange(n, dtype=np.int64), np.diff(graph.weights.indptr))
    keys = np.minimum(starts, ends) * n + np.maximum(starts, ends)
    pairs, place = np.unique(keys, return_inverse=True)
    lengths = open_space(points, metric).distances(pairs // n, pairs % n)
    # A metric that rounds the distance of near points to below zero would make a path that gets
    # shorter with every turn.
    measured: FloatVector = np.maximum(lengths, 0.0)[place]
    return measured


def _own_first(nearest: IndexMatrix, distances: FloatMatrix) -> tuple[IndexMatrix, FloatMatrix]:
    """Put each label first in the list of its own row, number i in row i.

    Identical points of lower numbers can stand before it, or crowd it out of the list; all of
    these are at distance zero as well, so the distances stay sorted.
    """
    count, k = nearest.shape
    numbers: IndexVector = np.arange(count)
    is_own = nearest == numbers[:, None]
    is_own[~is_own.any(axis=1), -1] = True
    others = nearest[~is_own].reshape(count, k - 1)
    away = distances[~is_own].reshape(count, k - 1)
    return np.column_stack([numbers, others]), np.column_stack([np.zeros(count), away])


def _votes(
    voters: IndexMatrix, distances: FloatMatrix, labeled: Labeled, *, by_distance: bool
) -> FloatMatrix:
    """Return each class's share of the votes; a row without a voter is zero.

    `voters` are places among the labels, nearest first, and -1 for none. Ties are broken in favour
    of the class of the nearest voter.
    """
    is_there, strengths = voters >= 0, (voters >= 0).astype(np.float64)
    if by_distance:
        # Relative to the nearest, which cannot overflow: it has 1, and if it is at zero only
        # its equals have any.
        np.divide(distances[:, :1], distances, out=strengths, where=is_there & (distances > 0))
    strengths *= labeled.weights[voters]
    codes = labeled.targets.argmax(axis=1)[voters]
    (m, k), rows = voters.shape, np.arange(len(voters))
    votes, first = np.zeros((2, m, labeled.targets.shape[1]))
    for column in reversed(range(k)):  # the nearest writes last into `first`
        votes[rows, codes[:, column]] += strengths[:, column]
        voted = rows[strengths[:, column] > 0]
        first[voted, codes[voted, column]] = 1 - column / k
    return _shares(_shares(votes) + _TIE * first)


def _shares(votes: FloatMatrix) -> FloatMatrix:
    totals = votes.sum(axis=1, keepdims=True)
    shares: FloatMatrix = np.divide(votes, totals, out=np.zeros_like(votes), where=totals > 0)
    return shares
