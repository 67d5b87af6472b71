"""Preconditioned conjugate gradients over many right-hand sides, stopped by the energy norm.

The residual says little about the error of an ill-conditioned system: with the usual test on the
residual, soft labels on a swiss roll came out with two signs in three wrong. The steps themselves
tell the energy of what was still missing, at no cost, and that is what this stops on.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.backend import Backend, GroundedLaplacian
from beltrami.core.types import FloatMatrix
from beltrami.solvers.linear.preconditioners import Preconditioner

_SETTLED = 0.1  # share of a window's gains that its newest may be
_LONGEST_WINDOW = 200
_PROBE = 24  # steps before the rate is judged
_NOTHING = 1e-30
"""Share of the first squared residual below which it is rounding, in the range or in null vectors;
a step along the latter would have no end."""
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(slots=True)
class EnergyLedger:
    """Energies gained by the steps, from which the error of an earlier iterate follows.

    After step k the squared energy error has fallen by alpha_k r_k' z_k (Hestenes and Stiefel), so
    the error of iterate k - w is at least the sum of the last w gains, and nearly equal to it once
    the newest gain is a small part of that sum.

    Attributes
    ----------
    gains : list of ndarray of shape (k,)
        One entry per step.
    total : ndarray of shape (k,)
        Their sum: the squared energy of the solution so far.
    """

    gains: list[NDArray[np.float64]] = field(default_factory=list)
    total: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))

    def add(self, gain: NDArray[np.float64]) -> None:
        """Enter the fall of each column's squared energy error in one step."""
        self.gains.append(gain)
        self.total = self.total + gain

    def errors(self) -> NDArray[np.float64]:
        """Return the estimated relative energy error of each column, infinite while unknown.

        The window grows, up to 200 steps, until the newest three gains are at most a tenth of its
        sum, so that a plateau of the iteration is not taken for its end.
        """
        history = np.array(self.gains[-_LONGEST_WINDOW:])
        newest = history[-3:].max(axis=0)
        sums = np.cumsum(history[::-1], axis=0)
        is_settled = newest <= _SETTLED * sums
        is_settled[: min(4, len(is_settled)) - 1] = False
        window = np.argmax(is_settled, axis=0)
        squares = sums[window, np.arange(sums.shape[1])]
        errors = np.full(sums.shape[1], np.inf)
        live = self.total > 0
        known = is_settled.any(axis=0) & live
        np.sqrt(squares / np.where(live, self.total, 1.0), out=errors, where=known)
        errors[~live] = 0.0
        return errors


@dataclass(frozen=True, slots=True, eq=False)
class ApproximateSolution:
    """What a method returns: the solution of the reduced system as far as it got.

    Attributes
    ----------
    values : ndarray of shape (n, k)
        One column per right-hand side.
    errors : ndarray of shape (k,)
        Estimated relative errors in the energy norm.
    iterations : int
        Steps taken; 0 where the method was direct.
    """

    values: FloatMatrix
    errors: NDArray[np.float64]
    iterations: int


def conjugate_gradients(
    matrix: GroundedLaplacian,
    right: FloatMatrix,
    preconditioner: Preconditioner,
    *,
    tol: float,
    max_iter: int,
    backend: Backend,
    patience: int | None = None,
    progress: Any = None,
) -> ApproximateSolution:
    """Solve A X = B for all columns at once; B must lie in the range of A.

    A column is done when its relative error in the energy norm is at most `tol`. With `patience`
    the run ends before `max_iter` when, by the rate so far, more than so many steps are still
    needed. `progress` is called with the share of the wanted digits that a step has added, at most
    one in all. The caller judges the errors.
    """
    system, residual = backend.grounded(matrix), backend.block(right, np.float64)
    x, gradient, image = 0 * residual, 0 * residual, 0 * residual
    preconditioner.apply(residual, gradient)
    direction = 1 * gradient
    slope = backend.column_dots(residual, gradient)
    ledger, errors = EnergyLedger(), np.where(slope == 0, 0.0, np.inf)
    live, nothing, shown = slope > 0, _NOTHING * slope, 0.0
    for step in range(1, max_iter + 1):
        backend.grounded_product(system, direction, image)
        alpha = np.where(live, _ratio(slope, backend.column_dots(direction, image)), 0.0)
        backend.advance(x, residual, direction, image, alpha)
        ledger.add(alpha * slope)
        preconditioner.apply(residual, gradient)
        following = backend.column_dots(residual, gradient)
        backend.redirect(direction, gradient, np.where(live, _ratio(following, slope), 0.0))
        # A column rests where it meets the tolerance, where only rounding is left of its residual
        # and, with the error it had, where there is no way down: further energies would be noise.
        live &= alpha > 0
        rest = np.sqrt(np.maximum(following, 0.0) / np.maximum(ledger.total, _TINY))
        estimate = np.where(np.abs(following) <= nothing, rest, ledger.errors())
        errors = np.where(live, estimate, errors)
        live &= (errors > tol) & (following > nothing)
        slope = following
        if progress is not None:
            digits = np.log(np.clip(errors.max(), tol, 1.0)) / np.log(min(tol, 0.5))
            progress(max(digits - shown, 0.0))
            shown = max(digits, shown)
        if not live.any():
            break
        if patience is not None and step >= _PROBE and _steps_to_go(ledger, tol) > patience:
            break
    return ApproximateSolution(backend.host(x), errors, len(ledger.gains))


def _ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quotient per column, zero for a column that is already solved exactly."""
    result = np.zeros_like(top)
    np.divide(top, bottom, out=result, where=(bottom > 0) & (top > 0))
    return result


def _steps_to_go(ledger: EnergyLedger, tol: float) -> float:
    """Estimate the remaining steps of the slowest column from the fall of its gains."""
    history = np.array(ledger.gains[-_LONGEST_WINDOW:])
    total = np.maximum(ledger.total, _TINY)
    early = history[len(history) // 4 : len(history) // 2].mean(axis=0) / total
    late = history[-len(history) // 4 :].mean(axis=0) / total
    fall = np.log(np.maximum(early, _TINY) / np.maximum(late, _TINY)) / (0.5 * len(history))
    needed = np.log(np.maximum(late, _TINY) / tol**2)
    needed = np.maximum(needed, 0.0)
    steps = np.where(needed > 0, needed / np.maximum(fall, 1e-6), 0.0)
    return float(steps.max())
