"""Islands: pieces of the data that only an added bridge joins to a label."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.types import IndexVector
from beltrami.graph.model import Graph


@dataclass(frozen=True, slots=True, eq=False)
class IslandMap:
    """Pieces without a label.

    Attributes
    ----------
    count : int
        How many there are.
    number : ndarray of shape (n,)
        The island of each row, largest first, -1 for a row in a piece with a label.
    """

    count: int
    number: IndexVector

    def rows(self, island: int) -> IndexVector:
        """Return the rows of one island."""
        return np.flatnonzero(self.number == island)


def islands_of(graph: Graph, labelled: IndexVector, n_neighbors: int | None = None) -> IslandMap:
    """Find the pieces of a graph, bridges taken out, that hold no label.

    Shapes: `labelled` (l,).

    - `n_neighbors`: nearest points that each row is joined to; None means all that are listed.
    """
    n = graph.n_nodes
    piece = _pieces(graph, n_neighbors)
    has_label = np.zeros(int(piece.max(initial=-1)) + 1, dtype=bool)
    has_label[piece[labelled]] = True
    sizes = np.bincount(piece)
    bare = np.flatnonzero(~has_label)
    bare = bare[np.argsort(-sizes[bare], kind="stable")]
    number = np.full(len(sizes), -1, dtype=np.intp)
    number[bare] = np.arange(len(bare))
    return IslandMap(len(bare), number[piece] if n else np.zeros(0, dtype=np.intp))


def _pieces(graph: Graph, n_neighbors: int | None) -> IndexVector:
    if graph.certificate.n_bridges == 0 or graph.neighbors is None:
        return np.asarray(graph.components()[1], dtype=np.intp)
    lists = graph.neighbors.indices[:, :n_neighbors]
    starts = np.repeat(np.arange(len(lists)), lists.shape[1])
    ends = lists.ravel()
    links = coo_array((np.ones(len(ends), dtype=np.int8), (starts, ends)), shape=(len(lists),) * 2)
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)
