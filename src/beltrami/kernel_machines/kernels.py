"""Kernels: points enter, dense blocks of similarities k(x, y) leave.

A kernel says which functions of the points are simple; what it may be is decided here, once, for
all kernel machines.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.core.validation import check_count, check_positive

KERNELS = ("linear", "poly", "rbf", "cosine", "precomputed")

_NARROWEST = 1e-150
_WIDTH_SAMPLE = 1000
_DIAGONAL_BLOCK = 256
_NEGATIVE = 1e-6
"""Share of the largest eigenvalue below which a negative one is taken for rounding."""


class Kernel(ABC):
    """A similarity k(x, y) of pairs of points, in blocks."""

    @abstractmethod
    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y, float32 where both are."""

    @abstractmethod
    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""

    @property
    def is_surely_psd(self) -> bool:
        """Whether every matrix of it is positive semi-definite, by its formula."""
        return True


@dataclass(frozen=True, slots=True)
class LinearKernel(Kernel):
    """k(x, y) = x'y."""

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y."""
        return _products(X, Y)

    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""
        return _squares(X)


@dataclass(frozen=True, slots=True)
class PolynomialKernel(Kernel):
    """k(x, y) = (x'y + coef0)^degree."""

    degree: int
    coef0: float

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y."""
        block = _products(X, Y)
        block += block.dtype.type(self.coef0)
        block **= self.degree
        return block

    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""
        return np.asarray((_squares(X) + self.coef0) ** self.degree)

    @property
    def is_surely_psd(self) -> bool:
        """Whether every matrix of it is positive semi-definite, by its formula."""
        return self.coef0 >= 0


@dataclass(frozen=True, slots=True)
class RbfKernel(Kernel):
    """k(x, y) = exp(-|x - y|^2 / (2 width^2))."""

    width: float

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y."""
        is_same = X is Y
        if not issparse(X) and not issparse(Y):
            # Far from the origin the squares below would cancel to rounding.
            center = np.mean(Y, axis=0, dtype=np.float64).astype(Y.dtype)
            X = X - center
            Y = X if is_same else Y - center  # one array, so that half of the products do
        block = _products(X, Y)
        block *= -2
        block += _squares(X)[:, None].astype(block.dtype)
        block += _squares(Y)[None, :].astype(block.dtype)
        np.maximum(block, 0, out=block)
        if is_same:
            np.fill_diagonal(block, 0)
        block *= block.dtype.type(-0.5 / self.width**2)
        np.exp(block, out=block)
        return block

    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""
        return np.ones(X.shape[0])


@dataclass(frozen=True, slots=True)
class CosineKernel(Kernel):
    """k(x, y) = x'y / (|x| |y|), zero for a zero row."""

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y."""
        block = _products(X, Y)
        block *= _inverse_norms(X)[:, None].astype(block.dtype)
        block *= _inverse_norms(Y)[None, :].astype(block.dtype)
        return block

    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""
        return np.asarray(_squares(X) > 0, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class GivenKernel(Kernel):
    """What a user's function, or kernel object of scikit-learn, says."""

    function: Callable[[Any, Any], Any]

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y."""
        block = np.asarray(self.function(X, Y), dtype=np.float64)
        if block.shape != (X.shape[0], Y.shape[0]):
            raise InvalidInputError(
                f"the kernel returned an array of shape {block.shape} for {X.shape[0]} and "
                f"{Y.shape[0]} points; it must take two sets of points and return one number for "
                "each pair, one row per point of the first."
            )
        return _finite(block)

    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""
        starts = range(0, X.shape[0], _DIAGONAL_BLOCK)
        blocks = [X[start : start + _DIAGONAL_BLOCK] for start in starts]
        return np.concatenate([np.diagonal(self.between(block, block)) for block in blocks])

    @property
    def is_surely_psd(self) -> bool:
        """Whether every matrix of it is positive semi-definite, by its formula."""
        return False


@dataclass(frozen=True, slots=True)
class PrecomputedKernel(Kernel):
    """Rows that already hold k(x, y) for all points y of the fit."""

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y."""
        del Y
        return np.asarray(X, dtype=np.float64)

    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""
        return np.diagonal(np.asarray(X, dtype=np.float64)).copy()

    @property
    def is_surely_psd(self) -> bool:
        """Whether every matrix of it is positive semi-definite, by its formula."""
        return False


def kernel_function(kernel: Any, *, width: Any, degree: int = 3, coef0: float = 1.0) -> Kernel:
    """Return the kernel that a user asked for.

    - `kernel`: a name, a kernel object of scikit-learn, or a function of two sets of points.
    """
    if isinstance(kernel, str):
        match kernel:
            case "linear":
                return LinearKernel()
            case "poly":
                return PolynomialKernel(check_count(degree, name="degree"), _checked_coef0(coef0))
            case "rbf":
                return RbfKernel(_checked_width(width))
            case "cosine":
                return CosineKernel()
            case "precomputed":
                return PrecomputedKernel()
    if callable(kernel):
        return GivenKernel(kernel)
    listed, said = ", ".join(map(repr, KERNELS)), repr(kernel)
    if hasattr(kernel, "shape"):
        said = f"an array of shape {kernel.shape}"
    raise InvalidInputError(
        f"kernel={said} is not known; choose one of {listed}, a kernel object of scikit-learn, or "
        "a function of two sets of points that returns one number per pair. For a matrix of your "
        "own pass kernel='precomputed' and the matrix as X."
    )


def _checked_width(width: Any) -> float:
    checked = check_positive(width, name="width")
    if checked < _NARROWEST:
        raise InvalidInputError(
            f"width={checked:.3g}: its square is below what a computer can hold. Multiply the data "
            f"by a number that brings their distances above {_NARROWEST:.0e}."
        )
    return checked


def _checked_coef0(coef0: Any) -> float:
    is_number = isinstance(coef0, numbers.Real) and not isinstance(coef0, bool)
    if not is_number or not np.isfinite(float(coef0)):
        raise InvalidInputError(f"coef0={coef0!r} must be a finite number.")
    return float(coef0)


def typical_width(points: Points, random_state: Seed = 0) -> float:
    """Return the median distance between points of a sample over the root of two.

    With it exp(-d^2 / (2 width^2)) is 1/e at the median distance.

    Shapes: `points` (n, d).
    """
    from sklearn.metrics.pairwise import euclidean_distances

    n = points.shape[0]
    size = min(n, _WIDTH_SAMPLE)
    rows = np.sort(generator(random_state).choice(n, size=size, replace=False))
    distances = euclidean_distances(points[rows])[np.triu_indices(size, k=1)]
    apart = distances[distances > 0]
    return float(np.median(apart) / np.sqrt(2)) if apart.size else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Gram:
    """A kernel tied to the points of a fit: any block of its n x n matrix, and rows of new points.

    Attributes
    ----------
    kernel : Kernel
        The similarity.
    points : ndarray or csr_array of shape (n, d)
        The points; for a precomputed kernel the matrix itself.
    """

    kernel: Kernel
    points: Points

    @property
    def n_points(self) -> int:
        """Number of points of the fit."""
        return int(self.points.shape[0])

    def among(
        self, rows: IndexVector, columns: IndexVector, *, is_double: bool = False
    ) -> FloatMatrix:
        """Return k(x_i, x_j) for the given rows i and columns j, float64 where asked."""
        if isinstance(self.kernel, PrecomputedKernel):
            matrix: FloatMatrix = np.asarray(self.points, dtype=np.float64)
            return np.asarray(matrix[np.ix_(rows, columns)])
        left, right = self.points[rows], self.points[columns]
        if is_double:
            left, right = left.astype(np.float64), right.astype(np.float64)
        return self.kernel.between(left, right)

    def whole(self) -> FloatMatrix:
        """Return the n x n matrix in float64, in an array of its own, symmetric to rounding."""
        double = self.points.astype(np.float64)
        matrix = self.kernel.between(double, double)
        if not self.kernel.is_surely_psd:
            matrix = (matrix + matrix.T) / 2
        return matrix

    def at(self, new: Points, columns: IndexVector) -> FloatMatrix:
        """Return k(x, x_j) for new points x and the given columns j."""
        if isinstance(self.kernel, PrecomputedKernel):
            held: FloatMatrix = np.asarray(new, dtype=np.float64)
            return np.asarray(held[:, columns])
        return self.kernel.between(new, self.points[columns])

    def diagonal(self) -> FloatVector:
        """Return k(x_i, x_i) for all points of the fit."""
        return self.kernel.diagonal(self.points)


def check_precomputed(matrix: Any) -> None:
    """Raise unless a precomputed kernel is square and symmetric.

    Shapes: `matrix` (n, n).
    """
    if issparse(matrix):
        raise InvalidInputError("a precomputed kernel must be a dense array, not a sparse one.")
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInputError(
            f"Precomputed metric requires shape (n_queries, n_indexed): the kernel has shape "
            f"{matrix.shape} and fit needs a square one, k(x_i, x_j) for all pairs of rows. For "
            "points, pass a kernel by name."
        )
    scale = float(np.abs(matrix).max(initial=0.0))
    gap = float(np.abs(matrix - matrix.T).max(initial=0.0))
    if gap > 1e-6 * scale:
        raise InvalidInputError(
            f"the precomputed kernel is not symmetric: k(x, y) and k(y, x) differ by up to "
            f"{gap:.3g} where the largest entry is {scale:.3g}. Give k + k.T over two if the "
            "difference is noise."
        )


def check_psd(block: FloatMatrix) -> None:
    """Raise when a symmetric block of a kernel shows that it is not positive semi-definite.

    Shapes: `block` (m, m).

    - `block`: k between some of the points; a negative eigenvalue here proves one in the whole.
    """
    values = np.linalg.eigvalsh(block.astype(np.float64))
    if values[0] < -_NEGATIVE * max(abs(values[-1]), np.finfo(np.float64).tiny):
        raise InvalidInputError(
            f"the kernel is not positive semi-definite: on {len(values)} of the points its "
            f"eigenvalues run from {values[0]:.3g} to {values[-1]:.3g}, and none may be negative, "
            "or the problem has no minimum. Use a Mercer kernel (rbf, linear, poly with coef0 >= "
            "0, cosine), or clip the negative eigenvalues of a precomputed one."
        )


def _products(X: Points, Y: Points) -> FloatMatrix:
    return np.asarray(safe_sparse_dot(X, Y.T, dense_output=True))


def _squares(X: Points) -> FloatVector:
    return np.asarray(row_norms(X, squared=True))


def _inverse_norms(X: Points) -> FloatVector:
    norms = np.sqrt(_squares(X).astype(np.float64))
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)


def _finite(block: FloatMatrix) -> FloatMatrix:
    if not np.isfinite(block).all():
        raise InvalidInputError(
            "the kernel returned NaN or infinity for some pairs of points; every pair needs a "
            "finite number."
        )
    return block
