r"""The deformed kernel of manifold regularisation.

A kernel K and a roughness S enter; the kernel of the norm
:math:`\lVert f \rVert_K^2 + \rho f^\top S f` leaves, as its block of the labelled rows and as the
function that multipliers on these rows stand for:

.. math:: \tilde K = K (I + \rho S K)^{-1}.

On it every loss is an ordinary kernel machine of the labelled rows [Sindhwani05]_. Three ways: one
factorisation for one :math:`\rho`, exact; modes that serve every :math:`\rho`, exact; modes in
features, for many points.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh, lu_factor, lu_solve, solve_triangular

from beltrami.core.errors import SolverError
from beltrami.core.machine.memory import require_memory
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.kernel_machines.expansion import Expansion, FeatureExpansion, KernelExpansion
from beltrami.kernel_machines.feature_form import FeatureForm, feature_form
from beltrami.kernel_machines.features import FeatureMap
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.landmarks import NystromFeatures, pivoted_cholesky
from beltrami.kernel_machines.roughness import Roughness

EXACT_COPIES = 6
"""Dense n x n arrays that the exact modes take at once."""

_BLOCK_BYTES = 2**26

_FEW_POINTS = 3000
"""Points up to which a function of landmarks is kept as a sum of kernels, in double precision."""

_SIZE_SAMPLE = 500
"""Points over which the diagonal of a deformed kernel is averaged, at most twice as many."""

_EXACT_TOL = 1e-13
"""Pivots below this share of the largest k(x, x) carry rounding only."""


class Deformation(ABC):
    """The deformed kernel for any strength of the roughness."""

    @abstractmethod
    def block(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return the deformed kernel between labelled rows, (l, l), symmetric."""

    @abstractmethod
    def size(self, ratio: float) -> float:
        """Return the mean of the deformed kernel's diagonal over the points of the fit."""

    def factor(self, rows: IndexVector, ratio: float) -> FloatMatrix | None:
        """Return F of shape (l, r) with FF' the block, where one has less than half l columns."""
        del rows, ratio
        return None

    @abstractmethod
    def expansion(self, rows: IndexVector, ratio: float, multipliers: FloatMatrix) -> Expansion:
        """Return the functions whose multipliers on the labelled rows are given, (l, k)."""


