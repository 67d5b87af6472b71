"""Support vector machines on a given kernel, many classes at once.

A kernel of the labelled rows and signs enter; coefficients, intercepts and their certificates
leave. Every column of signs is a binary problem of its own on the one kernel.
"""

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from beltrami.core.errors import ConvergenceWarning
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.core.validation import check_positive
from beltrami.kernel_machines.hinge.polish import polish

_AT_BOUND = 1e-9
"""A multiplier this near to an end of its range, as a share of it, is at the end."""

_MOST_STEPS, _STEPS_PER_ROW = 100_000, 100
"""Steps that libsvm may take, in all and for each row on top."""


@dataclass(frozen=True, slots=True, eq=False)
class HingeFit:
    """Functions f = K c + b, one per column, with what proves them.

    Attributes
    ----------
    multipliers : ndarray of shape (l, k)
        c: the multiplier of the row's constraint times its sign; zero where the row is no support
        vector.
    intercepts : ndarray of shape (k,)
        b.
    gap : ndarray of shape (k,)
        How far the objective is at most above its minimum, as a share of it.
    violation : ndarray of shape (k,)
        Largest breach of the optimality conditions, in units of f.
    """

    multipliers: FloatMatrix
    intercepts: FloatVector
    gap: FloatVector
    violation: FloatVector

    def values(self, kernel: FloatMatrix) -> FloatMatrix:
        """Return f, (m, k), at points whose kernel with the labelled rows, (m, l), is given."""
        return np.asarray(kernel @ self.multipliers + self.intercepts)

    def column(self, place: int) -> "HingeFit":
        """Return one of the functions alone."""
        one = slice(place, place + 1)
        return HingeFit(
            self.multipliers[:, one], self.intercepts[one], self.gap[one], self.violation[one]
        )


def hinge_dual(
    kernel: FloatMatrix,
    signs: FloatMatrix,
    penalty: float,
    weights: FloatVector,
    *,
    tol: float = 1e-7,
) -> HingeFit:
    r"""Fit support vector machines, one per column of signs, (l, k), on one kernel, (l, l).

    Each column minimises :math:`\sum_i w_i \max(0, 1 - y_i f_i) + \lambda \lVert f \rVert_K^2`
    over :math:`f = K c + b` with b free, which is C-SVC with :math:`C_i = w_i / (2 \lambda)`.
    libsvm solves the dual on the kernel scaled to mean diagonal one. It keeps kernels in single
    precision; where that shows, an active-set step in double precision finishes the work.
    A column of one sign only gets that sign everywhere.
    """
    penalty = check_positive(penalty, name="penalty")
    bounds = np.asarray(weights, dtype=np.float64) / (2 * penalty)
    kernel = np.asarray(kernel, dtype=np.float64)
    multipliers, intercepts = _solve_columns(kernel, signs, bounds, tol)
    fit = _certify(kernel, signs, penalty, weights, multipliers, intercepts)
    _warn_of_breach(fit, max(tol, 1e-12))
    return fit


def recover_bias(
    signs: FloatVector, values: FloatVector, multipliers: FloatVector, bounds: FloatVector
) -> float:
    r"""Return the intercept that the optimality conditions leave for given multipliers.

    With :math:`g = K c` and :math:`\beta_i = y_i c_i` between 0 and :math:`C_i`, rows strictly
    between have :math:`b = y_i - g_i`, and their mean is taken. Where there is none, as with one
    label per class, the conditions leave an interval: from the largest y - g among
    :math:`\{\beta = 0, y = 1\} \cup \{\beta = C, y = -1\}` to the smallest among the rest. Its
    midpoint is taken, and its finite end where one side is open.
    """
    residuals = signs - values
    at_zero, at_bound = rows_at_bounds(signs, multipliers, bounds)
    free = ~(at_zero | at_bound)
    if free.any():
        return float(residuals[free].mean())
    from_below = np.where(signs > 0, at_zero, at_bound)
    ends = [float(residuals[from_below].max(initial=-np.inf))]
    ends.append(float(residuals[~from_below].min(initial=np.inf)))
    finite = [end for end in ends if np.isfinite(end)]
    return float(np.mean(finite)) if finite else 0.0


def rows_at_bounds(
    signs: FloatVector, multipliers: FloatVector, bounds: FloatVector
) -> tuple[BoolVector, BoolVector]:
    """Say which multipliers are zero, and which are at their bounds."""
    sizes = signs * multipliers
    return sizes <= _AT_BOUND * bounds, sizes >= (1 - _AT_BOUND) * bounds


def _solve_columns(
    kernel: FloatMatrix, signs: FloatMatrix, bounds: FloatVector, tol: float
) -> tuple[FloatMatrix, FloatVector]:
    """Solve column by column: one sign needs no solver, and mirrored columns only one."""
    multipliers, intercepts = np.zeros(signs.shape), np.zeros(signs.shape[1])
    if signs.shape[1] == 2 and np.array_equal(signs[:, 0], -signs[:, 1]):
        one, b = _solve_columns(kernel, signs[:, 1:], bounds, tol)
        return np.hstack([-one, one]), np.concatenate([-b, b])
    for column, sign in enumerate(np.asarray(signs, dtype=np.float64).T):
        if (sign == sign[0]).all():
            intercepts[column] = sign[0]
        else:
            multipliers[:, column], intercepts[column] = _solve_column(
                kernel, np.ascontiguousarray(sign), bounds, tol
            )
    return multipliers, intercepts


