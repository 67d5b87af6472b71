"""Bridges between the components of a graph: the shortest edges that make it one.

Borůvka's algorithm on whole components: every round each component but the largest asks for its
nearest point outside, all these edges belong to the minimum spanning tree of the components, and
the number of components at least halves.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.errors import InvalidInputError
from beltrami.core.progress import track
from beltrami.core.types import IndexVector
from beltrami.graph.search import Space
from beltrami.graph.weights import Edges

_SMALL = 64  # components up to this size are searched together, by lists of as many neighbours


def shortest_bridges(space: Space, membership: NDArray[np.int32]) -> Edges:
    """Return the edges of the minimum spanning tree over the components.

    The distance of two components is that of their nearest pair of points. Cost: each point
    outside the largest component searches all points once per round, at most log2(components)
    rounds.
    """
    parts = membership.astype(np.int64)
    bridges: list[tuple[float, int, int]] = []
    n_parts = int(parts.max()) + 1
    with track("bridging components", total=n_parts - 1) as advance:
        while n_parts > 1:
            chosen = _without_cycles(sorted(_nearest_outside(space, parts)), parts, n_parts)
            if not chosen:
                raise InvalidInputError(
                    f"{n_parts} components cannot be bridged: the metric names no nearest point "
                    "outside any of them. See that it returns finite distances for all pairs."
                )
            bridges += chosen
            starts, ends = parts[[i for _, i, _ in chosen]], parts[[j for _, _, j in chosen]]
            links = coo_array((np.ones(len(chosen)), (starts, ends)), shape=(n_parts, n_parts))
            n_parts, merged = connected_components(links, directed=False)
            parts = merged[parts].astype(np.int64)
            advance(len(chosen))
    return Edges(
        np.array([i for _, i, _ in bridges], dtype=np.int64),
        np.array([j for _, _, j in bridges], dtype=np.int64),
        np.array([distance for distance, _, _ in bridges]),
    )


def _without_cycles(
    candidates: list[tuple[float, int, int]], parts: NDArray[np.int64], n_parts: int
) -> list[tuple[float, int, int]]:
    """Take candidates in order, leaving out those whose ends are joined already."""
    parent = list(range(n_parts))

    def root(part: int) -> int:
        while parent[part] != part:
            parent[part] = parent[parent[part]]
            part = parent[part]
        return part

    chosen = []
    for distance, i, j in candidates:
        one, other = root(int(parts[i])), root(int(parts[j]))
        if one != other:
            parent[other] = one
            chosen.append((distance, i, j))
    return chosen


def _nearest_outside(space: Space, parts: NDArray[np.int64]) -> list[tuple[float, int, int]]:
    """For every component but the largest, return (distance, i, j): its shortest way out."""
    labels, sizes = np.unique(parts, return_counts=True)
    searching = labels[labels != labels[np.argmax(sizes)]]
    size_of = dict(zip(labels.tolist(), sizes.tolist(), strict=True))
    small = [label for label in searching.tolist() if size_of[label] <= _SMALL]
    ways = [
        _way_out_of_one(space, np.flatnonzero(parts == label), np.flatnonzero(parts != label))
        for label in searching.tolist()
        if size_of[label] > _SMALL
    ]
    if small:
        widest = max(size_of[label] for label in small)
        ways += _ways_out_together(space, parts, np.array(small), widest)
    return ways


def _way_out_of_one(
    space: Space, inside: IndexVector, outside: IndexVector
) -> tuple[float, int, int]:
    near, distances = space.nearest_between(inside, outside, 1)
    best = int(np.lexsort((near[:, 0], inside, distances[:, 0]))[0])
    return float(distances[best, 0]), int(inside[best]), int(near[best, 0])


def _ways_out_together(
    space: Space, parts: NDArray[np.int64], small: NDArray[np.int64], widest: int
) -> list[tuple[float, int, int]]:
    # Among the widest + 1 nearest points at least one lies outside a component of that size.
    rows = np.flatnonzero(np.isin(parts, small))
    near, distances = space.nearest_between(rows, np.arange(len(parts)), widest + 1)
    outside = parts[near] != parts[rows][:, None]
    first = np.argmax(outside, axis=1)
    each = np.arange(len(rows))
    ends, lengths = near[each, first], distances[each, first]
    order = np.lexsort((ends, rows, lengths, parts[rows]))
    leaders = order[np.unique(parts[rows][order], return_index=True)[1]]
    return [(float(lengths[p]), int(rows[p]), int(ends[p])) for p in leaders]
