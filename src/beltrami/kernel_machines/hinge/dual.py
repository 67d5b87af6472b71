"""Support vector machines on a given kernel, many classes at once.

A kernel of the labelled rows and signs enter; coefficients, intercepts, their certificates and
exact leave-one-out values leave. Every column of signs is a binary problem of its own on the one
kernel.
"""

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.core.validation import check_positive
from beltrami.kernel_machines.hinge.model import (
    HingeFit,
    every_column,
    refitted,
    share_of,
    warn_of_breach,
)
from beltrami.kernel_machines.hinge.steps import polished

_AT_BOUND = 1e-9
"""A multiplier this near to an end of its range, as a share of it, is at the end."""

_MOST_STEPS, _STEPS_PER_ROW = 100_000, 100


def hinge_dual(
    kernel: FloatMatrix,
    signs: FloatMatrix,
    penalty: float,
    weights: FloatVector,
    *,
    tol: float = 1e-7,
) -> HingeFit:
    r"""Fit support vector machines, one per column of signs, on one kernel.

    Each column minimises :math:`\sum_i w_i \max(0, 1 - y_i f_i) + \lambda \lVert f \rVert_K^2`
    over :math:`f = K c + b` with b free, which is C-SVC with :math:`C_i = w_i / (2 \lambda)`.
    libsvm solves the dual on the kernel scaled to mean diagonal one. It keeps kernels in single
    precision; where that shows, an active-set step in double precision finishes the work.

    Shapes: `kernel` (l, l), `signs` (l, k), `weights` (l,).

    - `signs`: entries -1 and +1. A column of one sign only gets that sign everywhere.
    """
    penalty = check_positive(penalty, name="penalty")
    bounds = np.asarray(weights, dtype=np.float64) / (2 * penalty)
    kernel = np.asarray(kernel, dtype=np.float64)

    def solved(sign: FloatVector) -> tuple[FloatVector, float]:
        return _hinge_column(kernel, sign, bounds, tol)

    multipliers, intercepts = every_column(signs, solved)
    fit = _hinge_certificate(kernel, signs, penalty, weights, multipliers, intercepts)
    warn_of_breach(fit, max(tol, 1e-12), "Raise the penalty, scale the kernel, or raise tol.")
    return fit


def recovered_bias(
    signs: FloatVector, values: FloatVector, multipliers: FloatVector, bounds: FloatVector
) -> float:
    r"""Return the intercept that the optimality conditions leave for given multipliers.

    With :math:`g = K c` and :math:`\beta_i = y_i c_i` between 0 and :math:`C_i`, rows strictly
    between have :math:`b = y_i - g_i`, and their mean is taken. Where there is none, as with one
    label per class, the conditions leave an interval: from the largest y - g among
    :math:`\{\beta = 0, y = 1\} \cup \{\beta = C, y = -1\}` to the smallest among the rest. Its
    midpoint is taken, and its finite end where one side is open.

    Shapes: `signs` (l,), `values` (l,), `multipliers` (l,), `bounds` (l,).
    """
    wanted = signs - values
    at_zero, at_bound = _ends(signs, multipliers, bounds)
    free = ~(at_zero | at_bound)
    if free.any():
        return float(wanted[free].mean())
    from_below = np.where(signs > 0, at_zero, at_bound)
    ends = [float(wanted[from_below].max(initial=-np.inf))]
    ends.append(float(wanted[~from_below].min(initial=np.inf)))
    finite = [end for end in ends if np.isfinite(end)]
    return float(np.mean(finite)) if finite else 0.0


def hinge_left_out(
    kernel: FloatMatrix,
    signs: FloatMatrix,
    penalty: float,
    weights: FloatVector,
    fit: HingeFit,
    *,
    tol: float = 1e-7,
) -> FloatMatrix:
    """Return the exact leave-one-out values of `hinge_dual`.

    A row that is no support vector of a column can be left out without a change, but for the
    intercept where only an interval is known of it. The others are left out and fitted anew.

    Shapes: `kernel` (l, l), `signs` (l, k), `weights` (l,); returns (l, k).
    """
    bounds = np.asarray(weights) / (2 * penalty)
    kept = _kept_values(kernel, signs, bounds, fit)

    def refit(others: BoolVector, columns: NDArray[np.intp]) -> HingeFit:
        inner, chosen = kernel[np.ix_(others, others)], signs[np.ix_(others, columns)]
        return hinge_dual(inner, chosen, penalty, weights[others], tol=tol)

    return refitted(kernel, fit, kept, refit)


