"""What the machines of both losses share: the fitted functions and the walk over columns."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import ConvergenceWarning
from beltrami.core.progress import track
from beltrami.core.threads import serial_blas
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector


@dataclass(frozen=True, slots=True, eq=False)
class HingeFit:
    """Functions f = K c + b, one per column, with what proves them.

    Attributes
    ----------
    multipliers : ndarray of shape (l, k)
        c: the multiplier of the row's constraint times its sign; zero where the row is no support
        vector.
    intercepts : ndarray of shape (k,)
        The numbers b.
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
        """Return f at points, given their kernel with the labelled rows.

        Shapes: `kernel` (m, l); returns (m, k).
        """
        return np.asarray(kernel @ self.multipliers + self.intercepts)


def every_column(
    signs: FloatMatrix, solved: Callable[[FloatVector], tuple[FloatVector, float]]
) -> tuple[FloatMatrix, FloatVector]:
    """Solve column by column: one sign needs no solver, and mirrored columns only one."""
    multipliers, intercepts = np.zeros(signs.shape), np.zeros(signs.shape[1])
    if signs.shape[1] == 2 and np.array_equal(signs[:, 0], -signs[:, 1]):
        one, b = every_column(signs[:, 1:], solved)
        return np.hstack([-one, one]), np.concatenate([-b, b])
    for column, sign in enumerate(np.asarray(signs, dtype=np.float64).T):
        if (sign == sign[0]).all():
            intercepts[column] = sign[0]
        else:
            multipliers[:, column], intercepts[column] = solved(np.ascontiguousarray(sign))
    return multipliers, intercepts


def share_of(part: FloatVector, whole: FloatVector) -> FloatVector:
    """Return part / whole, zero where the whole is."""
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0))


def warn_of_breach(fit: HingeFit, most: float, advice: str) -> None:
    """Warn where the optimality conditions are broken by more than `most`."""
    worst = float(fit.violation.max(initial=0.0))
    if worst > most:
        warnings.warn(
            f"a support vector machine stopped with optimality conditions broken by {worst:.2g}, "
            f"where {most:.2g} was asked for (relative gap {fit.gap.max():.2g}); decision values "
            f"are wrong by about as much. {advice}",
            ConvergenceWarning,
            stacklevel=3,
        )


def refitted(
    kernel: FloatMatrix,
    fit: HingeFit,
    kept: FloatMatrix,
    refit: Callable[[BoolVector, NDArray[np.intp]], HingeFit],
) -> FloatMatrix:
    """Replace the values of support vectors by those of a fit without them."""
    values, supports = kept.copy(), fit.multipliers != 0
    rows = np.flatnonzero(supports.any(axis=1))
    with serial_blas(), track("leaving labels out", total=len(rows)) as advance:
        for row in rows:
            others, columns = np.arange(len(kernel)) != row, np.flatnonzero(supports[row])
            values[row, columns] = refit(others, columns).values(kernel[row : row + 1, others])[0]
            advance(1)
    return values
