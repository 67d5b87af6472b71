"""Links between points whose shapes are alike, along the manifold that each lies on.

A point is linked to its nearest by its own Mahalanobis distance, with weights by the Hellinger
distance of the shapes.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix
from beltrami.graph.model import Graph
from beltrami.graph.search import open_space
from beltrami.separation.hellinger import hellinger_squared
from beltrami.separation.model import LocalShapes

CANDIDATES = 4
"""Euclidean neighbours looked at for each link."""


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Directed links from points to nodes.

    Attributes
    ----------
    nodes : ndarray of shape (m, kappa)
        Nodes that each point is linked to, nearest first in its own Mahalanobis distance.
    hellinger : ndarray of shape (m, kappa)
        Squared Hellinger distance of the shapes at both ends.
    """

    nodes: IndexMatrix
    hellinger: FloatMatrix

    def weights(self, bandwidth: float) -> FloatMatrix:
        r"""Return :math:`w = \exp(-H^2 / (2 \sigma^2))`."""
        with np.errstate(over="ignore"):  # a bandwidth of almost nothing: weights of zero
            weights: FloatMatrix = np.exp(-self.hellinger / 2 / bandwidth / bandwidth)
        return weights


def links_to(
    points: FloatMatrix,
    shapes: LocalShapes,
    candidates: IndexMatrix,
    nodes: FloatMatrix,
    node_shapes: LocalShapes,
    n_links: int,
) -> Links:
    r"""Link each point to the candidates that lie along its own shape.

    The `n_links` candidates y of least :math:`d^2(x, y) = (x - y)^\top \Sigma_x^{-1} (x - y)`, with
    the Hellinger distance of the shapes ([Zhu09]_, "A Sparse Graph on the Sparse Subset"). With
    :math:`\Sigma_x` as directions and noise, the inverse costs nothing. The `candidates`, (m, c),
    are rows of `nodes`: the Euclidean neighbours of each point among them. The Mahalanobis distance
    alone would reach along a tangent into another part of the data.
    """
    from beltrami.separation import _loops

    lengths = np.empty(candidates.shape)
    _loops.mahalanobis_squared(
        np.ascontiguousarray(points, dtype=np.float64),
        shapes.directions,
        shapes.variances,
        shapes.noise,
        np.ascontiguousarray(nodes, dtype=np.float64),
        candidates,
        lengths,
    )
    order = np.argsort(lengths, axis=1, kind="stable")[:, :n_links]
    linked = np.take_along_axis(candidates, order, axis=1)
    rows = np.repeat(np.arange(len(points)), n_links)
    squares = hellinger_squared(shapes, rows, node_shapes, linked.ravel())
    return Links(linked, squares.reshape(linked.shape))


def mahalanobis_squared_reference(
    points: FloatMatrix, shapes: LocalShapes, nodes: FloatMatrix, candidates: IndexMatrix
) -> FloatMatrix:
    """Return the squared Mahalanobis distances by solving with full covariances: the slow twin."""
    lengths = np.empty(candidates.shape)
    for i, row in enumerate(candidates):
        steps: FloatVector = nodes[row] - points[i]
        lengths[i] = (steps * np.linalg.solve(shapes.covariance(i), steps.T).T).sum(axis=1)
    return lengths


def linked_graph(
    points: FloatMatrix, shapes: LocalShapes, n_links: int, bandwidth: float
) -> tuple[Graph, float]:
    """Return the graph of like shapes among points, and the share of links with H^2 above 0.99.

    Two points are joined when either is linked to the other.
    """
    s = len(points)
    space = open_space(points, "euclidean")
    n_candidates = min(CANDIDATES * n_links, s - 1)
    candidates = space.neighbors(
        n_candidates, search="exact", rng=np.random.default_rng(0)
    ).indices.astype(np.int64)
    links = links_to(points, shapes, candidates, points, shapes, min(n_links, n_candidates))
    rows = np.repeat(np.arange(s), links.nodes.shape[1])
    weights = csr_array((links.weights(bandwidth).ravel(), (rows, links.nodes.ravel())), (s, s))
    graph = Graph.from_matrix(csr_array(weights.maximum(weights.T)))
    return graph, float(np.mean(links.hellinger > 0.99))
