"""A transductive support vector machine: signs of the unlabelled rows are found by switching pairs.

A kernel of all rows, the signs of some and the number of positives among the others enter; a
machine and all signs leave.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beltrami.core.machine.threads import serial_blas
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.kernel_machines.hinge.dual import hinge_dual

_FIRST = 1e-5
"""Share of their final weight that unlabelled rows start with, at most."""

_SOFT = 1e-2
"""Most that C* k(x, x) may be at the start: with more there is no slack, and nothing switches."""

_TRIFLE = 1e-6
"""Share by which the objective must fall for another round."""


@dataclass(frozen=True, slots=True, eq=False)
class SwitchedFit:
    """A function f = K c + b and the signs it was fitted to.

    Attributes
    ----------
    multipliers : ndarray of shape (n,)
        The coefficients c.
    intercept : float
        The number b.
    signs : ndarray of shape (n,)
        Given signs at labelled rows, found ones elsewhere.
    objectives : tuple of tuple of float
        For each weight of the unlabelled rows the objective after each fit: it falls.
    n_switched : int
        How many rows changed sides, counted as often as they did.
    """

    multipliers: FloatVector
    intercept: float
    signs: FloatVector
    objectives: tuple[tuple[float, ...], ...]
    n_switched: int

    @property
    def n_fits(self) -> int:
        """Number of machines that were fitted to all rows."""
        return sum(map(len, self.objectives))


def transductive_hinge(
    kernel: FloatMatrix,
    rows: IndexVector,
    signs: FloatVector,
    bounds: FloatVector,
    n_positive: int,
    bound: float,
    *,
    tol: float = 1e-3,
    max_rounds: int = 100,
    advance: Callable[[float], None] = lambda _: None,
) -> SwitchedFit:
    r"""Fit a support vector machine to all rows, and find the signs of the unlabelled ones.

    Minimises

    .. math:: \tfrac12 c^\top K c + \sum_{i \in \mathrm{rows}} C_i \xi_i
              + C^* \sum_{j \notin \mathrm{rows}} \xi_j, \qquad
              \xi = \max(0, 1 - y (K c + b)),

    over c, b and the unlabelled signs, a given number of which is positive ([Joachims99]_). A
    machine of the labelled rows gives the first signs. The weight of the unlabelled rows is then
    doubled from :math:`10^{-5} C^*`, or less for a large kernel, to :math:`C^*`. At each weight, a
    positive and a negative row with :math:`\xi_p + \xi_n > 2`, both positive, are better switched,
    whatever becomes of the others; so all such pairs, the worst with the worst, are switched before
    the next fit.
    Joachims switches one pair for each fit and starts with weights in the ratio of the classes;
    here both sides weigh the same. `signs` and `bounds` are those of `rows`.
    """
    n = len(kernel)
    others = np.setdiff1d(np.arange(n), rows)
    first = hinge_dual(kernel[np.ix_(rows, rows)], signs[:, None], 0.5, bounds, tol=tol)
    start = first.values(kernel[np.ix_(others, rows)])[:, 0]
    y, weights = np.empty(n), np.empty(n)
    y[rows], weights[rows] = signs, bounds
    y[others] = _highest_positive(start, n_positive)
    size = bound * float(np.mean(np.diagonal(kernel)))
    shares = _annealing_shares(size) if len(others) else np.ones(1)
    objectives, n_switched = [], 0
    with serial_blas():  # products with one vector gain nothing from threads
        for share in shares:
            weights[others] = share * bound
            c, b, falling, count = _switch_at(kernel, y, weights, others, tol, max_rounds)
            objectives.append(falling)
            n_switched += count
            advance(1 / len(shares))
    return SwitchedFit(c, b, y, tuple(objectives), n_switched)


def _switch_at(
    kernel: FloatMatrix,
    y: FloatVector,
    weights: FloatVector,
    others: IndexVector,
    tol: float,
    max_rounds: int,
) -> tuple[FloatVector, float, tuple[float, ...], int]:
    """Fit and switch, in place, at one weight of the unlabelled rows, until no pair is better."""
    objectives: list[float] = []
    n_switched = 0
    while True:
        fit = hinge_dual(kernel, y[:, None], 0.5, weights, tol=tol)
        c, b = fit.multipliers[:, 0], float(fit.intercepts[0])
        smooth = kernel @ c
        slack = np.maximum(1 - y * (smooth + b), 0.0)
        objectives.append(float(0.5 * (c @ smooth) + weights @ slack))
        is_stuck = len(objectives) > 1 and objectives[-1] >= objectives[-2] * (1 - _TRIFLE)
        worse = others[_pairs_to_switch(slack[others], y[others])]
        if not len(worse) or is_stuck or len(objectives) >= max_rounds:
            return c, b, tuple(objectives), n_switched
        y[worse] *= -1
        n_switched += len(worse)


def _annealing_shares(size: float = 1.0) -> FloatVector:
    """Return the shares of their final weight that unlabelled rows get, one after the other.

    Where `size`, C* times the mean of k(x, x), is large, the first share is so small that the
    machine still has slack: a polynomial kernel of a hundred pixels has k(x, x) of a million.
    """
    first = min(_FIRST, _SOFT / size) if size > 0 else _FIRST
    shares = first * 2.0 ** np.arange(np.ceil(np.log2(1 / first)))
    return np.append(shares, 1.0)


def _highest_positive(values: FloatVector, n_positive: int) -> FloatVector:
    """Return signs with +1 at the highest values."""
    signs = -np.ones(len(values))
    signs[np.argsort(-values, kind="stable")[:n_positive]] = 1.0
    return signs


def _pairs_to_switch(slack: FloatVector, signs: FloatVector) -> IndexVector:
    """Return rows that lower the loss of a fixed function when they change sides in pairs.

    As many positive rows as negative ones; none where no pair is better switched.
    """
    order = np.argsort(-slack, kind="stable")
    order = order[slack[order] > 0]
    high, low = order[signs[order] > 0], order[signs[order] < 0]
    pairs = min(len(high), len(low))
    high, low = high[:pairs], low[:pairs]
    gains = slack[high] + slack[low] > 2 + 1e-9  # these fall, so the pairs come first
    return np.concatenate([high[gains], low[gains]])
