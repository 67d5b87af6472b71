"""Recipes: objects that say how to make a graph from points, and make it.

They are scikit-learn estimators in name and parameters, so ``graph__n_neighbors`` works in a grid
search, and every learner that needs a graph takes one of them instead of repeating its arguments.
Default weights are those of the constructors; the front door has its own in ``prepare``.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.core.machine.threads import thread_limit
from beltrami.core.randomness import generator
from beltrami.core.types import CsrMatrix, Seed
from beltrami.core.validation import check_choice, check_count, check_positive
from beltrami.graph.anchors import named_nodes, set_anchors
from beltrami.graph.assembly import assemble_graph, attach_points, symmetric_edges, unique_edges
from beltrami.graph.model import Attachment, Graph, GraphCertificate, Neighbors
from beltrami.graph.search import open_space
from beltrami.graph.weights import Edges, HeatKernel, WeightRule, fix_width, weight_rule

_CONNECT = ("mst", "keep", "raise")


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
    weights : {"self_tuning", "binary", "heat", "shared", "tuned_shared"} or rule, \
            default="self_tuning"
        What an edge weighs; ``HeatKernel(t)`` for a heat kernel of your own width. "shared"
        counts the neighbours that two points share, "tuned_shared" multiplies that by the
        self-tuning Gaussian: the best of them with very few labels.
    search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact below 20,000 points and at any size in up to 8 dimensions; above, it is
        approximate with a measured recall of at least 0.99 where that is faster, as it is unless
        the data are noise. Sparse data, precomputed distances and metrics other than Euclidean,
        cosine and angle are always searched exactly.
    symmetry : {"union", "mutual"}, default="union"
        An edge where either end lists the other, or only where both do.
    connect : {"mst", "keep", "raise"}, default="mst"
        What to do with several components: add the shortest bridges and warn, leave them, or
        raise `DisconnectedGraphError`.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the approximate search; exact search draws nothing.
    n_jobs : int or None, default=None
        Threads; -1 means all, None leaves the libraries' own setting, which is all as a rule.

    Examples
    --------
    >>> from beltrami import KnnGraph
    >>> recipe = KnnGraph(n_neighbors=1, weights="binary", connect="keep")
    >>> recipe.build([[0.0], [1.0], [5.0], [6.0]])
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

        Cost: n^2 d multiplications for exact search in many dimensions, about n log n in few and
        for approximate search; memory beyond the data is one float32 copy, or two where the search
        is approximate, and O(n n_neighbors).

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
        check_choice(self.connect, _CONNECT, name="connect")
        n_neighbors = check_count(self.n_neighbors, name="n_neighbors")
        with thread_limit(self.n_jobs):
            space = open_space(X, self.metric)
            k = _affordable_neighbors(n_neighbors, space.n_points)
            reach = min(rule.reach(k), space.n_points - 1)
            lists = space.neighbors(reach, search=self.search, rng=generator(self.random_state))
            edges, lists, rule = self._choose_edges(X, lists, rule, k)
            _warn_when_all_equal(lists)
            certificate = GraphCertificate(
                search="approximate" if lists.n_sampled else "exact",
                recall=lists.recall,
                n_sampled=lists.n_sampled,
            )
            return assemble_graph(
                space,
                edges,
                rule,
                lists,
                connect=self.connect,
                recipe=repr(self),
                certificate=certificate,
            )

    def _choose_edges(
        self,
        X: Any,  # noqa: ARG002
        lists: Neighbors,
        rule: WeightRule,
        k: int,
    ) -> tuple[Edges, Neighbors, WeightRule]:
        """Return who is joined, by lists of neighbours, and what weighs that."""
        edges = symmetric_edges(lists.first(k), mutual=self.symmetry == "mutual")
        return edges, lists, rule

    def extend(self, graph: Graph, X: Any, new: Any) -> CsrMatrix:
        """Weigh the edges from new points to the points of a built graph.

        Each new point is joined to its ``n_neighbors`` nearest old points by the same rule of
        weights; the old graph does not change. A new point that is identical to an old one gets
        that one's own edges, so that it is treated as the same point.

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
        return self.attach(graph, X, new).weights

    def attach(self, graph: Graph, X: Any, new: Any) -> Attachment:
        """Weigh the edges to new points, as `extend` does, and say which of them are old ones.

        Parameters
        ----------
        graph, X, new : Graph, array-like and array-like
            As for `extend`.

        Returns
        -------
        Attachment
            Weights and twins.
        """
        rule = weight_rule(self.weights)
        old = graph.neighbors
        if old is None:
            raise InvalidInputError(
                "this graph was given as weights and holds no neighbour lists, so new points "
                "cannot be attached to it. Fit with a recipe such as KnnGraph() instead."
            )
        with thread_limit(self.n_jobs):
            anchors = set_anchors(
                X,
                graph,
                rule,
                metric=self.metric,
                n_neighbors=check_count(self.n_neighbors, name="n_neighbors"),
            )
            named = named_nodes(old)
            if named is not None and self.metric == "precomputed":
                new = new[:, named]
            near = anchors.look_around(new)
        edges, weights = anchors.weigh(near)
        if named is not None:
            edges = replace(edges, columns=named[edges.columns])
            near = replace(near, indices=named[near.indices])
        same = np.flatnonzero(near.distances[:, 0] == 0)
        twins = (same, near.indices[same, 0])
        return attach_points(edges, weights, len(near.indices), graph, twins=twins)


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
        Threads; -1 means all, None leaves the libraries' own setting, which is all as a rule.

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
        check_choice(self.connect, _CONNECT, name="connect")
        with thread_limit(self.n_jobs):
            space = open_space(X, self.metric)
            _require_two(space.n_points)
            rows, columns, distances = space.within(radius)
            edges = unique_edges(rows, columns, distances)
            return assemble_graph(
                space,
                edges,
                fix_width(rule, edges.distances),
                None,
                connect=self.connect,
                recipe=repr(self),
                certificate=GraphCertificate(search="exact"),
            )

    def extend(self, graph: Graph, X: Any, new: Any) -> CsrMatrix:
        """Weigh the edges from new points to all old points within the radius.

        A new point that is identical to an old one gets that one's own edges.

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
            w(new_i, x_j); a row is empty where no old point is near enough.
        """
        return self.attach(graph, X, new).weights

    def attach(self, graph: Graph, X: Any, new: Any) -> Attachment:
        """Weigh the edges to new points, as `extend` does, and say which of them are old ones.

        Parameters
        ----------
        graph, X, new : Graph, array-like and array-like
            As for `extend`.

        Returns
        -------
        Attachment
            Weights and twins.
        """
        radius, rule = check_positive(self.radius, name="radius"), weight_rule(self.weights)
        with thread_limit(self.n_jobs):
            space = open_space(X, self.metric)
            edges = Edges(*space.within(radius, new))
            if isinstance(rule, HeatKernel) and rule.t == "auto":
                # The graph's width, in which bridges, longer than the radius, had no part.
                lengths = space.distances(*graph.weights.nonzero())
                rule = fix_width(rule, lengths[lengths <= radius * (1 + 1e-9)])
            same = np.flatnonzero(edges.distances == 0)
        m = new.shape[0] if hasattr(new, "shape") else len(new)
        twins, first = np.unique(edges.rows[same], return_index=True)
        weights = rule.weigh(edges, None, None)
        return attach_points(edges, weights, m, graph, twins=(twins, edges.columns[same][first]))


GraphRecipe = KnnGraph | RadiusGraph
"""What builds a graph from points."""


def _require_two(n: int) -> None:
    if n < 2:
        raise InvalidInputError(
            f"a graph needs at least 2 points and X has n_samples = {n}. One point has no "
            "neighbour to learn from."
        )


def _affordable_neighbors(n_neighbors: int, n: int) -> int:
    _require_two(n)
    if n_neighbors >= n:
        warnings.warn(
            f"n_neighbors={n_neighbors} was lowered to {n - 1}: there are only {n} points, so "
            "every point is joined to every other and the graph says nothing about shape.",
            DegenerateDataWarning,
            stacklevel=3,
        )
    return min(n_neighbors, n - 1)


def _warn_when_all_equal(lists: Neighbors) -> None:
    if lists.distances.max() == 0:
        warnings.warn(
            "every point is identical to all its neighbours; the graph's edges between them are "
            "arbitrary. Check that X holds the columns you meant.",
            DegenerateDataWarning,
            stacklevel=3,
        )
