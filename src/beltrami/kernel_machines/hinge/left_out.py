"""Leave-one-out values of support vector machines: only support vectors are fitted anew."""

import numpy as np

from beltrami.core.progress import track
from beltrami.core.threads import serial_blas
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.kernel_machines.hinge.dual import (
    HingeFit,
    hinge_dual,
    recover_bias,
    rows_at_bounds,
)


def hinge_left_out(
    kernel: FloatMatrix,
    signs: FloatMatrix,
    penalty: float,
    weights: FloatVector,
    fit: HingeFit,
    *,
    tol: float = 1e-7,
) -> FloatMatrix:
    """Return the exact leave-one-out values, (l, k), of `hinge_dual`.

    A row that is no support vector of a column can be left out without a change, but for the
    intercept where only an interval is known of it. The others are left out and fitted anew.
    """
    bounds = np.asarray(weights) / (2 * penalty)
    values, supports = _values_without_refit(kernel, signs, bounds, fit), fit.multipliers != 0
    rows = np.flatnonzero(supports.any(axis=1))
    with serial_blas(), track("leaving labels out", total=len(rows)) as advance:
        for row in rows:
            others, columns = np.arange(len(kernel)) != row, np.flatnonzero(supports[row])
            inner, some_signs = kernel[np.ix_(others, others)], signs[np.ix_(others, columns)]
            refit = hinge_dual(inner, some_signs, penalty, weights[others], tol=tol)
            values[row, columns] = refit.values(kernel[row : row + 1, others])[0]
            advance(1)
    return values


def _values_without_refit(
    kernel: FloatMatrix, signs: FloatMatrix, bounds: FloatVector, fit: HingeFit
) -> FloatMatrix:
    """Return f, with the intercept renewed for each row where only an interval is known of it."""
    smooth = kernel @ fit.multipliers
    values: FloatMatrix = smooth + fit.intercepts
    for column in range(signs.shape[1]):
        sign, c = signs[:, column], fit.multipliers[:, column]
        at_zero, at_bound = rows_at_bounds(sign, c, bounds)
        if not (at_zero | at_bound).all():
            continue
        for row in np.flatnonzero(at_zero):
            others = np.arange(len(sign)) != row
            bias = recover_bias(sign[others], smooth[others, column], c[others], bounds[others])
            values[row, column] = smooth[row, column] + bias
    return values
