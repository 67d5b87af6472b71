"""From points to the graph of their shapes, and from the regions of its nodes to all of space."""

import warnings

import numpy as np

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.graph.search import open_space
from beltrami.separation.links import CANDIDATES, linked_graph, links_to
from beltrami.separation.model import ShapeGraph
from beltrami.separation.shapes import choose_neighborhoods, local_spectra, neighbors_of
from beltrami.separation.subset import sparse_subset

_FEWEST_LINKS, _MOST_LINKS = 6, 10
_SATURATED = 0.5
_LARGEST_ENTRY = 1e70  # fourth powers of entries must stay in the range of floats
_QUERY_BLOCK = 16_384


def shape_graph(
    points: FloatMatrix,
    labeled: IndexVector,
    *,
    n_neighbors: int | str = "auto",
    noise: float = 0.01,
    bandwidth: float = 0.2,
    rng: np.random.Generator,
) -> ShapeGraph:
    """Build the graph that joins neighbours by how alike the data lie around them.

    The local covariance of q neighbours is measured on a sparse subset of the points that holds
    every labelled row, one in max(log n, q / 3) of the others; each node is linked to its kappa
    nearest by its own Mahalanobis distance, and an edge weighs exp(-H^2 / (2 sigma^2)) with the
    Hellinger distance H of the shapes at its ends.

    Cost: O(n^2 d / log n) time for the subset and the searches, with a small constant, and O(n d)
    memory.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        All points, labelled or not.
    labeled : ndarray of shape (l,)
        Rows with a label.
    n_neighbors : int or "auto", default="auto"
        q; "auto" is as wide as the noise asks.
    noise : float, default=0.01
        Least noise level, as a share of the typical local variance.
    bandwidth : float, default=0.2
        sigma.
    rng : numpy.random.Generator
        Draws the sample and the start of the subset.

    Returns
    -------
    ShapeGraph
        Nodes, shapes and weights.

    Warns
    -----
    DegenerateDataWarning
        When most edges say no more than that shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import dollar_sign
    >>> from beltrami.separation.separate import shape_graph
    >>> dollar = dollar_sign(500, random_state=0)
    >>> shapes = shape_graph(dollar.points, np.arange(0, 500, 25), rng=np.random.default_rng(0))
    >>> bool(np.isin(np.arange(0, 500, 25), shapes.rows).all())  # every labelled row is a node
    True
    >>> shapes.graph.n_nodes == len(shapes.shapes) == len(shapes.rows)
    True
    """
    n = points.shape[0]
    _require_range(points)
    space = open_space(points, "euclidean")
    neighborhoods = choose_neighborhoods(space, points, n_neighbors, rng)
    q = neighborhoods.n_neighbors
    rows = sparse_subset(points, max(int(np.log(n)), q // 3, 1), labeled, rng)
    if len(rows) < 3:
        rows = np.arange(n)
    spectra = local_spectra(points, neighbors_of(space, points, rows, q)[0])
    level = spectra.noise(noise)
    shapes = spectra.smooth(level)
    n_links = int(np.clip(np.ceil(np.log(len(rows))), _FEWEST_LINKS, _MOST_LINKS))
    graph, saturation = linked_graph(points[rows], shapes, n_links, bandwidth)
    if saturation > _SATURATED:
        _warn_of_saturation(saturation, q, points.shape[1])
    return ShapeGraph(
        points=points,
        rows=rows,
        shapes=shapes,
        graph=graph,
        neighborhoods=neighborhoods,
        noise=level,
        n_links=n_links,
        bandwidth=bandwidth,
        saturation=saturation,
        space=space,
    )


def _require_range(points: FloatMatrix) -> None:
    largest = float(np.abs(points).max())
    if largest and not 1 / _LARGEST_ENTRY < largest < _LARGEST_ENTRY:
        raise InvalidInputError(
            f"the largest entry of X is {largest:.3g} in size, and products of variances would "
            "leave the range of floating-point numbers. Scale the columns first, for example with "
            "sklearn.preprocessing.StandardScaler."
        )


def _warn_of_saturation(saturation: float, q: int, d: int) -> None:
    warnings.warn(
        f"{saturation:.0%} of the edges join shapes whose Hellinger distance is saturated (H^2 "
        f"above 0.99), so the regions rest on chance: covariances of {q} neighbours in {d} "
        "dimensions share too little. Raise n_neighbors or noise, or reduce the dimensions first, "
        "for example with PCA.",
        DegenerateDataWarning,
        stacklevel=5,
    )


def regions_at(
    separated: ShapeGraph, regions: IndexVector, queries: FloatMatrix, rule: str
) -> IndexVector:
    """Return the regions of points, of the fit or new.

    "voronoi" takes the region of the nearest node. "vote" does so where the kappa nearest nodes
    agree; elsewhere, near a border or a crossing, the point gets a shape of its own from its
    neighbours and links to nodes as a node would, and the region with the largest total weight
    wins. A node keeps its own region. `regions` are those of the nodes.
    """
    nodes = open_space(separated.points[separated.rows], "euclidean")
    n_near = 1 if rule == "voronoi" else min(separated.n_links, len(regions))
    winners = np.empty(len(queries), dtype=np.intp)
    for start in range(0, len(queries), _QUERY_BLOCK):
        block = slice(start, start + _QUERY_BLOCK)
        near, distances = nodes.nearest(queries[block], n_near)
        near_regions = regions[near]
        winners[block] = near_regions[:, 0]
        disagree = (near_regions != near_regions[:, :1]).any(axis=1) & (distances[:, 0] > 0)
        rows = np.flatnonzero(disagree)
        if len(rows):
            doubtful = queries[block][rows]
            n_candidates = min(CANDIDATES * separated.n_links, len(regions))
            candidates = nodes.nearest(doubtful, n_candidates)[0]
            winners[start + rows] = _vote(separated, regions, doubtful, candidates)
    return winners


def _vote(
    separated: ShapeGraph, regions: IndexVector, queries: FloatMatrix, candidates: IndexVector
) -> IndexVector:
    lists = separated.space.nearest(queries, separated.neighborhoods.n_neighbors)[0]
    shapes = local_spectra(separated.points, lists).smooth(separated.noise)
    links = links_to(
        queries,
        shapes,
        candidates.astype(np.int64),
        separated.points[separated.rows],
        separated.shapes,
        min(separated.n_links, candidates.shape[1]),
    )
    votes = np.zeros((len(queries), int(regions.max()) + 1))
    rows = np.repeat(np.arange(len(queries)), links.nodes.shape[1])
    np.add.at(
        votes, (rows, regions[links.nodes].ravel()), links.weights(separated.bandwidth).ravel()
    )
    winners: IndexVector = votes.argmax(axis=1)
    return winners
