"""Anchors: the points of a graph, made ready once for any number of new ones.

A graph's lists and points enter; who is near a new point, how strong it is tied, and how far it
lies beside what is usual there leave. The graph itself is no longer needed.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from beltrami.core.types import (
    CsrMatrix,
    FloatMatrix,
    FloatVector,
    IndexMatrix,
    IndexVector,
    Points,
)
from beltrami.graph.model import Graph, Neighbors
from beltrami.graph.search import Space, open_space
from beltrami.graph.search.approximate import Plan, is_surely_good, plan_search, worth_it
from beltrami.graph.search.cells import Cells, Division
from beltrami.graph.search.euclidean import TREE_DIMENSIONS
from beltrami.graph.weights import Edges, SharedNeighborWeights, WeightRule, fix_width

_SAMPLE = 1000  # anchors on which the recall of a search by cells is measured
_PLANNING = 500  # others, by which it is planned
_FEWEST = 4096
"""Anchors from which a search by cells is tried: to divide so many takes hundredths of a second."""


@dataclass(frozen=True, slots=True, eq=False)
class CellSearch:
    """How anchors are searched by cells: where they lie, how hard to look, what is found so.

    Attributes
    ----------
    division : Division
        The cell of each anchor, and their centres.
    plan : Plan
        Cells that a new point ranks, and searches.
    recall : float
        Share of the anchors' own neighbours that it finds, on a sample.
    """

    division: Division
    plan: Plan
    recall: float


@dataclass(frozen=True, slots=True, eq=False)
class Tie:
    """New points tied to anchors.

    Attributes
    ----------
    anchors : ndarray of shape (m, w)
        Those that each new point is joined to, the nearest first.
    weights : ndarray of shape (m, w)
        Of these edges.
    twins : ndarray of shape (m,)
        The anchor that is identical to a new point, the first of several; -1 where there is none.
    nearest : ndarray of shape (m,)
        The nearest anchor; -1 where none is near enough.
    stretch : ndarray of shape (m,)
        Distance to the last neighbour, in units of what that is for these neighbours themselves;
        1 is usual.
    """

    anchors: IndexMatrix
    weights: FloatMatrix
    twins: IndexVector
    nearest: IndexVector
    stretch: FloatVector

    def edges(self, n_anchors: int) -> CsrMatrix:
        """Return what the edges weigh, from new points to all anchors, (m, n)."""
        m, width = self.anchors.shape
        starts = np.arange(0, m * width + 1, width)
        parts = self.weights.ravel(), self.anchors.ravel(), starts
        return csr_array(parts, shape=(m, n_anchors))


@dataclass(frozen=True, eq=False)
class Anchors:
    """Points that new ones are tied to, by the rule that weighed the edges among them.

    Attributes
    ----------
    points : ndarray or csr_array of shape (n, d)
        The points that lists name: all of the graph's, or one of each that are equal.
    metric : str or callable
        How distances are measured.
    rule : WeightRule
        What an edge weighs, its width fixed.
    n_neighbors, n_listed : int
        Anchors that a new point is joined to, and those that the rule looks at.
    lists : Neighbors
        What the rule must know of anchors: (n, w) of their neighbours, and (n, 1), their scale.
    spans : ndarray of shape (n,)
        Distance from each anchor to the last of its own neighbours.
    cells : CellSearch or None, default=None
        How they are searched where they are many; None compares a new point with all of them.
    """

    points: Points
    metric: Any
    rule: WeightRule
    n_neighbors: int
    n_listed: int
    lists: Neighbors
    spans: FloatVector
    cells: CellSearch | None = None

    @property
    def n_anchors(self) -> int:
        """Number of anchors."""
        return len(self.spans)

    @cached_property
    def space(self) -> Space:
        """The anchors, prepared for their metric."""
        return open_space(self.points, self.metric)

    @cached_property
    def _arranged(self) -> Cells | None:
        if self.cells is None or self.space.euclidean is None:
            return None
        return Cells.of(self.space.euclidean.compact, self.cells.division, self.n_listed)

    def look_around(self, new: Any) -> Neighbors:
        """Return the anchors nearest to new points, as many as the rule looks at."""
        cells = self._arranged
        if cells is None or self.cells is None:
            return Neighbors(*self.space.nearest(new, self.n_listed))
        space: Any = self.space  # Euclidean or angular: no other is searched by cells
        indices, distances = space.nearest_in_cells(new, self.n_listed, cells, self.cells.plan)
        return Neighbors(indices, distances, recall=self.cells.recall)

    def weigh(self, near: Neighbors) -> tuple[Edges, FloatVector]:
        """Return the edges from new points to anchors, and what they weigh."""
        k = min(self.n_neighbors, self.n_listed)
        first = near.first(k)
        rows = np.repeat(np.arange(len(first.indices)), k)
        edges = Edges(rows, first.indices.ravel(), first.distances.ravel())
        # The scale of a new point is that of its k-th neighbour, as it is for an old one.
        return edges, self.rule.weigh(edges, near, self.lists)

    def tie(self, new: Any) -> Tie:
        """Tie new points to the anchors."""
        near = self.look_around(new)
        weights = self.weigh(near)[1].reshape(len(near.indices), -1)
        nearest = near.indices[:, 0].astype(np.int64)
        twins = np.where(near.distances[:, 0] == 0, nearest, -1)
        joined = near.indices[:, : weights.shape[1]]
        stretch = stretch_of(
            near.distances[:, joined.shape[1] - 1], self.spans[joined].mean(axis=1)
        )
        return Tie(joined, weights, twins, nearest, stretch)

    def own_stretch(self) -> FloatVector:
        """Return how far each anchor lies from its own neighbours, beside what is usual there."""
        usual = self.spans[self.lists.indices[:, : self.n_neighbors]].mean(axis=1)
        return stretch_of(self.spans, usual)


def stretch_of(distances: FloatVector, usual: FloatVector) -> FloatVector:
    """Return distances in units of what is usual; 0 for none, infinite where none is usual."""
    stretch = np.where(distances > 0, np.inf, 0.0)
    np.divide(distances, usual, out=stretch, where=usual > 0)
    return stretch


def among_different(n_neighbors: int, n_different: int) -> int:
    """Return how many neighbours a point has where lists name different points only.

    Of few different points it is the root of their number: all of them are no neighbourhood.
    """
    return min(n_neighbors, isqrt(n_different))


def named_nodes(lists: Neighbors) -> IndexVector | None:
    """Return the nodes of a graph that its lists name, ascending; None where these are all."""
    return None if lists.first_equals is None else np.unique(lists.first_equals)


def set_anchors(
    points: Points,
    graph: Graph,
    rule: WeightRule,
    *,
    metric: Any,
    n_neighbors: int,
    by_cells: bool = False,
) -> Anchors:
    """Return the anchors that the points of a graph with lists are.

    - `by_cells`: whether many of them are searched by cells, where that finds 0.99 of what looking
      at all does.
    """
    old = graph.neighbors
    assert old is not None
    named = named_nodes(old)
    rule = fix_width(rule, old.distances.ravel())
    if named is not None:
        points = points[named]
        if metric == "precomputed":
            points = points[:, named]
        indices = np.searchsorted(named, old.indices[named]).astype(old.indices.dtype)
        old = Neighbors(indices, old.distances[named], old.recall)
        n_neighbors = among_different(n_neighbors, len(named))
    width = old.indices.shape[1]
    n_listed = min(rule.reach(n_neighbors), width + 1, len(old.indices))
    scale, n_kept = width, n_neighbors
    if isinstance(rule, SharedNeighborWeights):
        scale, n_kept = min(rule.n_scale or width, width), max(rule.n_shared, n_neighbors)
    lists = Neighbors(old.indices[:, :n_kept], old.distances[:, scale - 1 : scale], old.recall)
    spans = old.distances[:, min(n_neighbors, width) - 1].copy()
    anchors = Anchors(points, metric, rule, n_neighbors, n_listed, lists, spans)
    return _with_cells(anchors, old) if by_cells else anchors


def _with_cells(anchors: Anchors, old: Neighbors) -> Anchors:
    """Return anchors that are searched by cells, where these are many and it finds enough."""
    space = anchors.space.euclidean
    if space is None or space.n_points < _FEWEST or space.points.shape[1] <= TREE_DIMENSIONS:
        return anchors
    drawn = np.random.default_rng(0).permutation(space.n_points)[: _SAMPLE + _PLANNING]
    sample, planning = np.sort(drawn[:_SAMPLE]), np.sort(drawn[_SAMPLE:])
    k = min(anchors.n_listed, old.indices.shape[1])
    arranged = Cells.of(space.compact, space.division, k + 1)
    plan = plan_search(arranged, planning, old.indices[planning, :k])
    while plan is not None and worth_it(plan, arranged):
        found = space.nearest_in_cells(space.points[sample], k + 1, arranged, plan)[1]
        chords = _true_chords(anchors, sample, old.indices[sample, k - 1])
        is_found = found[:, 1:] <= chords[:, None]
        if is_surely_good(is_found):
            search = CellSearch(space.division, plan, float(is_found.mean()))
            return replace(anchors, cells=search)
        plan = plan.harder(arranged)
    return anchors


def _true_chords(anchors: Anchors, rows: IndexVector, last: IndexVector) -> FloatVector:
    """Return the Euclidean distance of anchors to their last listed neighbours."""
    space = anchors.space.euclidean
    assert space is not None
    return space.distances(rows, last.astype(np.intp)) * (1 + 1e-12)
