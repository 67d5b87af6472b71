"""Stochastic neighbour embedding: the map on which the data's neighbours stay neighbours."""

import numbers
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, Points, Seed
from beltrami.core.validation import check_count, check_positive
from beltrami.embeddings.mbed.placement import TIE, place
from beltrami.embeddings.mbed.settling import settle_map
from beltrami.embeddings.neighborhoods.affinities import (
    Affinity,
    LocalAffinity,
    WideAffinity,
    twins_of,
)
from beltrami.graph.fitting import checked_points
from beltrami.operators.comparison import check_comparable

_START = 1e-2


class StochasticNeighborEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Embed points so that the same others are likely neighbours as before [HintonRoweis03]_.

    Positions minimise :math:`\sum_i KL(P_i \| Q_i)` between the neighbour probabilities of the
    data and those of the map, :math:`q_{ij} \propto \exp(-\lVert y_i - y_j \rVert^2)`. It is
    `Mbed` without labels and without boundaries.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    perplexity : float or None, default=30.0
        Effective number of neighbours of every point. None takes one width for all points
        instead, the `quantile` of their distances.
    quantile : float, default=0.5
        Share of pairs nearer than the common width; used with ``perplexity=None`` only.
    metric : str or callable, default="euclidean"
        How rows are compared; "precomputed" where X holds dissimilarities.
    n_steps : int, default=300
        Steps of the descent at most.
    random_state : int, Generator, RandomState or None, default=None
        Draws the start.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, d)
        Positions.
    cost_ : float
        The sum of the divergences, in nats.
    n_steps_ : int
        Steps made.
    row_error_ : RowError
        What estimated sums over pairs get wrong on exact rows; zero up to 5000 points.

    Examples
    --------
    >>> from sklearn.manifold import trustworthiness
    >>> from beltrami import StochasticNeighborEmbedding, load_dataset
    >>> flowers = load_dataset("iris")
    >>> embedding = StochasticNeighborEmbedding(random_state=0).fit_transform(flowers.points)
    >>> embedding.shape, bool(trustworthiness(flowers.points, embedding) > 0.95)
    ((150, 2), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | None = 30.0,
        quantile: float = 0.5,
        metric: Any = "euclidean",
        n_steps: int = 300,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.quantile = quantile
        self.metric = metric
        self.n_steps = n_steps
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Embed the points of X.

        Parameters
        ----------
        X : array-like or sparse of shape (n, p), or (n, n) for "precomputed"
            One row per point.
        y : None
            Ignored.

        Returns
        -------
        StochasticNeighborEmbedding
            Itself, fitted.
        """
        points = checked_points(self, X, reset=True)
        check_comparable(points, self.metric)
        d = check_count(self.n_components, name="n_components")
        n_steps = check_count(self.n_steps, name="n_steps")
        self.affinity_ = self._affinity(points)
        neighborhood = self.affinity_.neighborhood()
        start = generator(self.random_state).standard_normal((neighborhood.n_points, d)) * _START
        with track("neighbour embedding", total=n_steps) as advance:
            fit = settle_map(neighborhood, None, start, n_steps=n_steps, advance=advance)
        self.embedding_ = fit.embedding - fit.embedding.mean(axis=0)
        self.cost_, self.n_steps_ = float(fit.costs[-1]), len(fit.costs) - 1
        self.row_error_ = fit.error
        self._n_features_out = d
        return self

    def fit_transform(self, X: Any, y: Any = None) -> FloatMatrix:
        """Embed the points of X and return their positions.

        Parameters
        ----------
        X : array-like or sparse of shape (n, p), or (n, n) for "precomputed"
            One row per point.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n, d)
            Positions.
        """
        embedding: FloatMatrix = self.fit(X, y).embedding_
        return embedding

    def transform(self, X: Any) -> FloatMatrix:
        """Return the positions of new points; a point of the fit gets its own back.

        Parameters
        ----------
        X : array-like or sparse of shape (m, p), or (m, n) for "precomputed"
            New points, or their dissimilarities to the points of the fit.

        Returns
        -------
        ndarray of shape (m, d)
            Positions.
        """
        check_is_fitted(self)
        new = checked_points(self, X, reset=False)
        check_comparable(new, self.metric, is_new=True)
        positions = place(self.affinity_.towards(new), self.embedding_, tie=TIE)
        twins = twins_of(self.affinity_.points, self.metric, new)
        positions[twins >= 0] = self.embedding_[twins[twins >= 0]]
        return positions

    def _affinity(self, points: Points) -> Affinity:
        if self.perplexity is not None:
            perplexity = check_positive(self.perplexity, name="perplexity")
            return LocalAffinity.of(points, self.metric, perplexity)
        if not isinstance(self.quantile, numbers.Real) or not 0 < self.quantile < 1:
            raise InvalidInputError(f"quantile={self.quantile!r} must lie between 0 and 1.")
        return WideAffinity.of(points, self.metric, quantile=float(self.quantile))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
