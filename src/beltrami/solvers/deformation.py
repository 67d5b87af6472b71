r"""The deformed kernel of manifold regularisation.

A kernel K and a roughness S enter; the kernel of the norm
:math:`\lVert f \rVert_K^2 + \rho f^\top S f` leaves, as its block of the labelled rows and as the
function that multipliers on these rows stand for:

.. math:: \tilde K = K (I + \rho S K)^{-1}.

On it every loss is an ordinary kernel machine of the labelled rows [Sindhwani05]_. Three ways: one
factorisation for one :math:`\rho`, exact; modes that serve every :math:`\rho`, exact; modes in
features, for many points. Part of layer 4.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, lu_factor, lu_solve

from beltrami.core.errors import SolverError
from beltrami.core.memory import require_memory
from beltrami.core.progress import track
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points
from beltrami.operators.features import FeatureMap, pivoted_cholesky
from beltrami.operators.kernels import Gram
from beltrami.operators.roughness import Roughness
from beltrami.solvers.feature_form import FeatureForm, feature_form

_BLOCK_BYTES = 2**26
_SIZE_SAMPLE = 500
_EXACT_TOL = 1e-13
"""Pivots below this share of the largest k(x, x) carry rounding only."""


class Expansion(ABC):
    """A function, or k of them, that a kernel machine found."""

    @property
    @abstractmethod
    def of_fit(self) -> FloatMatrix:
        """Values at all points of the fit, (n, k)."""

    @abstractmethod
    def at(self, points: Points) -> FloatMatrix:
        """Return values at new points, (m, k)."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelExpansion(Expansion):
    """A sum of kernels at the points of the fit.

    Attributes
    ----------
    gram : Gram
        The kernel and the points.
    coefficients : ndarray of shape (n, k)
        Of each point; zero at unlabelled ones where the roughness counts nothing.
    of_fit : ndarray of shape (n, k)
        Values at the points of the fit.
    """

    gram: Gram
    coefficients: FloatMatrix
    of_fit: FloatMatrix

    def at(self, points: Points) -> FloatMatrix:
        """Return values at new points, (m, k)."""
        columns = np.flatnonzero(self.coefficients.any(axis=1))
        kept = self.coefficients[columns]
        values = np.zeros((points.shape[0], kept.shape[1]))
        step = max(1, _BLOCK_BYTES // (8 * max(len(columns), 1)))
        for start in range(0, len(values), step):
            block = points[start : start + step].astype(np.float64)
            values[start : start + step] = self.gram.at(block, columns) @ kept
        return values


@dataclass(frozen=True, slots=True, eq=False)
class FeatureExpansion(Expansion):
    """A linear function of features.

    Attributes
    ----------
    features : FeatureMap
        The map.
    coefficients : ndarray of shape (m, k)
        One column per function.
    of_fit : ndarray of shape (n, k)
        Values at the points of the fit.
    """

    features: FeatureMap
    coefficients: FloatMatrix
    of_fit: FloatMatrix

    def at(self, points: Points) -> FloatMatrix:
        """Return values at new points, (m, k)."""
        values = np.zeros((points.shape[0], self.coefficients.shape[1]))
        step = max(1, _BLOCK_BYTES // (8 * self.features.n_features))
        for start in range(0, len(values), step):
            block = self.features.of_new(points[start : start + step])
            values[start : start + step] = block @ self.coefficients.astype(block.dtype)
        return values


class Deformation(ABC):
    """The deformed kernel for any strength of the roughness."""

    @abstractmethod
    def block(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return the deformed kernel between labelled rows, (l, l), symmetric."""

    @abstractmethod
    def size(self, ratio: float) -> float:
        """Return the mean of the deformed kernel's diagonal over the points of the fit."""

    def factor(self, rows: IndexVector, ratio: float) -> FloatMatrix | None:
        """Return F of shape (l, r) with FF' the block, where there is one with r < l."""
        del rows, ratio
        return None

    @abstractmethod
    def expansion(self, rows: IndexVector, ratio: float, multipliers: FloatMatrix) -> Expansion:
        """Return the functions whose multipliers on the labelled rows are given, (l, k)."""


class FactoredDeformation(Deformation):
    """Exact, by one factorisation of I + ratio S K per ratio; the last one is kept.

    Parameters
    ----------
    gram : Gram
        The kernel and the points.
    roughness : Roughness
        S.
    """

    def __init__(self, gram: Gram, roughness: Roughness) -> None:
        n = gram.n_points
        require_exact_memory(n, copies=3)
        self.gram, self.roughness = gram, roughness
        self.kernel = gram.whole()
        self._ratio: float | None = None
        self._factor: tuple[FloatMatrix, IndexVector] | None = None
        self._solved: tuple[IndexVector, FloatMatrix] | None = None

    def block(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return the deformed kernel between labelled rows, (l, l)."""
        if ratio == 0:
            return np.asarray(self.kernel[np.ix_(rows, rows)])
        block = self.kernel[rows] @ self._columns(rows, ratio)
        return np.asarray((block + block.T) / 2)

    def size(self, ratio: float) -> float:
        """Return the mean of the deformed kernel's diagonal over a sample of the points."""
        n = len(self.kernel)
        sample = np.arange(0, n, max(1, n // _SIZE_SAMPLE))
        return float(np.mean(np.diagonal(self.block(sample, ratio))))

    def expansion(self, rows: IndexVector, ratio: float, multipliers: FloatMatrix) -> Expansion:
        """Return the functions whose multipliers on the labelled rows are given."""
        if ratio == 0:
            coefficients = np.zeros((len(self.kernel), multipliers.shape[1]))
            coefficients[rows] = multipliers
            return KernelExpansion(self.gram, coefficients, self.kernel[:, rows] @ multipliers)
        coefficients = self._columns(rows, ratio) @ multipliers
        return KernelExpansion(self.gram, coefficients, self.kernel @ coefficients)

    def _columns(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return (I + ratio S K)^-1 at the columns of the labelled rows."""
        if self._ratio != ratio:
            self._ratio, self._solved = ratio, None
            matrix = self.roughness.apply(self.kernel)
            matrix *= ratio
            matrix[np.diag_indices_from(matrix)] += 1.0
            # The transpose of a C-ordered array is what LAPACK can factor in place.
            self._factor = lu_factor(matrix.T, overwrite_a=True, check_finite=False)
        if self._solved is None or not np.array_equal(self._solved[0], rows):
            assert self._factor is not None
            unit = np.zeros((len(self.kernel), len(rows)))
            unit[rows, np.arange(len(rows))] = 1.0
            solved = lu_solve(self._factor, unit, trans=1, check_finite=False, overwrite_b=True)
            if not np.isfinite(solved).all():
                raise SolverError(
                    f"the system of {len(self.kernel)} points cannot be solved at gamma_i / gamma_a"
                    f" = {ratio:.3g}: it is singular to working precision. Raise gamma_a."
                )
            self._solved = (rows.copy(), solved)
        return self._solved[1]


@dataclass(frozen=True, slots=True, eq=False)
class ModalDeformation(Deformation):
    r"""Exact, for every ratio at once: modes H with K = HH' and H'SH diagonal.

    Then :math:`\tilde K = H (I + \rho \Lambda)^{-1} H^\top`, and the coefficients of a function f
    with multipliers c are :math:`J^\top c - \rho S f`, without any further solve.

    Attributes
    ----------
    gram : Gram
        The kernel and the points.
    roughness : Roughness
        S.
    modes : ndarray of shape (n, r)
        H at the points of the fit.
    values : ndarray of shape (r,)
        The diagonal of H'SH.
    """

    gram: Gram
    roughness: Roughness
    modes: FloatMatrix
    values: FloatVector

    @classmethod
    def of(cls, gram: Gram, roughness: Roughness) -> "ModalDeformation":
        """Diagonalise a kernel and a roughness together.

        Parameters
        ----------
        gram : Gram
            The kernel and the points.
        roughness : Roughness
            S.

        Returns
        -------
        ModalDeformation
            Ready for any ratio.
        """
        require_exact_memory(gram.n_points, copies=5)
        factor = pivoted_cholesky(gram.whole(), tol=_EXACT_TOL).factor
        form = factor.T @ roughness.apply(factor)
        values, rotation = eigh((form + form.T) / 2, overwrite_a=True, check_finite=False)
        return cls(gram, roughness, factor @ rotation, np.maximum(values, 0.0))

    def size(self, ratio: float) -> float:
        """Return the mean of the deformed kernel's diagonal over the points of the fit."""
        return _size(self.modes, self.values, ratio)

    def block(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return the deformed kernel between labelled rows, (l, l)."""
        return _squared(_scaled(self.modes[rows], self.values, ratio))

    def expansion(self, rows: IndexVector, ratio: float, multipliers: FloatMatrix) -> Expansion:
        """Return the functions whose multipliers on the labelled rows are given."""
        damped = _damped(self.modes[rows], self.values, ratio, multipliers)
        values = self.modes @ damped
        coefficients = -ratio * self.roughness.apply(values)
        coefficients[rows] += multipliers
        return KernelExpansion(self.gram, coefficients, values)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureDeformation(Deformation):
    """Approximate, for every ratio at once: modes in the space of features.

    Attributes
    ----------
    features : FeatureMap
        The map whose inner products stand for the kernel.
    values : ndarray of shape (r,)
        Eigenvalues of the roughness's form in the features.
    rotation : ndarray of shape (m, r)
        Its eigenvectors.
    pass_ : FeatureForm
        The form, and the features of all points where they were kept.
    n_points : int
        Points of the fit.
    """

    features: FeatureMap
    values: FloatVector
    rotation: FloatMatrix
    pass_: FeatureForm
    n_points: int

    @classmethod
    def of(cls, features: FeatureMap, roughness: Roughness) -> "FeatureDeformation":
        """Diagonalise the roughness among features.

        Parameters
        ----------
        features : FeatureMap
            The map.
        roughness : Roughness
            S.

        Returns
        -------
        FeatureDeformation
            Ready for any ratio.
        """
        m = features.n_features
        require_memory(
            5 * 8.0 * m * m,
            what=f"the form of {m} features",
            instead="Lower n_landmarks; for a linear kernel of many features take "
            "approximation='nystrom'.",
        )
        found = feature_form(features, roughness)
        values, rotation = eigh(found.form, check_finite=False)
        return cls(features, np.maximum(values, 0.0), rotation, found, roughness.n_rows)

    def size(self, ratio: float) -> float:
        """Return the mean of the deformed kernel's diagonal over a sample of the points."""
        sample = np.arange(0, self.n_points, max(1, self.n_points // _SIZE_SAMPLE))
        return _size(self._modes(sample), self.values, ratio)

    def leading(self, size: int) -> "FeatureDeformation":
        """Return the same with the first features only, to see what the others are worth.

        Parameters
        ----------
        size : int
            How many features; their order must be one in which the first stand alone.

        Returns
        -------
        FeatureDeformation
            Good for `block` only.
        """
        values, rotation = eigh(self.pass_.form[:size, :size], check_finite=False)
        padded = np.zeros((len(self.rotation), size))
        padded[:size] = rotation
        values = np.maximum(values, 0.0)
        return FeatureDeformation(self.features, values, padded, self.pass_, self.n_points)

    def block(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return the deformed kernel between labelled rows, (l, l)."""
        return _squared(_scaled(self._modes(rows), self.values, ratio))

    def factor(self, rows: IndexVector, ratio: float) -> FloatMatrix | None:
        """Return F of shape (l, r) with FF' the block, where r < l."""
        if len(rows) <= len(self.values):
            return None
        return _scaled(self._modes(rows), self.values, ratio)

    def expansion(self, rows: IndexVector, ratio: float, multipliers: FloatMatrix) -> Expansion:
        """Return the functions whose multipliers on the labelled rows are given."""
        damped = _damped(self._modes(rows), self.values, ratio, multipliers)
        coefficients = self.rotation @ damped
        return FeatureExpansion(self.features, coefficients, self._of_fit(coefficients))

    def _modes(self, rows: IndexVector) -> FloatMatrix:
        modes: FloatMatrix = self.features.of_rows(rows).astype(np.float64) @ self.rotation
        return modes

    def _of_fit(self, coefficients: FloatMatrix) -> FloatMatrix:
        values = np.empty((self.n_points, coefficients.shape[1]))
        step = max(1, _BLOCK_BYTES // (8 * self.features.n_features))
        with track("scores of the points", total=self.n_points) as advance:
            for start in range(0, self.n_points, step):
                rows = np.arange(start, min(start + step, self.n_points))
                kept = self.pass_.kept
                block = self.features.of_rows(rows) if kept is None else kept[rows]
                values[rows] = block @ coefficients.astype(block.dtype)
                advance(len(rows))
        return values


def require_exact_memory(n: int, *, copies: int) -> None:
    """Raise when an exact kernel machine of n points would not fit.

    Parameters
    ----------
    n : int
        Points.
    copies : int
        Arrays of n x n numbers that live at once.
    """
    require_memory(
        8.0 * copies * n * n,
        what=f"the exact kernel machine of {n} points ({copies} dense arrays of {n} x {n})",
        instead="Take approximation='nystrom' or 'auto', whose memory grows with n only.",
    )


def _size(modes: FloatMatrix, values: FloatVector, ratio: float) -> float:
    return float(np.mean(modes**2 @ (1 / (1 + ratio * values))))


def _scaled(modes: FloatMatrix, values: FloatVector, ratio: float) -> FloatMatrix:
    return np.asarray(modes / np.sqrt(1 + ratio * values))


def _squared(factor: FloatMatrix) -> FloatMatrix:
    return np.asarray(factor @ factor.T)


def _damped(
    modes: FloatMatrix, values: FloatVector, ratio: float, multipliers: FloatMatrix
) -> FloatMatrix:
    return np.asarray((modes.T @ multipliers) / (1 + ratio * values)[:, None])