def _solve_column(
    kernel: FloatMatrix, sign: FloatVector, bounds: FloatVector, tol: float
) -> tuple[FloatVector, float]:
    scale = float(np.diagonal(kernel).mean()) or 1.0
    inner, outer = kernel / scale, bounds * scale  # f is the same, multipliers are scaled
    multipliers = _libsvm(inner, sign, outer, tol)
    bias, breach = _bias_and_breach(inner, sign, multipliers, outer)
    if breach > tol:
        better = polish(inner, sign, multipliers, outer, tol)
        better_bias, better_breach = _bias_and_breach(inner, sign, better, outer)
        if better_breach < breach:
            multipliers, bias = better, better_bias
    return multipliers / scale, bias


def hinge_from(
    kernel: FloatMatrix, sign: FloatVector, bounds: FloatVector, start: FloatVector, tol: float
) -> tuple[FloatVector, float] | None:
    """Return multipliers and intercept of one machine from feasible multipliers near them.

    None where this does not come to the tolerance. `bounds` are those of `hinge_dual`.
    """
    scale = float(np.diagonal(kernel).mean()) or 1.0
    inner, outer = kernel / scale, bounds * scale
    multipliers = polish(inner, sign, start * scale, outer, tol)
    bias, breach = _bias_and_breach(inner, sign, multipliers, outer)
    return (multipliers / scale, bias) if breach <= tol else None


def _bias_and_breach(
    kernel: FloatMatrix, sign: FloatVector, multipliers: FloatVector, bounds: FloatVector
) -> tuple[float, float]:
    """Return the intercept of multipliers and the largest breach of the conditions."""
    smooth = kernel @ multipliers
    bias = recover_bias(sign, smooth, multipliers, bounds)
    return bias, float(_breach(sign, smooth + bias, multipliers, bounds).max())


def _libsvm(kernel: FloatMatrix, sign: FloatVector, bounds: FloatVector, tol: float) -> FloatVector:
    from sklearn import config_context

    top, most = float(bounds.max()), _STEPS_PER_ROW * len(sign) + _MOST_STEPS
    machine = _quiet_machine()(C=top, tol=tol, max_iter=most, kernel="precomputed", cache_size=500)
    # Parameters and numbers are our own: to look through them takes longer than to solve.
    with config_context(skip_parameter_validation=True, assume_finite=True):
        machine.fit(kernel, sign, sample_weight=bounds / top)
    multipliers = np.zeros(len(sign))
    multipliers[machine.support_] = machine.dual_coef_[0]
    return multipliers


@cache
def _quiet_machine() -> Any:
    """Return libsvm's class without its warning, made once: to make a class takes milliseconds."""
    from sklearn.svm import SVC

    class Quiet(SVC):
        """What libsvm left undone is measured, mended and told here, with numbers."""

        def _warn_from_fit_status(self) -> None:
            pass

    return Quiet


def _breach(
    signs: FloatVector, values: FloatVector, multipliers: FloatVector, bounds: FloatVector
) -> FloatVector:
    """Return by how much each row breaks the optimality conditions."""
    at_zero, at_bound = rows_at_bounds(signs, multipliers, bounds)
    slack = 1 - signs * values
    above, below = np.where(at_bound, 0.0, slack), np.where(at_zero, 0.0, -slack)
    return np.asarray(np.maximum(np.maximum(above, below), 0.0))


def _certify(
    kernel: FloatMatrix,
    signs: FloatMatrix,
    penalty: float,
    weights: FloatVector,
    multipliers: FloatMatrix,
    intercepts: FloatVector,
) -> HingeFit:
    smooth = kernel @ multipliers
    values, energy = smooth + intercepts, penalty * (multipliers * smooth).sum(axis=0)
    primal = weights @ np.maximum(1 - signs * values, 0.0) + energy
    dual = 2 * penalty * (signs * multipliers).sum(axis=0) - energy
    gap = np.divide(primal - dual, primal, out=np.zeros_like(primal), where=primal > 0)
    bounds = (weights / (2 * penalty))[:, None]
    violation = _breach(signs, values, multipliers, bounds).max(axis=0)
    return HingeFit(multipliers, intercepts, gap, violation)


def _warn_of_breach(fit: HingeFit, most: float) -> None:
    worst = float(fit.violation.max(initial=0.0))
    if worst > most:
        warnings.warn(
            f"a support vector machine stopped with optimality conditions broken by {worst:.2g}, "
            f"where {most:.2g} was asked for (relative gap {fit.gap.max():.2g}); decision values "
            "are wrong by about as much. Raise the penalty, scale the kernel, or raise tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
