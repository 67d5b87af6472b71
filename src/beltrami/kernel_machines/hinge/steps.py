"""Steps that the hinge solvers share: an exact line search, and a finish in double precision.

Margins and slopes enter, and the length of the best step leaves; multipliers near the solution
enter, and better ones leave.
"""

import numpy as np
from scipy.linalg import lstsq

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector

_MOST_FREE = 1000
"""Rows between their bounds up to which the finish is worth its price."""


def exact_steps(
    margins: FloatMatrix,
    slopes: FloatMatrix,
    weights: FloatVector,
    linear: FloatVector,
    square: FloatVector,
) -> FloatVector:
    r"""Return the steps t that minimise squared hinge losses along lines, one per column.

    .. math:: \sum_i w_i \max(0, m_i - t s_i)^2 + 2 q_1 t + q_2 t^2, \qquad t \ge 0.

    The derivative is piecewise linear and never falls; its zero is found between two of the points
    where a row enters or leaves the margin. Cost: one sort of the rows.

    Shapes: `margins` (l, k), `slopes` (l, k), `weights` (l,), `linear` (k,), `square` (k,); returns
    (k,).
    """
    inside = (margins > 0) | ((margins == 0) & (slopes < 0))
    turns = np.where(margins > 0, slopes > 0, slopes < 0)  # leaves, or enters, at m / s >= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.where(turns & (margins != 0), margins / slopes, np.inf)
    at[~np.isfinite(at)] = np.inf
    order = at.argsort(axis=0)
    at = np.take_along_axis(at, order, axis=0)
    change = np.where(np.isfinite(at), np.take_along_axis(np.where(inside, -1.0, 1.0), order, 0), 0)
    constant, rising = weights[:, None] * slopes * margins, weights[:, None] * slopes**2
    offsets = linear - np.where(inside, constant, 0.0).sum(axis=0)
    rates = square + np.where(inside, rising, 0.0).sum(axis=0)
    # Row j holds the derivative a + c t between turning points j - 1 and j.
    a = np.vstack(
        [offsets, offsets - np.cumsum(change * np.take_along_axis(constant, order, 0), 0)]
    )
    c = np.vstack([rates, rates + np.cumsum(change * np.take_along_axis(rising, order, 0), 0)])
    start, end = (
        np.vstack([np.zeros(len(offsets)), at]),
        np.vstack([at, np.full_like(offsets, np.inf)]),
    )
    c = np.maximum(c, 0.0)
    with np.errstate(invalid="ignore"):
        reached = a + np.where(c > 0, c * end, 0.0) >= 0
    reached[-1] = True
    piece = reached.argmax(axis=0)
    columns = np.arange(len(offsets))
    a, c, start, end = (part[piece, columns] for part in (a, c, start, end))
    zero = np.divide(-a, c, out=start.copy(), where=c > 0)
    return np.asarray(np.where(offsets < 0, np.clip(zero, start, end), 0.0))


def polished(
    kernel: FloatMatrix,
    sign: FloatVector,
    multipliers: FloatVector,
    bounds: FloatVector,
    tol: float,
) -> FloatVector:
    """Improve multipliers of a support vector machine that are right but for rounding.

    An active-set method for the dual: the rows between their bounds are solved for, those that
    run into a bound stay there, and the row at a bound that breaks the optimality conditions most
    is let go, until none does.

    Shapes: `kernel` (l, l), `sign` (l,), `multipliers` (l,), `bounds` (l,); returns (l,).
    """
    lowest, highest = np.where(sign > 0, 0.0, -bounds), np.where(sign > 0, bounds, 0.0)
    near = 1e-9 * bounds
    c = np.where(multipliers <= lowest + near, lowest, multipliers)
    c = np.where(c >= highest - near, highest, c)
    free = (c > lowest) & (c < highest)
    if free.any():  # what rounding to the bounds took from the sum
        first = np.flatnonzero(free)[np.argmax(np.minimum(c - lowest, highest - c)[free])]
        c[first] -= c.sum()
    for _ in range(4 * len(c) + 20):
        wanted = sign - kernel @ c
        if int(free.sum()) > _MOST_FREE:
            break
        b, blocked = _free_step(kernel, wanted, c, free, lowest, highest, tol)
        if blocked:
            continue
        wanted = sign - kernel @ c
        if not _let_go(wanted, b, c, free, lowest, highest, tol):
            break
    return c


def _free_step(
    kernel: FloatMatrix,
    wanted: FloatVector,
    c: FloatVector,
    free: BoolVector,
    lowest: FloatVector,
    highest: FloatVector,
    tol: float,
) -> tuple[float | None, bool]:
    """Solve for the free rows, in place; return the intercept and whether a bound was met."""
    rows = np.flatnonzero(free)
    if len(rows) == 0:
        return None, False
    ones = np.ones((len(rows), 1))
    system = np.block([[kernel[np.ix_(rows, rows)], ones], [ones.T, np.zeros((1, 1))]])
    right = np.append(wanted[rows], 0.0)
    found = lstsq(system, right, cond=1e-12, lapack_driver="gelsy", check_finite=False)[0]
    move, b, furthest = found[:-1], float(found[-1]), 1.0
    rest = (right - system @ found)[:-1]
    if np.abs(rest).max() > tol / 4:
        # The kernel is flat along the rest, and the dual rises there without end: to a bound.
        move, furthest = rest, np.inf
    room = np.where(move > 0, highest[rows] - c[rows], lowest[rows] - c[rows])
    steps = np.divide(room, move, out=np.full(len(rows), np.inf), where=move != 0)
    step = float(steps.min(initial=furthest))
    c[rows] += step * move
    if step >= furthest:
        return b, False
    met = rows[steps <= step]
    c[met] = np.where(move[steps <= step] > 0, highest[met], lowest[met])
    free[met] = False
    return b, True


def _let_go(
    wanted: FloatVector,
    b: float | None,
    c: FloatVector,
    free: BoolVector,
    lowest: FloatVector,
    highest: FloatVector,
    tol: float,
) -> bool:
    """Free the rows at bounds that ought to move, in place; return whether there was any."""
    may_rise, may_fall = ~free & (c < highest), ~free & (c > lowest)
    rising = np.where(may_rise, wanted, -np.inf)
    falling = np.where(may_fall, wanted, np.inf)
    up, down = int(rising.argmax()), int(falling.argmin())
    if b is None:
        if rising[up] - falling[down] <= tol / 2:
            return False
        free[[up, down]] = True
        return True
    above, below = rising[up] - b, b - falling[down]
    if max(above, below) <= tol / 2:
        return False
    free[up if above >= below else down] = True
    return True
