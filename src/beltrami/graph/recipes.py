"""Recipes: objects that say how to make a graph from points, and make it.

They are scikit-learn estimators in name and parameters, so ``graph__n_neighbors`` works in a grid
search, and every learner that needs a graph takes one of them instead of repeating its arguments.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.base import BaseEstimator

from beltrami.core.errors import (
    ConnectedByBridgesWarning,
    DegenerateDataWarning,
    DisconnectedGraphError,
    InvalidInputError,
)
from beltrami.core.randomness import generator
from beltrami.core.threads import thread_limit
from beltrami.core.types import CsrMatrix, FloatVector, IndexVector, Seed
from beltrami.core.validation import check_choice, check_count, check_positive
from beltrami.graph.connect import shortest_bridges
from beltrami.graph.model import Graph, GraphCertificate, Neighbors
from beltrami.graph.search import Space, open_space
from beltrami.graph.weights import Edges, WeightRule, weight_rule

CONNECT = ("mst", "keep", "raise")


class KnnGraph(BaseEstimator):
    """A graph that joins each point to its nearest neighbours.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours per point, itself not counted. With fewer points than that, all of them are
        taken and a warning says so.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (1 - cos), "angle" (in radians), "precomputed" (the data are a
        square matrix of distances, dense or sparse), or any metric of scikit-learn.
    weights : {"self_tuning", "binary", "heat", "shared"} or rule, default="self_tuning"
        What an edge weighs; ``HeatKernel(t)`` for a heat kernel of your own width.
    search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact up to n^2 d = 4e12 (200,000 points of 100 dimensions) and at any size in
        up to 8 dimensions; above, approximate with a measured recall of at least 0.99.
    symmetry : {"union", "mutual"}, default="union"
        An edge where either end lists the other, or only where both do.
    connect : {"mst", "keep", "raise"}, default="mst"
        What to do with several components: add the shortest bridges and warn, leave them, or
        raise `DisconnectedGraphError`.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the approximate search; exact search draws nothing.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all.

    Examples
    --------
    >>> from beltrami import KnnGraph
    >>> KnnGraph(n_neighbors=1, weights="binary", connect="keep").build([[0.0], [1.0], [5.0], [6.0]])
    Graph(4 nodes, 2 edges, 2 components; exact)
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        metric: Any = "euclidean",
        weights: Any = "self_tuning",
        search: str = "auto",
        symmetry: str = "union",
        connect: str = "mst",
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.search = search
        self.symmetry = symmetry
        self.connect = connect
        self.random_state = random_state
        self.n_jobs = n_jobs

    def build(self, X: Any) -> Graph:
        """Make the graph of `X`.

        Cost: n^2 d multiplications for exact search in many dimensions, about n log n in few;
        memory beyond the data is one float32 copy and O(n n_neighbors).

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point; at least two.

        Returns
        -------
        Graph
            Symmetric, with the recall of the search and the neighbour lists.
        """
        rule = weight_rule(self.weights)
        check_choice(self.search, ("auto", "exact", "approximate"), name="search")
        check_choice(self.symmetry, ("union", "mutual"), name="symmetry")
        check_choice(self.connect, CONNECT, name="connect")
        wanted = check_count(self.n_neighbors, name="n_neighbors")
        with thread_limit(self.n_jobs):
            space = open_space(X, self.metric)
            k = _affordable_neighbors(wanted, space.n_points)
            reach = min(rule.reach(k), space.n_points - 1)
            lists = space.neighbors(reach, search=self.search, rng=generator(self.random_state))
            _warn_when_all_equal(lists)
            edges = _symmetric_edges(lists.first(k), mutual=self.symmetry == "mutual")
            certificate = GraphCertificate(
                search="approximate" if lists.n_sampled else "exact",
                recall=lists.recall,
                n_sampled=lists.n_sampled,
            )
            return _finished(
                space, edges, rule, lists, connect=self.connect, recipe=repr(self), made=certificate
            )

    def extend(self, graph: Graph, X: Any, new: Any) -> CsrMatrix:
        """Weigh the edges from new points to the points of a built graph.

        Each new point is joined to its ``n_neighbors`` nearest old points by the same rule of
        weights; the old graph does not change.

        Parameters
        ----------
        graph : Graph
            What ``build(X)`` returned.
        X : array-like or sparse of shape (n, d)
            The points it was built from.
        new : array-like or sparse of shape (m, d)
            The new points; with ``metric="precomputed"`` their distances to the n old ones.

        Returns
        -------
        csr_array of shape (m, n)
            w(new_i, x_j).
        """
        rule = weight_rule(self.weights)
        old = graph.neighbors
        if old is None:
            raise InvalidInputError(
                "this graph was given as weights and holds no neighbour lists, so new points "
                "cannot be attached to it. Fit with a recipe such as KnnGraph() instead."
            )
        with thread_limit(self.n_jobs):
            space = open_space(X, self.metric)
            k = min(self.n_neighbors, space.n_points)
            reach = min(rule.reach(k), old.indices.shape[1] + 1, space.n_points)
            lists = Neighbors(*space.nearest(new, reach))
        m = len(lists.indices)
        near = lists.first(k)
        edges = Edges(np.repeat(np.arange(m), k), near.indices.ravel(), near.distances.ravel())
        # The scale of a new point is that of its k-th neighbour, as it is for an old one.
        weights = rule.weigh(edges, lists, old)
        return csr_array(
            coo_array((weights, (edges.rows, edges.columns)), shape=(m, space.n_points))
        )


