"""Neighbour probabilities of data, among the points of a fit and from new points to them.

The data are vectors, dissimilarities of all pairs, or a sparse matrix of near pairs. An affinity
has one width for all points (wide) or one effective number of neighbours for all (local).
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, issparse

from beltrami.core.machine.memory import require_memory
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexVector, Points
from beltrami.embeddings.neighborhoods.probabilities import (
    Neighborhood,
    StoredNeighborhood,
    calibrated_probabilities,
    require_spread,
    row_probabilities,
    sparse_probabilities,
)
from beltrami.embeddings.neighborhoods.wide import FactoredNeighborhood
from beltrami.graph.search import open_space
from beltrami.graph.search.distances import angular_distances
from beltrami.operators.comparison import require_neighbors, without_diagonal

_SAMPLE = 3000  # points whose dissimilarities give the width
_GLANCE = 500  # points that show whether dissimilarities differ at all
_MOST_DENSE = 8000  # points up to which P is a matrix
_REACH = 3  # neighbours searched per unit of perplexity


class Affinity(Protocol):
    """Neighbour probabilities of a fit's points and of new ones."""

    @property
    def points(self) -> Points:
        """The vectors of the fit, or its dissimilarities."""

    def neighborhood(self) -> Neighborhood:
        """Return P of the points of the fit."""

    def towards(self, new: Points) -> FloatMatrix | CsrMatrix:
        """Return rows of P from new points to those of the fit."""


@dataclass(frozen=True, slots=True, eq=False)
class WideAffinity:
    r"""One width for all: :math:`p_{ij} \propto \exp(-d_{ij}^2 / (s \sigma^2))`.

    With :math:`\sigma` the 1/K quantile of all dissimilarities, the choice of [ZienQuinonero05]_,
    sec. 7, nearly everyone is everyone's neighbour.

    Attributes
    ----------
    points : ndarray or csr_array
        Vectors, or dissimilarities.
    metric : str or callable
        How to compare vectors; "precomputed" for dissimilarities.
    width : float
        Sigma.
    spread : float
        s; 2 is the usual Gaussian.
    """

    points: Points
    metric: Any
    width: float
    spread: float

    @classmethod
    def of(
        cls, points: Points, metric: Any, *, quantile: float, spread: float = 2.0
    ) -> "WideAffinity":
        """Choose the width by a quantile of the dissimilarities, of 3000 points at most."""
        apart = _sampled_dissimilarities(points, metric)
        require_spread(float(apart.min()), float(apart.max()), points.shape[0])
        width = float(np.quantile(apart, quantile))
        if width <= 0:  # more duplicates than the quantile allows
            width = float(apart[apart > 0].min())
        return cls(points, metric, width, spread)

    def neighborhood(self) -> Neighborhood:
        """Return P of the points of the fit; of many vectors, as a product of features."""
        if self.points.shape[0] > _MOST_DENSE and self.metric in ("euclidean", "l2"):
            width = self.width * float(np.sqrt(self.spread / 2))
            return FactoredNeighborhood.of(self.points, width)
        return StoredNeighborhood.of(self.among())

    def among(self) -> FloatMatrix | CsrMatrix:
        """Return P of the points of the fit as a matrix."""
        n = self.points.shape[0]
        if self.metric == "precomputed" and issparse(self.points):
            return _stored_rows(without_diagonal(self.points), self._exponents)
        require_memory(
            3 * 8.0 * n * n,
            what=f"the neighbour probabilities of all pairs of {n} points",
            instead="Use mode='practical', which keeps near pairs only, or a sample of the rows.",
        )
        squares = self._exponents(dissimilarities(self.points, self.points, self.metric))
        np.fill_diagonal(squares, np.inf)
        return row_probabilities(squares)

    def towards(self, new: Points) -> FloatMatrix | CsrMatrix:
        """Return rows of P from new points to those of the fit."""
        if self.metric == "precomputed" and issparse(new):
            return _stored_rows(csr_array(new), self._exponents)
        return row_probabilities(self._exponents(dissimilarities(new, self.points, self.metric)))

    def _exponents(self, distances: FloatMatrix) -> FloatMatrix:
        squares: FloatMatrix = distances**2 / (self.spread * self.width**2)
        return squares


