"""Leave-one-out values of support vector machines: only support vectors are fitted anew."""

import numpy as np

from beltrami.core.machine.threads import serial_blas
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.kernel_machines.hinge.dual import (
    HingeFit,
    hinge_dual,
    hinge_from,
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
    intercept where only an interval is known of it. The others are left out and fitted anew, from
    the multipliers with them.
    """
    if signs.shape[1] == 2 and np.array_equal(signs[:, 0], -signs[:, 1]):
        one = hinge_left_out(kernel, signs[:, 1:], penalty, weights, fit.column(1), tol=tol)
        return np.hstack([-one, one])
    bounds = np.asarray(weights) / (2 * penalty)
    values, supports = _values_without_refit(kernel, signs, bounds, fit), fit.multipliers != 0
    rows = np.flatnonzero(supports.any(axis=1))
    with serial_blas(), track("leaving labels out", total=len(rows)) as advance:
        for row in rows:
            others = np.arange(len(kernel)) != row
            inner, tie = kernel[np.ix_(others, others)], kernel[row, others]
            for column in np.flatnonzero(supports[row]):
                sign, c = signs[others, column], fit.multipliers[others, column]
                start = _shared_out(c, fit.multipliers[row, column], sign, bounds[others])
                found = None
                if start is not None:
                    found = hinge_from(inner, sign, bounds[others], start, tol)
                if found is None:
                    refit = hinge_dual(inner, sign[:, None], penalty, weights[others], tol=tol)
                    found = refit.multipliers[:, 0], float(refit.intercepts[0])
                values[row, column] = tie @ found[0] + found[1]
            advance(1)
    return values


def _shared_out(
    c: FloatVector, gone: float, sign: FloatVector, bounds: FloatVector
) -> FloatVector | None:
    """Return feasible multipliers of the others: they share what one had, by the room they have.

    Multipliers sum to zero. Those between their bounds take it where they can, as those at bounds
    mostly stay there. None where the others are too few, or all of one sign.
    """
    if (sign == sign[:1]).all():
        return None
    sizes = sign * c
    room = np.where(sign == np.sign(gone), bounds - sizes, sizes)
    at_zero, at_bound = rows_at_bounds(sign, c, bounds)
    inside = np.where(at_zero | at_bound, 0.0, room)
    room = inside if inside.sum() > abs(gone) else room
    total = float(room.sum())
    return np.asarray(c + gone * room / total) if total >= abs(gone) else None


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
