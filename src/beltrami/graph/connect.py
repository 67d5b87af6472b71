"""Bridges between the components of a graph: the shortest edges that make it one.

Borůvka's algorithm on whole components: every round each component but the largest asks for its
nearest point outside, all these edges belong to the minimum spanning tree of the components, and
the number of components at least halves. Between a few components every pair is compared once
instead. In large data the ways out are searched by clumps, which may miss the very shortest where
parts lie far apart, and says so; where points are sparse or the metric is another, some points of
each component stand for all.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.progress import track
from beltrami.core.types import IndexVector
from beltrami.graph.clumps import Clumps, Way
from beltrami.graph.search import Space
from beltrami.graph.weights import Edges

_EXACT_PAIRS = 4e9
"""Pairs of points up to which all of them are compared: some seconds."""

_PRODUCT_S = 4e-11
"""Seconds of two processors for one coordinate of one pair, about."""

_FEW = 32
"""Components up to which each is compared with each, once: half the pairs of one round."""

_SMALL = 64  # components up to this size are searched together, by lists of as many neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Bridges(Edges):
    """Edges that join components; of `n_rough` of them it is not sure that none is shorter."""

    n_rough: int = 0


def shortest_bridges(space: Space, membership: NDArray[np.int32]) -> Bridges:
    """Return the edges of the minimum spanning tree over the components.

    The distance of two components is that of their nearest pair of points. Cost: each point
    outside the largest component searches all points once per round, at most log2(components)
    rounds, and once in all between 32 components or fewer; for large data some thousand pairs of
    clumps per component and round, or those of 63,000 points that stand for all.
    """
    parts = membership.astype(np.int64)
    n_parts = int(parts.max()) + 1
    is_large = _pairs(parts) > _EXACT_PAIRS
    if not is_large and n_parts <= _FEW:
        tree = _without_cycles(_ways_between_all(space, parts), parts, n_parts)
        if len(tree) < n_parts - 1:
            raise _no_way_out(n_parts)
        return _as_bridges(tree)
    bridges: list[Way] = []
    clumps = Clumps.of(space.euclidean, parts) if is_large and space.euclidean else None
    asked = _delegates(parts) if is_large and clumps is None else np.arange(len(parts))
    with track("bridging components", total=n_parts - 1) as advance:
        while n_parts > 1:
            ways = clumps.ways_out(parts) if clumps else _nearest_outside(space, parts, asked)
            chosen = _without_cycles(sorted(ways), parts, n_parts)
            if not chosen:
                raise _no_way_out(n_parts)
            bridges += chosen
            starts = parts[[way.inside for way in chosen]]
            ends = parts[[way.outside for way in chosen]]
            links = coo_array((np.ones(len(chosen)), (starts, ends)), shape=(n_parts, n_parts))
            n_parts, merged = connected_components(links, directed=False)
            parts = merged[parts].astype(np.int64)
            advance(len(chosen))
    found = _as_bridges(bridges)
    if clumps is None:
        return found
    return replace(found, distances=space.distances(found.rows, found.columns))


def _as_bridges(ways: list[Way]) -> Bridges:
    """Return ways as edges."""
    rows = np.array([way.inside for way in ways], dtype=np.int64)
    columns = np.array([way.outside for way in ways], dtype=np.int64)
    lengths = np.array([way.length for way in ways])
    return Bridges(rows, columns, lengths, sum(not way.is_sure for way in ways))


def _no_way_out(n_parts: int) -> InvalidInputError:
    return InvalidInputError(
        f"{n_parts} components cannot be bridged: the metric names no nearest point outside any of "
        "them. See that it returns finite distances for all pairs."
    )


def _ways_between_all(space: Space, parts: IndexVector) -> list[Way]:
    """Return the shortest way between each two components, shortest first."""
    members = [np.flatnonzero(parts == part) for part in range(int(parts.max()) + 1)]
    members.sort(key=len)
    pairs = list(combinations(members, 2))
    ways, total = [], sum(len(i) * len(j) for i, j in pairs)
    seconds = _PRODUCT_S * total * (space.euclidean.points.shape[1] if space.euclidean else 1)
    with track("bridging components", total=total, seconds=seconds) as advance:
        for smaller, larger in pairs:
            ways.append(_way_out_of_one(space, smaller, larger))
            advance(len(smaller) * len(larger))
    return sorted(ways)


def _pairs(parts: IndexVector) -> float:
    """Return how many pairs of points a round compares where it compares all."""
    sizes = np.bincount(parts)
    # A large component is taken by itself, which costs at least a copy of all others.
    n_searching = len(parts) - sizes.max() + 16 * np.count_nonzero(sizes > _SMALL)
    return float(n_searching) * len(parts)


def _delegates(parts: IndexVector) -> IndexVector:
    """Return some points of each part, one at least, few enough to compare all their pairs."""
    sizes, most = np.bincount(parts), int(np.sqrt(_EXACT_PAIRS))
    each = most
    while each > 1 and np.minimum(sizes, each).sum() > most:
        each -= -(-each // 8)
    drawn = np.random.default_rng(0).permutation(len(parts))
    drawn = drawn[np.argsort(parts[drawn], kind="stable")]
    place = np.arange(len(parts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(drawn[place < each])


def _without_cycles(candidates: list[Way], parts: NDArray[np.int64], n_parts: int) -> list[Way]:
    """Take candidates in order, leaving out those whose ends are joined already."""
    parent = list(range(n_parts))

    def root(part: int) -> int:
        while parent[part] != part:
            parent[part] = parent[parent[part]]
            part = parent[part]
        return part

    chosen = []
    for way in candidates:
        one, other = root(int(parts[way.inside])), root(int(parts[way.outside]))
        if one != other:
            parent[other] = one
            chosen.append(way)
    return chosen


def _nearest_outside(space: Space, parts: NDArray[np.int64], asked: IndexVector) -> list[Way]:
    """Return the shortest way out of every component but the largest, among the points asked."""
    is_sure, parts = len(asked) == len(parts), parts[asked]
    labels, sizes = np.unique(parts, return_counts=True)
    searching = labels[labels != labels[np.argmax(sizes)]]
    size_of = dict(zip(labels.tolist(), sizes.tolist(), strict=True))
    small = [label for label in searching.tolist() if size_of[label] <= _SMALL]
    ways = [
        _way_out_of_one(space, asked[parts == label], asked[parts != label])
        for label in searching.tolist()
        if size_of[label] > _SMALL
    ]
    if small:
        widest = max(size_of[label] for label in small)
        ways += _ways_out_together(space, parts, asked, np.array(small), widest)
    return [way._replace(is_sure=is_sure) for way in ways]


def _way_out_of_one(space: Space, inside: IndexVector, outside: IndexVector) -> Way:
    near, distances = space.nearest_between(inside, outside, 1)
    best = int(np.lexsort((near[:, 0], inside, distances[:, 0]))[0])
    return Way(float(distances[best, 0]), int(inside[best]), int(near[best, 0]), True)


def _ways_out_together(
    space: Space,
    parts: NDArray[np.int64],
    asked: IndexVector,
    small: NDArray[np.int64],
    widest: int,
) -> list[Way]:
    # Among the widest + 1 nearest points at least one lies outside a component of that size.
    is_small = np.isin(parts, small)
    rows, own = asked[is_small], parts[is_small]
    near, distances = space.nearest_between(rows, asked, widest + 1)
    outside = parts[np.searchsorted(asked, near)] != own[:, None]
    first = np.argmax(outside, axis=1)
    each = np.arange(len(rows))
    ends, lengths = near[each, first], distances[each, first]
    order = np.lexsort((ends, rows, lengths, own))
    leaders = order[np.unique(own[order], return_index=True)[1]]
    return [Way(float(lengths[p]), int(rows[p]), int(ends[p]), True) for p in leaders]
