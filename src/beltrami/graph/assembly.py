"""How edges become a graph: each pair once, weighed, joined into one piece if asked.

Pairs and distances from a search enter; a `Graph` with its certificate leaves, or the rows that
attach new points to one.
"""

import warnings
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.errors import (
    ConnectedByBridgesWarning,
    DegenerateDataWarning,
    DisconnectedGraphError,
)
from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import CsrMatrix, FloatVector, IndexVector
from beltrami.graph.connect import shortest_bridges
from beltrami.graph.model import Attachment, Graph, GraphCertificate, Neighbors
from beltrami.graph.search import Space
from beltrami.graph.weights import Edges, WeightRule

_ENDS = 2**16  # lower ends whose edges are sorted together

_FAINTEST_BRIDGE = 1e-6
"""Least weight of a bridge, in median edges; see docs/decisions/0003."""


def symmetric_edges(lists: Neighbors, *, mutual: bool) -> Edges:
    """Return the undirected edges of neighbour lists; mutual ones are listed by both ends."""
    n, k = lists.indices.shape
    rows = np.repeat(np.arange(n, dtype=lists.indices.dtype), k)
    return unique_edges(
        rows, lists.indices.ravel(), lists.distances.ravel(), at_least=2 if mutual else 1
    )


def unique_edges(
    rows: IndexVector, columns: IndexVector, distances: FloatVector, at_least: int = 1
) -> Edges:
    """Return each undirected pair once, if it stands in the list `at_least` times.

    Pairs are handled as numbers, never as entries of a matrix of distances, in which the edge of
    two identical points, a zero, would vanish. They come sorted by the lower end, then the higher.
    """
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    span = int(max(high.max(initial=0), 0)) + 1

    def between(begin: int, stop: int) -> Edges:
        some = np.flatnonzero((low >= begin) & (low < stop))
        numbers = low[some].astype(np.int64) * span + high[some]
        keys, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        keep = counts >= at_least
        kept = keys[keep]
        return Edges(kept // span, kept % span, np.asarray(distances)[some[first[keep]]])

    parts = map_ranges(between, span, _ENDS)
    return Edges(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.distances for part in parts]),
    )


def _weight_matrix(edges: Edges, weights: FloatVector, n: int) -> CsrMatrix:
    upper = _directed(edges, weights, n)
    matrix: CsrMatrix = csr_array(upper + upper.T)
    matrix.sort_indices()
    return matrix


def _directed(edges: Edges, weights: FloatVector, n: int) -> CsrMatrix:
    """Return the matrix in which each edge stands once."""
    index = np.dtype(np.int32 if n < 2**31 else np.int64)
    ends = (edges.rows.astype(index), edges.columns.astype(index))
    return csr_array(coo_array((weights, ends), shape=(n, n)))


def assemble_graph(
    space: Space,
    edges: Edges,
    rule: WeightRule,
    lists: Neighbors | None,
    *,
    connect: str,
    recipe: str,
    certificate: GraphCertificate,
) -> Graph:
    """Weigh the edges, apply the policy on components, and complete the certificate of the search.

    `recipe` is what an error calls the one who builds.
    """
    n = space.n_points
    # Rules may warn, so the edges are weighed once, when all of them are known.
    pattern = _directed(edges, np.ones(len(edges.rows)), n)
    count, membership = connected_components(pattern, directed=False)
    del pattern
    certificate = replace(certificate, n_components_found=count)
    if count > 1 and connect == "raise":
        raise DisconnectedGraphError(
            n_components=count, smallest=int(np.bincount(membership).min()), recipe=recipe
        )
    if count == 1 or connect == "keep":
        return Graph(_weight_matrix(edges, rule.weigh(edges, lists, lists), n), lists, certificate)
    bridges = shortest_bridges(space, membership)
    longest, typical = float(bridges.distances.max()), _median(edges.distances)
    rough = f" ({bridges.n_rough} may not be the very shortest)" if bridges.n_rough else ""
    warnings.warn(
        f"the graph fell into {count} components; {len(bridges.rows)} bridge(s) were added to "
        f"join them{rough}, the longest of length {longest:.3g} where a median edge has "
        f"{typical:.3g}. "
        "Build it with connect='keep', as in graph=KnnGraph(connect='keep'), to leave them apart.",
        ConnectedByBridgesWarning,
        stacklevel=3,
    )
    joined = Edges(
        np.concatenate([edges.rows, bridges.rows]),
        np.concatenate([edges.columns, bridges.columns]),
        np.concatenate([edges.distances, bridges.distances]),
    )
    weights = _append_bridges(rule.weigh(edges, lists, lists), bridges, rule, lists)
    certificate = replace(certificate, n_bridges=len(bridges.rows), n_rough_bridges=bridges.n_rough)
    return Graph(_weight_matrix(joined, weights, n), lists, certificate)


def _append_bridges(
    weights: FloatVector, bridges: Edges, rule: WeightRule, lists: Neighbors | None
) -> FloatVector:
    """Append the weights of the bridges: by the same rule, but enough to be felt.

    The kernel of a bridge between far clusters can be 1e-100, which joins nothing in floating
    point; it then gets a millionth of a median edge.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        faint = rule.weigh(bridges, lists, lists)
    floor = _FAINTEST_BRIDGE * _median(weights) if len(weights) else 0.0
    return np.concatenate([weights, np.maximum(faint, floor)])


def _median(numbers: FloatVector) -> float:
    return float(np.median(numbers)) if len(numbers) else 0.0


def attach_points(
    edges: Edges,
    weights: FloatVector,
    n_new: int,
    graph: Graph,
    *,
    twins: tuple[IndexVector, IndexVector],
) -> Attachment:
    """Attach new points to a graph by edges from them (rows) to old points (columns).

    `twins` are new points that are identical to an old one, and those old ones, whose rows of
    weights they get.
    """
    shape = (n_new, graph.n_nodes)
    rows: CsrMatrix = csr_array(coo_array((weights, (edges.rows, edges.columns)), shape=shape))
    same, old = twins
    if len(same):
        fresh = np.ones(n_new)
        fresh[same] = 0.0
        choice = csr_array(coo_array((np.ones(len(same)), (same, old)), shape=shape))
        rows = csr_array(diags_array(fresh) @ rows + choice @ graph.weights)
    rows.eliminate_zeros()
    rows.sort_indices()
    twin_of_new = np.full(n_new, -1, dtype=np.int64)
    twin_of_new[same] = old
    return Attachment(rows, twin_of_new)