def _hinge_column(
    kernel: FloatMatrix, sign: FloatVector, bounds: FloatVector, tol: float
) -> tuple[FloatVector, float]:
    scale = float(np.diagonal(kernel).mean()) or 1.0
    inner, outer = kernel / scale, bounds * scale  # f is the same, multipliers are scaled
    found = _libsvm(inner, sign, outer, tol)
    bias, breach = _judged(inner, sign, found, outer)
    if breach > tol:
        better = polished(inner, sign, found, outer, tol)
        better_bias, better_breach = _judged(inner, sign, better, outer)
        if better_breach < breach:
            found, bias = better, better_bias
    return found / scale, bias


def _judged(
    kernel: FloatMatrix, sign: FloatVector, multipliers: FloatVector, bounds: FloatVector
) -> tuple[float, float]:
    """Return the intercept of multipliers and the largest breach of the conditions."""
    smooth = kernel @ multipliers
    bias = recovered_bias(sign, smooth, multipliers, bounds)
    return bias, float(_breach(sign, smooth + bias, multipliers, bounds).max())


def _libsvm(kernel: FloatMatrix, sign: FloatVector, bounds: FloatVector, tol: float) -> FloatVector:
    from sklearn.svm import SVC

    class Quiet(SVC):
        """What libsvm left undone is measured, mended and told here, with numbers."""

        def _warn_from_fit_status(self) -> None:
            pass

    top, most = float(bounds.max()), _STEPS_PER_ROW * len(sign) + _MOST_STEPS
    machine = Quiet(kernel="precomputed", C=top, tol=tol, cache_size=500, max_iter=most)
    machine.fit(kernel, sign, sample_weight=bounds / top)
    found = np.zeros(len(sign))
    found[machine.support_] = machine.dual_coef_[0]
    return found


def _ends(
    signs: FloatVector, multipliers: FloatVector, bounds: FloatVector
) -> tuple[BoolVector, BoolVector]:
    sizes = signs * multipliers
    return sizes <= _AT_BOUND * bounds, sizes >= (1 - _AT_BOUND) * bounds


def _breach(
    signs: FloatVector, values: FloatVector, multipliers: FloatVector, bounds: FloatVector
) -> FloatVector:
    """Return by how much each row breaks the optimality conditions of the hinge."""
    at_zero, at_bound = _ends(signs, multipliers, bounds)
    slack = 1 - signs * values
    above, below = np.where(at_bound, 0.0, slack), np.where(at_zero, 0.0, -slack)
    return np.asarray(np.maximum(np.maximum(above, below), 0.0))


def _hinge_certificate(
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
    bounds = (weights / (2 * penalty))[:, None]
    violation = _breach(signs, values, multipliers, bounds).max(axis=0)
    return HingeFit(multipliers, intercepts, share_of(primal - dual, primal), violation)


def _kept_values(
    kernel: FloatMatrix, signs: FloatMatrix, bounds: FloatVector, fit: HingeFit
) -> FloatMatrix:
    """Return f, with the intercept renewed for each row where only an interval is known of it."""
    smooth = kernel @ fit.multipliers
    kept: FloatMatrix = smooth + fit.intercepts
    for column in range(signs.shape[1]):
        sign, c = signs[:, column], fit.multipliers[:, column]
        at_zero, at_bound = _ends(sign, c, bounds)
        if not (at_zero | at_bound).all():
            continue
        for row in np.flatnonzero(at_zero):
            others = np.arange(len(sign)) != row
            given = sign[others], smooth[others, column], c[others], bounds[others]
            kept[row, column] = smooth[row, column] + recovered_bias(*given)
    return kept
