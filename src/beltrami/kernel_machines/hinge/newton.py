"""Squared-hinge machines on a given kernel, by Newton's method on the rows inside the margin.

A kernel of the labelled rows and signs enter; coefficients, intercepts, their certificates and
exact leave-one-out values leave.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.core.validation import check_positive
from beltrami.kernel_machines.hinge.model import (
    HingeFit,
    every_column,
    refitted,
    share_of,
    warn_of_breach,
)
from beltrami.kernel_machines.hinge.steps import exact_steps

_MOST_NEWTON = 200


def squared_hinge_newton(
    kernel: FloatMatrix, signs: FloatMatrix, penalty: float, weights: FloatVector
) -> HingeFit:
    r"""Fit squared-hinge machines, one per column of signs, by Newton's method.

    Each column minimises :math:`\sum_i w_i \max(0, 1 - y_i f_i)^2 + \lambda \lVert f \rVert_K^2`
    over :math:`f = K c + b`. With E the rows inside the margin, c vanishes outside E and

    .. math:: (K_{EE} + \lambda W_E^{-1}) c_E + b 1 = y_E, \qquad 1^\top c_E = 0.

    This is solved until E repeats, with an exact line search between, so that the objective
    always falls. Cost: a few solves of size l.

    Shapes: `kernel` (l, l), `signs` (l, k), `weights` (l,).

    - `signs`: entries -1 and +1. A column of one sign only gets that sign everywhere.
    """
    penalty = check_positive(penalty, name="penalty")
    kernel = np.asarray(kernel, dtype=np.float64)
    ridge = penalty / np.asarray(weights, dtype=np.float64)

    def solved(sign: FloatVector) -> tuple[FloatVector, float]:
        return _newton_column(kernel, sign, penalty, weights, ridge)

    multipliers, intercepts = every_column(signs, solved)
    fit = _squared_certificate(kernel, signs, penalty, weights, multipliers, intercepts)
    warn_of_breach(fit, 1e-6, "Raise the penalty or scale the kernel.")
    return fit


def squared_hinge_left_out(
    kernel: FloatMatrix, signs: FloatMatrix, penalty: float, weights: FloatVector, fit: HingeFit
) -> FloatMatrix:
    """Return the exact leave-one-out values of `squared_hinge_newton`.

    Shapes: `kernel` (l, l), `signs` (l, k), `weights` (l,); returns (l, k).
    """

    def refit(others: BoolVector, columns: NDArray[np.intp]) -> HingeFit:
        inner, chosen = kernel[np.ix_(others, others)], signs[np.ix_(others, columns)]
        return squared_hinge_newton(inner, chosen, penalty, weights[others])

    return refitted(kernel, fit, fit.values(kernel), refit)


def _squared_certificate(
    kernel: FloatMatrix,
    signs: FloatMatrix,
    penalty: float,
    weights: FloatVector,
    multipliers: FloatMatrix,
    intercepts: FloatVector,
) -> HingeFit:
    smooth = kernel @ multipliers
    slack = np.maximum(1 - signs * (smooth + intercepts), 0.0)
    energy = penalty * (multipliers * smooth).sum(axis=0)
    ridge = (penalty / weights)[:, None]
    spent = penalty * (ridge * multipliers**2).sum(axis=0)
    primal = weights @ slack**2 + energy
    dual = 2 * penalty * (signs * multipliers).sum(axis=0) - spent - energy
    violation = np.abs(slack - ridge * signs * multipliers).max(axis=0)
    return HingeFit(multipliers, intercepts, share_of(primal - dual, primal), violation)


def _newton_column(
    kernel: FloatMatrix,
    sign: FloatVector,
    penalty: float,
    weights: FloatVector,
    ridge: FloatVector,
) -> tuple[FloatVector, float]:
    c, b, smooth = np.zeros(len(sign)), 0.0, np.zeros(len(sign))
    for _ in range(_MOST_NEWTON):
        inside = 1 - sign * (smooth + b) > 0
        if inside.any():
            goal, goal_b = _inside_solution(kernel, sign, ridge, inside)
        else:  # no loss at all: only the penalty is left
            goal, goal_b = np.zeros(len(sign)), b
        there = kernel @ goal
        if np.array_equal(1 - sign * (there + goal_b) > 0, inside):
            return goal, goal_b
        move, rise, shift = goal - c, there - smooth, goal_b - b
        margins, slopes = 1 - sign * (smooth + b), sign * (rise + shift)
        linear, square = penalty * (move @ smooth), penalty * (move @ rise)
        step = exact_steps(
            margins[:, None], slopes[:, None], weights, np.array([linear]), np.array([square])
        )[0]
        if step <= 0:  # nothing falls any more, to rounding
            break
        c, b, smooth = c + step * move, b + step * shift, smooth + step * rise
    return c, b


def _inside_solution(
    kernel: FloatMatrix, sign: FloatVector, ridge: FloatVector, inside: BoolVector
) -> tuple[FloatVector, float]:
    """Solve the bordered system of the rows inside the margin."""
    rows = np.flatnonzero(inside)
    system, ones = kernel[np.ix_(rows, rows)] + np.diag(ridge[rows]), np.ones(len(rows))
    right = np.stack([sign[rows], ones], axis=1)
    c = np.zeros(len(sign))
    try:
        factor = cho_factor(system, check_finite=False)
        found = cho_solve(factor, right, check_finite=False)
        found += cho_solve(factor, right - system @ found, check_finite=False)
        b = float(found[:, 0].sum() / found[:, 1].sum())
        c[rows] = found[:, 0] - b * found[:, 1]
    except LinAlgError:  # positive definite but for rounding
        bordered = np.block([[system, ones[:, None]], [ones, 0.0]])
        solution = lstsq(bordered, np.append(sign[rows], 0.0), check_finite=False)[0]
        c[rows], b = solution[:-1], float(solution[-1])
    return c, b