@dataclass(frozen=True, slots=True, eq=False)
class LocalAffinity:
    """One effective number of neighbours for all, whatever the density around a point.

    Attributes
    ----------
    points : ndarray or csr_array
        Vectors, or dissimilarities.
    metric : str or callable
        How to compare vectors; "precomputed" for dissimilarities.
    perplexity : float
        Effective number of neighbours; three times as many are searched.
    """

    points: Points
    metric: Any
    perplexity: float

    @classmethod
    def of(cls, points: Points, metric: Any, perplexity: float) -> "LocalAffinity":
        """Check that there are neighbours to tell apart."""
        apart = _sampled_dissimilarities(points, metric, most=_GLANCE)
        require_spread(float(apart.min()), float(apart.max()), points.shape[0])
        return cls(points, metric, perplexity)

    @property
    def n_neighbors(self) -> int:
        """How many neighbours have a probability above zero."""
        return min(int(np.ceil(_REACH * self.perplexity)), int(self.points.shape[0]) - 1)

    def neighborhood(self) -> StoredNeighborhood:
        """Return P of the points of the fit."""
        return StoredNeighborhood.of(self.among())

    def among(self) -> CsrMatrix:
        """Return P of the points of the fit as a matrix."""
        if self.metric == "precomputed" and issparse(self.points):
            return self._calibrate_stored(without_diagonal(self.points))
        n, k = self.points.shape[0], self.n_neighbors
        if self.metric == "precomputed":
            squares = np.array(self.points, dtype=np.float64) ** 2
            np.fill_diagonal(squares, np.inf)
            near = np.argsort(squares, axis=1, kind="stable")[:, :k]
            return self._rows(near, np.take_along_axis(squares, near, axis=1), n)
        neighbors = open_space(self.points, self.metric).neighbors(
            k, search="auto", rng=np.random.default_rng(0)
        )
        return self._rows(neighbors.indices, neighbors.distances.astype(np.float64) ** 2, n)

    def towards(self, new: Points) -> CsrMatrix:
        """Return rows of P from new points to those of the fit."""
        if self.metric == "precomputed" and issparse(new):
            return self._calibrate_stored(csr_array(new))
        n, k = self.points.shape[0], self.n_neighbors
        if self.metric == "precomputed":
            squares = np.asarray(new, dtype=np.float64) ** 2
            near = np.argsort(squares, axis=1, kind="stable")[:, :k]
            return self._rows(near, np.take_along_axis(squares, near, axis=1), n)
        indices, distances = open_space(self.points, self.metric).nearest(new, k)
        return self._rows(indices, distances.astype(np.float64) ** 2, n)

    def _rows(self, near: Any, squares: FloatMatrix, n_columns: int) -> CsrMatrix:
        perplexity = min(self.perplexity, max(near.shape[1] / 2, 1.0))
        return sparse_probabilities(near, calibrated_probabilities(squares, perplexity), n_columns)

    def _calibrate_stored(self, stored: CsrMatrix) -> CsrMatrix:
        """Calibrate rows of any number of stored neighbours, each over its nearest ones."""
        counts = np.diff(stored.indptr)
        require_neighbors(counts)
        k = min(int(counts.max()), self.n_neighbors)
        shape = (len(counts), k)
        near, squares = np.zeros(shape, dtype=np.int64), np.full(shape, np.inf)
        for row, (start, stop) in enumerate(zip(stored.indptr, stored.indptr[1:], strict=False)):
            order = np.argsort(stored.data[start:stop], kind="stable")[:k]
            near[row, : len(order)] = stored.indices[start:stop][order]
            squares[row, : len(order)] = stored.data[start:stop][order] ** 2
        rows = self._rows(near, _fill_missing(squares), stored.shape[1])
        rows.data[~np.isfinite(squares).ravel()] = 0.0
        rows.eliminate_zeros()
        totals = np.asarray(rows.sum(axis=1)).ravel()
        rows.data /= np.repeat(totals, np.diff(rows.indptr))
        return rows


