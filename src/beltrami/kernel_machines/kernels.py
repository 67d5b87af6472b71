"""Kernels: points enter, dense blocks of similarities k(x, y) leave.

A kernel says which functions of the points are simple. To add one: write a subclass of `Kernel`
here with its two verbs, `between` and `diagonal`, and put its name into `_KERNELS` below; all
kernel machines then take it.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, Points
from beltrami.core.validation import check_count, check_positive, is_auto

_NARROWEST = 1e-150
"""Smallest width: the square of a smaller one is zero in double precision."""

_WIDTH_SAMPLE = 1000
"""Points between which distances are looked at for a typical width."""

_NEAR = 10
"""Which neighbour's distance is the narrow width: that of the default graph's last one."""

_DIAGONAL_BLOCK = 256
"""Rows at a time of a function's diagonal, which only comes with a whole block."""


class Kernel(ABC, BaseEstimator):
    """A similarity k(x, y) of pairs of points, in blocks."""

    @abstractmethod
    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y, float32 where both are."""

    @abstractmethod
    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""

    def check_parameters(self) -> None:
        """Raise where a parameter makes no sense; by default there is none."""

    @property
    def is_surely_psd(self) -> bool:
        """Whether every matrix of it is positive semi-definite, by its formula."""
        return True


class LinearKernel(Kernel):
    """k(x, y) = x'y."""

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return k(x, y) for all rows x of X and y of Y."""
        return _products(X, Y)

    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""
        return _squares(X)


class PolynomialKernel(Kernel):
    r"""The polynomial kernel, :math:`k(x, y) = (x^\top y + c)^q`, for kernel machines.

    ``kernel="poly"`` stands for it with these defaults.

    Parameters
    ----------
    degree : int, default=3
        q.
    coef0 : float, default=1.0
        c. A negative one may make the kernel indefinite, which a fit refuses; the paper of the
        Laplacian machines [BelkinNiyogi04]_ has 0.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import LaplacianSVC, PolynomialKernel, two_moons
    >>> PolynomialKernel(2, coef0=0.0).between(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[25.]])
    >>> moons = two_moons(100, random_state=0)
    >>> y = np.where(np.arange(100) % 10 == 0, moons.targets, -1)
    >>> learner = LaplacianSVC(kernel=PolynomialKernel(degree=5)).fit(moons.points, y)
    >>> learner.get_params()["kernel__degree"]
    5
    """

    def __init__(self, degree: int = 3, *, coef0: float = 1.0) -> None:
        self.degree = degree
        self.coef0 = coef0

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return the kernel between two sets of points.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
            Points.
        Y : ndarray or csr_array of shape (m, d)
            Other points.

        Returns
        -------
        ndarray of shape (n, m)
            k(x, y) for all rows x of X and y of Y.
        """
        block = _products(X, Y)
        block += block.dtype.type(self.coef0)
        block **= self.degree
        return block

    def diagonal(self, X: Points) -> FloatVector:
        """Return the kernel of points with themselves.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            k(x, x) for all rows of X.
        """
        return np.asarray((_squares(X) + self.coef0) ** self.degree)

    def check_parameters(self) -> None:
        """Raise unless degree is a positive integer and coef0 a finite number."""
        check_count(self.degree, name="degree")
        is_number = isinstance(self.coef0, numbers.Real) and not isinstance(self.coef0, bool)
        if not is_number or not np.isfinite(float(self.coef0)):
            raise InvalidInputError(f"coef0={self.coef0!r} must be a finite number.")

    @property
    def is_surely_psd(self) -> bool:
        """Whether every matrix of it is positive semi-definite, by its formula."""
        return self.coef0 >= 0


class RbfKernel(Kernel):
    r"""The Gaussian kernel, :math:`k(x, y) = \exp(-|x - y|^2 / 2\sigma^2)`, for kernel machines.

    ``kernel="rbf"`` stands for it with a width that the learner chooses.

    Parameters
    ----------
    width : float or "auto", default="auto"
        :math:`\sigma`. "auto" leaves it to the learner: the Laplacian machines choose between once
        and twice the median distance over the root of two and half of it, or the median distance
        to the tenth neighbour where that is less; `TransductiveSVC` takes once the first.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import LaplacianSVC, RbfKernel, two_moons
    >>> RbfKernel(1.0).between(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.135]])
    >>> moons = two_moons(100, random_state=0)
    >>> y = np.where(np.arange(100) % 10 == 0, moons.targets, -1)
    >>> learner = LaplacianSVC(kernel=RbfKernel(0.35)).fit(moons.points, y)
    >>> learner.width_
    0.35
    >>> learner.set_params(kernel__width=0.5).fit(moons.points, y).width_
    0.5
    """

    def __init__(self, width: float | str = "auto") -> None:
        self.width = width

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return the kernel between two sets of points; the width must be a number.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
            Points.
        Y : ndarray or csr_array of shape (m, d)
            Other points.

        Returns
        -------
        ndarray of shape (n, m)
            k(x, y) for all rows x of X and y of Y.
        """
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
        block *= block.dtype.type(-0.5 / check_positive(self.width, name="width") ** 2)
        np.exp(block, out=block)
        return block

    def diagonal(self, X: Points) -> FloatVector:
        """Return the kernel of points with themselves, which is one.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Ones.
        """
        return np.ones(X.shape[0])

    def check_parameters(self) -> None:
        """Raise unless the width is "auto" or a positive number whose square is one too."""
        if is_auto(self.width, name="width"):
            return
        width = check_positive(self.width, name="width")
        if width < _NARROWEST:
            raise InvalidInputError(
                f"width={width:.3g}: its square is below what a computer can hold. Multiply the "
                f"data by a number that brings their distances above {_NARROWEST:.0e}."
            )


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


class PrecomputedKernel(Kernel):
    """Rows that already hold k(x, y) for all points y of the fit."""

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return X itself."""
        del Y
        return np.asarray(X, dtype=np.float64)

    def diagonal(self, X: Points) -> FloatVector:
        """Return the diagonal of X."""
        return np.diagonal(np.asarray(X, dtype=np.float64)).copy()

    @property
    def is_surely_psd(self) -> bool:
        """Not known of a user's matrix."""
        return False


