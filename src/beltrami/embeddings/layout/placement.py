"""New points on an old map: positions and weights to placed points enter, positions leave."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import CsrMatrix, FloatMatrix
from beltrami.embeddings.layout.packing import spread
from beltrami.graph.model import Graph

_ROUNDS = 20


def place_new(graph: Graph, positions: Any, attachment_weights: Any) -> FloatMatrix:
    r"""Place new points on the map of a graph, which stays as it is.

    Each lands where it minimises :math:`\sum_j w_j \log(1 + d_j^2 / s^2)`, with d_j the distances
    to its old neighbours and s the median length of an edge on the map, beginning at the heaviest
    neighbour: a point between two groups joins one of them and does not fall in the void between.

    Parameters
    ----------
    graph : Graph
        The graph of the map.
    positions : array-like of shape (n, 2)
        What `layout_graph` returned for it.
    attachment_weights : sparse or array-like of shape (m, n)
        w(new_i, x_j), as from ``KnnGraph.extend``.

    Returns
    -------
    ndarray of shape (m, 2)
        Positions. A point without any neighbour lies below the map, on a line of its own.

    Raises
    ------
    InvalidInputError
        When shapes do not agree, or a number is not finite or a weight negative.

    Examples
    --------
    >>> from beltrami.embeddings.layout import layout_graph, place_new
    >>> from beltrami.graph.families import ring
    >>> positions = layout_graph(ring(20), random_state=0)
    >>> place_new(ring(20), positions, [[1.0] + 19 * [0.0]]).round(3) == positions[:1].round(3)
    array([[ True,  True]])
    """
    places = checked_positions(positions, graph.n_nodes, name="positions")
    weights = _checked_weights(attachment_weights, graph.n_nodes)
    lengths = spread(places, graph.weights.indptr, graph.weights.indices)
    reach = float(np.median(lengths)) if lengths.size else 0.0
    placed = _nearest_minimum(weights, places, reach)
    alone = np.flatnonzero(np.diff(weights.indptr) == 0)
    if alone.size:
        low, high = places.min(axis=0), places.max(axis=0)
        placed[alone, 0] = np.linspace(low[0], high[0], alone.size + 2)[1:-1]
        placed[alone, 1] = low[1] - 0.05 * max(float((high - low).max()), 1e-3)
    return placed


def checked_positions(positions: Any, n: int, *, name: str) -> FloatMatrix:
    """Return positions as n finite pairs of float64, or say what is wrong with them."""
    try:
        places = np.asarray(positions, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} cannot be read as numbers ({error}).") from error
    if places.shape != (n, 2):
        raise InvalidInputError(
            f"{name} must have shape ({n}, 2), a pair for each node of the graph, and have shape "
            f"{places.shape}."
        )
    if not np.isfinite(places).all():
        bad = int((~np.isfinite(places)).any(axis=1).sum())
        raise InvalidInputError(f"{name} contain NaN or infinity in {bad} row(s) of {n}.")
    return places


def _checked_weights(weights: Any, n: int) -> CsrMatrix:
    given: Any = weights if issparse(weights) else np.atleast_2d(weights)
    try:
        matrix: CsrMatrix = csr_array(given, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"attachment_weights cannot be read as a matrix of numbers ({error})."
        ) from error
    if matrix.shape[1] != n:
        raise InvalidInputError(
            f"attachment_weights must have {n} columns, one per node of the graph, and have shape "
            f"{matrix.shape}."
        )
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    bad = int((~(np.isfinite(matrix.data) & (matrix.data >= 0))).sum())
    if bad:
        raise InvalidInputError(
            f"attachment_weights must be finite and not negative, and {bad} entries are not."
        )
    return matrix


def _nearest_minimum(weights: CsrMatrix, places: FloatMatrix, reach: float) -> FloatMatrix:
    """Weighted means with weights that fall with the distance, again and again."""
    m, counts = weights.shape[0], np.diff(weights.indptr)
    rows = np.repeat(np.arange(m), counts)
    heaviest = np.lexsort((weights.data, rows))[np.cumsum(counts)[counts > 0] - 1]
    placed = np.zeros((m, 2))
    if not rows.size:
        return placed
    placed[counts > 0] = places[weights.indices[heaviest]]
    scale = np.ones(m)
    scale[counts > 0] = weights.data[heaviest]
    shares = weights.data / scale[rows]
    old = places[weights.indices]
    for _ in range(_ROUNDS if reach > 0 else 0):
        gap = (old - placed[rows]) / reach
        pull = shares / (1 + np.einsum("ij,ij->i", gap, gap))
        total = np.maximum(np.bincount(rows, pull, m), np.finfo(float).tiny)
        for axis in (0, 1):
            moved = np.bincount(rows, pull * old[:, axis], m) / total
            placed[counts > 0, axis] = moved[counts > 0]
    return placed