def dissimilarities(rows: Points, columns: Points, metric: Any) -> FloatMatrix:
    """Return the dissimilarities of all pairs, (m, n).

    For "precomputed" `rows` are the dissimilarities to all of `columns` already.
    """
    from sklearn.metrics import pairwise_distances
    from sklearn.preprocessing import normalize

    if metric == "precomputed":
        return np.array(rows.toarray() if issparse(rows) else rows, dtype=np.float64)
    if metric in ("euclidean", "l2") and not issparse(rows) and not issparse(columns):
        middle = np.asarray(columns).mean(axis=0)  # far from the origin products lose digits
        rows, columns = np.asarray(rows) - middle, np.asarray(columns) - middle
    if metric == "angle":  # by chords: an arccos of cosines loses half the digits of small angles
        chords = pairwise_distances(normalize(rows), normalize(columns))
        return angular_distances(chords.astype(np.float64), metric)
    apart: FloatMatrix = pairwise_distances(rows, columns, metric=metric).astype(np.float64)
    return apart


def twins_of(points: Points, metric: Any, new: Points) -> IndexVector:
    """Return for each new point the point of the fit it is identical to, -1 for none.

    Of dissimilarities to the points of the fit, zero means identical.
    """
    if metric != "precomputed":
        nearest, distances = open_space(points, metric).nearest(new, 1)
        return np.where(distances[:, 0] == 0, nearest[:, 0], -1).astype(np.intp)
    twins = np.full(new.shape[0], -1, dtype=np.intp)
    if issparse(new):
        stored = csr_array(new)
        rows = np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))
        rows, columns = rows[stored.data == 0], stored.indices[stored.data == 0]
    else:
        rows, columns = np.nonzero(np.asarray(new) == 0)
    twins[rows[::-1]] = columns[::-1]  # the first of several
    return twins


def _sampled_dissimilarities(points: Points, metric: Any, *, most: int = _SAMPLE) -> FloatVector:
    n = points.shape[0]
    if metric == "precomputed" and issparse(points):
        return np.asarray(without_diagonal(points).data, dtype=np.float64)
    rows = np.arange(n)
    if n > most:
        rows = np.sort(np.random.default_rng(0).choice(n, size=most, replace=False))
    block: FloatMatrix
    if metric == "precomputed":
        block = np.asarray(points, dtype=np.float64)[np.ix_(rows, rows)]
    else:
        block = dissimilarities(points[rows], points[rows], metric)
    apart: FloatVector = block[~np.eye(len(rows), dtype=bool)]
    return apart


def _stored_rows(stored: CsrMatrix, exponents: Any) -> CsrMatrix:
    """Turn stored dissimilarities into probabilities row by row; what is not stored has none."""
    counts = np.diff(stored.indptr)
    require_neighbors(counts)
    squares = exponents(stored.data)
    squares -= np.repeat(np.minimum.reduceat(squares, stored.indptr[:-1]), counts)
    weights = np.exp(-squares)
    weights /= np.repeat(np.add.reduceat(weights, stored.indptr[:-1]), counts)
    return csr_array((weights, stored.indices, stored.indptr), shape=stored.shape)


def _fill_missing(squares: FloatMatrix) -> FloatMatrix:
    """Put far values for missing neighbours, so that they take no probability."""
    known = np.where(np.isfinite(squares), squares, 0.0)
    far = 1e6 * (known.max(axis=1, keepdims=True) + np.finfo(np.float64).tiny)
    return np.where(np.isfinite(squares), squares, far)
