"""Laplacian eigenmaps: points enter, coordinates that vary slowly along the data leave."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import DisconnectedGraphWarning, InvalidInputError
from beltrami.core.types import FloatMatrix, Seed
from beltrami.core.validation import check_count
from beltrami.graph.fitted import (
    GraphParameters,
    attached_to_fit,
    checked_points,
    fitted_graph,
    graph_tags,
)
from beltrami.operators.extension import extend_eigenvectors
from beltrami.solvers.eigen import eigenbasis


class LaplacianEigenmaps(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphParameters):
    r"""Embed points so that neighbours stay together [BelkinNiyogi03]_.

    Among all embeddings of the graph into m dimensions with :math:`Y^\top D Y = I` and
    :math:`Y^\top D \mathbf 1 = 0`, find the one that minimises

    .. math:: \tfrac12 \sum_{ij} w_{ij} \lVert y_i - y_j \rVert^2 = \mathrm{tr}(Y^\top L Y).

    Its columns are the solutions of L f = lambda D f with the smallest eigenvalues after the
    constant one, which is dropped ([Belkin03]_, sec. 2.2 for the algorithm and 2.3.1 for the
    problem, which it prints without the half).

    Where the graph falls into several components, which only happens with ``connect="keep"`` or a
    given graph, the thesis embeds each on its own. Here all share one map, and a warning says so:
    the indicator of each component but the largest is a coordinate of its own and comes first, so
    components are told apart before anything inside them is.

    Parameters
    ----------
    n_components : int, default=2
        m, dimensions of the embedding; at most one less than the number of points.
    graph : KnnGraph, RadiusGraph, Graph, sparse or None, default=None
        How to make the graph, or the graph itself; None means ``KnnGraph()``.
    tol : float, default=1e-6
        Largest residual, relative to the largest eigenvalue used. A picture needs each vector,
        not only their span, hence tighter than `eigenbasis`.
    solver : {"auto", "dense", "lanczos", "chebyshev"}, default="auto"
        Of `eigenbasis`.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the solver.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, m)
        Coordinates of the points of the fit.
    eigenvalues_ : ndarray of shape (m,)
        One per coordinate.
    graph_ : Graph
        The graph, with its certificate.
    basis_ : Basis
        The eigenvectors, with theirs; the constant included.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import LaplacianEigenmaps, swiss_roll
    >>> roll = swiss_roll(500, random_state=0)
    >>> coordinates = LaplacianEigenmaps(n_components=2).fit_transform(roll.points)
    >>> coordinates.shape
    (500, 2)
    >>> along = np.corrcoef(coordinates[:, 0], roll.extras["arc_length"])[0, 1]
    >>> bool(abs(along) > 0.97)  # the first coordinate unrolls the strip
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: Any = None,
        tol: float = 1e-6,
        solver: str = "auto",
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.tol = tol
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Embed the points of X.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point.
        y : None
            Ignored.

        Returns
        -------
        LaplacianEigenmaps
            Itself, fitted.
        """
        points = checked_points(self, X, reset=True)
        m = check_count(self.n_components, name="n_components")
        if m >= points.shape[0]:
            raise InvalidInputError(
                f"n_components={m} coordinates need at least {m + 1} points: n_samples = "
                f"{points.shape[0]} points have {points.shape[0] - 1} besides the constant one."
            )
        self.graph_, self.recipe_ = fitted_graph(self.graph, points)
        self.basis_ = eigenbasis(
            self.graph_,
            m + 1,
            kind="random_walk",
            tol=self.tol,
            solver=self.solver,
            random_state=self.random_state,
        )
        if self.basis_.n_connected > 1:
            self._warn_of_components(m)
        self.points_ = points
        self.eigenvalues_ = self.basis_.values[1:]
        self.embedding_ = np.ascontiguousarray(self.basis_.vectors[:, 1:])
        self._n_features_out = m
        return self

    def fit_transform(self, X: Any, y: Any = None) -> FloatMatrix:
        """Embed the points of X and return their coordinates.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n, m)
            ``embedding_``.
        """
        embedding: FloatMatrix = self.fit(X, y).embedding_
        return embedding

    def transform(self, X: Any) -> FloatMatrix:
        """Return the coordinates of new points, by Nyström's formula.

        A point of the fit gets its own coordinates back, to the tolerance of the solver. The cost
        is that of a search among the old points.

        Parameters
        ----------
        X : array-like or sparse of shape (k, d)
            New points.

        Returns
        -------
        ndarray of shape (k, m)
            Coordinates; zeros for a point with no old one in reach of a `RadiusGraph`.
        """
        check_is_fitted(self)
        points = checked_points(self, X, reset=False)
        return extend_eigenvectors(
            attached_to_fit(self, points).weights,
            self.embedding_,
            self.eigenvalues_,
            kind="random_walk",
        )

    def _warn_of_components(self, m: int) -> None:
        count = self.basis_.n_connected
        warnings.warn(
            f"the graph has {count} connected components; the first {min(m, count - 1)} of "
            f"{m} coordinates only tell them apart. Use connect='mst', raise n_neighbors, or embed "
            "each component on its own.",
            DisconnectedGraphWarning,
            stacklevel=3,
        )

    def __sklearn_tags__(self) -> Any:
        return graph_tags(super().__sklearn_tags__(), self.graph)
