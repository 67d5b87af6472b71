"""A finish in double precision: multipliers near the solution enter, better ones leave."""

import numpy as np
from scipy.linalg import lstsq

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector

_MOST_FREE = 1000
"""Rows between their bounds up to which the finish is worth its price."""

_FAR = 10.0
"""Ranges of a multiplier beyond which a move comes of a kernel that is flat, not of the labels."""


def polish(
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
        residuals = sign - kernel @ c
        if int(free.sum()) > _MOST_FREE:
            break
        b, blocked = _solve_free(kernel, residuals, c, free, lowest, highest, tol)
        if blocked:
            continue
        residuals = sign - kernel @ c
        if not _let_go(residuals, b, c, free, lowest, highest, tol):
            break
    return c


def _solve_free(
    kernel: FloatMatrix,
    residuals: FloatVector,
    c: FloatVector,
    free: BoolVector,
    lowest: FloatVector,
    highest: FloatVector,
    tol: float,
) -> tuple[float | None, bool]:
    """Solve for the free rows, in place; return the intercept and whether a bound was met."""
    rows = np.flatnonzero(free)
    count = len(rows)
    if count == 0:
        return None, False
    system = np.ones((count + 1, count + 1))
    system[:count, :count], system[count, count] = kernel[rows[:, None], rows], 0.0
    right = np.append(residuals[rows], 0.0)
    solution = _solve_regular(system, right, tol, float((highest - lowest).max()))
    if solution is None:
        solution = lstsq(system, right, cond=1e-12, lapack_driver="gelsy", check_finite=False)[0]
    move, b, furthest = solution[:-1], float(solution[-1]), 1.0
    rest = (right - system @ solution)[:-1]
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


def _solve_regular(
    system: FloatMatrix, right: FloatVector, tol: float, most: float
) -> FloatVector | None:
    """Solve a system quickly, and return None where it is singular or nearly so.

    - `most`: how far a multiplier can move; a solution far beyond it is rounding.
    """
    try:
        solution = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return None
    is_good = np.abs(right - system @ solution).max() <= tol / 4
    return solution if is_good and np.abs(solution[:-1]).max() <= _FAR * most else None


def _let_go(
    residuals: FloatVector,
    b: float | None,
    c: FloatVector,
    free: BoolVector,
    lowest: FloatVector,
    highest: FloatVector,
    tol: float,
) -> bool:
    """Free the rows at bounds that ought to move, in place; return whether there was any."""
    may_rise, may_fall = ~free & (c < highest), ~free & (c > lowest)
    rising = np.where(may_rise, residuals, -np.inf)
    falling = np.where(may_fall, residuals, np.inf)
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
