"""Descent: a cost with its gradient enters, a point where it is lower leaves.

Conjugate gradients as the papers used them, and a quasi-Newton method that takes a preconditioner.
Both count what they did; neither knows what the cost means.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector

_Objective: TypeAlias = Callable[[FloatMatrix], tuple[float, FloatMatrix]]
"""Returns the cost of a point and its gradient."""

Precondition: TypeAlias = Callable[[FloatMatrix], FloatMatrix]
"""Applies a positive definite guess of the inverse Hessian to a gradient."""

_SUFFICIENT = 1e-4  # share of the fall along the slope that a step must bring
_HALVINGS = 25
_MEMORY = 10  # steps that L-BFGS remembers


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Where a descent ended.

    Attributes
    ----------
    point : ndarray
        The lowest point met.
    costs : ndarray of shape (n_steps + 1,)
        Cost at the start and after every step.
    n_evaluations : int
        How often the cost was asked for.
    is_converged : bool
        Whether it stopped because little more could be gained, not because its steps were used up.
    """

    point: FloatMatrix
    costs: FloatVector
    n_evaluations: int
    is_converged: bool

    @property
    def cost(self) -> float:
        """The cost at the end."""
        return float(self.costs[-1])


def conjugate_descent(
    objective: _Objective, start: FloatMatrix, *, n_steps: int, tol: float = 1e-9
) -> Descent:
    """Go down by conjugate gradients (Polak and Ribière, with a line search of Wolfe's kind).

    It stops after `n_steps` line searches, or when no entry of the gradient is larger than `tol`.
    """
    from scipy.optimize import minimize

    costs: list[float] = []

    def flat(vector: FloatVector) -> tuple[float, FloatVector]:
        cost, gradient = objective(vector.reshape(start.shape))
        if not costs:
            costs.append(cost)
        return cost, gradient.ravel()

    minimum = minimize(
        flat,
        start.ravel(),
        jac=True,
        method="CG",
        callback=lambda intermediate_result: costs.append(float(intermediate_result.fun)),
        options={"maxiter": n_steps, "gtol": tol},
    )
    point = np.asarray(minimum.x).reshape(start.shape)
    return Descent(point, np.array(costs), int(minimum.nfev), bool(minimum.status != 1))


def quasi_newton_descent(
    objective: _Objective,
    start: FloatMatrix,
    *,
    n_steps: int,
    precondition: Precondition | None = None,
    tol: float = 1e-5,
    on_step: Callable[[float], None] | None = None,
) -> Descent:
    """Go down by L-BFGS with a preconditioner as its first guess of the inverse Hessian.

    Steps are halved until the cost falls as it should. It stops when five steps together lower the
    cost by less than `tol` of it, or when no step along the gradient lowers it at all, which is
    where the error of an estimated gradient begins to matter. Without a preconditioner the guess is
    a multiple of the identity. `on_step` is told the cost after every step.
    """
    point, (cost, gradient) = start, objective(start)
    costs, n_evaluations = [cost], 1
    pairs: deque[_Pair] = deque(maxlen=_MEMORY)
    is_converged = False
    for _ in range(n_steps):
        direction = -_inverse_times(gradient, pairs, precondition)
        slope = float(np.vdot(direction, gradient))
        if slope >= 0:  # the memory misleads: forget it
            pairs.clear()
            direction = -_inverse_times(gradient, pairs, precondition)
            slope = float(np.vdot(direction, gradient))
        length = 1.0 if pairs or precondition else 1 / max(float(np.linalg.norm(gradient)), 1e-300)
        step = _line_search(objective, point, cost, direction, slope, length)
        n_evaluations += step.n_evaluations
        if step.gradient is None:
            if not pairs:
                is_converged = True
                break
            pairs.clear()
            continue
        _remember(pairs, step.point - point, step.gradient - gradient)
        point, cost, gradient = step.point, step.cost, step.gradient
        costs.append(cost)
        if on_step is not None:
            on_step(cost)
        if len(costs) > 5 and costs[-6] - cost <= tol * abs(cost):
            is_converged = True
            break
    return Descent(point, np.array(costs), n_evaluations, is_converged)


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """A remembered step, the change of the gradient along it, and 1 over their product."""

    move: FloatMatrix
    change: FloatMatrix
    curvature: float


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """Where a line search ended; no gradient when the cost would not fall."""

    point: FloatMatrix
    cost: float
    gradient: FloatMatrix | None
    n_evaluations: int


def _line_search(
    objective: _Objective,
    point: FloatMatrix,
    cost: float,
    direction: FloatMatrix,
    slope: float,
    length: float,
) -> _Step:
    """Shorten the step until the cost falls by enough of what the slope promises."""
    for n_evaluations in range(1, _HALVINGS + 1):
        there = point + length * direction
        value, gradient = objective(there)
        if np.isfinite(value) and value <= cost + _SUFFICIENT * length * slope:
            return _Step(there, value, gradient, n_evaluations)
        # The parabola through both costs and the slope, kept between a tenth and a half.
        bend = value - cost - length * slope
        ratio = -slope * length / (2 * bend) if np.isfinite(bend) and bend > 0 else 0.1
        length *= float(np.clip(ratio, 0.1, 0.5))
    return _Step(point, cost, None, _HALVINGS)


def _remember(pairs: "deque[_Pair]", move: FloatMatrix, change: FloatMatrix) -> None:
    """Remember a step along which the gradient grows, as a positive definite Hessian wants it."""
    product = float(np.vdot(move, change))
    if product > 1e-10 * float(np.linalg.norm(move) * np.linalg.norm(change)):
        pairs.append(_Pair(move, change, 1 / product))


def _inverse_times(
    gradient: FloatMatrix, pairs: "deque[_Pair]", precondition: Precondition | None
) -> FloatMatrix:
    """Apply the guess of the inverse Hessian by the two loops of L-BFGS."""
    vector, shares = gradient.copy(), []
    for pair in reversed(pairs):
        share = pair.curvature * float(np.vdot(pair.move, vector))
        vector -= share * pair.change
        shares.append(share)
    if precondition is not None:
        vector = precondition(vector)
        scale = _scaling(pairs[-1], precondition) if pairs else 1.0
    else:
        scale = _scaling(pairs[-1], np.copy) if pairs else 1.0
    vector = vector * scale
    for pair, share in zip(pairs, reversed(shares), strict=True):
        back = pair.curvature * float(np.vdot(pair.change, vector))
        vector += (share - back) * pair.move
    return vector


def _scaling(pair: _Pair, precondition: Precondition) -> float:
    """Scale the guess so that it is right along the last step."""
    return 1 / (pair.curvature * float(np.vdot(pair.change, precondition(pair.change))))
