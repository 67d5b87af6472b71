"""Neighbours that differ, for data in which many points are equal: categories, codes, roundings.

Where ten neighbours of a point are ten copies of it, the graph is a heap of cliques that know
nothing of each other. Here each point is joined to its nearest points that differ from it and from
each other, and copies are tied among themselves. All points stay nodes, and there are no more than
about two edges a neighbour.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components

from beltrami.core.randomness import generator
from beltrami.core.types import FloatVector, IndexMatrix, IndexVector
from beltrami.graph.anchors import among_different
from beltrami.graph.assembly import symmetric_edges, unique_edges
from beltrami.graph.model import Neighbors
from beltrami.graph.recipes import KnnGraph
from beltrami.graph.search import open_part
from beltrami.graph.weights import Edges, WeightRule

_MANY = 0.1
"""Share of all neighbours that are copies from which they are not counted as neighbours."""

_STEPS = 5
"""Steps around the ring of copies, so that each is tied to ten at most."""


class DistinctKnnGraph(KnnGraph):
    """A graph that joins each point to its nearest neighbours that differ from it.

    It is that of `KnnGraph`, to the last bit, where less than a tenth of all neighbours are equal
    to the point that lists them, where no more points are different than it has neighbours, and
    where only some distances are given.

    Of a neighbour that has copies each copy of a point is joined to one, in turn. Where there are
    few different points, a point is joined to no more of them than the root of their number: all
    of them would be no neighbourhood. Parameters are those of `KnnGraph`.
    """

    def _choose_edges(
        self, X: Any, lists: Neighbors, rule: WeightRule, k: int
    ) -> tuple[Edges, Neighbors, WeightRule]:
        plain = super()._choose_edges(X, lists, rule, k)
        is_listed = issparse(X) and self.metric == "precomputed"  # few pairs are known of
        if is_listed or np.mean(lists.distances[:, :k] == 0) < _MANY:
            return plain
        equal = EqualPoints.of(lists)
        while equal.n_different > k:
            space = open_part(X, self.metric, equal.first)
            reach = min(rule.reach(k), space.n_points - 1)
            near = space.neighbors(reach, search=self.search, rng=generator(self.random_state))
            if near.distances[:, 0].all():
                different = equal.spread(near)
                near = different.first(among_different(k, equal.n_different))
                edges = distinct_edges(near, equal, mutual=self.symmetry == "mutual")
                return edges, different, _AmongFirst(rule, equal.first[equal.group])
            equal = equal.merge(near)  # a search that is not exact leaves copies apart
        return plain


@dataclass(frozen=True, eq=False)
class EqualPoints:
    """Which points are equal.

    Attributes
    ----------
    group : ndarray of shape (n,)
        A number for each point, the same for equal ones; groups are numbered by first appearance.
    """

    group: IndexVector

    @classmethod
    def of(cls, lists: Neighbors) -> "EqualPoints":
        """Group the points that lists join at distance zero."""
        rows, places = np.nonzero(lists.distances == 0)
        n = len(lists.indices)
        links = coo_array(
            (np.ones(len(rows), dtype=np.int8), (rows, lists.indices[rows, places])), shape=(n, n)
        )
        return cls(np.asarray(connected_components(links, directed=False)[1], dtype=np.intp))

    def merge(self, lists: Neighbors) -> "EqualPoints":
        """Return these groups with those made one that lists of groups join at distance zero."""
        return EqualPoints(EqualPoints.of(lists).group[self.group])

    @cached_property
    def sizes(self) -> IndexVector:
        """Number of points in each group."""
        return np.bincount(self.group)

    @property
    def n_different(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    @cached_property
    def members(self) -> IndexVector:
        """All points, group by group and ascending in each, (n,)."""
        return np.argsort(self.group, kind="stable")

    @cached_property
    def starts(self) -> IndexVector:
        """Where the members of each group begin."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def first(self) -> IndexVector:
        """The first point of each group."""
        return self.members[self.starts]

    @cached_property
    def place(self) -> IndexVector:
        """How many equal points come before each, (n,)."""
        place = np.empty_like(self.members)
        place[self.members] = np.arange(len(place)) - np.repeat(self.starts, self.sizes)
        return place

    def spread(self, lists: Neighbors) -> Neighbors:
        """Return for each point the list of its group, which names the first of each group."""
        return Neighbors(
            self.first[lists.indices][self.group].astype(lists.indices.dtype),
            lists.distances[self.group],
            lists.recall,
            lists.n_sampled,
            self.first[self.group],
        )

    def in_turn(self, named: IndexMatrix) -> IndexMatrix:
        """Return, for the points that each names, the equal one whose turn it is at its place."""
        group = self.group[named]
        return self.members[self.starts[group] + self.place[:, None] % self.sizes[group]]

    def around(self) -> tuple[IndexVector, IndexVector]:
        """Return pairs of copies: each and those 1, b, b^2, ... places on in the ring of its group.

        With b the least number above one whose fifth power is the size of the group or more, these
        are five steps at most, and at most 5 b lead from any copy to any other.
        """
        size, rows, columns = self.sizes[self.group], [], []
        base = 2 + np.searchsorted(np.arange(2, 256) ** _STEPS, size)
        for power in range(_STEPS):
            step = base**power
            some = np.flatnonzero(step < size)
            group = self.group[some]
            place = (self.place[some] + step[some]) % size[some]
            rows.append(some)
            columns.append(self.members[self.starts[group] + place])
        return np.concatenate(rows), np.concatenate(columns)


def distinct_edges(lists: Neighbors, equal: EqualPoints, *, mutual: bool) -> Edges:
    """Return the edges of each point to its neighbours' copies in turn, and to its own."""
    listed = symmetric_edges(replace(lists, indices=equal.in_turn(lists.indices)), mutual=mutual)
    rows, columns = equal.around()
    own = unique_edges(rows, columns, np.zeros(len(rows)))
    return Edges(
        np.concatenate([listed.rows, own.rows]),
        np.concatenate([listed.columns, own.columns]),
        np.concatenate([listed.distances, own.distances]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _AmongFirst:
    """A rule that weighs an edge as one of the points that lists name for its ends."""

    rule: WeightRule
    first: IndexVector

    def reach(self, n_neighbors: int) -> int:
        """Return how many neighbours of each point the rule looks at."""
        return self.rule.reach(n_neighbors)

    def weigh(self, edges: Edges, left: Neighbors | None, right: Neighbors | None) -> FloatVector:
        """Return one weight per edge, given the neighbour lists of its two ends."""
        named = Edges(self.first[edges.rows], self.first[edges.columns], edges.distances)
        return self.rule.weigh(named, left, right)
