"""The nouns of separation: the shape of the data around points, and the graph of like shapes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.graph.model import Graph


@dataclass(frozen=True, slots=True, eq=False)
class LocalShapes:
    r"""Local covariances, each a few directions with their variances and a noise level elsewhere.

    .. math:: \Sigma_i = \sum_{j \le r} \lambda_{ij} u_{ij} u_{ij}^\top
              + \varepsilon_i \Bigl(I - \sum_{j \le r} u_{ij} u_{ij}^\top\Bigr)

    so s covariances in d dimensions take s r d numbers and not s d^2, and none is singular.

    Attributes
    ----------
    directions : ndarray of shape (s, r, d)
        u: orthonormal rows, widest first.
    variances : ndarray of shape (s, r)
        lambda, noise included: at least epsilon.
    noise : ndarray of shape (s,)
        epsilon: the variance in every other direction; positive.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami.separation.model import LocalShapes
    >>> along = np.array([[[1.0, 0.0]]])  # one point, one direction, in the plane
    >>> LocalShapes(along, np.array([[4.0]]), np.array([0.1])).covariance(0)
    array([[4. , 0. ],
           [0. , 0.1]])
    """

    directions: FloatMatrix
    variances: FloatMatrix
    noise: FloatVector

    def __len__(self) -> int:
        return int(self.directions.shape[0])

    @property
    def dimension(self) -> int:
        """Dimension d of the space."""
        return int(self.directions.shape[2])

    def covariance(self, row: int) -> FloatMatrix:
        """Return one covariance in full, (d, d)."""
        u, noise = self.directions[row], self.noise[row]
        full: FloatMatrix = (u.T * (self.variances[row] - noise)) @ u
        full[np.diag_indices(self.dimension)] += noise
        return full


@dataclass(frozen=True, slots=True, eq=False)
class Neighborhoods:
    """How far around a point its shape is measured, and why.

    Attributes
    ----------
    n_neighbors : int
        q: nearest other points that make a local covariance.
    tried : dict of int to float
        For each size tried, the mean participation number of the covariances: how many directions
        the data spread in, from 1 on a curve to d in the open. Empty where the size was given.
    """

    n_neighbors: int
    tried: dict[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class ShapeGraph:
    """A graph on a part of the points that joins neighbours by how alike their shapes are.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        All points, as their shapes are measured.
    rows : ndarray of shape (s,)
        The part that the graph is on, increasing.
    shapes : LocalShapes
        Around these rows, among all points.
    graph : Graph
        Its nodes are these rows.
    neighborhoods : Neighborhoods
        How the shapes were measured.
    noise : float
        epsilon, shared by all.
    n_links : int
        kappa: neighbours by Mahalanobis distance that each node is linked to.
    bandwidth : float
        sigma of the weights exp(-H^2 / (2 sigma^2)).
    saturation : float
        Share of edges whose Hellinger distance says no more than "different" (H^2 > 0.99).
    space : Space
        The points, prepared for searches.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import two_squares
    >>> from beltrami.separation.separate import shape_graph
    >>> squares = two_squares(300, gap=0.5, random_state=0)
    >>> shapes = shape_graph(squares.points, np.array([0, 299]), rng=np.random.default_rng(0))
    >>> len(shapes.shapes) == shapes.graph.n_nodes
    True
    """

    points: FloatMatrix
    rows: IndexVector
    shapes: LocalShapes
    graph: Graph
    neighborhoods: Neighborhoods
    noise: float
    n_links: int
    bandwidth: float
    saturation: float
    space: Any