class FunctionKernel(Kernel):
    """What a user's function, or kernel object of scikit-learn, returns."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def between(self, X: Points, Y: Points) -> FloatMatrix:
        """Return the function's block, after a check of its shape and numbers."""
        block = np.asarray(self.function(X, Y), dtype=np.float64)
        if block.shape != (X.shape[0], Y.shape[0]):
            raise InvalidInputError(
                f"the kernel returned an array of shape {block.shape} for {X.shape[0]} and "
                f"{Y.shape[0]} points; it must take two sets of points and return one number for "
                "each pair, one row per point of the first."
            )
        if not np.isfinite(block).all():
            raise InvalidInputError(
                "the kernel returned NaN or infinity for some pairs of points; every pair needs a "
                "finite number."
            )
        return block

    def diagonal(self, X: Points) -> FloatVector:
        """Return k(x, x) for all rows of X."""
        starts = range(0, X.shape[0], _DIAGONAL_BLOCK)
        blocks = [X[start : start + _DIAGONAL_BLOCK] for start in starts]
        return np.concatenate([np.diagonal(self.between(block, block)) for block in blocks])

    @property
    def is_surely_psd(self) -> bool:
        """Not known of a user's function."""
        return False


_KERNELS: dict[str, Callable[[], Kernel]] = {
    "linear": LinearKernel,
    "poly": PolynomialKernel,
    "rbf": RbfKernel,
    "cosine": CosineKernel,
    "precomputed": PrecomputedKernel,
}
"""What the texts of ``kernel=`` stand for."""


def resolve_kernel(kernel: Any, *, width: float | None = None) -> Kernel:
    """Return the kernel that a user asked for, checked; a Gaussian one at `width` where given.

    `kernel` is a name, a `Kernel`, a kernel object of scikit-learn or a function of two sets of
    points.
    """
    resolved = _resolve(kernel)
    if width is not None and isinstance(resolved, RbfKernel):
        resolved = RbfKernel(width)
    resolved.check_parameters()
    return resolved


def _resolve(kernel: Any) -> Kernel:
    if isinstance(kernel, str) and kernel in _KERNELS:
        return _KERNELS[kernel]()
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    listed, shown = ", ".join(map(repr, _KERNELS)), repr(kernel)
    if hasattr(kernel, "shape"):
        shown = f"an array of shape {kernel.shape}"
    raise InvalidInputError(
        f"kernel={shown} is not known; choose one of {listed}, RbfKernel(...), "
        "PolynomialKernel(...), a kernel object of scikit-learn, or a function of two sets of "
        "points that returns one number per pair. For a matrix of your own pass "
        "kernel='precomputed' and the matrix as X."
    )


def typical_width(points: Points) -> float:
    """Return the median distance between points of a sample over the root of two.

    With it exp(-d^2 / (2 width^2)) is 1/e at the median distance.
    """
    return _median_width(_sample_distances(points))


def tried_widths(points: Points) -> tuple[float, float, float]:
    """Return widths to try: a narrow one, the typical one and twice that.

    The narrow one is half the typical width, or the median distance to the tenth neighbour among
    the points of a sample where that is less: on thin curves functions must bend within far less
    than the extent of the data. Points in one place are no neighbours.
    """
    distances = _sample_distances(points)
    typical = _median_width(distances)
    near = np.where(distances > 0, distances, np.inf)
    rank = min(_NEAR, len(near) - 1)
    local = float(np.median(np.partition(near, rank - 1, axis=1)[:, rank - 1])) if rank else np.inf
    return min(typical / 2, local), typical, 2 * typical


def _sample_distances(points: Points) -> FloatMatrix:
    """Return the distances between points of a sample, always the same."""
    from sklearn.metrics.pairwise import euclidean_distances

    n = points.shape[0]
    rows = np.sort(generator(0).choice(n, size=min(n, _WIDTH_SAMPLE), replace=False))
    return np.asarray(euclidean_distances(points[rows]))


def _median_width(distances: FloatMatrix) -> float:
    apart = distances[np.triu_indices(len(distances), k=1)]
    apart = apart[apart > 0]
    return float(np.median(apart) / np.sqrt(2)) if apart.size else 1.0


def _products(X: Points, Y: Points) -> FloatMatrix:
    if issparse(X) and issparse(Y) and X.dtype != Y.dtype:  # which scikit-learn refuses
        dtype = np.result_type(X.dtype, Y.dtype)
        X, Y = X.astype(dtype, copy=False), Y.astype(dtype, copy=False)
    return np.asarray(safe_sparse_dot(X, Y.T, dense_output=True))


def _squares(X: Points) -> FloatVector:
    return np.asarray(row_norms(X, squared=True))


def _inverse_norms(X: Points) -> FloatVector:
    norms = np.sqrt(_squares(X).astype(np.float64))
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
