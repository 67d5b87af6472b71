"""Islands: pieces of the data that no edge but an added bridge joins to a label."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components

from beltrami.core.types import BoolVector, FloatVector, IndexVector, Points
from beltrami.graph.model import Graph, Neighbors
from beltrami.graph.search import open_part

_AS_SHORT = 3.0
"""Times its shortest bridge up to which another bridge of a pile is as good as an edge."""

_FAR = 20.0
"""Times the typical distance to the last neighbour from which a row, or a pile, stands alone."""


def island_numbers(piece: IndexVector, labelled: IndexVector) -> IndexVector:
    """Return the island of each row, largest first, -1 for a row in a piece with a label.

    Islands are the pieces of the data that no edge but an added bridge joins to a label; `piece`
    is that of each row.
    """
    has_label = np.zeros(int(piece.max(initial=-1)) + 1, dtype=bool)
    has_label[piece[labelled]] = True
    sizes = np.bincount(piece)
    bare = np.flatnonzero(~has_label)
    bare = bare[np.argsort(-sizes[bare], kind="stable")]
    number = np.full(len(sizes), -1, dtype=np.intp)
    number[bare] = np.arange(len(bare))
    return number[piece]


def pieces_of(
    graph: Graph, points: Points, metric: Any, n_neighbors: int | None = None
) -> IndexVector:
    """Return the component of each row in the graph without its bridges, but for those of piles.

    A pile is a component with fewer different rows than a row has neighbours: so many are equal
    that they see only each other. It is joined to what lies nearest, unless that is far. Where
    lists name different rows, a row with as many copies as it has neighbours is a pile.

    - `points`, `metric`: what the graph was made of.
    - `n_neighbors`: nearest points that each row is joined to; None means all that are listed.
    """
    if graph.neighbors is None:
        return np.asarray(graph.components()[1], dtype=np.intp)
    lists = graph.neighbors.first(n_neighbors or graph.neighbors.indices.shape[1])
    if graph.certificate.n_bridges == 0:
        return _without_far_piles(np.asarray(graph.components()[1], dtype=np.intp), lists)
    starts = np.repeat(np.arange(len(lists.indices)), lists.indices.shape[1])
    piece = _components(starts, lists.indices.ravel(), len(lists.indices))
    different = _different_rows(points, lists.distances[:, 0] == 0)
    reach = lists.distances[:, -1]
    while True:  # piles that are joined may be one that still has few different rows
        is_piled = np.bincount(piece[different]) <= lists.indices.shape[1]
        rows, columns = _short_bridges(graph, points, metric, piece, is_piled, reach)
        if not len(rows):
            return _without_far_piles(piece, lists)
        piece = _components(piece[rows], piece[columns], len(is_piled))[piece]


def stand_alone(graph: Graph, n_neighbors: int | None = None) -> BoolVector:
    """Return which rows lie far from all but a few others, (n,): labels say nothing of them."""
    if graph.neighbors is None:
        return np.zeros(graph.n_nodes, dtype=bool)
    lists = graph.neighbors.first(n_neighbors or graph.neighbors.indices.shape[1])
    return is_far(lists.distances[:, -1])


def is_far(reach: FloatVector) -> BoolVector:
    """Return where the distance to the last neighbour is so long that a row stands alone."""
    return np.asarray(reach > _FAR * _typical_reach(reach))


def _without_far_piles(piece: IndexVector, lists: Neighbors) -> IndexVector:
    """Return the pieces with rows of many copies, all else far from them, as pieces of their own.

    Only where lists name different rows: otherwise such rows see no others.
    """
    first = lists.first_equals
    if first is None:
        return piece
    is_pile = np.bincount(first, minlength=len(first))[first] > lists.indices.shape[1]
    is_far = lists.distances[:, 0] > _FAR * _typical_reach(lists.distances[:, -1])
    apart = np.where(is_pile & is_far, len(first) + first, piece)
    return np.asarray(np.unique(apart, return_inverse=True)[1], dtype=np.intp)


def _typical_reach(reach: FloatVector) -> float:
    """Return the median distance to the last neighbour; infinite where all rows have equals."""
    some = reach[reach > 0]
    return float(np.median(some)) if len(some) else float("inf")


def _components(starts: IndexVector, ends: IndexVector, n: int) -> IndexVector:
    """Return the component of each of n nodes that some pairs join."""
    links = coo_array((np.ones(len(starts), dtype=np.int8), (starts, ends)), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)


def _different_rows(points: Points, is_twin: BoolVector) -> IndexVector:
    """Return one row for all that are equal; `is_twin` says which have equals."""
    twins = np.flatnonzero(is_twin)
    marks: NDArray[Any]
    if issparse(points):
        marks = points[twins] @ np.random.default_rng(0).normal(size=points.shape[1])
    else:
        solid = np.ascontiguousarray(points[twins] + 0.0)  # of two zeros none is negative
        marks = solid.view(np.dtype((np.void, solid.shape[1] * solid.itemsize))).ravel()
    first = np.unique(marks, return_index=True)[1]
    return np.concatenate([np.flatnonzero(~is_twin), twins[first]])


def _short_bridges(
    graph: Graph,
    points: Points,
    metric: Any,
    piece: IndexVector,
    is_piled: BoolVector,
    reach: FloatVector,
) -> tuple[IndexVector, IndexVector]:
    """Return the bridges from piles, both ends, that are about as short as any, and not far."""
    piled = np.flatnonzero(is_piled[piece])
    ways = graph.weights[piled].tocoo()
    rows, columns = piled[ways.coords[0]], ways.coords[1].astype(np.intp)
    leads_out = piece[rows] != piece[columns]
    rows, columns = rows[leads_out], columns[leads_out]
    if not len(rows):
        return rows, columns
    ends, places = np.unique(np.concatenate([rows, columns]), return_inverse=True)
    lengths = open_part(points, metric, ends).distances(*places.reshape(2, -1))
    shortest = np.full(len(is_piled), np.inf)
    np.minimum.at(shortest, piece[rows], lengths)
    steps = np.where(reach > 0, reach, shortest[piece])  # what lies between rows that differ
    far = _FAR * _typical_reach(steps[np.isfinite(steps)])
    is_short = lengths <= np.minimum(_AS_SHORT * shortest[piece[rows]], far)
    return rows[is_short], columns[is_short]
