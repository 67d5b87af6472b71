r"""Neighbour probabilities P: how likely j is a neighbour of i.

Row i is a distribution :math:`p_{ij} \propto \exp(-d_{ij}^2)` over the other points. It has three
forms: all pairs, a sparse matrix of near pairs, and (in `wide`) a product of features for kernels
so wide that everyone is everyone's neighbour.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexMatrix

_BISECTIONS = 60
_BLOCK = 4096


class Neighborhood(Protocol):
    """Neighbour probabilities P, asked only for what an embedding needs of them."""

    @property
    def n_points(self) -> int:
        """Number of points."""

    @property
    def entropy(self) -> float:
        """Sum of the entropies of the rows of P."""

    @property
    def pull(self) -> FloatVector:
        """Row sums of P + P'."""

    def multiply(self, values: FloatMatrix) -> FloatMatrix:
        """Return (P + P') times a matrix with one row per point."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredNeighborhood:
    """P + P' as a matrix, dense or sparse.

    Attributes
    ----------
    mutual : ndarray or csr_array of shape (n, n)
        P + P'.
    pull : ndarray of shape (n,)
        Its row sums.
    entropy : float
        Sum of the entropies of the rows of P.
    """

    mutual: FloatMatrix | CsrMatrix
    pull: FloatVector
    entropy: float

    @classmethod
    def of(cls, probabilities: FloatMatrix | CsrMatrix) -> "StoredNeighborhood":
        """Keep what an embedding needs of P, which has an empty diagonal and rows of sum one."""
        if isinstance(probabilities, np.ndarray):
            entropy = -float(xlogy(probabilities, probabilities).sum())
            mutual: FloatMatrix | CsrMatrix = probabilities + probabilities.T
        else:
            entropy = -float(xlogy(probabilities.data, probabilities.data).sum())
            mutual = csr_array(probabilities + probabilities.T)
        return cls(mutual, np.asarray(mutual.sum(axis=1)).ravel(), entropy)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.mutual.shape[0])

    def multiply(self, values: FloatMatrix) -> FloatMatrix:
        """Return (P + P') times a matrix with one row per point."""
        product: FloatMatrix = self.mutual @ values
        return product


def row_probabilities(squares: FloatMatrix) -> FloatMatrix:
    r"""Return :math:`\exp(-d_{ij}^2)` over its row sums, in place.

    The smallest entry of each row is taken off first, so that a point far from all others keeps
    its nearest as neighbours instead of dividing zero by zero. `squares` is infinite where a pair
    is to have no probability.
    """
    squares -= squares.min(axis=1, keepdims=True)
    np.exp(-squares, out=squares)
    squares /= squares.sum(axis=1, keepdims=True)
    return squares


def calibrated_probabilities(squares: FloatMatrix, perplexity: float) -> FloatMatrix:
    r"""Return :math:`p_{ij} \propto \exp(-b_i d_{ij}^2)` whose rows have a given perplexity.

    The perplexity, exp of the entropy, is an effective number of neighbours; b_i is found by
    bisection of its logarithm. A row with more nearest neighbours at the same distance than that,
    duplicates for example, shares its probability among them.
    """
    probabilities = np.empty(squares.shape)
    for start in range(0, len(squares), _BLOCK):
        block = squares[start : start + _BLOCK].astype(np.float64)
        probabilities[start : start + _BLOCK] = _calibrate(block, float(np.log(perplexity)))
    return probabilities


def _calibrate(squares: FloatMatrix, target: float) -> FloatMatrix:
    """Return rows of probabilities whose entropy is `target`."""
    above = squares - squares.min(axis=1, keepdims=True)
    typical = above.mean(axis=1, keepdims=True)
    above = np.divide(above, typical, out=np.zeros_like(above), where=typical > 0)
    low, high = np.full((len(above), 1), -20.0), np.full((len(above), 1), 60.0)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        exponents = above * np.exp(middle)
        weights = np.exp(-exponents)
        totals = weights.sum(axis=1, keepdims=True)
        entropy = np.log(totals) + (weights * exponents).sum(axis=1, keepdims=True) / totals
        low = np.where(entropy > target, middle, low)
        high = np.where(entropy > target, high, middle)
        if float((high - low).max()) < 1e-9:
            break
    probabilities: FloatMatrix = weights / weights.sum(axis=1, keepdims=True)
    return probabilities


def sparse_probabilities(
    indices: IndexMatrix, probabilities: FloatMatrix, n_columns: int
) -> CsrMatrix:
    """Put lists of k neighbours and their probabilities, (m, k), into a matrix."""
    m, k = indices.shape
    starts = np.arange(0, m * k + 1, k, dtype=np.int64)
    entries = (probabilities.ravel(), indices.ravel().astype(np.int32), starts)
    return csr_array(entries, shape=(m, n_columns))


def require_spread(smallest: float, largest: float, n_points: int) -> None:
    """Raise when all dissimilarities are equal, which leaves nothing to embed."""
    if not largest - smallest > 1e-12 * largest:
        raise InvalidInputError(
            f"all dissimilarities between the {n_points} points are equal ({largest:.6g}): every "
            "point is as near to every other, and there is no shape to embed. Check the metric "
            "and whether the columns hold anything but constants."
        )