@dataclass(eq=False)
class FactoredDeformation(Deformation):
    """Exact, by one factorisation of I + ratio S K per ratio; the last one is kept.

    Attributes
    ----------
    gram : Gram
        The kernel and the points.
    roughness : Roughness
        S.
    kernel : ndarray of shape (n, n)
        K.
    """

    gram: Gram
    roughness: Roughness
    kernel: FloatMatrix
    _ratio: float | None = field(default=None, init=False, repr=False)
    _factor: tuple[FloatMatrix, IndexVector] | None = field(default=None, init=False, repr=False)
    _solved: tuple[IndexVector, FloatMatrix] | None = field(default=None, init=False, repr=False)

    @classmethod
    def of(cls, gram: Gram, roughness: Roughness) -> "FactoredDeformation":
        """Compute a kernel for factorisations to come."""
        require_exact_memory(gram.n_points, copies=3)
        return cls(gram, roughness, gram.whole())

    def block(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return the deformed kernel between labelled rows, (l, l)."""
        if ratio == 0:
            return np.asarray(self.kernel[np.ix_(rows, rows)])
        block = self.kernel[rows] @ self._columns(rows, ratio)
        if np.diagonal(block).min(initial=np.inf) <= 0 < np.diagonal(self.kernel)[rows].min():
            raise _singular_error(len(self.kernel), ratio)
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
            self._ratio, self._solved = None, None
            matrix = self.roughness.apply(self.kernel)
            matrix *= ratio
            matrix[np.diag_indices_from(matrix)] += 1.0
            # The transpose of a C-ordered array is what LAPACK can factor in place.
            self._factor = lu_factor(matrix.T, overwrite_a=True, check_finite=False)
            self._ratio = ratio
        if self._solved is None or not np.array_equal(self._solved[0], rows):
            assert self._factor is not None
            unit = np.zeros((len(self.kernel), len(rows)))
            unit[rows, np.arange(len(rows))] = 1.0
            solved = lu_solve(self._factor, unit, trans=1, check_finite=False, overwrite_b=True)
            if not np.isfinite(solved).all():
                raise _singular_error(len(self.kernel), ratio)
            self._solved = (rows.copy(), solved)
        return self._solved[1]


@dataclass(frozen=True, slots=True, eq=False)
class ModalDeformation(Deformation):
    r"""Exact, for every ratio at once: modes H with K = HH' and H'SH diagonal.

    Then :math:`\tilde K = H (I + \rho \Lambda)^{-1} H^\top`. Functions are sums of kernels at the
    pivots of the factorisation only. (:math:`\alpha = J^\top c - \rho S f` needs no pivots, and
    loses all digits where :math:`\rho S` is large.)

    Attributes
    ----------
    gram : Gram
        The kernel and the points.
    modes : ndarray of shape (n, r)
        H at the points of the fit.
    values : ndarray of shape (r,)
        The diagonal of H'SH.
    spread : ndarray of shape (r,)
        Mean square of each mode over the points.
    pivots : ndarray of shape (r,)
        Points whose kernels span the modes.
    triangle, rotation : ndarray of shape (r, r)
        Factor of the kernel between these, and the eigenvectors of the form: with them
        coefficients on modes become coefficients on these kernels.
    """

    gram: Gram
    modes: FloatMatrix
    values: FloatVector
    spread: FloatVector
    pivots: IndexVector
    triangle: FloatMatrix
    rotation: FloatMatrix

    @classmethod
    def of(cls, gram: Gram, roughness: Roughness) -> "ModalDeformation":
        """Diagonalise a kernel and a roughness together."""
        require_exact_memory(gram.n_points, copies=EXACT_COPIES)
        cholesky = pivoted_cholesky(gram.whole(), tol=_EXACT_TOL)
        factor, pivots = cholesky.factor, cholesky.pivots
        form = factor.T @ roughness.apply(factor)
        values, rotation = eigh((form + form.T) / 2, overwrite_a=True, check_finite=False)
        modes, values = factor @ rotation, np.maximum(values, 0.0)
        spread = np.einsum("ij,ij->j", modes, modes) / len(modes)
        return cls(gram, modes, values, spread, pivots, factor[pivots], rotation)

    def size(self, ratio: float) -> float:
        """Return the mean of the deformed kernel's diagonal over the points of the fit."""
        return float(np.sum(self.spread / (1 + ratio * self.values)))

    def block(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return the deformed kernel between labelled rows, (l, l)."""
        return _outer(_scale_modes(self.modes[rows], self.values, ratio))

    def expansion(self, rows: IndexVector, ratio: float, multipliers: FloatMatrix) -> Expansion:
        """Return the functions whose multipliers on the labelled rows are given."""
        damped = _damp(self.modes[rows], self.values, ratio, multipliers)
        coefficients = np.zeros((len(self.modes), multipliers.shape[1]))
        if ratio == 0:
            coefficients[rows] = multipliers
        else:
            coefficients[self.pivots] = solve_triangular(
                self.triangle, self.rotation @ damped, lower=True, trans=1, check_finite=False
            )
        return KernelExpansion(self.gram, coefficients, self.modes @ damped)


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
    spread : ndarray of shape (r,)
        Mean square of each mode over a sample of the points.
    form : FeatureForm
        The form, and the features of all points where they were kept.
    n_points : int
        Points of the fit.
    """

    features: FeatureMap
    values: FloatVector
    rotation: FloatMatrix
    spread: FloatVector
    form: FeatureForm
    n_points: int
    _last: dict[bytes, FloatMatrix] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        features: FeatureMap,
        roughness: Roughness,
        *,
        keeps: bool = True,
        kept: FloatMatrix | None = None,
    ) -> "FeatureDeformation":
        """Diagonalise the roughness among features.

        With `keeps` the features of all points stay in memory where they fit; else they are
        computed anew for the values at the points of the fit. `kept` are those of another
        roughness.
        """
        m = features.n_features
        require_memory(
            5 * 8.0 * m * m,
            what=f"the form of {m} features",
            instead="Lower n_landmarks or n_features; for a linear kernel of many features take "
            "approximation='nystrom'.",
        )
        form = feature_form(features, roughness, kept)
        if not keeps:
            form = FeatureForm(form.matrix, None)
        values, rotation = eigh(form.matrix, check_finite=False)
        n = roughness.n_rows
        sample = _at(np.arange(0, n, max(1, n // _SIZE_SAMPLE)), features, form)
        spread = np.mean((sample.astype(np.float64) @ rotation) ** 2, axis=0)
        return cls(features, np.maximum(values, 0.0), rotation, spread, form, n)

    def size(self, ratio: float) -> float:
        """Return the mean of the deformed kernel's diagonal over a sample of the points."""
        return float(np.sum(self.spread / (1 + ratio * self.values)))

    def leading(self, size: int) -> "FeatureDeformation":
        """Return the same with the first features only, to see what the others are worth.

        Their order must be one in which the first `size` stand alone.
        """
        values, rotation = eigh(self.form.matrix[:size, :size], check_finite=False)
        padded = np.zeros((len(self.rotation), size))
        padded[:size] = rotation
        values, spread = np.maximum(values, 0.0), np.zeros(size)
        return FeatureDeformation(self.features, values, padded, spread, self.form, self.n_points)

    def block(self, rows: IndexVector, ratio: float) -> FloatMatrix:
        """Return the deformed kernel between labelled rows, (l, l)."""
        return _outer(_scale_modes(self._modes(rows), self.values, ratio))

    def factor(self, rows: IndexVector, ratio: float) -> FloatMatrix | None:
        """Return F of shape (l, r) with FF' the block, where r is less than half of l."""
        if len(rows) <= 2 * len(self.values):
            return None
        return _scale_modes(self._modes(rows), self.values, ratio)

    def expansion(self, rows: IndexVector, ratio: float, multipliers: FloatMatrix) -> Expansion:
        """Return the functions whose multipliers on the labelled rows are given."""
        damped = _damp(self._modes(rows), self.values, ratio, multipliers)
        coefficients = self.rotation @ damped
        of_fit = self._values_of_fit(coefficients)
        features = self.features
        if isinstance(features, NystromFeatures) and self.n_points <= _FEW_POINTS:
            # A sum of kernels at the landmarks, which is smaller than the map.
            at_points = np.zeros((self.n_points, coefficients.shape[1]))
            at_points[features.landmarks] = features.whitening @ coefficients
            return KernelExpansion(features.gram, at_points, of_fit)
        return FeatureExpansion(features, coefficients, of_fit)

    def _modes(self, rows: IndexVector) -> FloatMatrix:
        """Return the modes at some rows; the last ones are kept, as every ratio needs them."""
        key = rows.tobytes()
        if key not in self._last:
            self._last.clear()
            block = _at(rows, self.features, self.form)
            self._last[key] = block.astype(np.float64) @ self.rotation
        return self._last[key]

    def _values_of_fit(self, coefficients: FloatMatrix) -> FloatMatrix:
        values = np.empty((self.n_points, coefficients.shape[1]))
        step = max(1, _BLOCK_BYTES // (8 * self.features.n_features))
        with track("scores of the points", total=self.n_points) as advance:
            for start in range(0, self.n_points, step):
                rows = np.arange(start, min(start + step, self.n_points))
                block = _at(rows, self.features, self.form)
                values[rows] = block @ coefficients.astype(block.dtype)
                advance(len(rows))
        return values


def _at(rows: IndexVector, features: FeatureMap, form: FeatureForm) -> FloatMatrix:
    """Return the features of some rows, worked out anew only where they were not kept."""
    return features.of_rows(rows) if form.kept is None else form.kept[rows]


def _singular_error(n: int, ratio: float) -> SolverError:
    return SolverError(
        f"the system of {n} points cannot be solved at gamma_i / gamma_a = {ratio:.3g}: it is "
        "singular to working precision. Raise gamma_a or lower gamma_i."
    )


def require_exact_memory(n: int, *, copies: int) -> None:
    """Raise when an exact kernel machine, with so many arrays of n x n at once, would not fit."""
    require_memory(
        8.0 * copies * n * n,
        what=f"the exact kernel machine of {n} points ({copies} dense arrays of {n} x {n})",
        instead="Take approximation='nystrom' or 'auto', whose memory grows with n only.",
    )


def _scale_modes(modes: FloatMatrix, values: FloatVector, ratio: float) -> FloatMatrix:
    """Return the factor H (I + ratio Lambda)^-1/2 of the deformed kernel."""
    return np.asarray(modes / np.sqrt(1 + ratio * values))


def _outer(factor: FloatMatrix) -> FloatMatrix:
    return np.asarray(factor @ factor.T)


def _damp(
    modes: FloatMatrix, values: FloatVector, ratio: float, multipliers: FloatMatrix
) -> FloatMatrix:
    """Return coefficients on modes, (I + ratio Lambda)^-1 H'c."""
    return np.asarray((modes.T @ multipliers) / (1 + ratio * values)[:, None])
