"""The map of a graph: `layout_graph`, from the start through the descent to the frame."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.randomness import generator
from beltrami.core.store import Form, Parcel, forget, recall, seed_content
from beltrami.core.types import CsrMatrix, FloatMatrix, IndexVector, Seed
from beltrami.core.validation import check_count
from beltrami.embeddings.layout.descent import Forces, descend, refine
from beltrami.embeddings.layout.packing import align_axes, draw_in, frame_positions, pack_components
from beltrami.embeddings.layout.sampling import draw_part, fill_in
from beltrami.embeddings.layout.start import basis_start, eigenvector_start, scale_start
from beltrami.graph.model import Graph
from beltrami.solvers.model import Basis

LAYOUT: Form[FloatMatrix] = Form(
    "map", lambda places: Parcel({"places": places}, {}), lambda parcel: parcel.arrays["places"]
)
"""How the store keeps a map."""

LARGEST_WHOLE = 100_000
"""Above so many nodes a random part is laid out first."""

_EPOCHS, _LATE_EPOCHS = 400, 30
_EVEN = 0.3  # share of the attraction that goes to all neighbours alike
_BYTES_PER_EDGE, _BYTES_PER_NODE = 64, 256


def layout_graph(
    graph: Graph,
    *,
    basis: Basis | None = None,
    n_epochs: int | str = "auto",
    random_state: Seed = None,
    initial: FloatMatrix | None = None,
) -> FloatMatrix:
    """Draw a graph as a map in two dimensions, on which neighbours lie together.

    Nodes are drawn to their neighbours in proportion to the weights and pushed from others drawn
    at random, beginning at the first eigenvectors that are not constant; `descent` states the
    problem. A picture shows who is near whom: the distance between two groups, their size and
    the axes mean nothing. Components are laid out apart and set side by side, with areas in
    proportion to their points. The thousandth of the points that lies farthest out is drawn in.

    Above 100,000 nodes the graph is contracted to cells around 60,000 nodes drawn at random, and
    the cells are laid out; every node is then set between its cell and those of its neighbours,
    with a little noise, and 30 epochs settle all.

    Cost: O(n) an epoch, with 256 pairs a node; 60,000 nodes take about ten seconds on one core.
    Memory: 64 bytes an edge and 256 a node.

    Parameters
    ----------
    graph : Graph
        The graph.
    basis : Basis or None, default=None
        Eigenvectors of this graph to start from, where they are at hand; used where the graph is
        connected and there are at least three of them.
    n_epochs : int or "auto", default="auto"
        How often every point is moved; "auto" is 400.
    random_state : int, Generator, RandomState or None, default=None
        Seeds noise and draws. The same seed gives the same map with any number of threads.
    initial : array-like of shape (n, 2) or None, default=None
        Positions to start from instead, such as an older map, whose orientation is kept.

    Returns
    -------
    ndarray of shape (n, 2)
        Finite, centred, from -1 to 1 along the longer side.

    Raises
    ------
    InvalidInputError
        When `basis` or `initial` does not belong to the graph.
    MemoryBudgetError
        When the copies of the graph do not fit.

    Examples
    --------
    >>> from beltrami import KnnGraph, layout_graph, two_moons
    >>> graph = KnnGraph().build(two_moons(200, random_state=0).points)
    >>> layout_graph(graph, random_state=0).shape
    (200, 2)
    """
    epochs = _EPOCHS if n_epochs == "auto" else check_count(n_epochs, name="n_epochs")
    n = graph.n_nodes
    if basis is not None and len(basis.vectors) != n:
        raise InvalidInputError(
            f"basis has {len(basis.vectors)} rows and the graph {n} nodes; it is of another graph."
        )
    start = None if initial is None else _checked_positions(initial, n, name="initial")
    require_memory(
        _BYTES_PER_EDGE * graph.weights.nnz + _BYTES_PER_NODE * n,
        what=f"the map of {n} nodes",
        instead="Draw a random part of the points.",
    )
    count, membership = graph.components()
    if start is None and basis is not None and count == 1 and basis.vectors.shape[1] > 2:
        start = basis_start(basis, graph.degrees)
    turn = initial is None
    return recall(
        LAYOUT,
        lambda: (graph.weights, start, epochs, seed_content(random_state), turn),
        lambda: _lay_out(graph.weights, membership, start, epochs, random_state, turn=turn),
    )


def _lay_out(
    weights: CsrMatrix,
    membership: IndexVector,
    start: FloatMatrix | None,
    epochs: int,
    random_state: Seed,
    *,
    turn: bool,
) -> FloatMatrix:
    """Lay out whole or by part, and arrange the components."""
    lay_out = _lay_out_whole if len(membership) <= LARGEST_WHOLE else _lay_out_by_part
    with forget():  # rough eigenvectors of a permuted graph are of no use to anyone else
        positions = lay_out(weights, membership, start, epochs, generator(random_state))
    return _arrange(positions, membership, turn=turn)


def attraction(weights: CsrMatrix) -> CsrMatrix:
    r"""Return how strongly each node is drawn to its neighbours, in rows that sum to one.

    :math:`a_{ij} \propto w_{ij} / d_i + w_{ij} / d_j`, with three tenths shared evenly: a chain
    does not break at its weakest edge, and a bridge between components holds.
    """
    counts = np.diff(weights.indptr)
    rows = np.repeat(np.arange(len(counts)), counts)
    degrees = weights.sum(axis=1)
    both = weights.data / degrees[rows] + weights.data / degrees[weights.indices]
    shares = both / np.bincount(rows, both, len(counts))[rows]
    shares = (1 - _EVEN) * shares + _EVEN / counts[rows]
    parts = (shares.astype(np.float32), weights.indices, weights.indptr)
    return csr_array(parts, shape=weights.shape)


def _lay_out_whole(
    weights: CsrMatrix,
    membership: IndexVector,
    start: FloatMatrix | None,
    epochs: int,
    rng: np.random.Generator,
) -> FloatMatrix:
    """Lay out every node, each component about a centre of its own."""
    order, sizes = _component_order(membership, rng)
    near = _permute(weights, order)
    rough = eigenvector_start(near, sizes) if start is None else start[order]
    scaled, seed = scale_start(rough, sizes, rng), int(rng.integers(2**62))
    forces = Forces.of(attraction(near), sizes)
    positions = np.empty((len(order), 2))
    positions[order] = descend(forces, scaled, n_epochs=epochs, seed=seed)
    return positions


def _lay_out_by_part(
    weights: CsrMatrix,
    membership: IndexVector,
    start: FloatMatrix | None,
    epochs: int,
    rng: np.random.Generator,
) -> FloatMatrix:
    """Lay out cells around a random part, fill them in, and settle all for a few epochs."""
    part = draw_part(weights, membership, rng)
    part_membership = np.unique(membership[part.rows], return_inverse=True)[1]
    part_start = None if start is None else start[part.rows]
    cells = _lay_out_whole(part.weights, part_membership, part_start, epochs, rng)
    filled = fill_in(weights, part, cells, rng)
    order, sizes = _component_order(membership, rng)
    forces = Forces.of(attraction(_permute(weights, order)), sizes)
    seed = int(rng.integers(2**62))
    positions = np.empty((len(order), 2))
    positions[order] = refine(forces, filled[order], n_epochs=min(epochs, _LATE_EPOCHS), seed=seed)
    return positions


def _component_order(
    membership: IndexVector, rng: np.random.Generator
) -> tuple[IndexVector, IndexVector]:
    """Return nodes component by component, at random within each, and the components' sizes.

    At random, because a run of rows shares its draws: the rows of a file often lie class by class,
    and a class would be moved by one and the same error.
    """
    order = rng.permutation(len(membership))
    order = order[np.argsort(membership[order], kind="stable")]
    return order, np.bincount(membership)


def _permute(weights: CsrMatrix, order: IndexVector) -> CsrMatrix:
    near = csr_array(weights[order][:, order])
    near.sort_indices()
    return near


def _arrange(positions: FloatMatrix, membership: IndexVector, *, turn: bool) -> FloatMatrix:
    """Draw in what lies far out, set components side by side, and frame the whole."""
    order = np.argsort(membership, kind="stable")
    sizes = np.bincount(membership)
    out = np.zeros_like(positions)
    first = 0
    for size in sizes.tolist():
        rows = order[first : first + size]
        if size > 1:
            part = draw_in(positions[rows])
            out[rows] = align_axes(part) if turn else part
        first += size
    if len(sizes) > 1:
        out[order] = pack_components(out[order], sizes)
    return frame_positions(out)


def _checked_positions(positions: Any, n: int, *, name: str) -> FloatMatrix:
    """Return positions as n finite pairs of float64, or say what is wrong with them."""
    try:
        pairs = np.asarray(positions, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} cannot be read as numbers ({error}).") from error
    if pairs.shape != (n, 2):
        raise InvalidInputError(
            f"{name} must have shape ({n}, 2), a pair for each node of the graph, and have shape "
            f"{pairs.shape}."
        )
    if not np.isfinite(pairs).all():
        bad = int((~np.isfinite(pairs)).any(axis=1).sum())
        raise InvalidInputError(f"{name} contain NaN or infinity in {bad} row(s) of {n}.")
    return pairs