class RadiusGraph(BaseEstimator):
    """A graph that joins all points at most `radius` apart.

    The thesis uses the squared distance in section 2.2 and the distance in section 2.3.3; we take
    the distance.

    Parameters
    ----------
    radius : float
        Largest length of an edge.
    metric : str or callable, default="euclidean"
        As in `KnnGraph`.
    weights : {"binary", "heat"} or HeatKernel, default="binary"
        What an edge weighs.
    connect : {"keep", "mst", "raise"}, default="keep"
        What to do with several components. Isolated points are normal here.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all.

    Examples
    --------
    >>> from beltrami import RadiusGraph
    >>> RadiusGraph(1.0).build([[0.0], [1.0], [2.0], [9.0]])
    Graph(4 nodes, 2 edges, 2 components; exact)
    """

    def __init__(
        self,
        radius: float,
        *,
        metric: Any = "euclidean",
        weights: Any = "binary",
        connect: str = "keep",
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.metric = metric
        self.weights = weights
        self.connect = connect
        self.n_jobs = n_jobs

    def build(self, X: Any) -> Graph:
        """Make the graph of `X`.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point; at least two.

        Returns
        -------
        Graph
            Symmetric; its size grows with the number of pairs within the radius.
        """
        radius = check_positive(self.radius, name="radius")
        rule = weight_rule(self.weights)
        check_choice(self.connect, CONNECT, name="connect")
        with thread_limit(self.n_jobs):
            space = open_space(X, self.metric)
            _require_two(space.n_points)
            rows, columns, distances = space.within(radius)
            edges = _unique_edges(rows, columns, distances)
            return _finished(
                space,
                edges,
                rule,
                None,
                connect=self.connect,
                recipe=repr(self),
                made=GraphCertificate(search="exact"),
            )

    def extend(self, graph: Graph, X: Any, new: Any) -> CsrMatrix:  # noqa: ARG002
        """Weigh the edges from new points to all old points within the radius.

        Parameters
        ----------
        graph : Graph
            What ``build(X)`` returned.
        X : array-like or sparse of shape (n, d)
            The points it was built from.
        new : array-like or sparse of shape (m, d)
            The new points.

        Returns
        -------
        csr_array of shape (m, n)
            w(new_i, x_j); a row is empty where no old point is near enough.
        """
        from sklearn.metrics import pairwise_distances

        metric = "cosine" if self.metric == "angle" else self.metric
        rule, blocks, n = weight_rule(self.weights), [], np.shape(X)[0]
        points = csr_array(new) if hasattr(new, "tocsr") else np.asarray(new)
        for start in range(0, points.shape[0], 1024):
            block = points[start : start + 1024]
            gaps = block if metric == "precomputed" else pairwise_distances(block, X, metric=metric)
            gaps = np.arccos(np.clip(1 - gaps, -1, 1)) if self.metric == "angle" else gaps
            rows, columns = np.nonzero(gaps <= self.radius)
            edges = Edges(rows, columns, np.asarray(gaps[rows, columns], dtype=np.float64))
            entries = (rule.weigh(edges, None, None), (rows, columns))
            blocks.append(csr_array(coo_array(entries, shape=(block.shape[0], n))))
        from scipy.sparse import vstack

        return csr_array(vstack(blocks))


GraphRecipe = KnnGraph | RadiusGraph
"""What builds a graph from points."""


def _require_two(n: int) -> None:
    if n < 2:
        raise InvalidInputError(
            f"a graph needs at least 2 points and X has n_samples = {n}. One point has no "
            "neighbour to learn from."
        )


def _affordable_neighbors(wanted: int, n: int) -> int:
    _require_two(n)
    if wanted >= n:
        warnings.warn(
            f"n_neighbors={wanted} was lowered to {n - 1}: there are only {n} points, so every "
            "point is joined to every other and the graph says nothing about shape.",
            DegenerateDataWarning,
            stacklevel=3,
        )
    return min(wanted, n - 1)


def _warn_when_all_equal(lists: Neighbors) -> None:
    if lists.distances.max() == 0:
        warnings.warn(
            "every point is identical to all its neighbours; the graph's edges between them are "
            "arbitrary. Check that X holds the columns you meant.",
            DegenerateDataWarning,
            stacklevel=3,
        )


def _symmetric_edges(lists: Neighbors, *, mutual: bool) -> Edges:
    n, k = lists.indices.shape
    rows = np.repeat(np.arange(n, dtype=np.int64), k)
    return _unique_edges(
        rows, lists.indices.ravel(), lists.distances.ravel(), at_least=2 if mutual else 1
    )


def _unique_edges(
    rows: IndexVector, columns: IndexVector, distances: FloatVector, at_least: int = 1
) -> Edges:
    """Return each undirected pair once, if it stands in the list `at_least` times.

    Pairs are handled as numbers, never as entries of a matrix of distances, in which the edge of
    two identical points, a zero, would vanish.
    """
    low, high = np.minimum(rows, columns).astype(np.int64), np.maximum(rows, columns)
    span = int(max(high.max(initial=0), 0)) + 1
    keys, first, counts = np.unique(low * span + high, return_index=True, return_counts=True)
    keep = counts >= at_least
    return Edges(keys[keep] // span, keys[keep] % span, np.asarray(distances)[first[keep]])


def _weight_matrix(edges: Edges, weights: FloatVector, n: int) -> CsrMatrix:
    index = np.int32 if n < 2**31 else np.int64
    ends = np.concatenate([edges.rows, edges.columns]).astype(index)
    starts = np.concatenate([edges.columns, edges.rows]).astype(index)
    matrix: CsrMatrix = csr_array(
        coo_array((np.concatenate([weights, weights]), (ends, starts)), shape=(n, n))
    )
    matrix.sort_indices()
    return matrix


def _finished(
    space: Space,
    edges: Edges,
    rule: WeightRule,
    lists: Neighbors | None,
    *,
    connect: str,
    recipe: str,
    made: GraphCertificate,
) -> Graph:
    """Weigh the edges and apply the policy on components."""
    n = space.n_points
    graph = Graph(_weight_matrix(edges, rule.weigh(edges, lists, lists), n), lists, made)
    count, membership = graph.components()
    made = replace(made, n_components_found=count)
    if count > 1 and connect == "raise":
        raise DisconnectedGraphError(
            n_components=count, smallest=int(np.bincount(membership).min()), recipe=recipe
        )
    if count == 1 or connect == "keep":
        return Graph(graph.weights, lists, made)
    bridges = shortest_bridges(space, membership)
    longest, typical = float(bridges.distances.max()), _median(edges.distances)
    warnings.warn(
        f"the graph fell into {count} components; {len(bridges.rows)} bridge(s) were added to "
        f"join them, the longest of length {longest:.3g} where a median edge has {typical:.3g}. "
        "Pass connect='keep' to leave the components apart.",
        ConnectedByBridgesWarning,
        stacklevel=4,
    )
    joined = Edges(
        np.concatenate([edges.rows, bridges.rows]),
        np.concatenate([edges.columns, bridges.columns]),
        np.concatenate([edges.distances, bridges.distances]),
    )
    weights = _weight_matrix(joined, rule.weigh(joined, lists, lists), n)
    return Graph(weights, lists, replace(made, n_bridges=len(bridges.rows)))


def _median(distances: FloatVector) -> float:
    return float(np.median(distances)) if len(distances) else 0.0
